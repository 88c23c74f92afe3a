// A persistent collective of longs: its request, what goes into its buffers before a start, and what must be
// in them after completion.
#pragma once

#include "checks.hpp"

#include <string>
#include <vector>

namespace persistent {

struct Plan {
  Kind kind;
  MPI_Comm comm;
  int length;  // of a block, in longs; in the v forms blocks have none of it, it, or twice as much
  int root = 0;
  bool in_place = false;
  bool large = false;  // the _c form, where the host has it
};

// Blocks in a buffer. MPI wants the arrays to stay as they are until the request is freed.
struct Side {
  std::vector<int> lengths, places;
  std::vector<MPI_Count> wide_lengths;
  std::vector<MPI_Aint> wide_places;
  long* base = nullptr;  // where places are counted from
  std::vector<long> data;
};

class Case {
 public:
  explicit Case(const Plan& plan);
  ~Case();
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  void fill(int round);
  void check(int round);
  std::string words(int round) const;

  MPI_Request request = MPI_REQUEST_NULL;

 private:
  int length(int one, int other) const;
  void lay_out();
  void prepare();
  void prepare_unequal(const void* send, void* receive);
  void prepare_large(const void* send, void* receive);
  bool at_root() const { return place_.rank == plan_.root; }
  bool in_place() const;
  bool scatters() const { return plan_.kind == scatter || plan_.kind == scatterv; }
  bool gathers() const;
  bool combines_blocks() const { return plan_.kind == reduce_scatter || plan_.kind == reduce_scatter_block; }
  bool has_result() const;
  long sum(int ranks, int target, int i, int round) const;
  long right(int block, int i, int round) const;

  Plan plan_;
  Place place_;
  Side send_, receive_;
};

}  // namespace persistent
