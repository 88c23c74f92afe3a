#include "runtime/statistics.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "base/config.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "memory/peer_heaps.hpp"
#include "memory/shared_heap.hpp"
#include "runtime/recorder.hpp"

namespace espalier::runtime::statistics {
namespace {

using nlohmann::json;

// One line of the table: a communicator shape, a collective, a size class, and what served it.
struct Key {
  int communicator_size;
  int collective;
  int size_class;  // bit width of the bytes
  std::string algorithm;
  std::string transport;
  std::string fallback;     // empty: Espalier did it
  std::string passed_over;  // why aggregation nodes did not; empty: nothing to say
  auto operator<=>(const Key&) const = default;
};

struct Row {
  double calls = 0;  // by ranks; a collective counts once for each of its ranks
  double seconds = 0;
  machine::WaitCounts wait;
};

// Shared by all communicators and threads of the process; only touched when statistics are on.
struct Rows {
  std::mutex mutex;
  std::map<Key, Row> rows;
};

const char* carrier_name(Carrier carrier) {
  if (carrier == Carrier::aggregation_nodes) return "shared memory and aggregation nodes";
  return carrier == Carrier::messages ? "shared memory and messages" : "shared memory";
}

std::string algorithm_name(const Call& call) {
  return std::string(call.persistent ? "persistent" : plan::to_string(call.algorithm));
}

Rows& rows() {
  static Rows* all = new Rows;  // never destroyed: threads may still be in a collective at exit
  return *all;
}

json pack(const std::map<Key, Row>& table) {
  json list = json::array();
  for (const auto& [key, row] : table)
    list.push_back({key.communicator_size, key.collective, key.size_class, key.algorithm, key.transport,
                    key.fallback, key.passed_over, row.calls, row.seconds, row.wait.spin, row.wait.poke,
                    row.wait.yield, row.wait.sleep});
  return list;
}

void add(std::map<Key, Row>& table, const json& list) {
  for (const json& item : list) {
    Row& row = table[{item[0], item[1], item[2], item[3], item[4], item[5], item[6]}];
    row.calls += item[7].get<double>();
    row.seconds += item[8].get<double>();
    row.wait.spin += item[9].get<std::uint64_t>();
    row.wait.poke += item[10].get<std::uint64_t>();
    row.wait.yield += item[11].get<std::uint64_t>();
    row.wait.sleep += item[12].get<std::uint64_t>();
  }
}

// Of memory that MPI_Alloc_mem has handed out in pages that the ranks of a node can map.
struct Allocated {
  std::uint64_t blocks = 0;
  std::uint64_t reads = 0;  // of data where they lie
};

// What all ranks have counted.
struct Counts {
  std::map<Key, Row> rows;
  Allocated allocated;
};

Counts gather_counts(const Bootstrap& world) {
  std::string mine;
  {
    const std::lock_guard lock(rows().mutex);
    mine = json{{"rows", pack(rows().rows)},
                {"blocks", memory::SharedHeap::blocks()},
                {"reads", memory::peer_heaps::reads()}}
               .dump();
  }
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
    add(counts.rows, item["rows"]);
    counts.allocated.blocks += item["blocks"].get<std::uint64_t>();
    counts.allocated.reads += item["reads"].get<std::uint64_t>();
  }
  return counts;
}

json describe(const Key& key, const Row& row) {
  const std::size_t first = key.size_class == 0 ? 0 : std::size_t{1} << (key.size_class - 1);
  const std::size_t last = key.size_class == 0 ? 0 : first * 2 - 1;
  const double ranks = key.communicator_size;
  return {{"collective", collective_names[static_cast<std::size_t>(key.collective)]},
          {"bytes_from", first},
          {"bytes_to", last},
          {"calls", static_cast<std::uint64_t>(row.calls / ranks + 0.5)},
          {"seconds", row.seconds / ranks},
          {"algorithm", key.algorithm},
          {"transport", key.transport},
          {"wait",
           {{"spin", row.wait.spin},
            {"poke", row.wait.poke},
            {"yield", row.wait.yield},
            {"sleep", row.wait.sleep}}},
          {"fallback", key.fallback.empty() ? json() : json(key.fallback)},
          {"passed_over", key.passed_over.empty() ? json() : json(key.passed_over)}};
}

json describe(const Counts& counts, const std::string& host, const std::string& build, int ranks) {
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
  return {{"schema", 1},
          {"ranks", ranks},
          {"host", host},
          {"build", build},
          {"communicators", communicators},
          {"allocated", {{"blocks", counts.allocated.blocks}, {"reads", counts.allocated.reads}}},
          {"rows", list}};
}

std::string why_of(const json& row) {
  if (!row["fallback"].is_null()) return row["fallback"];
  return row["passed_over"].is_null() ? "" : row["passed_over"].get<std::string>();
}

void print(const json& report) {
  print_to(stderr, "espalier: what ran ({} ranks, {}, {} build)\n", report["ranks"].get<int>(),
           report["host"].get<std::string>(), report["build"].get<std::string>());
  print_to(stderr, "{:>6} {:<20} {:>19} {:>10} {:>12} {:<9} {:>10} {:>8} {:>8}  {}\n", "ranks", "collective",
           "bytes", "calls", "seconds", "algorithm", "poke", "yield", "sleep",
           "host because, or why not sharp");
  for (const json& row : report["rows"]) {
    const json& communicator = report["communicators"][row["communicator"].get<std::size_t>()];
    print_to(stderr, "{:>6} {:<20} {:>8} .. {:>7} {:>10} {:>12.6f} {:<9} {:>10} {:>8} {:>8}  {}\n",
             communicator["size"].get<int>(), row["collective"].get<std::string>(),
             print_bytes(row["bytes_from"].get<std::size_t>()), row["bytes_to"].get<std::size_t>(),
             row["calls"].get<std::uint64_t>(), row["seconds"].get<double>(),
             row["algorithm"].get<std::string>(), row["wait"]["poke"].get<std::uint64_t>(),
             row["wait"]["yield"].get<std::uint64_t>(), row["wait"]["sleep"].get<std::uint64_t>(),
             why_of(row));
  }
  const json& allocated = report["allocated"];
  if (allocated["blocks"].get<std::uint64_t>() > 0)
    print_to(stderr,
             "blocks of MPI_Alloc_mem that ranks can map: {}; reads of data where they lie there: {}\n",
             allocated["blocks"].get<std::uint64_t>(), allocated["reads"].get<std::uint64_t>());
}

}  // namespace

