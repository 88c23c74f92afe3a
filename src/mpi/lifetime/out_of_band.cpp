#include "mpi/lifetime/out_of_band.hpp"

#include <string>

#include "base/error.hpp"
#include "mpi/host/host.hpp"

namespace espalier::mpi {
namespace {

void check(int code, const char* what) {
  if (code != MPI_SUCCESS)
    throw Error(std::string("the host's ") + what + " over MPI_COMM_WORLD failed with code " +
                std::to_string(code));
}

class HostOutOfBand final : public network::OutOfBand {
 public:
  HostOutOfBand() {
    host.Comm_rank(world(), &rank_);
    host.Comm_size(world(), &size_);
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void bcast(void* data, std::size_t bytes, int root) override {
    check(host.Bcast(data, static_cast<int>(bytes), host.constants.byte, root, world()), "MPI_Bcast");
  }
  void barrier() override { check(host.Barrier(world()), "MPI_Barrier"); }
  void gather(int root, const void* mine, void* all, std::size_t bytes) override {
    const int count = static_cast<int>(bytes);
    check(host.Gather(mine, count, host.constants.byte, all, count, host.constants.byte, root, world()),
          "MPI_Gather");
  }

 private:
  static MPI_Comm world() { return host.constants.world; }
  int rank_ = 0, size_ = 1;
};

}  // namespace

std::unique_ptr<network::OutOfBand> open_out_of_band() { return std::make_unique<HostOutOfBand>(); }

}  // namespace espalier::mpi
