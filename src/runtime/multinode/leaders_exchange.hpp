// Exchanges of a few bytes among the leaders of a communicator's nodes, by messages.
#pragma once

#include "network/endpoint.hpp"
#include "network/out_of_band.hpp"

namespace espalier::runtime {

/// On the lane of `leaders`. As slow as the root's messages one by one: it serves once in a communicator's
/// life.
class LeadersExchange final : public network::OutOfBand {
 public:
  explicit LeadersExchange(const network::Peers& leaders) : leaders_(leaders) {}
  int rank() const override { return leaders_.rank(); }
  int size() const override { return leaders_.size(); }
  void bcast(void* data, std::size_t bytes, int root) override;
  void barrier() override;
  void gather(int root, const void* mine, void* all, std::size_t bytes) override;

 private:
  network::Peers leaders_;
};

}  // namespace espalier::runtime
