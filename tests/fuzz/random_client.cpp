// Talks garbage to the daemons of a running aggregation tree, from many connections at once, while a group of
// two keeps to the protocol and has to be served all the time: random_client TREE.json SECONDS [SEED]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include <sharp/api/sharp_coll.h>

#include "sharp/asio.hpp"
#include "sharp/library/link.hpp"
#include "tests/fuzz/made_up.hpp"

using namespace espalier::sharp;
using Clock = std::chrono::steady_clock;

namespace {

/// One connection that says what it was given, piece by piece, and may end at any moment.
class Garbage {
 public:
  Garbage(asio::io_context& context, const TreeNode& node, const std::string& token, MadeUp::Bytes stream)
      : socket_(context), stream_(std::move(stream)) {
    asio::ip::tcp::resolver resolver(context);
    asio::connect(socket_, resolver.resolve(node.host, node.port));
    if (!token.empty()) introduce(token, node.name);
    socket_.non_blocking(true);
  }

  bool has_ended() const { return said_ == stream_.size(); }

  void say(std::size_t bytes) {
    asio::error_code error;
    const std::size_t most = std::min(bytes, stream_.size() - said_);
    said_ += socket_.write_some(asio::buffer(stream_.data() + said_, most), error);
    if (error && error != asio::error::would_block) said_ = stream_.size();  // it was shown the door
  }
  void listen() {
    std::array<std::byte, 4096> ignored;
    asio::error_code error;
    socket_.read_some(asio::buffer(ignored), error);
  }
  void reset_at_the_end() {
    asio::error_code error;
    socket_.set_option(asio::socket_base::linger(true, 0), error);
  }

 private:
  /// What is not let in says its garbage all the same.
  void introduce(const std::string& token, const std::string& asked) {
    const Introduction introduction(token, asked, "", 1, 0, random_nonce());
    say_now(introduction.hello());
    std::array<std::byte, 4096> bytes;
    Reader reader(sizeof bytes);
    asio::error_code error;
    while (!error) {
      const std::size_t length = socket_.read_some(asio::buffer(bytes), error);
      reader.feed({bytes.data(), length});
      if (const auto challenge = reader.next()) {
        if (const auto proof = introduction.answer(*challenge)) say_now(*proof);
        return;
      }
    }
  }
  void say_now(const Frame& frame) {
    std::vector<std::byte> bytes;
    append(bytes, frame);
    asio::error_code ignored;
    asio::write(socket_, asio::buffer(bytes), ignored);
  }
  asio::ip::tcp::socket socket_;
  MadeUp::Bytes stream_;
  std::size_t said_ = 0;
};

void talk_garbage(asio::io_context& context, const TreeNode& node, const std::string& token,
                  MadeUp& made_up) {
  std::vector<std::unique_ptr<Garbage>> all;
  for (MadeUp::Bytes& stream : made_up.streams(1 + made_up.below(12)))
    all.push_back(
        std::make_unique<Garbage>(context, node, made_up.below(10) ? token : "", std::move(stream)));
  for (std::uint64_t pieces = 20 + made_up.below(200); pieces > 0; --pieces) {
    Garbage& one = *all[made_up.below(all.size())];
    one.say(1 + made_up.below(200));
    if (made_up.below(2)) one.listen();
  }
  for (const auto& one : all)
    if (made_up.below(2)) one->reset_at_the_end();
}

/// Two members, below the first and the last leaf, that do allreduces.
class GoodGroup {
 public:
  explicit GoodGroup(const TreeFile& tree)
      : links_{{tree_node(tree, 0), {tree.token, job, 0}, [] {}},
               {tree_node(tree, tree.leaves.size() - 1), {tree.token, job, 1}, [] {}}} {
    Frame join = frame_of(Kind::join);
    join.size = 2;
    for (join.rank = 0; join.rank < 2; ++join.rank) links_[join.rank].send(join);
    for (Link& link : links_) await(link, Kind::joined);
  }

  void allreduce() {
    Frame part = frame_of(Kind::contribute);
    part.operation = Operation::allreduce;
    part.op = SHARP_OP_SUM;
    part.type = SHARP_DTYPE_INT;
    part.size = sizeof(std::int32_t);
    part.sequence = done_++;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      const auto value = static_cast<std::int32_t>(done_ << rank);
      part.payload.resize(sizeof value);
      std::memcpy(part.payload.data(), &value, sizeof value);
      links_[rank].send(part);
    }
    for (Link& link : links_) {
      const Frame result = await(link, Kind::result);
      std::int32_t sum = 0;
      if (result.payload.size() == sizeof sum) std::memcpy(&sum, result.payload.data(), sizeof sum);
      if (sum != static_cast<std::int32_t>(3 * done_)) throw std::runtime_error("a result is wrong");
    }
  }

 private:
  static constexpr std::uint64_t job = 4711, group = 4712;
  static const TreeNode& tree_node(const TreeFile& tree, std::size_t leaf) {
    return tree.nodes[static_cast<std::size_t>(tree.leaves[leaf])];
  }
  static Frame frame_of(Kind kind) {
    Frame frame;
    frame.kind = kind;
    frame.job = job;
    frame.group = group;
    return frame;
  }
  static Frame await(Link& link, Kind kind) {
    std::optional<Frame> found;
    const auto until = Clock::now() + std::chrono::seconds(60);
    while (!found) {
      link.poll(true, [&](const Frame& frame) {
        if (frame.kind == Kind::failed) throw std::runtime_error("the good group is over: " + frame.text());
        if (frame.kind == kind) found = frame;
      });
      if (Clock::now() > until) throw std::runtime_error("the good group was not served within a minute");
    }
    return *found;
  }

  Link links_[2];
  std::uint64_t done_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: random_client TREE.json SECONDS [SEED]\n"), 2;
  try {
    const TreeFile tree = read_tree_file(argv[1]);
    const auto until = Clock::now() + std::chrono::duration<double>(std::atof(argv[2]));
    MadeUp made_up(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1, "");
    asio::io_context context(1);
    GoodGroup good(tree);
    unsigned long rounds = 0;
    for (; Clock::now() < until; ++rounds) {
      talk_garbage(context, tree.nodes[made_up.below(tree.nodes.size())], tree.token, made_up);
      good.allreduce();
    }
    std::printf("%lu rounds of garbage, an allreduce after each: nothing found\n", rounds);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "random_client: %s\n", error.what());
    return 1;
  }
  return 0;
}
