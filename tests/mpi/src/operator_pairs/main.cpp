// Every predefined operator on every predefined type: what the host accepts gives the host's result, and what
// it rejects gives its error. The host is asked by PMPI_Allreduce, which Espalier does not see, and by
// MPI_Reduce_local. Prints a line for each type: operators that are served, `-` before those that the host
// rejects, `.` before those that it accepts and computes nothing for.
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

namespace {

struct Type {
  const char* name;
  MPI_Datatype handle;
};
struct Operator {
  const char* name;
  MPI_Op handle;
};

#define NAMED(name) {#name, name}
const std::vector<Operator> operators = {
    NAMED(MPI_MAX),    NAMED(MPI_MIN),    NAMED(MPI_SUM),     NAMED(MPI_PROD), NAMED(MPI_LAND),
    NAMED(MPI_LOR),    NAMED(MPI_LXOR),   NAMED(MPI_BAND),    NAMED(MPI_BOR),  NAMED(MPI_BXOR),
    NAMED(MPI_MAXLOC), NAMED(MPI_MINLOC), NAMED(MPI_REPLACE), NAMED(MPI_NO_OP)};

std::vector<Type> types() {
  std::vector<Type> all = {NAMED(MPI_CHAR),
                           NAMED(MPI_SIGNED_CHAR),
                           NAMED(MPI_UNSIGNED_CHAR),
                           NAMED(MPI_BYTE),
                           NAMED(MPI_WCHAR),
                           NAMED(MPI_PACKED),
                           NAMED(MPI_SHORT),
                           NAMED(MPI_UNSIGNED_SHORT),
                           NAMED(MPI_INT),
                           NAMED(MPI_UNSIGNED),
                           NAMED(MPI_LONG),
                           NAMED(MPI_UNSIGNED_LONG),
                           NAMED(MPI_LONG_LONG_INT),
                           NAMED(MPI_UNSIGNED_LONG_LONG),
                           NAMED(MPI_INT8_T),
                           NAMED(MPI_INT16_T),
                           NAMED(MPI_INT32_T),
                           NAMED(MPI_INT64_T),
                           NAMED(MPI_UINT8_T),
                           NAMED(MPI_UINT16_T),
                           NAMED(MPI_UINT32_T),
                           NAMED(MPI_UINT64_T),
                           NAMED(MPI_AINT),
                           NAMED(MPI_OFFSET),
                           NAMED(MPI_COUNT),
                           NAMED(MPI_FLOAT),
                           NAMED(MPI_DOUBLE),
                           NAMED(MPI_LONG_DOUBLE),
                           NAMED(MPI_C_BOOL),
                           NAMED(MPI_C_FLOAT_COMPLEX),
                           NAMED(MPI_C_DOUBLE_COMPLEX),
                           NAMED(MPI_C_LONG_DOUBLE_COMPLEX),
                           NAMED(MPI_CXX_BOOL),
                           NAMED(MPI_CXX_FLOAT_COMPLEX),
                           NAMED(MPI_CXX_DOUBLE_COMPLEX),
                           NAMED(MPI_CXX_LONG_DOUBLE_COMPLEX),
                           NAMED(MPI_FLOAT_INT),
                           NAMED(MPI_DOUBLE_INT),
                           NAMED(MPI_LONG_INT),
                           NAMED(MPI_2INT),
                           NAMED(MPI_SHORT_INT),
                           NAMED(MPI_LONG_DOUBLE_INT),
                           NAMED(MPI_2INTEGER),
                           NAMED(MPI_2REAL),
                           NAMED(MPI_2DOUBLE_PRECISION),
#ifdef MPI_2COMPLEX
                           NAMED(MPI_2COMPLEX),
#endif
#ifdef MPI_2DOUBLE_COMPLEX
                           NAMED(MPI_2DOUBLE_COMPLEX),
#endif
                           NAMED(MPI_CHARACTER),
                           NAMED(MPI_INTEGER),
                           NAMED(MPI_INTEGER1),
                           NAMED(MPI_INTEGER2),
                           NAMED(MPI_INTEGER4),
                           NAMED(MPI_INTEGER8),
                           NAMED(MPI_REAL),
                           NAMED(MPI_DOUBLE_PRECISION),
                           NAMED(MPI_REAL4),
                           NAMED(MPI_REAL8),
#ifdef MPI_INTEGER16
                           NAMED(MPI_INTEGER16),
#endif
#ifdef MPI_REAL2
                           NAMED(MPI_REAL2),
#endif
#ifdef MPI_REAL16
                           NAMED(MPI_REAL16),
#endif
                           NAMED(MPI_COMPLEX),
                           NAMED(MPI_DOUBLE_COMPLEX),
                           NAMED(MPI_COMPLEX8),
                           NAMED(MPI_COMPLEX16),
#ifdef MPI_COMPLEX4
                           NAMED(MPI_COMPLEX4),
#endif
#ifdef MPI_COMPLEX32
                           NAMED(MPI_COMPLEX32),
#endif
#ifdef MPI_LOGICAL1
                           NAMED(MPI_LOGICAL1),
                           NAMED(MPI_LOGICAL2),
                           NAMED(MPI_LOGICAL4),
                           NAMED(MPI_LOGICAL8),
#endif
#ifdef MPI_LOGICAL16
                           NAMED(MPI_LOGICAL16),
#endif
                           NAMED(MPI_LOGICAL)};
  MPI_Datatype type;
  if (MPI_Type_create_f90_real(6, 30, &type) == MPI_SUCCESS) all.push_back({"f90_real", type});
  if (MPI_Type_create_f90_complex(12, 100, &type) == MPI_SUCCESS) all.push_back({"f90_complex", type});
  if (MPI_Type_create_f90_integer(8, &type) == MPI_SUCCESS) all.push_back({"f90_integer", type});
  return all;
}

int rank, ranks, failures, served;
constexpr int elements = 40;

void quiet(MPI_Comm*, int*, ...) {}

int class_of(int code) {
  int value = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &value);
  return value;
}

