#include "runtime/statistics/table.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/config.hpp"
#include "base/format.hpp"

namespace espalier::runtime::statistics {
namespace {

using nlohmann::json;

struct Column {
  const char* heading;
  bool right;
};
constexpr std::array columns = {Column{"ranks", true},   Column{"collective", false}, Column{"bytes", true},
                                Column{"calls", true},   Column{"slowest", true},     Column{"mean", true},
                                Column{"a call", true},  Column{"of run", true},      Column{"waited", true},
                                Column{"ran on", false}, Column{"algorithm", false},  Column{"waits", false},
                                Column{"why not", false}};
using Cells = std::array<std::string, columns.size()>;

constexpr const char* legend =
    "bytes: of a rank, from .. to; slowest, mean: time in these calls, of the rank with most and of all that "
    "make them;\nof run: the mean's share of the time from MPI_Init to MPI_Finalize; waited: of the mean, "
    "for the "
    "last rank to come\n(ESPALIER_STATS_ARRIVALS=on); why not: why the host served them, or not what a rule "
    "asks for\n";

std::string time_of(double seconds) {
  if (seconds <= 0) return "0";
  struct Unit {
    const char* name;
    double scale;
  };
  for (const Unit unit : {Unit{"s", 1}, Unit{"ms", 1e3}, Unit{"us", 1e6}})
    if (seconds * unit.scale >= 1) return formatted("{:.3g} {}", seconds * unit.scale, unit.name);
  return formatted("{:.3g} ns", seconds * 1e9);
}

std::string bytes_of(std::size_t bytes) { return print_bytes(bytes) + (bytes < 1024 ? "B" : ""); }

// Sizes of a class go up to below the next power of two.
std::string range_of(const json& row) {
  const auto first = row["bytes_from"].get<std::size_t>(), last = row["bytes_to"].get<std::size_t>();
  return first == last ? bytes_of(first) : formatted("{} .. <{}", bytes_of(first), bytes_of(last + 1));
}

std::string waits_of(const json& wait) {
  std::string text;
  for (const char* name : {"spin", "progress", "yield", "sleep"})
    if (const auto count = wait[name].get<std::uint64_t>(); count > 0)
      text += formatted("{}{} {}", text.empty() ? "" : " ", name, count);
  return text;
}

std::string why_of(const json& row) {
  if (!row["fallback"].is_null()) return row["fallback"];
  return row["passed_over"].is_null() ? "" : row["passed_over"].get<std::string>();
}

// Empty where it was not counted.
std::string waited_of(const json& row, double mean) {
  const json& waited = row["waited_seconds"];
  return waited.is_null() || mean <= 0 ? "" : formatted("{:.0f} %", 100 * waited.get<double>() / mean);
}

Cells cells_of(const json& row, const json& report) {
  const json& communicator = report["communicators"][row["communicator"].get<std::size_t>()];
  const auto calls = row["calls"].get<std::uint64_t>();
  const double mean = row["mean_seconds"], run = report["run_seconds"];
  return {formatted("{}", communicator["size"].get<int>()),
          row["collective"],
          range_of(row),
          formatted("{}", calls),
          time_of(row["slowest_seconds"]),
          time_of(mean),
          calls ? time_of(row["seconds"].get<double>() / static_cast<double>(calls)) : "",
          run > 0 ? formatted("{:.1f} %", 100 * mean / run) : "",
          waited_of(row, mean),
          row["transport"],
          row["algorithm"],
          waits_of(row["wait"]),
          why_of(row)};
}

std::string line_of(const Cells& cells, const std::array<std::size_t, columns.size()>& widths) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string blanks(widths[i] - cells[i].size(), ' ');
    line += (i ? "  " : "") + (columns[i].right ? blanks + cells[i] : cells[i] + blanks);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

}  // namespace

void print_table(const json& report) {
  const double run = report["run_seconds"];
  std::string text = formatted("espalier: what ran ({} ranks, {}, {} build{})\n", report["ranks"].get<int>(),
                               report["host"].get<std::string>(), report["build"].get<std::string>(),
                               run > 0 ? ", " + time_of(run) : "");
  std::vector<Cells> lines(1);
  for (std::size_t i = 0; i < columns.size(); ++i) lines[0][i] = columns[i].heading;
  for (const json& row : report["rows"]) lines.push_back(cells_of(row, report));
  std::array<std::size_t, columns.size()> widths{};
  for (const Cells& cells : lines)
    for (std::size_t i = 0; i < columns.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  for (const Cells& cells : lines) text += line_of(cells, widths);
  text += legend;
  if (const std::string level = report.value("reproducible", "run"); level != "run")
    text += formatted("reductions were served at the level {} (ESPALIER_REPRODUCIBLE)\n", level);
  if (const std::size_t sites = report["sites"].size(); sites > 0)
    text += formatted(
        "calls came from {} places: `espalier stats FILE` names them, with ESPALIER_STATS=FILE\n", sites);
  if (const json& allocated = report["allocated"]; allocated["blocks"].get<std::uint64_t>() > 0)
    text +=
        formatted("blocks of MPI_Alloc_mem that ranks can map: {}; reads of data where they lie there: {}\n",
                  allocated["blocks"].get<std::uint64_t>(), allocated["reads"].get<std::uint64_t>());
  print_to(stderr, "{}", text);
}

}  // namespace espalier::runtime::statistics
