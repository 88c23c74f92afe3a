// Reads which switches lead to a node, from a file or from Slurm's environment.
#include "topology/switches.hpp"

#include <limits.h>
#include <unistd.h>

#include <map>
#include <sstream>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"

namespace espalier::topology {
namespace {

/// The switch above each node and switch of the description, by name.
std::map<std::string, std::string> read(std::string_view description, const std::string& file) {
  std::map<std::string, std::string> above;
  std::istringstream lines{std::string(description)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name, below;
    if (!(words >> name)) continue;
    if (name.size() < 2 || name.back() != ':')
      throw Error(formatted("{}:{}: \"{}\" is not SWITCH: NODE NODE ...", file, number, line));
    name.pop_back();
    while (words >> below)
      if (const auto [entry, is_new] = above.try_emplace(below, name); !is_new)
        throw Error(formatted("{}:{}: {} hangs on {} and on {}", file, number, below, entry->second, name));
  }
  return above;
}

std::string environment(const char* name) {
  const char* value = variable(name);
  return value ? value : "";
}

}  // namespace

std::string switches_above(std::string_view node, std::string_view description, const std::string& file) {
  const auto above = read(description, file);
  std::string path;
  std::size_t steps = 0;
  for (auto next = above.find(std::string(node)); next != above.end(); next = above.find(next->second)) {
    if (++steps > above.size()) throw Error(formatted("{}: {} hangs on itself", file, next->second));
    path = path.empty() ? next->second : next->second + "." + path;
  }
  return path;
}

std::string switches_of_slurm(std::string_view address, std::string_view pattern) {
  const std::size_t last = address.rfind('.');
  const bool is_tree = pattern.starts_with("switch") && pattern.ends_with("node");
  return is_tree && last != std::string_view::npos ? std::string(address.substr(0, last)) : "";
}

std::string switches_above_here(const std::string& file) {
  if (file.empty())
    return switches_of_slurm(environment("SLURM_TOPOLOGY_ADDR"), environment("SLURM_TOPOLOGY_ADDR_PATTERN"));
  std::string why;
  const auto text = read_file(file, why);
  if (!text)
    throw Error(formatted("cannot read {}, which is to say how the switches hang together: {}", file, why));
  char name[HOST_NAME_MAX + 1] = {};
  gethostname(name, HOST_NAME_MAX);
  return switches_above(name, *text, file);
}

}  // namespace espalier::topology