bool has(const std::string& name, const char* part) { return name.find(part) != std::string::npos; }

/// Small integers in the element's low bytes, whatever the type makes of them: of floating types they are
/// tiny numbers, whose sums are exact. Negative ones only where no host takes them for large ones or for NaN,
/// and for what does not overflow.
std::vector<unsigned char> operand(const Type& type, const Operator& op, MPI_Aint extent, int who) {
  const std::string name = type.name, what = op.name;
  const bool arithmetic = what == "MPI_SUM" || what == "MPI_PROD";
  const bool truth = has(name, "BOOL") || (has(name, "LOGICAL") && what[4] == 'L');
  const bool text = has(name, "CHAR") && !has(name, "UNSIGNED");
  const bool negative =
      !arithmetic && (text || name == "MPI_INT" || name == "MPI_SHORT" || name == "MPI_INTEGER");
  std::vector<unsigned char> data(static_cast<std::size_t>(elements * extent));
  for (int i = 0; i < elements; ++i) {
    long value = (who * 7 + i * 3) % (truth ? 2 : what == "MPI_PROD" ? 3 : 6);
    if (negative && (who + i) % 3 == 0) value = -value;
    unsigned char* place = data.data() + i * extent;
    std::memset(place, value < 0 ? 0xff : 0, static_cast<std::size_t>(extent));
    std::memcpy(place, &value, extent < 8 ? static_cast<std::size_t>(extent) : sizeof value);
    if (has(name, "INT") && extent > 8 && !has(name, "INTEGER16")) std::memset(place + 12, 0, 4);
  }
  return data;
}

/// Without padding: that between the parts of a pair, and that of a long double.
std::vector<unsigned char> bare(const Type& type, const std::vector<unsigned char>& data, int count) {
  int size = 0, position = 0;
  MPI_Type_size(type.handle, &size);
  std::vector<unsigned char> packed(static_cast<std::size_t>(size * count) + 1);
  MPI_Pack(data.data(), count, type.handle, packed.data(), size * count, &position, MPI_COMM_WORLD);
  if (has(type.name, "LONG_DOUBLE"))
    for (int i = 0; i < size * count; ++i)
      if (i % size % 16 >= 10 && i % size < size / 16 * 16) packed[static_cast<std::size_t>(i)] = 0;
  return packed;
}

void compare(const Type& type, const Operator& op, const char* call,
             const std::vector<unsigned char>& expected, const std::vector<unsigned char>& got, int count,
             int code) {
  if (code == MPI_SUCCESS && bare(type, expected, count) == bare(type, got, count)) return;
  ++failures;
  std::fprintf(stderr, "FAILED rank %d: %s, %s on %s: code %d, or another result than the host's\n", rank,
               call, op.name, type.name, code);
}

struct Case {
  Type type;
  Operator op;
  MPI_Aint extent;
  std::vector<unsigned char> of(int who) const { return operand(type, op, extent, who); }
  /// From rank 0 to `last`, in this order.
  std::vector<unsigned char> folded(int last) const {
    std::vector<unsigned char> result = of(0);
    for (int next = 1; next <= last; ++next) {
      std::vector<unsigned char> right = of(next);
      MPI_Reduce_local(result.data(), right.data(), elements, type.handle, op.handle);
      result = right;
    }
    return result;
  }
};

