#include "base/printable.hpp"

#include <algorithm>
#include <cstdint>

namespace espalier {
namespace {

constexpr std::uint32_t no_character = 0xffffffff;

struct Character {
  std::uint32_t code;  ///< no_character: the byte begins no UTF-8
  std::size_t bytes;
};

Character single_byte(std::uint32_t code) { return {code, 1}; }

// RFC 3629: shortest form only, no surrogates, nothing above U+10FFFF.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return single_byte(lead);
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return single_byte(no_character);
  std::uint32_t code = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return single_byte(no_character);
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < least[bytes] || is_surrogate || code > 0x10ffff) return single_byte(no_character);
  return {code, bytes};
}

// A terminal obeys the control characters of both sets, also as two bytes of UTF-8.
bool is_shown(std::uint32_t code) {
  return code >= 0x20 && !(code >= 0x7f && code < 0xa0) && code != no_character;
}

bool is_blank(std::uint32_t code) { return code == ' ' || (code >= '\t' && code <= '\r'); }

void append_escaped(std::string& line, std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    line += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
  }
}

void append(std::string& line, const Character& character, std::string_view text) {
  const std::string_view bytes = text.substr(0, character.bytes);
  if (is_shown(character.code))
    line += bytes;
  else
    append_escaped(line, bytes);
}

std::string bounded(std::string line, std::size_t most) {
  if (line.size() <= most) return line;
  constexpr std::string_view dots = "...";
  std::size_t end = most - std::min(most, dots.size());
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;  // not within a character
  return line.substr(0, end).append(dots.substr(0, most - end));
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  text = text.substr(0, text.find('\0'));
  std::string line;
  bool is_blank_due = false;
  while (!text.empty() && line.size() <= most) {
    const Character character = first_character(text);
    if (!is_blank(character.code)) {
      if (is_blank_due && !line.empty()) line += ' ';
      append(line, character, text);
    }
    is_blank_due = is_blank(character.code);
    text.remove_prefix(character.bytes);
  }
  return bounded(std::move(line), most);
}

std::string printable_lines(std::string_view text) {
  std::string lines;
  lines.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    if (character.code == '\n' || character.code == '\t')
      lines += static_cast<char>(character.code);
    else
      append(lines, character, text);
    text.remove_prefix(character.bytes);
  }
  return lines;
}

}  // namespace espalier
