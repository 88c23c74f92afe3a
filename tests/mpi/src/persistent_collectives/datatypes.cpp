// Derived datatypes with gaps and out of order, another on each rank, that are freed as soon as the request
// is made.
#include "checks.hpp"

#include <string>
#include <vector>

namespace persistent {
namespace {

constexpr long gap = -1;
constexpr int forms = 3;

// `length` longs, an even number: as they are, with a gap behind each, or in pairs with the later one first.
struct Form {
  int which, length;

  int count() const { return which == 0 ? length : which == 1 ? 1 : length / 2; }
  // Of the datatype that MPI gets; MPI_LONG must not be freed.
  MPI_Datatype make() const {
    if (which == 0) return MPI_LONG;
    MPI_Datatype bare, type;
    const int places[] = {2, 0};
    which == 1 ? MPI_Type_vector(length, 1, 2, MPI_LONG, &bare)
               : MPI_Type_create_indexed_block(2, 1, places, MPI_LONG, &bare);
    MPI_Type_create_resized(bare, 0, (which == 1 ? 2L * length : 4L) * static_cast<long>(sizeof(long)),
                            &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&bare);
    return type;
  }
  // Where element i of a block lies.
  std::size_t at(int block, int i) const {
    const int cell = which == 0 ? i : which == 1 ? 2 * i : i / 2 * 4 + (i % 2 ? 0 : 2);
    return static_cast<std::size_t>(block * extent() + cell);
  }
  int extent() const { return which == 0 ? length : 2 * length; }
};

class Mixed {
 public:
  Mixed(Kind kind, MPI_Comm comm, int length, int root, int shift)
      : kind_(kind),
        place_(comm),
        root_(root),
        out_{(place_.rank + shift) % forms, length},
        in_{(place_.rank + shift + 1) % forms, length},
        out_type_(out_.make()),
        in_type_(in_.make()) {
    const auto cells = static_cast<std::size_t>(2 * length * place_.size);
    send_.assign(cells, gap);
    receive_.assign(cells, gap);
    prepare(comm);
    if (!options.keeps_types) free_types();
  }
  ~Mixed() {
    MPI_Request_free(&request_);
    if (options.keeps_types) free_types();
  }

  void run(int round) {
    receive_.assign(receive_.size(), gap);
    const bool at_root = place_.rank == root_;
    if (kind_ == bcast && at_root) put(receive_, in_, 0, root_, 0, round);
    for (int block = 0; block < place_.size; ++block) put(send_, out_, block, place_.rank, block, round);
    MPI_Start(&request_);
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
    std::vector<long> right(receive_.size(), gap);
    if (kind_ == bcast) put(right, in_, 0, root_, 0, round);
    if (kind_ == scatter) put(right, in_, 0, root_, place_.rank, round);
    for (int source = 0; source < place_.size; ++source) {
      if (kind_ == allgather || (kind_ == gather && at_root)) put(right, in_, source, source, 0, round);
      if (kind_ == alltoall) put(right, in_, source, source, place_.rank, round);
    }
    expect(receive_ == right, [&] {
      return std::string(traits[kind_].name) + " of " + std::to_string(in_.length) + " longs in form " +
             std::to_string(in_.which) + " with root " + std::to_string(root_) + ", rank " +
             std::to_string(place_.rank);
    });
  }

 private:
  void free_types() {
    for (MPI_Datatype* type : {&out_type_, &in_type_})
      if (*type != MPI_LONG) MPI_Type_free(type);
  }

  void prepare(MPI_Comm comm) {
    const MPI_Datatype out = out_type_, in = in_type_;
    const MPI_Info info = MPI_INFO_NULL;
    long *from = send_.data(), *to = receive_.data();
    if (kind_ == bcast) MPI_Bcast_init(to, in_.count(), in, root_, comm, info, &request_);
    if (kind_ == allgather)
      MPI_Allgather_init(from, out_.count(), out, to, in_.count(), in, comm, info, &request_);
    if (kind_ == gather)
      MPI_Gather_init(from, out_.count(), out, to, in_.count(), in, root_, comm, info, &request_);
    if (kind_ == scatter)
      MPI_Scatter_init(from, out_.count(), out, to, in_.count(), in, root_, comm, info, &request_);
    if (kind_ == alltoall)
      MPI_Alltoall_init(from, out_.count(), out, to, in_.count(), in, comm, info, &request_);
  }

  static void put(std::vector<long>& to, const Form& form, int block, int source, int target, int round) {
    for (int i = 0; i < form.length; ++i) to[form.at(block, i)] = told(source, target, i, round);
  }

  Kind kind_;
  Place place_;
  int root_;
  Form out_, in_;
  MPI_Datatype out_type_, in_type_;
  std::vector<long> send_, receive_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

void check_datatypes(MPI_Comm comm) {
  const int size = Place(comm).size;
  for (Kind kind : {bcast, allgather, gather, scatter, alltoall})
    for (int length : {2, 500, 20000})
      for (int shift = 0; shift < forms && !options.left_out[kind]; ++shift) {
        Mixed mixed(kind, comm, length, (shift + length) % size, shift);
        for (int round = 0; round < 2; ++round) mixed.run(round);
      }
}

}  // namespace persistent