void check_results(const Case& one) {
  const auto own = one.of(rank), all = one.folded(ranks - 1);
  std::vector<unsigned char> got(own.size());
  const auto [type, op, extent] = std::tuple(one.type, one.op, one.extent);
  int code = MPI_Allreduce(own.data(), got.data(), elements, type.handle, op.handle, MPI_COMM_WORLD);
  compare(type, op, "MPI_Allreduce", all, got, elements, code);
  got = own;
  code = MPI_Allreduce(MPI_IN_PLACE, got.data(), 1, type.handle, op.handle, MPI_COMM_WORLD);
  compare(type, op, "MPI_Allreduce in place", all, got, 1, code);
  const int root = ranks - 1;
  code = MPI_Reduce(own.data(), got.data(), elements, type.handle, op.handle, root, MPI_COMM_WORLD);
  if (rank == root) compare(type, op, "MPI_Reduce", all, got, elements, code);
  code = MPI_Scan(own.data(), got.data(), elements, type.handle, op.handle, MPI_COMM_WORLD);
  compare(type, op, "MPI_Scan", one.folded(rank), got, elements, code);
  code = MPI_Exscan(own.data(), got.data(), elements, type.handle, op.handle, MPI_COMM_WORLD);
  if (rank > 0) compare(type, op, "MPI_Exscan", one.folded(rank - 1), got, elements, code);
  const int share = elements / ranks;
  code = MPI_Reduce_scatter_block(own.data(), got.data(), share, type.handle, op.handle, MPI_COMM_WORLD);
  std::vector<unsigned char> part(all.begin() + rank * share * extent,
                                  all.begin() + (rank + 1) * share * extent);
  compare(type, op, "MPI_Reduce_scatter_block", part, got, share, code);
}

void expect_class(const Case& one, const char* call, int host, int code) {
  if (class_of(code) == host) return;
  ++failures;
  std::fprintf(stderr, "FAILED rank %d: %s, %s on %s: class %d, the host's is %d\n", rank, call, one.op.name,
               one.type.name, class_of(code), host);
}

void check_errors(const Case& one, int host) {
  const auto own = one.of(rank);
  std::vector<unsigned char> got(own.size());
  const MPI_Datatype type = one.type.handle;
  const MPI_Op op = one.op.handle;
  expect_class(one, "MPI_Allreduce", host,
               MPI_Allreduce(own.data(), got.data(), 3, type, op, MPI_COMM_WORLD));
  expect_class(one, "MPI_Reduce", host, MPI_Reduce(own.data(), got.data(), 3, type, op, 0, MPI_COMM_WORLD));
  expect_class(one, "MPI_Scan", host, MPI_Scan(own.data(), got.data(), 3, type, op, MPI_COMM_WORLD));
  expect_class(one, "MPI_Exscan", host, MPI_Exscan(own.data(), got.data(), 3, type, op, MPI_COMM_WORLD));
  expect_class(one, "MPI_Reduce_scatter_block", host,
               MPI_Reduce_scatter_block(own.data(), got.data(), 1, type, op, MPI_COMM_WORLD));
}

/// "" where it is served.
const char* check(const Case& one) {
  const auto own = one.of(rank), other = one.of(rank + 1);
  std::vector<unsigned char> got(own.size());
  const int host =
      class_of(PMPI_Allreduce(own.data(), got.data(), 3, one.type.handle, one.op.handle, MPI_COMM_WORLD));
  if (host != MPI_SUCCESS) {
    check_errors(one, host);
    return "-";
  }
  // Operands that no operator leaves as they are.
  std::vector<unsigned char> left(own.size()), right(own.size());
  for (int i = 0; i < elements; ++i) {
    left[static_cast<std::size_t>(i * one.extent)] = i % 2;
    right[static_cast<std::size_t>(i * one.extent)] = i / 2 % 2;
    if (one.op.handle == MPI_PROD || has(one.op.name, "LOC"))
      right[static_cast<std::size_t>(i * one.extent)] *= 2;
  }
  const auto before = right;
  MPI_Reduce_local(left.data(), right.data(), elements, one.type.handle, one.op.handle);
  const bool computes = right != before;
  if (!computes) {
    expect_class(one, "MPI_Allreduce", host,
                 MPI_Allreduce(own.data(), got.data(), 3, one.type.handle, one.op.handle, MPI_COMM_WORLD));
    return ".";
  }
  check_results(one);
  ++served;
  return "";
}

/// Arguments are what the host itself fails in: a type, or TYPE*OPERATOR.
bool is_left_out(int argc, char** argv, const std::string& name) {
  for (int i = 1; i < argc; ++i)
    if (name == argv[i]) return true;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Errhandler silent;
  MPI_Comm_create_errhandler(quiet, &silent);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, silent);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, silent);
  for (const Type& type : types()) {
    if (type.handle == MPI_DATATYPE_NULL || is_left_out(argc, argv, type.name)) continue;
    int size = 0;
    MPI_Aint lower = 0, extent = 0;
    if (MPI_Type_size(type.handle, &size) != MPI_SUCCESS || size <= 0 ||
        MPI_Type_get_extent(type.handle, &lower, &extent) != MPI_SUCCESS)
      continue;
    std::string line = type.name;
    for (const Operator& op : operators) {
      if (is_left_out(argc, argv, std::string(type.name) + "*" + op.name)) continue;
      line += std::string(" ") + check({type, op, extent}) + op.name;
    }
    if (rank == 0) std::printf("%s\n", line.c_str());
  }
  MPI_Errhandler_free(&silent);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("operator_pairs, %d served, %d failed\n", served, failures);
  MPI_Finalize();
  return failures != 0;
}
