// Fault injection, for tests of what a job does when aggregation nodes fail (ESPALIER_SHARP_FAULTS).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace espalier::sharp {

/// The calls of the library that can fail: to initialise, to make a group, to begin an operation.
enum class Point : std::uint8_t { init, group, operation };

struct Fault {
  enum class Action : std::uint8_t {
    code,   ///< the call returns `value` at once
    late,   ///< the call succeeds, the operation ends with the code `value`
    drop,   ///< the connection to the aggregation node ends
    delay,  ///< the operation takes `value` microseconds longer
  };
  Point point;
  std::uint64_t number = 0;           ///< which of these calls, from 1; 0: every one
  std::optional<std::uint32_t> rank;  ///< in the job (init) or in the group; none: all ranks
  Action action = Action::code;
  std::int64_t value = 0;
};

class Faults {
 public:
  Faults() = default;
  /// "init=-7", "group.2=-18", "operation.5@1=drop", "operation=delay:500", "operation.3=late:-1", with
  /// commas between: point, number, rank and action. Throws Error for what is none of these.
  explicit Faults(std::string_view text);
  /// The fault of call `number`, from 1, on this rank; nothing if it has none.
  std::optional<Fault> at(Point point, std::uint64_t number, std::uint32_t rank) const;

 private:
  std::vector<Fault> faults_;
};

}  // namespace espalier::sharp
