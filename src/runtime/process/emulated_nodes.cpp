#include "runtime/process/emulated_nodes.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"

namespace espalier::runtime {
namespace {

[[noreturn]] void fail(std::string_view text) {
  throw Error(
      formatted("ESPALIER_NODES={} is not a number of nodes such as 4 or 4:cyclic, nor the sizes of "
                "nodes such as 3+1+3",
                text));
}

int number(std::string_view word, std::string_view text) {
  const std::optional<int> result = parse_number<int>(word);
  if (!result || *result < 1) fail(text);
  return *result;
}

std::vector<int> numbers(std::string_view text) {
  std::vector<int> result;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t plus = std::min(text.find('+', first), text.size());
    result.push_back(number(text.substr(first, plus - first), text));
    first = plus + 1;
  }
  return result;
}

// The place of a process among sizes that repeat.
int node_by_sizes(const std::vector<int>& sizes, int process) {
  const long round = std::accumulate(sizes.begin(), sizes.end(), 0L);  // sizes may fill an int each
  long node = process / round * static_cast<long>(sizes.size());
  long left = process % round;
  for (std::size_t i = 0; left >= sizes[i]; left -= sizes[i++]) ++node;
  return static_cast<int>(node);
}

}  // namespace

int pretended_node(std::string_view text, int process, int processes) {
  constexpr std::string_view cyclic = ":cyclic";
  if (text.empty()) return 0;
  if (text.ends_with(cyclic)) return process % number(text.substr(0, text.size() - cyclic.size()), text);
  if (text.find('+') != std::string_view::npos) return node_by_sizes(numbers(text), process);
  return static_cast<int>(static_cast<long>(process) * number(text, text) / processes);
}

}  // namespace espalier::runtime