bool asked_for() noexcept {
  const std::string& text = Config::instance().text("ESPALIER_STATS");
  return !text.empty() && !is_off(text);
}

void record_host(Collective collective, std::size_t bytes, int communicator_size, const std::string& why) {
  if (!enabled()) return;
  const std::lock_guard lock(rows().mutex);
  rows()
      .rows[{communicator_size, static_cast<int>(collective), static_cast<int>(std::bit_width(bytes)), "host",
             "host", why, ""}]
      .calls += 1;
}

void Recorder::start(const Call& call, const machine::Waiter& waiter) {
  running_.emplace(Running{call, waiter, waiter.counts(), std::chrono::steady_clock::now()});
}

void Recorder::stop() {
  const Call& call = running_->call;
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - running_->start;
  const machine::WaitCounts &before = running_->before, &now = running_->waiter.counts();
  const std::lock_guard lock(rows().mutex);
  Row& row = rows().rows[{call.communicator_size, static_cast<int>(call.collective),
                          static_cast<int>(std::bit_width(call.bytes)), algorithm_name(call),
                          carrier_name(call.carrier), "", call.passed_over ? *call.passed_over : ""}];
  row.calls += 1;
  row.seconds += time.count();
  row.wait.spin += now.spin - before.spin;
  row.wait.poke += now.poke - before.poke;
  row.wait.yield += now.yield - before.yield;
  row.wait.sleep += now.sleep - before.sleep;
}

void report(const Bootstrap& world, const std::string& host, const std::string& build) {
  // The key is not agreed before, and a rank that gathered alone would hang.
  const std::int32_t wanted = enabled();
  std::vector<std::int32_t> all(static_cast<std::size_t>(world.size));
  world.allgather(&wanted, all.data(), sizeof wanted);
  if (std::count(all.begin(), all.end(), 0) == world.size) return;
  const json result = describe(gather_counts(world), host, build, world.size);
  if (world.rank != 0) return;
  const std::string& target = Config::instance().text("ESPALIER_STATS");
  if (target.empty() || is_on(target) || is_off(target)) return print(result);
  if (write_file(target, result.dump(1) + '\n')) return;
  print_to(stderr, "espalier: cannot write the statistics to {} (ESPALIER_STATS); here they are\n", target);
  print(result);
}

}  // namespace espalier::runtime::statistics
