#pragma once

#include <string>
#include <vector>

struct Options {
  double delay_us = 500;           // from the moment a frame came in to the moment it goes out
  double rate_mbit = 0;            // million bits a second into and out of each port; 0: no limit
  std::vector<std::string> ports;  // network interfaces
};

// Throws std::invalid_argument with a line that says what is wrong.
Options parse_options(int argc, char** argv);
