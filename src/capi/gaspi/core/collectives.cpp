// Barriers and reductions of groups.
#include <algorithm>
#include <iterator>

#include "capi/gaspi/core/group_exchange.hpp"
#include "capi/gaspi/core/layer.hpp"

using namespace espalier::capi::gaspi;

namespace {

template <class T>
void fold(gaspi_operation_t operation, T* into, const T* from, gaspi_number_t num) {
  for (gaspi_number_t i = 0; i < num; ++i)
    into[i] = operation == GASPI_OP_MIN   ? std::min(into[i], from[i])
              : operation == GASPI_OP_MAX ? std::max(into[i], from[i])
                                          : static_cast<T>(into[i] + from[i]);
}

template <class T>
Fold fold_of(gaspi_operation_t operation, gaspi_number_t num) {
  return [=](void* into, const void* from) {
    fold(operation, static_cast<T*>(into), static_cast<const T*>(from), num);
  };
}

struct Reduction {
  std::size_t element;
  Fold fold;
};

Reduction reduction_of(gaspi_datatype_t type, gaspi_operation_t operation, gaspi_number_t num) {
  if (operation < GASPI_OP_MIN || operation > GASPI_OP_SUM)
    throw Failure(GASPI_ERR_INV_NUM, "there is no operation " + std::to_string(operation));
  switch (type) {
    case GASPI_TYPE_INT:
      return {sizeof(int), fold_of<int>(operation, num)};
    case GASPI_TYPE_UINT:
      return {sizeof(unsigned), fold_of<unsigned>(operation, num)};
    case GASPI_TYPE_FLOAT:
      return {sizeof(float), fold_of<float>(operation, num)};
    case GASPI_TYPE_DOUBLE:
      return {sizeof(double), fold_of<double>(operation, num)};
    case GASPI_TYPE_LONG:
      return {sizeof(long), fold_of<long>(operation, num)};
    case GASPI_TYPE_ULONG:
      return {sizeof(unsigned long), fold_of<unsigned long>(operation, num)};
  }
  throw Failure(GASPI_ERR_INV_NUM, "there is no type " + std::to_string(type));
}

void check_block(const void* send, const void* receive, gaspi_number_t num, std::size_t element) {
  if (num < 1 || num > most_elements || element == 0 || element > longest_block / num)
    throw Failure(GASPI_ERR_INV_NUM, std::to_string(num) + " elements of " + std::to_string(element) +
                                         " bytes: 1 to 255 elements and 2,040 bytes are allowed");
  if (!send || !receive) throw Failure(GASPI_ERR_NULLPTR, "a buffer is NULL");
}

}  // namespace

extern "C" {

gaspi_return_t gaspi_barrier(gaspi_group_t group, gaspi_timeout_t timeout) {
  return locked_until(__func__, timeout, [&](const Deadline& deadline) {
    layer.committed_group(group);
    fold_over(group, call_kind(Call::barrier), nullptr, nullptr, 0, {}, deadline);
  });
}

gaspi_return_t gaspi_allreduce(gaspi_const_pointer_t send, gaspi_pointer_t receive, gaspi_number_t num,
                               gaspi_operation_t operation, gaspi_datatype_t type, gaspi_group_t group,
                               gaspi_timeout_t timeout) {
  return locked_until(__func__, timeout, [&](const Deadline& deadline) {
    layer.committed_group(group);
    const Reduction reduction = reduction_of(type, operation, num);
    check_block(send, receive, num, reduction.element);
    fold_over(group, call_kind(Call::allreduce, num, type, operation), send, receive, num * reduction.element,
              reduction.fold, deadline);
  });
}

gaspi_return_t gaspi_allreduce_user(gaspi_const_pointer_t send, gaspi_pointer_t receive, gaspi_number_t num,
                                    gaspi_size_t elem_size, gaspi_reduce_operation_t operation,
                                    gaspi_reduce_state_t state, gaspi_group_t group,
                                    gaspi_timeout_t timeout) {
  return locked_until(__func__, timeout, [&](const Deadline& deadline) {
    layer.committed_group(group);
    check_block(send, receive, num, elem_size);
    if (!operation) throw Failure(GASPI_ERR_NULLPTR, "the operation is NULL");
    const Fold fold = [&](void* into, const void* from) {
      if (operation(into, from, into, state, num, elem_size, timeout) != GASPI_SUCCESS)
        throw Failure(GASPI_ERROR, "the program's operation failed");
    };
    fold_over(group, call_kind(Call::allreduce_user, num), send, receive, num * elem_size, fold, deadline);
  });
}

gaspi_return_t gaspi_allreduce_elem_max(gaspi_number_t* most) {
  return guarded(__func__, [&] {
    check_place(most);
    *most = most_elements;
  });
}

gaspi_return_t gaspi_allreduce_buf_size(gaspi_size_t* bytes) {
  return guarded(__func__, [&] {
    check_place(bytes);
    *bytes = longest_block;
  });
}

}  // extern "C"
