#include "reduce/reproducible.hpp"

#include <array>

#include "reduce/isa.hpp"

namespace espalier::reduce {
namespace {

constexpr std::array<std::string_view, 3> names = {"run", "placement", "exact"};

// Of the kernels of exact sums; -1: there is none.
int exact_index(Type type) noexcept {
  switch (type) {
    case Type::float32:
      return 0;
    case Type::float64:
      return 1;
    case Type::complex64:
      return 2;
    case Type::complex128:
      return 3;
    default:
      return -1;
  }
}

Operation reproducible(const Operation& plain, Reproducibility level) noexcept {
  Operation made = plain;
  made.at_once = !folds_in_any_order(plain);
  if (is_exact(plain.op, plain.type, level))
    made.kernel = detail::table(detail::best_isa())->exact_sums[exact_index(plain.type)];
  return made;
}

struct Operations {
  explicit Operations(Reproducibility level) noexcept {
    for (std::size_t op = 0; op < op_count; ++op)
      for (std::size_t type = 0; type < type_count; ++type)
        if (const Operation* plain = find(static_cast<Op>(op), static_cast<Type>(type)))
          of[op][type] = reproducible(*plain, level);
  }
  Operation of[op_count][type_count];
};

}  // namespace

std::string_view to_string(Reproducibility level) noexcept { return names[static_cast<std::size_t>(level)]; }

std::string_view promise(Reproducibility level) noexcept {
  switch (level) {
    case Reproducibility::placement:
      return "operands are folded in rank order, at once (ESPALIER_REPRODUCIBLE=placement)";
    case Reproducibility::exact:
      return "operands are folded at once, in rank order, and sums of float, double and their complex "
             "numbers are "
             "rounded once (ESPALIER_REPRODUCIBLE=exact)";
    default:
      return "";
  }
}

std::optional<Reproducibility> parse_reproducibility(std::string_view name) noexcept {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<Reproducibility>(i);
  return std::nullopt;
}

Reproducibility reproducibility(const Config& config) {
  return parse_reproducibility(config.text("ESPALIER_REPRODUCIBLE")).value_or(Reproducibility::run);
}

bool is_exact(Op op, Type type, Reproducibility level) noexcept {
  return level == Reproducibility::exact && op == Op::sum && exact_index(type) >= 0;
}

const Operation* find(Op op, Type type, Reproducibility level) noexcept {
  if (level == Reproducibility::run) return find(op, type);
  if (op >= Op::none || type >= Type::none) return nullptr;
  static const Operations placement(Reproducibility::placement), exact(Reproducibility::exact);
  const Operations& all = level == Reproducibility::exact ? exact : placement;
  const Operation& operation = all.of[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)];
  return operation.kernel ? &operation : nullptr;
}

}  // namespace espalier::reduce
