#include "base/config.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <initializer_list>
#include <map>
#include <string>

#include "base/config_keys.hpp"
#include "base/error.hpp"

namespace espalier {
namespace {

Config config_of(std::initializer_list<std::string> entries) {
  std::vector<const char*> list;
  for (const std::string& entry : entries) list.push_back(entry.c_str());
  list.push_back(nullptr);
  return Config(list.data());
}

/// A file that goes with the test.
class File {
 public:
  explicit File(const std::string& text) : path_(::testing::TempDir() + "espalier-config-test") {
    std::ofstream(path_) << text;
  }
  ~File() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Config, EveryKeyHasItsDefaultAndSaysSo) {
  const Config config = config_of({"HOME=/root", "ESPALIERX=1"});
  ASSERT_EQ(config.values().size(), config_keys.size());
  for (const ConfigKey& key : config_keys) {
    EXPECT_EQ(config.text(key.name), key.fallback);
    EXPECT_EQ(config.value(key.name).origin, "default");
    EXPECT_FALSE(key.help.empty());
  }
  EXPECT_TRUE(config.warnings().empty());
}

TEST(Config, DefaultsAreValidValues) {
  for (const ConfigKey& key : config_keys) {
    const Config config = config_of({std::string(key.name) + "=" + std::string(key.fallback)});
    EXPECT_TRUE(config.warnings().empty()) << config.warnings().front();
  }
}

TEST(Config, EnvironmentWinsOverFile) {
  const File file("# a comment\n\nESPALIER_SLOTS = 4\nESPALIER_SLOT=64KiB\n");
  const Config config = config_of({"ESPALIER_SLOT=16KiB", "ESPALIER_CONFIG=" + file.path()});
  EXPECT_EQ(config.text("ESPALIER_SLOTS"), "4");
  EXPECT_EQ(config.value("ESPALIER_SLOTS").origin, file.path() + ":3");
  EXPECT_EQ(config.bytes("ESPALIER_SLOT"), 16384u);
  EXPECT_EQ(config.value("ESPALIER_SLOT").origin, "environment");
  EXPECT_EQ(config.value("ESPALIER_WAIT").origin, "default");
  EXPECT_TRUE(config.warnings().empty());
}

TEST(Config, FormerNamesAreReadWithAWarning) {
  for (const FormerKey& former : former_keys) {
    const Config config = config_of({std::string(former.name) + "=off"});
    EXPECT_EQ(config.text(former.now), "off");
    ASSERT_EQ(config.warnings().size(), 1u);
    EXPECT_TRUE(contains(config.warnings()[0], std::string(former.now))) << config.warnings()[0];
  }
}

TEST(Config, TodaysNameWinsOverTheFormerOne) {
  for (const bool first : {false, true}) {
    const std::string former = "ESPALIER_TRADE=off", now = "ESPALIER_PAIRWISE=on";
    EXPECT_TRUE(config_of({first ? former : now, first ? now : former}).flag("ESPALIER_PAIRWISE"));
  }
}

TEST(Config, EachCollectiveHasKeysForItsAlgorithms) {
  EXPECT_EQ(algorithm_key(Collective::reduce_scatter_block), "ESPALIER_REDUCE_SCATTER_BLOCK");
  EXPECT_EQ(network_algorithm_key(Collective::barrier), "ESPALIER_NETWORK_BARRIER");
  for (const Collective collective : all_collectives)
    EXPECT_TRUE(contains(std::string(config_of({}).value(algorithm_key(collective)).key->help),
                         std::string(to_string(collective))));
}

TEST(Config, FileWarningsNameTheirLine) {
  const File file("ESPALIER_INLINE=off\nnonsense\nESPALIER_INLIN=on\n");
  const Config config = config_of({"ESPALIER_CONFIG=" + file.path()});
  EXPECT_FALSE(config.flag("ESPALIER_INLINE"));
  ASSERT_EQ(config.warnings().size(), 2u);
  EXPECT_TRUE(contains(config.warnings()[0], file.path() + ":2")) << config.warnings()[0];
  EXPECT_TRUE(contains(config.warnings()[1], file.path() + ":3")) << config.warnings()[1];
}

TEST(Config, FileThatCannotBeReadIsNamed) {
  const Config config = config_of({"ESPALIER_CONFIG=/nowhere/at/all"});
  ASSERT_EQ(config.warnings().size(), 1u);
  EXPECT_TRUE(contains(config.warnings()[0], "/nowhere/at/all"));
}

TEST(Config, UnknownKeyNamesTheNearest) {
  const Config config = config_of({"ESPALIER_ALREDUCE=tree", "ESPALIER_GATHERTREE=flat"});
  ASSERT_EQ(config.warnings().size(), 2u);
  EXPECT_TRUE(contains(config.warnings()[0], "ESPALIER_ALREDUCE (environment)")) << config.warnings()[0];
  EXPECT_TRUE(contains(config.warnings()[0], "did you mean ESPALIER_ALLREDUCE?")) << config.warnings()[0];
  EXPECT_TRUE(contains(config.warnings()[1], "did you mean ESPALIER_GATHER_TREE?")) << config.warnings()[1];
}

TEST(Config, UnreadableValueFallsBackWithAWarning) {
  for (const std::string entry : {"ESPALIER=perhaps",           "ESPALIER_INLINE=2",
                                  "ESPALIER_FALLBACK=abort",    "ESPALIER_WAIT=forever",
                                  "ESPALIER_SETUP=always",      "ESPALIER_SHM=lots",
                                  "ESPALIER_SLOTS=0",           "ESPALIER_SLOTS=65",
                                  "ESPALIER_SLOTS=-1",          "ESPALIER_SLOT=1000",
                                  "ESPALIER_SLOT=2GiB",         "ESPALIER_SLOT=1e18",
                                  "ESPALIER_SLOT=64 apples",    "ESPALIER_CHUNK=63",
                                  "ESPALIER_CHUNK=many",        "ESPALIER_SHM=",
                                  "ESPALIER_SEGMENT=63",        "ESPALIER_SEGMENT=0",
                                  "ESPALIER_SEGMENT=1025MiB",   "ESPALIER_SEGMENT=long",
                                  "ESPALIER_LEADERS=0",         "ESPALIER_LEADERS=-1",
                                  "ESPALIER_LEADERS=2.5",       "ESPALIER_LEADERS=99999999999",
                                  "ESPALIER_LEADERS=everybody", "ESPALIER_NODE_STAGE=messages",
                                  "ESPALIER_NODE_STAGE="}) {
    const Config config = config_of({entry});
    const std::string name = entry.substr(0, entry.find('='));
    ASSERT_EQ(config.warnings().size(), 1u) << entry;
    EXPECT_TRUE(contains(config.warnings()[0], name)) << config.warnings()[0];
    EXPECT_TRUE(contains(config.warnings()[0], "environment")) << config.warnings()[0];
    EXPECT_EQ(config.text(name), config.value(name).key->fallback) << entry;
    EXPECT_EQ(config.value(name).origin, "default") << entry;
  }
}

TEST(Config, ValuesOfTheNetworkStage) {
  for (const char* entry :
       {"ESPALIER_SEGMENT=64", "ESPALIER_SEGMENT=1GiB", "ESPALIER_LEADERS=1", "ESPALIER_LEADERS=all",
        "ESPALIER_NODE_STAGE=shared", "ESPALIER_NODE_STAGE=p2p"}) {
    const Config config = config_of({entry});
    EXPECT_TRUE(config.warnings().empty()) << config.warnings().front();
  }
}

TEST(Config, FlagsHaveFourWordsEachInAnyCase) {
  for (const char* word : {"on", "1", "yes", "true"})
    EXPECT_TRUE(config_of({std::string("ESPALIER_MEMFD=") + word}).flag("ESPALIER_MEMFD")) << word;
  for (const char* word : {"off", "0", "no", "false", " off ", "OFF", "False"})
    EXPECT_FALSE(config_of({std::string("ESPALIER_MEMFD=") + word}).flag("ESPALIER_MEMFD")) << word;
}

// Another value than the default, and one that the key may have.
std::string another_value(const ConfigKey& key) {
  static const std::map<std::string_view, const char*> of_key = {{"ESPALIER_SHM", "1GiB"},
                                                                 {"ESPALIER_ALLOC_KEEP", "1MiB"},
                                                                 {"ESPALIER_CHUNK", "8KiB"},
                                                                 {"ESPALIER_SLOTS", "4"},
                                                                 {"ESPALIER_STREAMING", "on"},
                                                                 {"ESPALIER_NONBLOCKING", "on"},
                                                                 {"ESPALIER_WAIT", "sleep"},
                                                                 {"ESPALIER_SETUP", "agree"},
                                                                 {"ESPALIER_SEGMENT", "8KiB"},
                                                                 {"ESPALIER_LEADERS", "3"},
                                                                 {"ESPALIER_NODE_STAGE", "p2p"},
                                                                 {"ESPALIER_FALLBACK", "error"},
                                                                 {"ESPALIER_PROGRESS", "thread"},
                                                                 {"ESPALIER_REPRODUCIBLE", "exact"},
                                                                 {"ESPALIER_STATS_SITES", "3"},
                                                                 {"ESPALIER_WINDOW_TRANSPORT", "message"},
                                                                 {"ESPALIER_SHARP_LEADERS", "socket"}};
  static const std::map<std::string_view, const char*> of_default = {
      {"on", "off"}, {"off", "on"}, {"8", "16"}, {"32KiB", "64KiB"}, {"60000", "100"}};
  if (const auto found = of_key.find(key.name); found != of_key.end()) return found->second;
  if (const auto found = of_default.find(key.fallback); found != of_default.end()) return found->second;
  return "something";
}

TEST(Config, AgreementChangesWithAgreedKeysOnly) {
  const auto plain = config_of({}).agreement();
  for (const ConfigKey& key : config_keys) {
    const std::string other = another_value(key);
    const Config config = config_of({std::string(key.name) + "=" + other});
    ASSERT_EQ(config.text(key.name), other);
    EXPECT_EQ(config.agreement() != plain, key.agreed) << key.name;
  }
}

TEST(Config, ASwitchMayHaveAThirdValue) {
  EXPECT_EQ(config_of({"ESPALIER_GUARD=all"}).text("ESPALIER_GUARD"), "all");
  EXPECT_TRUE(config_of({"ESPALIER_GUARD=yes"}).flag("ESPALIER_GUARD"));
  EXPECT_EQ(config_of({"ESPALIER_GUARD=some"}).text("ESPALIER_GUARD"), "off");
}

TEST(Config, AgreementDoesNotMixNeighbours) {
  EXPECT_NE(config_of({"ESPALIER_BARRIER=tree"}).agreement(), config_of({"ESPALIER_BCAST=tree"}).agreement());
}

TEST(Config, KeyThatDoesNotExistThrows) { EXPECT_THROW(config_of({}).text("ESPALIER_NOTHING"), Error); }

TEST(Bytes, Parse) {
  EXPECT_EQ(parse_bytes("0"), 0u);
  EXPECT_EQ(parse_bytes("4096"), 4096u);
  EXPECT_EQ(parse_bytes(" 64 KiB "), 65536u);
  EXPECT_EQ(parse_bytes("64k"), 65536u);
  EXPECT_EQ(parse_bytes("64kb"), 65536u);
  EXPECT_EQ(parse_bytes("7B"), 7u);
  EXPECT_EQ(parse_bytes("1.5MiB"), 1536u * 1024);
  EXPECT_EQ(parse_bytes("2M"), std::size_t{2} << 20);
  EXPECT_EQ(parse_bytes("3GiB"), std::size_t{3} << 30);
  EXPECT_EQ(parse_bytes("1t"), std::size_t{1} << 40);
}

TEST(Bytes, BadTextIsNamed) {
  for (const char* text : {"", "x", "-1", "64x", "64KiBs", "1e30", "nan", "inf", "12 34", "9e18T"}) {
    try {
      parse_bytes(text);
      ADD_FAILURE() << text << " was read";
    } catch (const Error& error) {
      EXPECT_TRUE(contains(error.what(), std::string("\"") + text + "\"")) << error.what();
    }
  }
}

TEST(Bytes, PrintReadsBack) {
  EXPECT_EQ(print_bytes(0), "0");
  EXPECT_EQ(print_bytes(1000), "1000");
  EXPECT_EQ(print_bytes(65536), "64KiB");
  EXPECT_EQ(print_bytes(std::size_t{3} << 40), "3TiB");
  for (std::size_t bytes :
       {std::size_t{1}, std::size_t{1023}, std::size_t{1025}, std::size_t{1} << 20, std::size_t{5} << 50})
    EXPECT_EQ(parse_bytes(print_bytes(bytes)), bytes);
}

}  // namespace
}  // namespace espalier
