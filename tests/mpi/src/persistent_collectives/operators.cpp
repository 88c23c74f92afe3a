// Reductions of predefined operators on several types, and of a user's operator that does not commute.
#include "checks.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace persistent {
namespace {

struct Pair {  // MPI_FLOAT_INT
  float value;
  int index;
};
using Matrix = std::array<long, 4>;

// Small, so that sums are exact in any order.
int small(int rank, int i, int round) { return static_cast<int>(told(rank, 0, i, round) % 1009) - 504; }

void make(int& to, int rank, int i, int round) { to = small(rank, i, round); }
void make(double& to, int rank, int i, int round) { to = small(rank, i, round) * 0.25; }
void make(Pair& to, int rank, int i, int round) {
  to = {static_cast<float>(small(rank, i, round) % 3), 100 - rank};
}
void make(Matrix& to, int rank, int i, int round) { to = {rank + 1, i % 5, round % 3, 1}; }

template <class T>
std::vector<T> vector_of(int rank, int length, int round) {
  std::vector<T> made(static_cast<std::size_t>(length));
  for (int i = 0; i < length; ++i) make(made[static_cast<std::size_t>(i)], rank, i, round);
  return made;
}

template <class T>
struct Operator {
  const char* name;
  MPI_Datatype type;
  MPI_Op op;
  T (*fold)(const T& left, const T& right);
};

template <class T>
std::vector<T> folded(const Operator<T>& with, int ranks, int length, int round) {
  std::vector<T> result = vector_of<T>(0, length, round);
  for (int rank = 1; rank < ranks; ++rank) {
    const std::vector<T> next = vector_of<T>(rank, length, round);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = with.fold(result[i], next[i]);
  }
  return result;
}

// What MPI_Allreduce, MPI_Reduce and MPI_Scan make of the same vector, all active at once.
template <class T>
class Three {
 public:
  Three(const Operator<T>& with, MPI_Comm comm, int length) : with_(with), place_(comm), length_(length) {
    send_.resize(static_cast<std::size_t>(length));
    for (auto& one : receive_) one.resize(send_.size());
    const int root = place_.size - 1;
    MPI_Allreduce_init(send_.data(), receive_[0].data(), length, with.type, with.op, comm, MPI_INFO_NULL,
                       &requests_[0]);
    MPI_Reduce_init(send_.data(), receive_[1].data(), length, with.type, with.op, root, comm, MPI_INFO_NULL,
                    &requests_[1]);
    MPI_Scan_init(send_.data(), receive_[2].data(), length, with.type, with.op, comm, MPI_INFO_NULL,
                  &requests_[2]);
  }
  ~Three() {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }

  void run(int round) {
    const std::vector<T> mine = vector_of<T>(place_.rank, length_, round);
    std::copy(mine.begin(), mine.end(), send_.begin());  // which stays where it is
    MPI_Startall(3, requests_);
    MPI_Waitall(3, requests_, MPI_STATUSES_IGNORE);
    const auto all = folded(with_, place_.size, length_, round);
    compare(receive_[0], all, "allreduce", round);
    if (place_.rank == place_.size - 1) compare(receive_[1], all, "reduce", round);
    compare(receive_[2], folded(with_, place_.rank + 1, length_, round), "scan", round);
  }

 private:
  void compare(const std::vector<T>& got, const std::vector<T>& right, const char* what, int round) {
    expect(std::memcmp(got.data(), right.data(), got.size() * sizeof(T)) == 0, [&] {
      return std::string(what) + " of " + std::to_string(length_) + " " + with_.name + ", round " +
             std::to_string(round) + ", rank " + std::to_string(place_.rank);
    });
  }

  const Operator<T>& with_;
  Place place_;
  int length_;
  std::vector<T> send_, receive_[3];
  MPI_Request requests_[3];
};

template <class T>
void check(const Operator<T>& with, MPI_Comm comm) {
  for (int length : {1, 7, 1000, 20000}) {
    Three<T> three(with, comm, length);
    for (int round = 0; round < 3; ++round) three.run(round);
  }
}

template <class T>
T sum(const T& left, const T& right) {
  return left + right;
}
template <class T>
T least(const T& left, const T& right) {
  return std::min(left, right);
}
template <class T>
T greatest(const T& left, const T& right) {
  return std::max(left, right);
}
int common_bits(const int& left, const int& right) { return left & right; }

// Of equal values the lower index, which is the later rank's here.
Pair greatest_of_pairs(const Pair& left, const Pair& right) {
  if (left.value != right.value) return left.value > right.value ? left : right;
  return left.index < right.index ? left : right;
}

Matrix product(const Matrix& left, const Matrix& right) {
  return {left[0] * right[0] + left[1] * right[2], left[0] * right[1] + left[1] * right[3],
          left[2] * right[0] + left[3] * right[2], left[2] * right[1] + left[3] * right[3]};
}

void multiply(void* left, void* right, int* length, MPI_Datatype*) {
  auto* from = static_cast<Matrix*>(left);
  auto* to = static_cast<Matrix*>(right);
  for (int i = 0; i < *length; ++i) to[i] = product(from[i], to[i]);
}

}  // namespace

void check_operators(MPI_Comm comm) {
  check<int>({"MPI_INT, MPI_SUM", MPI_INT, MPI_SUM, sum}, comm);
  check<int>({"MPI_INT, MPI_MIN", MPI_INT, MPI_MIN, least}, comm);
  check<int>({"MPI_INT, MPI_MAX", MPI_INT, MPI_MAX, greatest}, comm);
  check<int>({"MPI_INT, MPI_BAND", MPI_INT, MPI_BAND, common_bits}, comm);
  check<double>({"MPI_DOUBLE, MPI_SUM", MPI_DOUBLE, MPI_SUM, sum}, comm);
  check<double>({"MPI_DOUBLE, MPI_MIN", MPI_DOUBLE, MPI_MIN, least}, comm);
  check<double>({"MPI_DOUBLE, MPI_MAX", MPI_DOUBLE, MPI_MAX, greatest}, comm);
  check<Pair>({"MPI_FLOAT_INT, MPI_MAXLOC", MPI_FLOAT_INT, MPI_MAXLOC, greatest_of_pairs}, comm);
}

void check_user_operator(MPI_Comm comm) {
  MPI_Op op;
  MPI_Datatype type;
  MPI_Op_create(multiply, 0, &op);
  MPI_Type_contiguous(4, MPI_LONG, &type);
  MPI_Type_commit(&type);
  check<Matrix>({"matrices, a user's product", type, op, product}, comm);
  MPI_Type_free(&type);
  MPI_Op_free(&op);
}

}  // namespace persistent
