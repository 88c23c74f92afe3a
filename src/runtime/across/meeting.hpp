// How ranks of several nodes tell each other a few bytes by letters. A rank may tell its own and go.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/by_rank.hpp"
#include "runtime/across/call_across.hpp"

namespace espalier::runtime::across {

/// Where all ranks tell each other a few bytes, in one order.
class Meeting {
 public:
  Meeting(std::shared_ptr<Channel> channel, const collective::RankInfo& rank_info)
      : channel_(std::move(channel)), rank_info_(rank_info) {}

  template <class T>
  void gather(T& mine, ByRank<T>& all) {
    finish(
        Collective::allgather, sizeof(T), [&](int) { return block_of(mine); },
        [&](int rank) { return block_of(all[static_cast<std::size_t>(rank)]); });
  }
  /// A value from each to each.
  template <class T>
  void exchange(ByRank<T>& given, ByRank<T>& got) {
    finish(
        Collective::alltoall, sizeof(T) * given.size(),
        [&](int rank) { return block_of(given[static_cast<std::size_t>(rank)]); },
        [&](int rank) { return block_of(got[static_cast<std::size_t>(rank)]); });
  }
  /// As gather(), by a rank that waits for none and hears of none.
  template <class T>
  void tell(T& mine) {
    T unread{};
    const collective::PersistentSpec spec = make(
        Collective::allgather, sizeof(T), [&](int) { return block_of(mine); },
        [&](int) { return block_of(unread); });
    CallAcross(channel_, wanted(spec)).start();
  }

 private:
  template <class T>
  static collective::Block block_of(T& value) {
    return {reinterpret_cast<std::byte*>(&value), sizeof value};
  }
  template <class Out, class In>
  collective::PersistentSpec make(Collective collective, std::size_t bytes, Out out, In in) const {
    std::vector<collective::Block> gives, takes;
    for (int rank = 0; rank < rank_info_.size; ++rank) {
      gives.push_back(out(rank));
      takes.push_back(in(rank));
    }
    return collective::transfer_spec(rank_info_, collective, 0, bytes, gives, takes);
  }
  static Wanted wanted(const collective::PersistentSpec& spec) {
    return {{spec.collective, spec.root, spec.bytes, spec.operation}, &spec};
  }
  template <class Out, class In>
  void finish(Collective collective, std::size_t bytes, Out out, In in) {
    const collective::PersistentSpec spec = make(collective, bytes, out, in);
    CallAcross call(channel_, wanted(spec));
    call.start();
    call.complete();
  }

  std::shared_ptr<Channel> channel_;
  collective::RankInfo rank_info_;
};

}  // namespace espalier::runtime::across
