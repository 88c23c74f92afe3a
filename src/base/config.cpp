#include "base/config.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "base/config_keys.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/hash.hpp"
#include "base/numbers.hpp"

namespace espalier {
namespace {

const ConfigKey* find_key(std::string_view name) {
  for (const ConfigKey& key : config_keys)
    if (key.name == name) return &key;
  return nullptr;
}

/// Of a key that has another name now; else nullptr.
const FormerKey* find_former_key(std::string_view name) {
  for (const FormerKey& key : former_keys)
    if (key.name == name) return &key;
  return nullptr;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string_view nearest_key(std::string_view name) {
  const auto closer = [name](const ConfigKey& a, const ConfigKey& b) {
    return edit_distance(a.name, name) < edit_distance(b.name, name);
  };
  return std::min_element(config_keys.begin(), config_keys.end(), closer)->name;
}

std::string trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return result;
}

// Names that are the test-suite's, or those by which `espalier run -n` tells ranks their places, and start alike.
bool is_foreign(std::string_view name) {
  return name.starts_with("ESPALIER_TEST_") || name.starts_with("ESPALIER_RUN_");
}

}  // namespace

bool is_on(std::string_view text) {
  const std::string word = lower(text);
  return word == "on" || word == "1" || word == "yes" || word == "true";
}

bool is_off(std::string_view text) {
  const std::string word = lower(text);
  return word == "off" || word == "0" || word == "no" || word == "false";
}

const Config& Config::instance() {
  // Never destroyed: destructors of the program's static objects may still call MPI.
  static const Config& config = *new Config(has_more_rights_than_user() ? nullptr : environ);
  return config;
}

Config::Config(const char* const* environment) {
  for (const ConfigKey& key : config_keys) values_.push_back({&key, std::string(key.fallback), "default"});
  std::vector<std::pair<std::string, std::string>> found;
  for (; environment && *environment; ++environment) {
    const std::string_view entry = *environment;
    const auto equals = entry.find('=');
    if (equals == std::string_view::npos || !entry.starts_with("ESPALIER")) continue;
    const std::string_view name = entry.substr(0, equals);
    if (name != "ESPALIER" && !name.starts_with("ESPALIER_")) continue;
    found.emplace_back(name, entry.substr(equals + 1));
  }
  for (const auto& [name, text] : found)
    if (name == "ESPALIER_CONFIG") read_file(text);
  // Where a key is given by both of its names, the one of today wins.
  std::stable_partition(found.begin(), found.end(),
                        [](const auto& entry) { return find_former_key(entry.first); });
  for (const auto& [name, text] : found) set(name, text, "environment");
  check_values();
}

void Config::set(std::string_view name, std::string_view text, std::string origin) {
  if (is_foreign(name)) return;
  if (const FormerKey* former = find_former_key(name)) {
    warnings_.push_back(formatted("{} ({}) is {} now; the old name will go with the next version", name,
                                  origin, former->now));
    name = former->now;
  }
  const ConfigKey* key = find_key(name);
  if (!key) {
    warnings_.push_back(formatted(
        "unknown key {} ({}) is ignored; did you mean {}? `espalier explain --config` lists all keys", name,
        origin, nearest_key(name)));
    return;
  }
  ConfigValue& value = values_[static_cast<std::size_t>(key - config_keys.data())];
  value.text = trim(text);
  value.origin = std::move(origin);
}

void Config::read_file(const std::string& path) {
  if (path.empty()) return;
  std::string why;
  const auto file = espalier::read_file(path, why);
  if (!file) {
    warnings_.push_back(
        formatted("ESPALIER_CONFIG: cannot read {}: {}; its settings are ignored", path, why));
    return;
  }
  std::istringstream lines(*file);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string text = trim(line);
    if (text.empty() || text[0] == '#') continue;
    const std::string origin = formatted("{}:{}", path, number);
    const auto equals = text.find('=');
    if (equals == std::string::npos)
      warnings_.push_back(formatted("{}: \"{}\" is not KEY=VALUE; the line is ignored", origin, text));
    else
      set(trim(text.substr(0, equals)), text.substr(equals + 1), origin);
  }
}

