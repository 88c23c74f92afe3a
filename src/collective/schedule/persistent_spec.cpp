#include "collective/schedule/persistent_spec.hpp"

#include <numeric>

#include "collective/core/blocks.hpp"
#include "memory/flag_line.hpp"

namespace espalier::collective {
namespace {

std::vector<Recipe::Place> no_places(const Company& company) {
  return std::vector<Recipe::Place>(static_cast<std::size_t>(company.size));
}

/// The ranks behind this one first, around: so not all read from the same one.
template <class Body>
void around(const Company& company, Body body) {
  for (int i = 1; i < company.size; ++i) {
    const int peer = company.rank + i;
    body(peer < company.size ? peer : peer - company.size);
  }
}

/// Adds what goes to `peer`. A block that is among what is given already has one more reader, unless blocks
/// lie apart.
void give(Recipe& recipe, int peer, const Block& block) {
  for (const auto& given : recipe.gives)
    if (!recipe.apart && given.source == block.data && given.bytes == block.bytes) {
      recipe.places[static_cast<std::size_t>(peer)] = {given.offset, given.bytes};
      return;
    }
  // What rides in flag lines has no room for gaps; longer blocks begin on lines.
  const std::size_t end = recipe.given_bytes;
  const std::size_t offset = block.bytes < line_bytes ? end : whole_lines(end);
  recipe.places[static_cast<std::size_t>(peer)] = {offset, block.bytes};
  recipe.gives.push_back({block.data, offset, block.bytes, peer});
  recipe.given_bytes = offset + block.bytes;
}

/// All of a vector, of which each rank reads its part.
void give_whole(Recipe& recipe, const Company& company, const std::byte* send) {
  recipe.gives.push_back({send, 0, recipe.bytes, company.rank});
  recipe.given_bytes = recipe.bytes;
}

/// What is given is only read.
std::byte* data_of(const std::byte* send) { return const_cast<std::byte*>(send); }

/// Vectors that ranks give are folded here.
void fold(Recipe& recipe, const Company& company, Prepared::Fold wanted) {
  if (wanted.ranks == 0 || wanted.bytes == 0) return;
  recipe.fold = wanted;
  around(company, [&](int peer) {
    if (peer >= wanted.first && peer < wanted.first + wanted.ranks) recipe.sources.push_back(peer);
  });
}

/// How many ranks, from rank 0 on, `rank` folds.
int folded_by(int rank, const Company& company, Collective collective, int root) {
  switch (collective) {
    case Collective::scan:
      return rank + 1;
    case Collective::exscan:
      return rank;
    case Collective::reduce:
      return rank == root ? company.size : 0;
    default:
      return company.size;
  }
}

}  // namespace

std::size_t Recipe::arrives_from(int peer) const {
  if (peer >= fold.first && peer < fold.first + fold.ranks) return fold.bytes;
  for (const Want& want : wants)
    if (want.peer == peer) return want.bytes;
  return 0;
}

Recipe barrier_recipe(const Company& company) {
  Recipe recipe;
  recipe.collective = Collective::barrier;
  recipe.places = no_places(company);
  around(company, [&](int peer) { recipe.sources.push_back(peer); });
  return recipe;
}

Recipe transfer_recipe(const Company& company, Collective collective, int root, std::size_t bytes,
                       std::span<const Block> out, std::span<const Block> in) {
  Recipe recipe;
  recipe.collective = collective;
  recipe.root = root;
  recipe.bytes = bytes;
  recipe.places = no_places(company);
  recipe.apart =
      company.size == 2 || collective == Collective::alltoall || collective == Collective::alltoallv;
  around(company, [&](int peer) {
    const auto i = static_cast<std::size_t>(peer);
    if (i < out.size() && out[i].bytes > 0) give(recipe, peer, out[i]);
    if (i >= in.size() || in[i].bytes == 0) return;
    recipe.wants.push_back({peer, in[i].bytes, in[i].data});
    recipe.sources.push_back(peer);
  });
  const auto own = static_cast<std::size_t>(company.rank);
  if (own < out.size() && own < in.size() && out[own].data != in[own].data)
    recipe.keep = {out[own].data, in[own].data, in[own].bytes};
  return recipe;
}

Recipe reduction_recipe(const Company& company, Collective collective, int root, const std::byte* send,
                        std::byte* receive, std::size_t bytes, const reduce::Operation& operation) {
  Recipe recipe;
  recipe.collective = collective;
  recipe.root = root;
  recipe.bytes = bytes;
  recipe.places = no_places(company);
  recipe.apart = company.size == 2;
  around(company, [&](int peer) {
    if (company.rank < folded_by(peer, company, collective, root)) give(recipe, peer, {data_of(send), bytes});
  });
  fold(recipe, company,
       {&operation, 0, folded_by(company.rank, company, collective, root), 0, bytes, receive, send});
  return recipe;
}

Recipe reduce_scatter_recipe(const Company& company, Collective collective, const std::byte* send,
                             std::byte* receive, std::span<const std::size_t> shares,
                             const reduce::Operation& operation) {
  Recipe recipe;
  recipe.collective = collective;
  recipe.bytes = std::accumulate(shares.begin(), shares.end(), std::size_t{0});
  recipe.places = no_places(company);
  // What rides in flag lines does so as a whole: then all find their part at the same place.
  recipe.apart = recipe.cut = recipe.bytes > memory::inline_capacity;
  std::size_t begin = 0;
  for (std::size_t rank = 0; rank < shares.size(); begin += shares[rank++]) {
    const bool is_own = rank == static_cast<std::size_t>(company.rank);
    // In place, another part of the vector lies where the result goes: they must not overlap.
    const bool is_read_as_given = is_own && send == receive && begin > 0;
    const std::byte* own = is_read_as_given ? nullptr : send + begin;
    if (is_own) fold(recipe, company, {&operation, 0, company.size, begin, shares[rank], receive, own});
    if (shares[rank] == 0) continue;
    if (!recipe.apart)
      recipe.places[rank] = {begin, shares[rank]};
    else if (!is_own || is_read_as_given)
      give(recipe, static_cast<int>(rank), {data_of(send) + begin, shares[rank]});
  }
  if (!recipe.apart && recipe.bytes > 0) give_whole(recipe, company, send);
  return recipe;
}

}  // namespace espalier::collective
