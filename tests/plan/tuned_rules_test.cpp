#include "plan/tuned_rules.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "plan/machine_identity.hpp"
#include "plan/selector.hpp"
#include "tests/plan/making.hpp"

namespace espalier::plan {
namespace {

using testing::contains;

Config config_of(const std::string& tuned) {
  const std::string entry = "ESPALIER_TUNED=" + tuned;
  const char* const list[] = {entry.c_str(), nullptr};
  return Config(list);
}

/// A folder that is gone at the end.
struct Folder {
  std::string path = ::testing::TempDir() + "espalier-tuned";
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string name_for(const std::string& host) const {
    return tuned_file_name(tuned_for(config_of(path), host));
  }
  void put(const std::string& host, const std::string& rules) const {
    std::ofstream(path + "/" + name_for(host)) << R"({"schema": 1, "tuned": {}, "rules": [)" << rules << "]}";
  }
};

TEST(TunedRules, TheNameSaysMachineHostAndVersion) {
  const TunedFor what = {"m", "h", "1"};
  EXPECT_EQ(tuned_file_name(what).size(), std::string("tuned-0123456789abcdef.json").size());
  EXPECT_EQ(tuned_file_name(what), tuned_file_name(TunedFor{"m", "h", "1"}));
  for (const TunedFor& other : {TunedFor{"n", "h", "1"}, TunedFor{"m", "i", "1"}, TunedFor{"m", "h", "2"}})
    EXPECT_NE(tuned_file_name(what), tuned_file_name(other));
}

TEST(TunedRules, AHostIsNamedByItsFirstLine) {
  EXPECT_EQ(host_line("MPICH Version:\t5\nRelease"), "MPICH Version: 5");
  EXPECT_EQ(host_line("a \"b\\"), "a b");
  EXPECT_EQ(host_line(std::string("Open MPI\0", 9)), "Open MPI");
  EXPECT_EQ(host_line("MPICH Version:      5"), "MPICH Version: 5");
  EXPECT_EQ(host_line(""), "");
}

TEST(TunedRules, AMachineIsNamedAlikeEachTime) {
  EXPECT_EQ(machine_identity(""), machine_identity(""));
  EXPECT_TRUE(contains(machine_identity("package:2 core:4 pu:1"), "as package:2"));
  EXPECT_TRUE(contains(machine_identity(""), "CPUs 0"));
}

TEST(TunedRules, AreFoundForTheirHostAlone) {
  const Folder folder;
  folder.put("MPICH 5", R"({"collective": "bcast", "algorithm": "host"})");
  const Config config = config_of(folder.path);
  EXPECT_EQ(find_tuned_rules(config, "MPICH 5").path, folder.path + "/" + folder.name_for("MPICH 5"));
  EXPECT_EQ(find_tuned_rules(config, "Open MPI 5").path, "");
  EXPECT_EQ(find_tuned_rules(config, "").path, "");  // without a host MPI
  EXPECT_EQ(find_tuned_rules(config_of("off"), "MPICH 5").path, "");
  EXPECT_EQ(find_tuned_rules(config_of(folder.path + "/none"), "MPICH 5").path, "");
}

TEST(TunedRules, TheUsersFolderComesBeforeTheSites) {
  setenv("XDG_CONFIG_HOME", "/there", 1);
  EXPECT_EQ(tuned_folders(config_of("auto")), (std::vector<std::string>{"/there/espalier", "/etc/espalier"}));
  EXPECT_EQ(tuned_folders(config_of("on")), tuned_folders(config_of("auto")));
  setenv("XDG_CONFIG_HOME", "not/absolute", 1);
  setenv("HOME", "/me", 1);
  EXPECT_EQ(tuned_folders(config_of("auto")).front(), "/me/.config/espalier");
  unsetenv("XDG_CONFIG_HOME");
  EXPECT_EQ(tuned_folders(config_of("auto")).front(), "/me/.config/espalier");
  EXPECT_EQ(tuned_folders(config_of("off")), std::vector<std::string>{});
  EXPECT_EQ(tuned_folders(config_of("/apps/rules")), std::vector<std::string>{"/apps/rules"});
}

TEST(TunedRules, ComeAfterTheUsersAndBeforeTheBuiltInOnes) {
  const Folder folder;
  folder.put("MPICH 5", R"({"collective": "bcast", "algorithm": "host", "evidence": "measured: here"})");
  const Config config = config_of(folder.path);
  const TunedRules tuned = find_tuned_rules(config, "MPICH 5");
  Query query;
  query.collective = Collective::bcast;
  const Table table(config, tuned);
  EXPECT_TRUE(table.warnings().empty());
  EXPECT_EQ(table.find(query).algorithm, Algorithm::host);
  EXPECT_EQ(table.find(query).origin.file, tuned.path);
  EXPECT_EQ(table.find(query).origin.evidence, "measured: here");

  const std::string own = folder.path + "/own.json";
  std::ofstream(own) << R"({"schema": 1, "rules": [{"collective": "bcast", "algorithm": "tree"}]})";
  const std::string entry = "ESPALIER_RULES=" + own;
  const char* const list[] = {entry.c_str(), nullptr};
  EXPECT_EQ(Table(Config(list), tuned).find(query).origin.file, own);
}

TEST(TunedRules, AFileThatIsNoneIsLeftOutAndNamed) {
  const Folder folder;
  folder.put("MPICH 5", "{");
  const TunedRules tuned = find_tuned_rules(config_of(folder.path), "MPICH 5");
  const Table table(config_of(folder.path), tuned);
  ASSERT_EQ(table.warnings().size(), 1u);
  EXPECT_TRUE(contains(table.warnings().front(), tuned.path));
  std::filesystem::remove(tuned.path);
  std::filesystem::create_directory(tuned.path);  // no plain file
  const TunedRules none = find_tuned_rules(config_of(folder.path), "MPICH 5");
  EXPECT_TRUE(none.text.empty() && contains(none.why, "directory"));
  EXPECT_EQ(Table(config_of(folder.path), none).warnings().size(), 1u);
}

/// What `espalier tune` measures by: each communicator is made for a trial, and its plans are that trial's.
TEST(Trials, RulesOfATrialServeItAlone) {
  const std::string path = ::testing::TempDir() + "espalier-trials-test.json";
  std::ofstream(path) << R"({"schema": 1, "rules": [
    {"trial": 1, "collective": "bcast", "algorithm": "host"},
    {"trial": 2, "collective": "bcast", "algorithm": "tree", "chunk": "1KiB", "tree": "kary:7"}]})";
  const Table table = testing::table_of({"ESPALIER_RULES=" + path});
  std::remove(path.c_str());
  EXPECT_TRUE(table.warnings().empty());
  const auto plan_of = [&](const char* trial) {
    setenv("ESPALIER_RUN_TRIAL", trial, 1);
    const Plan plan = Selector(table, Query{})(Collective::bcast, 64);
    unsetenv("ESPALIER_RUN_TRIAL");
    return plan;
  };
  EXPECT_EQ(plan_of("1").algorithm, Algorithm::host);
  EXPECT_EQ(plan_of("2").chunk, 1024u);
  for (const char* none : {"0", "3", "", "x", "-1"})
    EXPECT_EQ(plan_of(none).origin.file, "src/plan/default_rules.json") << none;
}

TEST(Trials, ATableWithoutAnyLooksAtNoVariable) {
  setenv("ESPALIER_RUN_TRIAL", "1", 1);
  const Table table = testing::table_of({});
  EXPECT_FALSE(table.has_trials());
  EXPECT_EQ(table.trial(), 0);
  unsetenv("ESPALIER_RUN_TRIAL");
}

TEST(Trials, ANumberThatIsNone) {
  for (const char* trial : {"-1", "\"1\"", "1.5", "[1, 2]", "null"}) {
    std::vector<std::string> warnings;
    const std::string text =
        std::string(R"({"schema": 1, "rules": [{"algorithm": "host", "trial": )") + trial + "}]}";
    EXPECT_THROW(parse_rules(text, "t.json", warnings), Error) << trial;
  }
}

}  // namespace
}  // namespace espalier::plan
