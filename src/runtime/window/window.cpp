#include "runtime/window/window.hpp"

#include <algorithm>
#include <vector>

#include "base/config.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "collective/multinode/stage/placement.hpp"
#include "network/endpoint.hpp"
#include "network/window/message_carrier.hpp"
#include "network/window/one_sided_carrier.hpp"
#include "plan/tuned_rules.hpp"
#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"
#include "runtime/process/window_progress.hpp"
#include "runtime/progress/spin_limits.hpp"
#include "runtime/setup/eligibility.hpp"
#include "runtime/setup/gathering.hpp"
#include "runtime/setup/tags_agreement.hpp"

namespace espalier::runtime {
namespace {

using network::WindowTransport;

// Where a rank stands, and what it asks for. Plain bytes: it crosses the bootstrap.
struct Card {
  std::uint64_t node, job, agreement, bytes;
  double ranks_per_core;
  std::int32_t ids, binds, process, joined, declined, joining, has_transport, has_rma, has_notify;
};

Card own_card(const WindowRequest& request) {
  Process& process = Process::instance();
  Card card{};
  card.agreement = plan::agreement();
  card.bytes = request.bytes;
  card.ids = request.ids;
  card.binds = request.bound != nullptr;
  card.process = process.number();
  card.declined = !process.declined().empty();
  card.has_transport = process.transport() != nullptr;
  if (process.one_sided()) {
    const network::WindowMeans means = process.one_sided()->means();
    card.has_rma = means.rma;
    card.has_notify = means.notify;
  }
  card.joining = process.is_joining();  // asked first: what it says afterwards is whole
  const NodeState* node = process.node();
  card.joined = node != nullptr;
  if (!node) return card;
  card.node = node->id();
  card.job = node->job();
  card.ranks_per_core = node->ranks_per_core();
  return card;
}

std::vector<Card> exchange_cards(const Bootstrap& bootstrap, const WindowRequest& request) {
  // Without MPI_Init's world the first ranks that want something together are the job.
  return gather_when_joined(
      bootstrap, [&] { return exchange(bootstrap, own_card(request)); }, [](const std::vector<Card>&) {});
}

template <class Predicate>
bool any(const std::vector<Card>& all, Predicate predicate) {
  return std::any_of(all.begin(), all.end(), predicate);
}

// By the exchanged values only, so that all ranks come to the same end.
std::string refusal_of(const std::vector<Card>& all) {
  const Card& first = all.front();
  if (any(all, [](const Card& c) { return c.declined || c.node == 0; }))
    return "a rank takes no part in Espalier (spawned, or switched off)";
  if (any(all, [&](const Card& c) { return c.agreement != first.agreement; }))
    return "the ranks' ESPALIER_ settings differ; give all ranks the same environment";
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank].bytes != first.bytes || all[rank].ids != first.ids || all[rank].binds != first.binds)
      return formatted(
          "rank {} asks for {} bytes and {} notifications{}, rank 0 for {} and {}{}; all ranks must ask for "
          "the same",
          rank, all[rank].bytes, all[rank].ids, all[rank].binds ? " and binds memory" : "", first.bytes,
          first.ids, first.binds ? " and binds memory" : "");
  const bool spans = any(all, [&](const Card& c) { return c.node != first.node; });
  if (spans && any(all, [](const Card& c) { return !c.has_transport; }))
    return "its ranks are on several nodes, and nothing carries messages between them; run it under an MPI "
           "with Espalier preloaded";
  if (spans && any(all, [&](const Card& c) { return c.job != first.job; }))
    return "its ranks belong to several jobs, and nothing carries messages between them";
  return "";
}

}  // namespace

class Window::Negotiation {
 public:
  Negotiation(const Bootstrap& bootstrap, const WindowRequest& request)
      : bootstrap_(bootstrap), request_(request), cards_(exchange_cards(bootstrap, request)) {
    const std::string refusal = refusal_of(cards_);
    if (!refusal.empty()) throw Error("no window: " + refusal);
    std::vector<std::uint64_t> nodes;
    nodes.reserve(cards_.size());
    for (const Card& card : cards_) nodes.push_back(card.node);
    placement_ = collective::multinode::place_by(nodes);
  }

