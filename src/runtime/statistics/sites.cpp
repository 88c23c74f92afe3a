#include "runtime/statistics/sites.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/config.hpp"
#include "base/numbers.hpp"
#include "base/printable.hpp"
#include "base/ticks.hpp"
#include "runtime/statistics/stack.hpp"

namespace espalier::runtime::statistics::sites {

int frames = 0;

namespace {

using nlohmann::json;

/// A place in the program, by its return addresses, and the kind of call that was made there.
struct Site {
  std::array<void*, most_frames> addresses{};
  std::uint8_t collective = 0, size_class = 0, by_host = 0;
  std::int32_t communicator_size = 0;
  auto operator<=>(const Site&) const = default;
};

struct Counts {
  std::uint64_t calls = 0, ticks = 0;
};

std::mutex mutex;                                               // of what follows
std::map<Site, Counts>& counted = *new std::map<Site, Counts>;  // never destroyed, as the rows

Counts& counts_of(Site site) {
  const auto known = counted.find(site);
  if (known != counted.end()) return known->second;
  if (counted.size() >= most_sites) site.addresses = {};
  return counted[site];
}

json place(void* address) {
  const stack::Place found = stack::place_of(address);
  return {printable(found.file), found.address, printable(found.symbol)};
}

}  // namespace

void begin() {
  const int asked = parse_number<int>(Config::instance().text("ESPALIER_STATS_SITES")).value_or(0);
  frames = std::clamp(asked, 0, most_frames);
}

void count(const Row& row, std::uint64_t ticks) {
  Site site{.collective = row.collective,
            .size_class = row.size_class,
            .by_host = row.by_host,
            .communicator_size = row.communicator_size};
  stack::walk(site.addresses.data(), frames);
  const std::lock_guard lock(mutex);
  Counts& counts = counts_of(site);
  counts.calls += 1;
  counts.ticks += ticks;
}

json pack() {
  const std::lock_guard lock(mutex);
  json list = json::array();
  for (const auto& [site, counts] : counted) {
    json places = json::array();
    for (void* address : site.addresses)
      if (address) places.push_back(place(address));
    const json key = {std::move(places), site.collective, site.size_class, site.communicator_size,
                      site.by_host};
    list.push_back({key, counts.calls, static_cast<double>(counts.ticks) * ticks::seconds_per_tick()});
  }
  return list;
}

void add(json& sums, const json& list) {
  for (const json& item : list) {
    json& sum = sums[item[0].dump()];
    if (sum.is_null())
      sum = {{"key", item[0]}, {"calls", 0}, {"ranks", 0}, {"seconds", 0.0}, {"slowest", 0.0}};
    const double seconds = item[2];
    sum["calls"] = sum["calls"].get<std::uint64_t>() + item[1].get<std::uint64_t>();
    sum["ranks"] = sum["ranks"].get<int>() + 1;
    sum["seconds"] = sum["seconds"].get<double>() + seconds;
    sum["slowest"] = std::max(sum["slowest"].get<double>(), seconds);
  }
}

json describe(const json& sums, const json& ids) {
  std::vector<const json*> order;
  for (const json& sum : sums) order.push_back(&sum);
  std::stable_sort(order.begin(), order.end(), [](const json* a, const json* b) {
    return (*a)["slowest"].get<double>() > (*b)["slowest"].get<double>();
  });
  json list = json::array();
  for (const json* sum : order) {
    const json& key = (*sum)["key"];
    json places = json::array();
    for (const json& place : key[0])
      places.push_back({{"file", place[0]}, {"address", place[1]}, {"symbol", place[2]}});
    const int ranks = (*sum)["ranks"];
    list.push_back({{"frames", places},
                    {"communicator", ids.at(std::to_string(key[3].get<int>()))},
                    {"collective", collective_names[key[1].get<std::size_t>()]},
                    {"bytes_from", first_bytes(key[2])},
                    {"bytes_to", last_bytes(key[2])},
                    {"by_host", key[4] != 0},
                    {"ranks", ranks},
                    {"calls", (*sum)["calls"]},
                    {"mean_seconds", (*sum)["seconds"].get<double>() / ranks},
                    {"slowest_seconds", (*sum)["slowest"]}});
  }
  return list;
}

}  // namespace espalier::runtime::statistics::sites
