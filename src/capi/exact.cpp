// Sums of arrays without rounding, in the C API.
#include "reduce/arrays/exact_sums.hpp"

#include <cstring>
#include <vector>

#include "capi/checks.hpp"
#include "espalier/espalier_exact.h"
#include "reduce/names.hpp"

using namespace espalier::capi;
namespace exact = espalier::reduce::exact;
using espalier::reduce::Type;
using exact::Accumulator;

namespace {

static_assert(sizeof(espalier_exact) == sizeof(Accumulator));

// Theirs is an array of words, ours has names for them: they are the same bytes.
Accumulator load(const espalier_exact& from) {
  Accumulator sum;
  std::memcpy(&sum, &from, sizeof sum);
  return sum;
}
void store(espalier_exact& to, const Accumulator& sum) { std::memcpy(&to, &sum, sizeof sum); }

Type exact_type(espalier_type type) {
  const Type found = type_of(type);  // no setting is read: what is local needs none
  if (exact::parts_of(found) == 0)
    throw CodedError(ESPALIER_ERR_ARGUMENT, espalier::formatted("there are no exact sums of {}",
                                                                espalier::reduce::to_string(found)));
  return found;
}

void check_sum(const void* sum) {
  if (!sum) throw CodedError(ESPALIER_ERR_ARGUMENT, "the sum is NULL");
}

void add(Accumulator* sums, const void* values, std::size_t count, Type type) {
  check_buffer(values, count, "values");
  exact::add(sums, type, values, count);
}

void allreduce(Communicator& communicator, Accumulator* sums, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) exact::propagate(sums[i]);
  const auto& words = *espalier::reduce::find(espalier::reduce::Op::sum, Type::int64);
  check_done(communicator.allreduce(Communicator::in_place, sums, count * ESPALIER_EXACT_WORDS, words));
  for (std::size_t i = 0; i < count; ++i) exact::propagate(sums[i]);
}

void write(Type type, const Accumulator* sums, void* result) {
  for (int part = 0; part < exact::parts_of(type); ++part)
    if (type == Type::float32 || type == Type::complex64)
      static_cast<float*>(result)[part] = exact::to_float(sums[part]);
    else
      static_cast<double*>(result)[part] = exact::to_double(sums[part]);
}

}  // namespace

extern "C" {

int espalier_exact_add(espalier_exact* sums, const void* values, size_t count, espalier_type type) {
  return guarded([&] {
    check_sum(sums);
    const Type of = exact_type(type);
    Accumulator all[2];
    for (int part = 0; part < exact::parts_of(of); ++part) all[part] = load(sums[part]);
    add(all, values, count, of);
    for (int part = 0; part < exact::parts_of(of); ++part) store(sums[part], all[part]);
  });
}

int espalier_exact_merge(espalier_exact* sum, const espalier_exact* other) {
  return guarded([&] {
    check_sum(sum);
    check_sum(other);
    Accumulator all = load(*sum);
    exact::add(all, load(*other));
    store(*sum, all);
  });
}

int espalier_exact_normalise(espalier_exact* sum) {
  return guarded([&] {
    check_sum(sum);
    Accumulator all = load(*sum);
    exact::propagate(all);
    store(*sum, all);
  });
}

double espalier_exact_double(const espalier_exact* sum) { return sum ? exact::to_double(load(*sum)) : 0; }
float espalier_exact_float(const espalier_exact* sum) { return sum ? exact::to_float(load(*sum)) : 0; }

int espalier_exact_allreduce(espalier_comm* comm, espalier_exact* sums, size_t count) {
  return guarded([&] {
    Communicator& communicator = checked(comm);
    check_buffer(sums, count * sizeof(espalier_exact), "sums");
    std::vector<Accumulator> all(count);
    if (count > 0) std::memcpy(all.data(), sums, count * sizeof(Accumulator));
    allreduce(communicator, all.data(), count);
    if (count > 0) std::memcpy(sums, all.data(), count * sizeof(Accumulator));
  });
}

int espalier_exact_sum(espalier_comm* comm, const void* values, size_t count, espalier_type type,
                       void* result) {
  return guarded([&] {
    Communicator& communicator = checked(comm);
    const Type of = exact_type(type);
    check_buffer(result, 1, "result");
    Accumulator sums[2] = {};
    add(sums, values, count, of);
    allreduce(communicator, sums, static_cast<std::size_t>(exact::parts_of(of)));
    write(of, sums, result);
  });
}

}  // extern "C"
