#include "options.hpp"

#include <cstdlib>
#include <stdexcept>

static double number(const std::string& key, const char* text) {
  char* end = nullptr;
  const double value = text ? std::strtod(text, &end) : -1;
  if (!text || end == text || *end || !(value >= 0))
    throw std::invalid_argument(key + " needs a number that is not negative");
  return value;
}

Options parse_options(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--delay")
      o.delay_us = number(word, argv[++i]);
    else if (word == "--rate")
      o.rate_mbit = number(word, argv[++i]);
    else if (word.rfind("--", 0) == 0)
      throw std::invalid_argument("unknown option " + word);
    else
      o.ports.push_back(word);
  }
  if (o.ports.size() < 2) throw std::invalid_argument("a switch needs two ports (network interfaces)");
  return o;
}