void Config::check_values() {
  const auto reject = [this](ConfigValue& value, const std::string& allowed) {
    warnings_.push_back(formatted("{}={} ({}) is not {}; the default \"{}\" is used", value.key->name,
                                  value.text, value.origin, allowed, value.key->fallback));
    value.text = value.key->fallback;
    value.origin = "default";
  };
  const auto is_one_of = [](std::string_view text, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
  };
  const auto is_number_from_one = [](std::string_view text) {
    return parse_number<int>(text).value_or(0) >= 1;
  };
  for (ConfigValue& value : values_) {
    const std::string_view name = value.key->name;
    if (value.text == value.key->fallback) continue;
    const bool may_be_all = name == "ESPALIER_GUARD";
    if (name == "ESPALIER_PROGRESS") {
      if (!is_off(value.text) && value.text != "thread") reject(value, "off or thread");
    } else if ((is_on(value.key->fallback) || is_off(value.key->fallback)) && !is_on(value.text) &&
               !is_off(value.text) && !(may_be_all && value.text == "all")) {
      reject(value, may_be_all ? "on, all or off" : "on or off");
    } else if (name == "ESPALIER_FALLBACK" && !is_one_of(value.text, {"error", "warn", "silent"})) {
      reject(value, "error, warn or silent");
    } else if (name == "ESPALIER_STATS_SITES" && !is_off(value.text) &&
               parse_number<int>(value.text).value_or(9) > 8) {
      reject(value, "a number up to 8");
    } else if (name == "ESPALIER_SETUP" && !is_one_of(value.text, {"auto", "agree"})) {
      reject(value, "auto or agree");
    } else if (name == "ESPALIER_REPRODUCIBLE" && !is_one_of(value.text, {"run", "placement", "exact"})) {
      reject(value, "run, placement or exact");
    } else if (name == "ESPALIER_WAIT" && !is_one_of(value.text, {"auto", "spin", "yield", "sleep"})) {
      reject(value, "auto, spin, yield or sleep");
    } else if (is_one_of(name, {"ESPALIER_STREAMING", "ESPALIER_NONBLOCKING"}) && value.text != "auto" &&
               !is_on(value.text) && !is_off(value.text)) {
      reject(value, "auto, on or off");
    } else if (name == "ESPALIER_NODE_STAGE" && !is_one_of(value.text, {"shared", "p2p"})) {
      reject(value, "shared or p2p");
    } else if (name == "ESPALIER_WINDOW_TRANSPORT" &&
               !is_one_of(value.text, {"auto", "message", "rma", "notify"})) {
      reject(value, "auto, message, rma or notify");
    } else if (name == "ESPALIER_SHARP_LEADERS" && !is_one_of(value.text, {"node", "socket"})) {
      reject(value, "node or socket");
    } else if (is_one_of(name, {"ESPALIER_SHARP_CALLS", "ESPALIER_SHARP_TIMEOUT"}) && value.text != "0" &&
               !is_number_from_one(value.text)) {
      reject(value, "a number from 0 on");
    } else if (name == "ESPALIER_LEADERS" && !value.text.empty() && value.text != "all" &&
               !is_number_from_one(value.text)) {
      reject(value, "a number from 1 on, or all");
    } else if (is_one_of(name, {"ESPALIER_SHM", "ESPALIER_ALLOC_KEEP", "ESPALIER_SLOT", "ESPALIER_CHUNK",
                                "ESPALIER_SLOTS", "ESPALIER_SEGMENT"})) {
      try {
        const std::size_t number = parse_bytes(value.text);
        if (name == "ESPALIER_SLOTS" && (number < 1 || number > 64)) reject(value, "a number from 1 to 64");
        // An end, so that ranks x slots x bytes cannot overflow.
        if (name == "ESPALIER_SLOT" && (number < 1024 || number > (std::size_t{1} << 30)))
          reject(value, "from 1KiB to 1GiB");
        if (name == "ESPALIER_CHUNK" && number < 64) reject(value, "at least 64 bytes");
        // No message between nodes is longer (network::Transport::longest).
        if (name == "ESPALIER_SEGMENT" && (number < 64 || number > (std::size_t{1} << 30)))
          reject(value, "from 64 bytes to 1GiB");
      } catch (const Error&) {
        reject(value, "a number of bytes such as 4096, 64KiB or 2M");
      }
    }
  }
}

const ConfigValue& Config::value(std::string_view name) const {
  const ConfigKey* key = find_key(name);
  if (!key) throw Error(formatted("configuration key {} does not exist", name));
  return values_[static_cast<std::size_t>(key - config_keys.data())];
}

bool Config::flag(std::string_view key) const { return is_on(text(key)); }

std::size_t Config::bytes(std::string_view key) const { return parse_bytes(text(key)); }

std::uint64_t Config::agreement() const {
  std::uint64_t all = hash_seed;
  for (const ConfigValue& value : values_)
    if (value.key->agreed) all = hash(value.text + '\n', all);
  return all;
}

std::size_t parse_bytes(std::string_view text) {
  const std::string whole = trim(text);
  double number = 0;
  const auto [end, status] = std::from_chars(whole.data(), whole.data() + whole.size(), number);
  const std::string unit = lower(trim({end, static_cast<std::size_t>(whole.data() + whole.size() - end)}));
  static constexpr std::string_view prefixes = "kmgt";
  double factor = 1;
  if (!unit.empty() && unit != "b") {
    const auto power = prefixes.find(unit[0]);
    const std::string_view rest = std::string_view(unit).substr(1);
    if (power == std::string_view::npos || (!rest.empty() && rest != "b" && rest != "ib"))
      factor = 0;
    else
      factor = std::pow(1024.0, static_cast<double>(power) + 1);
  }
  if (status != std::errc() || factor == 0 || !(number >= 0) || number * factor > 9e18)
    throw Error(formatted("\"{}\" is not a number of bytes; write it as 4096, 64KiB or 2M", text));
  return static_cast<std::size_t>(number * factor);
}

std::string print_bytes(std::size_t bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int power = 0;
  std::size_t value = bytes;
  for (; power < 4 && value >= 1024 && value % 1024 == 0; ++power) value /= 1024;
  return power == 0 ? formatted("{}", bytes) : formatted("{}{}", value, units[power]);
}

}  // namespace espalier
