// Gathers what all ranks have counted, and prints or writes it.
#include "runtime/statistics/statistics.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "base/config.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/ticks.hpp"
#include "machine/wait.hpp"
#include "memory/heap/peer_heaps.hpp"
#include "memory/heap/shared_heap.hpp"
#include "runtime/statistics/abnormal_end.hpp"
#include "runtime/statistics/counters.hpp"
#include "runtime/statistics/sites.hpp"
#include "runtime/statistics/table.hpp"
#include "runtime/statistics/used_trees.hpp"

namespace espalier::runtime::statistics {
namespace {

using nlohmann::json;

std::chrono::steady_clock::time_point begun;  // by rank 0's clock, since it writes

// One line of the table: a communicator shape, a collective, a size class, and what served it.
struct Key {
  int communicator_size;
  int collective;
  int size_class;  // bit width of the bytes
  std::string algorithm;
  std::string transport;
  std::string fallback;     // empty: Espalier did it
  std::string passed_over;  // why aggregation nodes did not do it; empty: no reason
  auto operator<=>(const Key&) const = default;
};

using Spread = std::array<double, std::tuple_size_v<decltype(Row::spread)>>;

struct Sum {
  double calls = 0;  // a collective counts once for each of its ranks
  double seconds = 0;
  int ranks = 0;        // that made such calls
  double slowest = 0;   // seconds of the rank with most
  double waited = 0;    // of the seconds: for the last rank to come
  double last = 0;      // calls to which a rank came last
  int mostly_last = 0;  // the rank that did so most often, and how often
  double most_last = 0;
  std::map<int, double> last_by_rank;  // of the ranks that ever did
  double bytes = 0;                    // of the calls whose arrivals are counted
  Spread spread{};
  machine::WaitCounts wait;

