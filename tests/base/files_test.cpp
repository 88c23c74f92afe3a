// Whole files: what is read, what is refused at once, and what is written where no file is.
#include "base/files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace espalier {
namespace {

/// A folder that goes with the test. What hangs ends by the alarm.
class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    alarm(30);
    char name[] = "/tmp/espalier-files-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    alarm(0);
  }
  std::string path(const char* name) const { return folder_ + "/" + name; }
  static void expect_refused(const std::string& path, const std::string& why) {
    std::string said;
    EXPECT_FALSE(read_file(path, said)) << path;
    EXPECT_NE(said.find(why), std::string::npos) << said;
    EXPECT_EQ(text_of(path), "");
  }

 private:
  std::string folder_;
};

TEST_F(Files, AreReadAsTheyWereWritten) {
  const std::string text(100000, 'x');
  ASSERT_TRUE(write_file(path("plain"), text));
  EXPECT_EQ(read_file(path("plain")), text);
  ASSERT_TRUE(write_file(path("plain"), "short"));
  EXPECT_EQ(text_of(path("plain")), "short");
  EXPECT_EQ(why_no_plain_file(path("plain")), "");
}

TEST_F(Files, OfProcHaveNoSizeAndAreRead) { EXPECT_NE(text_of("/proc/self/status"), ""); }

TEST_F(Files, ThatAreNoneAreRefusedAtOnce) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  expect_refused(path("fifo"), "it is a FIFO");
  expect_refused("/dev/zero", "it is a device");
  expect_refused("/tmp", "it is a directory");
  expect_refused(path("absent"), "No such file");
  sockaddr_un address{AF_UNIX, {}};
  path("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  expect_refused(path("socket"), "it is a socket");
  close(socket);
  EXPECT_EQ(why_no_plain_file(path("fifo")), "it is a FIFO, not a plain file");
  EXPECT_EQ(why_no_plain_file(path("absent")), "");
}

TEST_F(Files, ThatAreHugeAreRefusedBeforeTheyAreRead) {
  const std::string huge = path("huge");
  ASSERT_TRUE(write_file(huge, ""));
  ASSERT_EQ(truncate(huge.c_str(), off_t{1} << 30), 0);
  expect_refused(huge, "it has 1073741824 bytes");
  ASSERT_EQ(truncate(huge.c_str(), static_cast<off_t>(longest_file)), 0);
  EXPECT_EQ(text_of(huge).size(), longest_file);
}

TEST_F(Files, AreNotWrittenWhereNoFolderIs) {
  EXPECT_FALSE(write_file("/nowhere/at/all", "text"));
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(Files, AreNotWrittenToAFifoThatNoProcessReads) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_FALSE(write_file(path("fifo"), "text"));
  EXPECT_EQ(errno, ENXIO);
  const int reader = open(path("fifo").c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_TRUE(write_file(path("fifo"), "text"));
  char text[8] = {};
  EXPECT_EQ(read(reader, text, sizeof text), 4);
  EXPECT_STREQ(text, "text");
  close(reader);
}

}  // namespace
}  // namespace espalier