  std::unique_ptr<Window> agree() {
    std::unique_ptr<Window> window(new Window);
    window->rank_ = bootstrap_.rank;
    const std::string& setting = Config::instance().text("ESPALIER_WINDOW_TRANSPORT");
    window->choice_ =
        choose_window_transport(request_.by_messages ? "message" : setting, placement_.nodes(), means());
    window->segment_ = std::make_unique<WindowSegment>(
        bootstrap_, placement_.ranks_of[static_cast<std::size_t>(node())],
        WindowSegment::Size{request_.bytes, request_.ids, window->choice_.transport == WindowTransport::rma,
                            static_cast<std::byte*>(request_.bound)});
    window->view_ = std::make_unique<network::NodeWindow>(
        team(), window->segment_->memory(),
        network::NodeWindow::Waiting{spin_limits(), [] { Process::instance().make_progress(); }});
    if (window->choice_.transport != WindowTransport::memory) connect(*window);
    Process::instance().windows().add(*window->view_);
    // No rank puts before all can take.
    exchange(bootstrap_, std::int32_t{1});
    return window;
  }

 private:
  int node() const { return placement_.node_of[static_cast<std::size_t>(bootstrap_.rank)]; }

  network::WindowTeam team() const {
    network::WindowTeam team;
    team.ranks = placement_.ranks_of;
    for (const std::vector<int>& ranks : placement_.ranks_of) {
      team.processes.emplace_back();
      for (const int rank : ranks)
        team.processes.back().push_back(cards_[static_cast<std::size_t>(rank)].process);
    }
    team.node = node();
    team.local = placement_.local_rank_of[static_cast<std::size_t>(bootstrap_.rank)];
    return team;
  }

  network::SpinLimits spin_limits() const {
    double most = 0;
    for (const Card& card : cards_) most = std::max(most, card.ranks_per_core);
    return spin_limits_for(most, placement_.nodes() > 1);
  }

  network::WindowMeans means() const {
    return {!any(cards_, [](const Card& c) { return !c.has_rma; }),
            !any(cards_, [](const Card& c) { return !c.has_notify; })};
  }

  void connect(Window& window) {
    Process& process = Process::instance();
    const auto tags = agree_on_tags(bootstrap_, *process.tags());
    if (!tags)
      throw Error(
          "no window: too many communicators and windows span nodes at once; there are no message tags left");
    window.tags_ = tags->block;
    const int first_tag = tags->block * network::lanes;
    auto messages = std::make_unique<network::MessageCarrier>(
        *process.transport(), first_tag, window.view_->team(), window.segment_->memory(), spin_limits());
    if (window.choice_.transport == WindowTransport::message)
      return window.view_->set_carrier(std::move(messages));
    auto one_sided = open(window, first_tag + network::reply_lane + 1);
    if (one_sided)
      window.view_->set_carrier(std::make_unique<network::OneSidedCarrier>(
          std::move(one_sided), std::move(messages), window.view_->team()));
    else
      window.view_->set_carrier(std::move(messages));
  }

  // Null on all ranks when it fails on any.
  std::unique_ptr<network::OneSided> open(Window& window, int tag) {
    const network::WindowMemory memory = window.segment_->memory();
    network::OneSidedHost::Spec spec{window.choice_.transport, {}, bootstrap_.rank, tag, &memory};
    for (const Card& card : cards_) spec.processes.push_back(card.process);
    std::unique_ptr<network::OneSided> opened;
    std::string why = "a rank's host refused";
    try {
      opened = Process::instance().one_sided()->open(spec);
    } catch (const Error& error) {
      why = error.what();
    }
    const auto all = exchange(bootstrap_, static_cast<std::int32_t>(opened != nullptr));
    if (std::count(all.begin(), all.end(), 0) == 0) return opened;
    window.choice_ = {WindowTransport::message,
                      formatted("ESPALIER_WINDOW_TRANSPORT={} failed ({}), so messages carry them",
                                to_string(window.choice_.transport), why)};
    return nullptr;
  }

  const Bootstrap& bootstrap_;
  const WindowRequest& request_;
  std::vector<Card> cards_;
  collective::multinode::Placement placement_;
};

std::unique_ptr<Window> Window::create(const Bootstrap& bootstrap, const WindowRequest& request) {
  return Negotiation(bootstrap, request).agree();
}

Window::~Window() {
  if (view_) Process::instance().windows().remove(*view_);
}

void Window::close() {
  view_->close();
  give_tags_back();
}

void Window::leave() {
  if (choice_.transport != WindowTransport::message) return close();
  view_->drain();
  give_tags_back();
}

void Window::give_tags_back() {
  // At finalize the process may have left already.
  if (Tags* tags = Process::instance().tags(); tags && tags_ >= 0) tags->give_back(tags_);
  tags_ = -1;
}

}  // namespace espalier::runtime
