// Loads the SHARP library and joins its job, step by step on all processes.
#include "runtime/setup/sharp_start.hpp"

#include <algorithm>

#include "base/config.hpp"
#include "base/format.hpp"
#include "base/token.hpp"
#include "network/sharp_client.hpp"
#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"

namespace espalier::runtime {
namespace {

using network::SharpError;
using network::SharpJob;

int drive_host() {
  Process::instance().drive_host();
  return 0;
}

/// Runs body() on all processes. Returns a process that failed and its error, the same on all of them; empty:
/// none failed.
template <class Body>
std::string agreed(const Bootstrap& world, const char* what, Body body) {
  std::int32_t mine = 0;
  try {
    body();
  } catch (const SharpError& error) {
    mine = error.code();
    // The other processes get the error code alone.
    if (world.rank == 0) print_to(stderr, "espalier: no aggregation nodes: {}\n", error.what());
  }
  const auto all = exchange(world, mine);
  const auto worst = std::min_element(all.begin(), all.end());
  if (*worst == 0) return "";
  return formatted("{} failed on process {}: {}", what, worst - all.begin(), network::decode_sharp(*worst));
}

std::uint64_t job_number(const Bootstrap& world) { return exchange(world, random_token()).front(); }

network::SharpCaps common_caps(const Bootstrap& world, const network::SharpCaps& mine) {
  network::SharpCaps common = mine;
  for (const network::SharpCaps& caps : exchange(world, mine)) common = common & caps;
  return common;
}

}  // namespace

void start_sharp(const Bootstrap& world, std::unique_ptr<network::OutOfBand> processes) {
  Process& process = Process::instance();
  const Config& config = Config::instance();
  // The setting is not agreed yet, and a rank that went on alone would wait for ever.
  const auto wanted = exchange(world, static_cast<std::int32_t>(config.flag("ESPALIER_SHARP")));
  const auto without = std::count(wanted.begin(), wanted.end(), 0);
  if (without == world.size) return;
  if (without > 0) return process.set_no_sharp("not all processes have ESPALIER_SHARP=on");
  const std::string library = config.text("ESPALIER_SHARP_LIB");
  std::string why = agreed(world, "loading the SHARP library", [&] { SharpJob::load(library); });
  if (!why.empty()) return process.set_no_sharp(why);
  const NodeState* node = process.node();
  const SharpJob::Description description = {job_number(world), node ? node->rank() : 0, library,
                                             static_cast<int>(config.bytes("ESPALIER_SHARP_TIMEOUT")),
                                             drive_host};
  std::unique_ptr<SharpJob> job;
  why = agreed(world, "sharp_coll_init", [&] { job = std::make_unique<SharpJob>(*processes, description); });
  if (!why.empty()) return process.set_no_sharp(why);
  job->restrict_to(common_caps(world, job->caps()));
  if (job->caps().payload < 64) return process.set_no_sharp("the aggregation nodes take less than 64 bytes");
  process.set_sharp(std::move(job), std::move(processes));
}

}  // namespace espalier::runtime
