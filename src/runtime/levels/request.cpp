#include "runtime/levels/request.hpp"

#include "base/format.hpp"
#include "base/hash.hpp"
#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"
#include "runtime/setup/gathering.hpp"

namespace espalier::runtime {
namespace {

LevelsCard card_for(const LevelsRequest& request, bool has_flaw) {
  Process& process = Process::instance();
  LevelsCard card{};
  card.shared_bytes = request.shared_bytes;
  card.member_bytes = request.member_bytes;
  card.tree = hash(request.tree);
  card.mark = own_mark();
  card.root = request.root;
  card.degree = request.degree;
  card.virtual_levels = request.virtual_levels;
  card.has_flaw = has_flaw;
  card.declined = !process.declined().empty();
  card.joining = process.is_joining();  // asked first: what it says afterwards is whole
  const NodeState* node = process.node();
  card.joined = node != nullptr;
  if (!node || !node->arena()) return card;
  card.node = node->id();
  card.node_rank = node->rank();
  return card;
}

bool asks_the_same(const LevelsCard& a, const LevelsCard& b) {
  return a.shared_bytes == b.shared_bytes && a.member_bytes == b.member_bytes && a.tree == b.tree &&
         a.root == b.root && a.degree == b.degree && a.virtual_levels == b.virtual_levels;
}

// By the exchanged values only, so that all ranks come to the same end.
void check_cards(const std::vector<LevelsCard>& cards, const std::string& flaw) {
  for (std::size_t rank = 0; rank < cards.size(); ++rank)
    if (cards[rank].has_flaw)
      throw LevelsArgument(flaw.empty() ? formatted("an argument of rank {} is out of place", rank) : flaw);
  for (std::size_t rank = 0; rank < cards.size(); ++rank) {
    if (!asks_the_same(cards[rank], cards.front()))
      throw Error(formatted("no levels: rank {} has other options than rank 0", rank));
    if (cards[rank].node == 0)
      throw Error(formatted("no levels: rank {} takes no part in Espalier's shared memory", rank));
  }
}

}  // namespace

std::vector<LevelsCard> agree_on_request(const Bootstrap& bootstrap, const LevelsRequest& request,
                                         const std::string& flaw) {
  const auto gather = [&] { return exchange(bootstrap, card_for(request, !flaw.empty())); };
  auto cards = gather_when_joined(bootstrap, gather, [](const std::vector<LevelsCard>&) {});
  check_cards(cards, flaw);
  return cards;
}

}  // namespace espalier::runtime