  /// A barrier, in which one is always last, has no bytes; the root of a bcast may never be.
  bool has_arrivals() const { return last > 0 || bytes > 0; }
};

Key key_of(const Row& row) {
  const std::string why = row.why;
  return {row.communicator_size, row.collective,         row.size_class,        row.algorithm,
          row.transport,         row.by_host ? why : "", row.by_host ? "" : why};
}

std::map<Key, Sum> sums() {
  std::map<Key, Sum> table;
  for_each_row([&](const Row& row) {
    if (row.calls.get() == 0) return;
    Sum& sum = table[key_of(row)];
    sum.calls += static_cast<double>(row.calls.get());
    sum.seconds += static_cast<double>(row.ticks.get()) * ticks::seconds_per_tick();
    sum.wait.spin += row.spin.get();
    sum.wait.progress += row.progress.get();
    sum.wait.yield += row.yield.get();
    sum.wait.sleep += row.sleep.get();
    sum.waited += static_cast<double>(row.waited.get()) * ticks::seconds_per_tick();
    sum.last += static_cast<double>(row.last.get());
    sum.bytes += static_cast<double>(row.bytes.get());
    for (std::size_t i = 0; i < sum.spread.size(); ++i)
      sum.spread[i] += static_cast<double>(row.spread[i].get());
  });
  return table;
}

json pack(const std::map<Key, Sum>& table) {
  json list = json::array();
  for (const auto& [key, row] : table)
    list.push_back({key.communicator_size, key.collective, key.size_class, key.algorithm, key.transport,
                    key.fallback, key.passed_over, row.calls, row.seconds, row.wait.spin, row.wait.progress,
                    row.wait.yield, row.wait.sleep, row.waited, row.last, row.bytes, row.spread});
  return list;
}

void add(std::map<Key, Sum>& table, const json& list, int rank) {
  for (const json& item : list) {
    Sum& row = table[{item[0], item[1], item[2], item[3], item[4], item[5], item[6]}];
    row.calls += item[7].get<double>();
    row.seconds += item[8].get<double>();
    row.slowest = std::max(row.slowest, item[8].get<double>());
    ++row.ranks;
    row.wait.spin += item[9].get<std::uint64_t>();
    row.wait.progress += item[10].get<std::uint64_t>();
    row.wait.yield += item[11].get<std::uint64_t>();
    row.wait.sleep += item[12].get<std::uint64_t>();
    row.waited += item[13].get<double>();
    const double last = item[14];
    row.last += last;
    if (last > row.most_last) row.mostly_last = rank, row.most_last = last;
    if (last > 0) row.last_by_rank[rank] += last;
    row.bytes += item[15].get<double>();
    const auto spread = item[16].get<Spread>();
    for (std::size_t i = 0; i < spread.size(); ++i) row.spread[i] += spread[i];
  }
}

// Counts of the shared heap.
struct Allocated {
  std::uint64_t blocks = 0;
  std::uint64_t reads = 0;  // of another rank's data by zero copy
};

// What all ranks have counted.
struct Counts {
  std::map<Key, Sum> rows;
  Allocated allocated;
  std::map<UsedTrees, int> trees;  // and how many ranks have used them
  json sites = json::object();
};

json pack(const std::set<UsedTrees>& trees) {
  json list = json::array();
  for (const UsedTrees& used : trees)
    list.push_back({used.size, used.root, used.gather_tree, used.release_tree, used.gather, used.release});
  return list;
}

void add(std::map<UsedTrees, int>& trees, const json& list) {
  for (const json& item : list) ++trees[{item[0], item[1], item[2], item[3], item[4], item[5]}];
}

json describe(const std::map<UsedTrees, int>& trees) {
  json list = json::array();
  for (const auto& [used, ranks] : trees)
    list.push_back({{"size", used.size},
                    {"root", used.root},
                    {"gather_tree", used.gather_tree},
                    {"release_tree", used.release_tree},
                    {"gather", used.gather},
                    {"release", used.release},
                    {"ranks", ranks}});
  return list;
}

Counts gather_counts(const Bootstrap& world) {
  std::string mine = json{
      {"rows", pack(sums())},
      {"blocks", memory::SharedHeap::blocks()},
      {"reads", memory::peer_heaps::reads()},
      {"trees", pack(used_trees())},
      {"sites",
       sites::pack()}}.dump();
  const std::uint64_t length = mine.size();
  std::vector<std::uint64_t> lengths(static_cast<std::size_t>(world.size));
  world.allgather(&length, lengths.data(), sizeof length);
  const std::size_t widest = *std::max_element(lengths.begin(), lengths.end());
  mine.resize(widest);
  std::string all(widest * static_cast<std::size_t>(world.size), '\0');
  world.allgather(mine.data(), all.data(), widest);
  Counts counts;
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    const json item = json::parse(all.substr(r * widest, lengths[r]));
    add(counts.rows, item["rows"], static_cast<int>(r));
    counts.allocated.blocks += item["blocks"].get<std::uint64_t>();
    counts.allocated.reads += item["reads"].get<std::uint64_t>();
    add(counts.trees, item["trees"]);
    sites::add(counts.sites, item["sites"]);
  }
  return counts;
}

// Those that did so most often first; the page has no room for more.
json describe_last(const std::map<int, double>& by_rank) {
  constexpr std::size_t most = 16;
  std::vector<std::pair<int, double>> ranks(by_rank.begin(), by_rank.end());
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (ranks.size() > most) ranks.resize(most);
  json list = json::array();
  for (const auto& [rank, calls] : ranks) list.push_back({{"rank", rank}, {"calls", calls}});
  return list;
}

json describe(const Key& key, const Sum& row) {
  const auto size_class = static_cast<unsigned>(key.size_class);
  const double ranks = key.communicator_size;
  return {{"collective", collective_names[static_cast<std::size_t>(key.collective)]},
          {"bytes_from", first_bytes(size_class)},
          {"bytes_to", last_bytes(size_class)},
          {"calls", static_cast<std::uint64_t>(std::llround(row.calls / ranks))},
          {"seconds", row.seconds / ranks},
          {"mean_seconds", row.seconds / row.ranks},
          {"slowest_seconds", row.slowest},
          {"waited_seconds", row.has_arrivals() ? json(row.waited / row.ranks) : json()},
          {"mostly_last", row.last > 0 ? json{{"rank", row.mostly_last}, {"calls", row.most_last}} : json()},
          {"came_last", row.has_arrivals() ? describe_last(row.last_by_rank) : json()},
          {"arrival_spread", row.has_arrivals() ? json(row.spread) : json()},
          {"mean_bytes", row.has_arrivals() ? json(row.bytes / row.calls) : json()},
          {"algorithm", key.algorithm},
          {"transport", key.transport},
          {"wait",
           {{"spin", row.wait.spin},
            {"progress", row.wait.progress},
            {"yield", row.wait.yield},
            {"sleep", row.wait.sleep}}},
          {"fallback", key.fallback.empty() ? json() : json(key.fallback)},
          {"passed_over", key.passed_over.empty() ? json() : json(key.passed_over)}};
}

// Since begin(); 0 where there was none.
double run_seconds() {
  const auto none = std::chrono::steady_clock::time_point();
  return begun == none ? 0 : std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

json describe(const Counts& counts, const Author& author, int ranks) {
  json communicators = json::array(), list = json::array();
  std::map<int, int> ids;
  for (const auto& [key, row] : counts.rows) {
    const auto [id, fresh] = ids.try_emplace(key.communicator_size, static_cast<int>(ids.size()));
    if (fresh)
      communicators.push_back(
          {{"id", id->second},
           {"size", key.communicator_size},
           {"name", formatted("{} rank{}", key.communicator_size, key.communicator_size == 1 ? "" : "s")},
           {"transport", key.transport}});
    json item = describe(key, row);
    item["communicator"] = id->second;
    if (!key.fallback.empty()) communicators[static_cast<std::size_t>(id->second)]["transport"] = "host";
    list.push_back(std::move(item));
  }
  json sizes = json::object();
  for (const auto& [size, id] : ids) sizes[std::to_string(size)] = id;
  return {{"schema", 1},
          {"ranks", ranks},
          {"host", printable(author.host)},
          {"build", author.build},
          {"run_seconds", run_seconds()},
          {"reproducible", Config::instance().text("ESPALIER_REPRODUCIBLE")},
          {"communicators", communicators},
          {"allocated", {{"blocks", counts.allocated.blocks}, {"reads", counts.allocated.reads}}},
          {"trees", describe(counts.trees)},
          {"rows", list},
          {"sites", sites::describe(counts.sites, sizes)}};
}

/// The file for the statistics; empty: they are printed.
std::string target_file() {
  const std::string& target = Config::instance().text("ESPALIER_STATS");
  return is_on(target) || is_off(target) ? "" : target;
}

void write(const json& result) {
  const std::string target = target_file();
  if (target.empty()) return print_table(result);
  if (write_file(target, result.dump(1) + '\n')) return;
  print_to(stderr, "espalier: cannot write the statistics to {} (ESPALIER_STATS); here they are\n",
           printable(target));
  print_table(result);
}

}  // namespace

bool asked_for() noexcept {
  const std::string& text = Config::instance().text("ESPALIER_STATS");
  return !text.empty() && !is_off(text);
}

void begin(const Author& author) {
  if (!enabled()) return;
  begun = std::chrono::steady_clock::now();
  sites::begin();
  const std::string target = target_file();
  if (!target.empty() && counters_file::open(target, author)) return early_end::hint_at(target, author);
  early_end::print_counts(author);
}

void end_early(const char* how) { early_end::tell(how); }

void report(const Bootstrap& world, const Author& author) {
  // ESPALIER_STATS is no agreed setting, and a rank that gathered alone would wait for ever.
  const std::vector<std::int32_t> wanted = exchange(world, std::int32_t{enabled()});
  if (std::count(wanted.begin(), wanted.end(), 0) == world.size) return;
  const json result = describe(gather_counts(world), author, world.size);
  if (world.rank == 0) write(result);
  exchange(world, std::int32_t{0});  // the ranks' own files stay until the report is written
  early_end::dismiss();
  counters_file::remove();
}

}  // namespace espalier::runtime::statistics
