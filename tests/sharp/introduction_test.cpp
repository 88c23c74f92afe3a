#include "sharp/introduction.hpp"

#include <gtest/gtest.h>
#include <sharp/api/sharp_coll.h>

#include <thread>

#include "sharp/asio.hpp"
#include "sharp/library/link.hpp"
#include "sharp/library/problem.hpp"
#include "tests/sharp/forest.hpp"

namespace espalier::sharp {
namespace {

const std::string token = test_token;

TEST(Introduction, both_ends_believe_each_other) {
  const Introduction asker(token, "a1", "", 7, 3, random_nonce());
  const Examination asked(asker.hello(), random_nonce());
  const auto proof = asker.answer(asked.challenge(token, "a1"));
  ASSERT_TRUE(proof);
  EXPECT_TRUE(asked.is_passed_by(*proof, token, "a1"));
  EXPECT_EQ(asked.job(), 7u);
  EXPECT_EQ(asked.role(), Role::process);
}

TEST(Introduction, says_nothing_to_one_that_does_not_know_the_token_or_is_another) {
  const Introduction asker(token, "a1", "", 7, 3, random_nonce());
  const Examination asked(asker.hello(), random_nonce());
  EXPECT_FALSE(asker.answer(asked.challenge("another token !!", "a1")));
  // One that has taken the port of a1 and asks a2 what to say.
  EXPECT_FALSE(asker.answer(asked.challenge(token, "a2")));
  // What it has heard on another connection.
  const Introduction earlier(token, "a1", "", 7, 3, random_nonce());
  EXPECT_FALSE(asker.answer(Examination(earlier.hello(), random_nonce()).challenge(token, "a1")));
  Frame short_one = asked.challenge(token, "a1");
  short_one.payload.pop_back();
  EXPECT_FALSE(asker.answer(short_one));
  EXPECT_FALSE(asker.answer(Frame{}));
}

TEST(Examination, is_passed_only_by_who_said_hello) {
  const Introduction asker(token, "a1", "a5", 0, 0, random_nonce());
  const Examination asked(asker.hello(), random_nonce());
  const Frame proof = *asker.answer(asked.challenge(token, "a1"));
  EXPECT_TRUE(asked.is_passed_by(proof, token, "a1"));
  // The same proof on another connection, for another name, and what the node itself has sent.
  EXPECT_FALSE(Examination(asker.hello(), random_nonce()).is_passed_by(proof, token, "a1"));
  Frame other = asker.hello();
  other.payload.back() = std::byte{'6'};
  EXPECT_FALSE(Examination(other, random_nonce()).is_passed_by(proof, token, "a1"));
  Frame echo = proof;
  const Frame challenge = asked.challenge(token, "a1");
  echo.payload.assign(challenge.payload.begin() + sizeof(Digest), challenge.payload.end());
  EXPECT_FALSE(asked.is_passed_by(echo, token, "a1"));
  echo.payload.clear();
  EXPECT_FALSE(asked.is_passed_by(echo, token, "a1"));
}

TEST(Examination, takes_no_hello_of_a_wrong_length) {
  const Frame hello = Introduction(token, "a1", "", 7, 3, random_nonce()).hello();
  for (const std::size_t length : {0, 31, 33}) {
    Frame wrong = hello;
    wrong.payload.resize(length);
    EXPECT_THROW(Examination(wrong, random_nonce()), ProtocolError) << length;
  }
  Frame nameless = hello;
  nameless.role = Role::node;
  EXPECT_THROW(Examination(nameless, random_nonce()), ProtocolError);
  EXPECT_THROW(Examination(Frame{}, random_nonce()), ProtocolError);
}

TEST(AggregationNode, does_not_believe_who_listens_where_its_parent_should) {
  const TreeFile tree = parse_tree_file(tree_text(2), "t");
  AggregationNode node(position_of(tree, 1), tree.limits, tree.token);
  node.reached_parent(1, 0);
  const auto said = node.take_output();
  ASSERT_EQ(said.size(), 1u);
  Frame welcome;  // of a node that does not know the token
  welcome.kind = Kind::welcome;
  welcome.payload = pack(tree.limits);
  for (const Frame& answer :
       {welcome, Examination(said[0].frame, random_nonce()).challenge("another token !!", "a0")}) {
    node.reached_parent(1, 0);
    static_cast<void>(node.take_output());
    node.received(1, answer, 0);
    EXPECT_FALSE(node.knows_parent());
    const auto output = node.take_output();
    ASSERT_EQ(output.size(), 1u);
    EXPECT_TRUE(output[0].close);
  }
}

/// Takes the port of an aggregation node that is gone, and keeps what it hears.
class Impostor {
 public:
  Impostor() : acceptor_(context_, {asio::ip::make_address("127.0.0.1"), 0}), thread_([this] { serve(); }) {}
  std::string end() {
    thread_.join();
    return heard_;
  }
  std::string port() const { return std::to_string(acceptor_.local_endpoint().port()); }

 private:
  void serve() {
    asio::ip::tcp::socket socket = acceptor_.accept();
    std::vector<std::byte> said;
    Frame challenge;
    challenge.kind = Kind::challenge;
    challenge.payload.resize(2 * sizeof(Digest));
    append(said, challenge);
    asio::error_code error;
    asio::write(socket, asio::buffer(said), error);
    std::array<char, 4096> chunk;
    while (!error) heard_.append(chunk.data(), socket.read_some(asio::buffer(chunk), error));
  }
  asio::io_context context_{1};
  asio::ip::tcp::acceptor acceptor_;
  std::string heard_;
  std::thread thread_;
};

TEST(Link, gives_nothing_away_to_who_has_taken_the_port_of_a_node) {
  Impostor impostor;
  TreeNode node;
  node.name = "a0";
  node.host = "127.0.0.1";
  node.port = impostor.port();
  try {
    const Link link(node, {token, 7, 0}, [] {});
    ADD_FAILURE() << "it was believed";
  } catch (const Problem& problem) {
    EXPECT_EQ(problem.code(), SHARP_COLL_ECONN_TREE);
    EXPECT_NE(std::string(problem.what()).find("does not know the tree's token"), std::string::npos);
  }
  const std::string heard = impostor.end();
  EXPECT_EQ(heard.size(), head_bytes + sizeof(Nonce)) << "a hello and no more";
  EXPECT_EQ(heard.find(token), std::string::npos);
}

}  // namespace
}  // namespace espalier::sharp
