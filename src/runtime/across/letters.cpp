// What a rank sends in its calls, and what it makes of what comes.
#include <cstring>

#include "base/error.hpp"
#include "base/format.hpp"
#include "collective/schedule/length_check.hpp"
#include "collective/schedule/persistent_spec.hpp"
#include "runtime/across/stream_end.hpp"

namespace espalier::runtime::across {
namespace {

using collective::Block;
using collective::PersistentSpec;

std::size_t bytes_of(const Call& call) { return call.wanted.facts.bytes; }

void copy_bytes(void* target, const void* source, std::size_t bytes) {
  if (bytes > 0 && target != source) std::memcpy(target, source, bytes);
}

}  // namespace

/// Of a call in which all ranks give something: whether `rank` gets it.
bool StreamEnd::wants_of_all(const Call& call, int rank) const {
  return call.wanted.facts.collective != Collective::reduce || rank == call.wanted.facts.root;
}

/// What the ranks of this node do among each other.
void StreamEnd::make_spec(Call& call) const {
  const Wanted& wanted = call.wanted;
  const collective::RankInfo info{local_rank_, ranks_here()};
  const int root = local_rank_of(wanted.facts.root);
  auto* const send = const_cast<std::byte*>(wanted.send);
  std::vector<Block> out(static_cast<std::size_t>(info.size)), in(out.size());
  PersistentSpec& spec = call.of_node.spec;
  switch (wanted.facts.collective) {
    case Collective::barrier:
      spec = collective::barrier_spec(info, std::move(spec));
      return;
    case Collective::bcast:
      if (info.rank == root)
        out.assign(out.size(), {send, bytes_of(call)});
      else
        in[static_cast<std::size_t>(root)] = {wanted.receive, bytes_of(call)};
      out[static_cast<std::size_t>(info.rank)] = {};
      break;
    case Collective::allgather:
      for (int peer = 0; peer < info.size; ++peer) {
        if (peer == info.rank) continue;
        const auto rank = static_cast<std::size_t>(ranks_of(my_node_)[static_cast<std::size_t>(peer)]);
        out[static_cast<std::size_t>(peer)] = {send, bytes_of(call)};
        in[static_cast<std::size_t>(peer)] = {wanted.places[rank], bytes_of(call)};
      }
      break;
    default: {
      const bool ends_here =
          wanted.facts.collective == Collective::reduce && node_of(wanted.facts.root) == my_node_;
      call.partial.resize(bytes_of(call));
      spec = collective::reduction_spec(info, ends_here ? Collective::reduce : Collective::allreduce,
                                        ends_here ? root : 0, wanted.send, call.partial.data(),
                                        bytes_of(call), *wanted.operation, std::move(spec));
      return;
    }
  }
  spec = collective::transfer_spec(info, wanted.facts.collective, root, bytes_of(call), out, in,
                                   std::move(spec));
}

std::shared_ptr<Letter> StreamEnd::letter_of(const Call& call, int part, std::size_t bytes, int piece) const {
  const machine::CallFacts& facts = call.wanted.facts;
  return make_letter({call.number, facts.bytes, stream_, my_node_, part, facts.root,
                      static_cast<std::uint16_t>(facts.collective), facts.operation,
                      static_cast<std::uint32_t>(piece), call.history},
                     bytes);
}

/// To all that want it; `to_node`: those of this node, too.
void StreamEnd::post(const Call& call, const std::shared_ptr<const Letter>& letter, bool to_node) {
  for (int rank = 0; rank < placement().ranks(); ++rank) {
    const bool is_reader = rank != rank_ && (to_node || node_of(rank) != my_node_);
    if (is_reader && wants_of_all(call, rank)) mail_->send(rank, letter);
  }
}

/// What this rank alone has to send, in its start.
void StreamEnd::send_own(const Call& call) {
  const Wanted& wanted = call.wanted;
  const bool is_bcast = wanted.facts.collective == Collective::bcast;
  if (wanted.facts.collective == Collective::allgather)
    copy_bytes(wanted.places[static_cast<std::size_t>(rank_)], wanted.send, bytes_of(call));
  const bool by_letters = call.node_part == Call::NodePart::by_letters;
  if (is_bcast ? wanted.facts.root != rank_ : !by_letters && ranks_here() > 1) return;
  const auto letter =
      letter_of(call, by_letters && !is_bcast ? local_rank_ : Head::whole_node, bytes_of(call));
  copy_bytes(letter->data() + sizeof(Head), wanted.send, bytes_of(call));
  post(call, letter, by_letters);
}

/// What the ranks of this node have given, which are all there.
void StreamEnd::send_for_node(const Call& call) {
  const Wanted& wanted = call.wanted;
  if (wanted.facts.collective != Collective::allgather) {
    const auto letter = letter_of(call, Head::whole_node, bytes_of(call));
    copy_bytes(letter->data() + sizeof(Head), call.partial.data(), bytes_of(call));
    return post(call, letter, false);
  }
  const auto letter =
      letter_of(call, Head::whole_node, bytes_of(call) * static_cast<std::size_t>(ranks_here()));
  std::byte* place = letter->data() + sizeof(Head);
  for (const int rank : ranks_of(my_node_)) {
    copy_bytes(place, wanted.places[static_cast<std::size_t>(rank)], bytes_of(call));
    place += bytes_of(call);
  }
  post(call, letter, false);
}

/// All letters of a node; of this rank's own node those of the other ranks.
bool StreamEnd::has_node(const Arrived& arrived, int node) const {
  if (node != my_node_ && arrived.contains({node, Head::whole_node})) return true;
  for (int part = 0; part < static_cast<int>(ranks_of(node).size()); ++part)
    if ((node != my_node_ || part != local_rank_) && !arrived.contains({node, part})) return false;
  return true;
}

bool StreamEnd::has_all(const Call& call) {
  const Wanted& wanted = call.wanted;
  if (call.node_part == Call::NodePart::under_way || call.claim != 0) return false;
  const Arrived& arrived = mail_->of_call(stream_, call.number);
  if (wanted.facts.collective == Collective::bcast)
    return wanted.facts.root == rank_ || call.node_part == Call::NodePart::done ||
           arrived.contains({node_of(wanted.facts.root), Head::whole_node});
  if (!wants_of_all(call, rank_)) return true;
  for (int node = 0; node < placement().nodes(); ++node)
    if ((node != my_node_ || call.node_part == Call::NodePart::by_letters) && !has_node(arrived, node))
      return false;
  return true;
}

/// Of a node of which something is missing.
void StreamEnd::add_missing(const Arrived& arrived, int node, std::vector<int>& ranks) const {
  const std::vector<int>& there = ranks_of(node);
  for (int part = 0; part < static_cast<int>(there.size()); ++part) {
    const int rank = there[static_cast<std::size_t>(part)];
    if (rank != rank_ && !arrived.contains({node, part})) ranks.push_back(rank);
  }
}

std::vector<int> StreamEnd::missing(const Call& call) const {
  const Wanted& wanted = call.wanted;
  const Arrived& arrived = mail_->of_call(stream_, call.number);
  std::vector<int> ranks;
  if (call.direct) {
    const std::vector<int>& sources = call.direct->sources;
    for (std::size_t i = call.heard; i < sources.size(); ++i)
      if (!has_block(call, arrived, sources[i])) ranks.push_back(sources[i]);
  } else if (wanted.facts.collective == Collective::bcast) {
    const bool comes_by_letter = wanted.facts.root != rank_ && call.node_part != Call::NodePart::under_way;
    if (comes_by_letter) ranks.push_back(wanted.facts.root);
  } else if (wants_of_all(call, rank_)) {
    for (int node = 0; node < placement().nodes(); ++node)
      if ((node != my_node_ || call.node_part == Call::NodePart::by_letters) && !has_node(arrived, node))
        add_missing(arrived, node, ranks);
  }
  return ranks;
}

std::vector<int> StreamEnd::awaited(const Call& call) const {
  std::vector<int> ranks = missing(call);
  if (call.node_part == Call::NodePart::under_way)
    for (const int rank : ranks_of(my_node_))
      if (rank != rank_) ranks.push_back(rank);
  return ranks;
}

const std::byte* StreamEnd::find(const Call& call, const Arrived& arrived, const From& from,
                                 std::size_t bytes) const {
  const Letter& letter = arrived.at(from);
  const int sender = ranks_of(from.node)[from.part < 0 ? 0 : static_cast<std::size_t>(from.part)];
  if (data_bytes(letter) != bytes)
    throw Error(collective::print_lengths(rank_, bytes, sender, data_bytes(letter)));
  return data_of(letter);
}

void StreamEnd::finish(Call& call) {
  const Wanted& wanted = call.wanted;
  const Arrived& arrived = mail_->of_call(stream_, call.number);
  switch (wanted.facts.collective) {
    case Collective::bcast: {
      const bool by_letter = wanted.facts.root != rank_ && call.node_part != Call::NodePart::done;
      if (by_letter)
        copy_bytes(wanted.receive,
                   find(call, arrived, {node_of(wanted.facts.root), Head::whole_node}, bytes_of(call)),
                   bytes_of(call));
      return;
    }
    case Collective::allgather:
      return place_blocks(call, arrived);
    case Collective::barrier:
      for (const auto& [from, letter] : arrived) find(call, arrived, from, 0);
      return;
    default:
      if (wants_of_all(call, rank_)) fold(call, arrived);
  }
}

/// The nodes' partial results in the order of the nodes, each of which has its ranks' in rank order: so bits are the
/// same on all ranks, whichever of them has folded.
void StreamEnd::fold(Call& call, const Arrived& arrived) {
  const Wanted& wanted = call.wanted;
  const reduce::Operation& operation = *wanted.operation;
  const std::size_t elements = bytes_of(call) / operation.extent;
  std::vector<std::vector<std::byte>> folded;
  folded.reserve(static_cast<std::size_t>(placement().nodes()));
  std::vector<const void*> nodes, parts;
  for (int node = 0; node < placement().nodes(); ++node) {
    const bool is_mine = node == my_node_;
    if (is_mine && call.node_part != Call::NodePart::by_letters) {
      nodes.push_back(ranks_here() == 1 ? wanted.send : call.partial.data());
    } else if (!is_mine && arrived.contains({node, Head::whole_node})) {
      nodes.push_back(find(call, arrived, {node, Head::whole_node}, bytes_of(call)));
    } else {
      parts.clear();
      for (int part = 0; part < static_cast<int>(ranks_of(node).size()); ++part)
        parts.push_back(is_mine && part == local_rank_ ? wanted.send
                                                       : find(call, arrived, {node, part}, bytes_of(call)));
      folded.emplace_back(bytes_of(call));
      operation.kernel(folded.back().data(), parts.data(), static_cast<int>(parts.size()), elements);
      nodes.push_back(folded.back().data());
    }
  }
  operation.kernel(wanted.receive, nodes.data(), static_cast<int>(nodes.size()), elements);
}

void StreamEnd::place_blocks(Call& call, const Arrived& arrived) {
  const std::size_t bytes = bytes_of(call);
  for (const auto& [from, letter] : arrived) {
    const auto& [node, part, piece] = from;
    const std::vector<int>& ranks = ranks_of(node);
    if (part != Head::whole_node) {
      const auto rank = static_cast<std::size_t>(ranks[static_cast<std::size_t>(part)]);
      copy_bytes(call.wanted.places[rank], find(call, arrived, from, bytes), bytes);
      continue;
    }
    const std::byte* blocks = find(call, arrived, from, bytes * ranks.size());
    for (const int rank : ranks) {
      copy_bytes(call.wanted.places[static_cast<std::size_t>(rank)], blocks, bytes);
      blocks += bytes;
    }
  }
}

}  // namespace espalier::runtime::across
