#include "measure.hpp"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  espalier::bench::add_flags();
  espalier::bench::add_slots();
  espalier::bench::add_copies();
  espalier::bench::add_reductions();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
