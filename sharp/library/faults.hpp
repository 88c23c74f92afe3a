// Faults on demand: what the tests of a job's fall-backs need (ESPALIER_SHARP_FAULTS).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace espalier::sharp {

enum class Point : std::uint8_t { init, group, operation };

struct Fault {
  enum class Action : std::uint8_t {
    code,   ///< the call returns it at once
    late,   ///< the call succeeds, the operation ends with it
    drop,   ///< the connection to the aggregation node ends
    delay,  ///< the operation takes so many microseconds longer
  };
  Point point;
  std::uint64_t number = 0;           ///< which, from 1; 0: every one
  std::optional<std::uint32_t> rank;  ///< of the job (init) or the group; none: all
  Action action = Action::code;
  std::int64_t value = 0;
};

class Faults {
 public:
  Faults() = default;
  /// "init=-7", "group.2=-18", "operation.5@1=drop", "operation=delay:500", "operation.3=late:-1", with
  /// commas between. Throws Error for what is none of these.
  explicit Faults(std::string_view text);
  std::optional<Fault> at(Point point, std::uint64_t number, std::uint32_t rank) const;

 private:
  std::vector<Fault> faults_;
};

}  // namespace espalier::sharp
