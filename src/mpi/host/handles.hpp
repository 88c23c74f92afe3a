// Predefined datatypes and operators: from a handle to Espalier's own names by one look-up.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "mpi/abi/abi.hpp"
#include "reduce/operation.hpp"

namespace espalier::mpi {

/// What a predefined datatype is; a handle's size is asked of the host when the handle is first used, because
/// a host may know the name of a (Fortran) type and not have it.
enum class Kind : std::uint8_t {
  opaque,  ///< MPI defines no operator on it
  signed_integer,
  fortran_integer,  ///< MPI defines no logical operators on them
  unsigned_integer,
  floating,
  complex,
  logical,
  exact  ///< PredefinedType::exact says it
};

/// How a predefined operator on a predefined type is served.
enum class Service : std::uint8_t {
  unknown,
  by_kernel,
  by_host_function,  ///< by the host's MPI_Reduce_local, as a user-defined operator
  left_to_host       ///< which reports an error for the pair, or computes nothing
};

struct PredefinedType {
  Handle handle = 0;
  std::size_t size = 0;    ///< bytes of data, as MPI_Type_size
  std::size_t extent = 0;  ///< bytes from one element to the next
  bool dense = false;      ///< no padding between elements
  Kind kind = Kind::opaque;
  reduce::Type exact = reduce::Type::none;
  /// 0: not asked yet, 1: known, 2: the host does not have it. Stored with release after the other fields.
  std::atomic<int> state{0};
  /// By operator, Op::none included. Filled by complete() with the kernels for what MPI defines; others are
  /// found when a program asks for them (host_behaviour.hpp), and until then are nullptr and unknown.
  mutable std::array<std::atomic<const reduce::Operation*>, reduce::op_count + 1> operations{};
  mutable std::array<std::atomic<Service>, reduce::op_count + 1> services{};
};

/// A hash table with linear probing. build_handle_tables() fills it once, before any reader; then its slots
/// stay where they are.
template <class Value, int bits>
class HandleTable {
 public:
  static constexpr std::size_t capacity = std::size_t{1} << bits;

  Value* find(Handle handle) {
    for (std::size_t i = index(handle);; i = (i + 1) & (capacity - 1)) {
      if (slots_[i].handle == 0) return nullptr;
      if (slots_[i].handle == handle) return &slots_[i];
    }
  }
  /// The slot of a new handle; nullptr for handle 0 or one that is there already.
  Value* insert(Handle handle) {
    if (handle == 0 || used_ >= capacity / 2) return nullptr;
    std::size_t i = index(handle);
    for (; slots_[i].handle != 0; i = (i + 1) & (capacity - 1))
      if (slots_[i].handle == handle) return nullptr;
    slots_[i].handle = handle;
    ++used_;
    return &slots_[i];
  }

 private:
  /// Handles are small integers, integers with few varying bits, or addresses of equal spacing: multiply to
  /// spread them.
  static std::size_t index(Handle handle) { return (handle * 0x9E3779B97F4A7C15u) >> (64 - bits); }
  Value slots_[capacity];
  std::size_t used_ = 0;
};

struct PredefinedOp {
  Handle handle = 0;
  reduce::Op op = reduce::Op::none;  ///< none: MPI_REPLACE, MPI_NO_OP
};

extern HandleTable<PredefinedType, 9> predefined_types;
extern HandleTable<PredefinedOp, 7> predefined_ops;

/// nullptr: there is no kernel, or none is known yet.
inline const reduce::Operation* operation(const PredefinedType& type, const PredefinedOp& op) {
  // relaxed: what it points to is constant from the start.
  return type.operations[static_cast<std::size_t>(op.op)].load(std::memory_order_relaxed);
}

/// Types of MPI_Type_create_f90_real and its like are predefined without a name, and their handles are made
/// when a program asks. nullptr: the datatype is none of them, or MPI does not define the operator on it.
const reduce::Operation* operation_on_unnamed(MPI_Datatype datatype, const PredefinedOp& op);

/// Called once, by resolve().
void build_handle_tables();

/// Asks the host for a type's size; false if it does not have the type.
bool complete(PredefinedType& type);

/// nullptr: a derived datatype, or one that the host does not have.
inline const PredefinedType* predefined_type(MPI_Datatype datatype) {
  PredefinedType* type = predefined_types.find(wide(datatype));
  if (!type) return nullptr;
  // acquire: pairs with the release in complete(), which another thread may have run.
  const int state = type->state.load(std::memory_order_acquire);
  if (state == 1) [[likely]]
    return type;
  return state == 0 && complete(*type) ? type : nullptr;
}

/// nullptr: an operator that the user made.
inline const PredefinedOp* predefined_op(MPI_Op op) { return predefined_ops.find(wide(op)); }

}  // namespace espalier::mpi
