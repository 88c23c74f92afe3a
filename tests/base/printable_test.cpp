#include "base/printable.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "base/format.hpp"

namespace espalier {
namespace {

using namespace std::string_literals;

TEST(Printable, EndsAtTheFirstNul) {
  EXPECT_EQ(printable("Open MPI v4.1.4\0"s), "Open MPI v4.1.4");
  EXPECT_EQ(printable("a\0b"s), "a");
  EXPECT_EQ(printable("\0"s), "");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, IsOneLineWithSingleBlanks) {
  EXPECT_EQ(printable("  MPICH Version:\t\t5.0.2\n\nDevice: ch4\r\n"), "MPICH Version: 5.0.2 Device: ch4");
  EXPECT_EQ(printable(" \t\n"), "");
}

TEST(Printable, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("\x1b[2J\a\x7f"), "\\x1b[2J\\x07\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m")
      << "U+009B is ESC [ in one character";
}

TEST(Printable, KeepsUtf8AndEscapesWhatIsNone) {
  for (const char* text : {"Müller", "\xe2\x82\xac", "\xf0\x9f\x8c\xb3", "\xc2\xa0"})
    EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xc3"), "\\xc3") << "cut within a character";
  EXPECT_EQ(printable("\xc3(\x80"), "\\xc3(\\x80");
  EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80") << "a NUL in two bytes";
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf") << "a slash in three bytes";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a surrogate pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
}

TEST(Printable, IsBounded) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdefg", 6), "abc...");
  EXPECT_EQ(printable("abü\xc3\xbc\xc3\xbc", 6), "ab...") << "not within a character";
  EXPECT_EQ(printable("abcdefg", 2), "..");
  EXPECT_EQ(printable(std::string(1 << 20, '\1')).size(), 1024u);
}

TEST(Printable, AnyBytesCanGoIntoJson) {
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second) {
      const std::string text = {'a', static_cast<char>(first), static_cast<char>(second), 'b'};
      EXPECT_NO_THROW((void)nlohmann::json(printable(text)).dump());
      EXPECT_NO_THROW((void)nlohmann::json(printable_lines(text)).dump());
    }
}

TEST(Printable, LinesKeepTheirShape) {
  EXPECT_EQ(printable_lines("ranks   calls\n  4 \t 10\n"), "ranks   calls\n  4 \t 10\n");
  EXPECT_EQ(printable_lines("cut\0here\r\x1b"s), "cut\\x00here\\x0d\\x1b");
}

TEST(Printable, WhatIsPrintedIsEscaped) {
  ::testing::internal::CaptureStderr();
  print_to(stderr, "espalier: {} is no file\n", "a\0\x1b]0;title\a\xff"s);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "espalier: a\\x00\\x1b]0;title\\x07\\xff is no file\n");
}

}  // namespace
}  // namespace espalier
