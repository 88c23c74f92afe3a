// Rules that `espalier tune` has measured on this machine (docs/tuning.md), which are found by themselves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/config.hpp"

namespace espalier::plan {

/// What such rules hold for. Another processor, another host MPI or another Espalier has other ones.
struct TunedFor {
  std::string machine;   ///< machine_identity()
  std::string host;      ///< the first line of MPI_Get_library_version; empty: there is no host MPI
  std::string espalier;  ///< this Espalier's version
};

/// A version text's first line, with blanks for what JSON would escape: programs that measure print it as it is.
std::string host_line(std::string_view version);

TunedFor tuned_for(const Config& config, std::string host);

/// "tuned-0123456789abcdef.json": by a hash of all three.
std::string tuned_file_name(const TunedFor& what);

/// The folders where the file is looked for, in order: ESPALIER_TUNED's where it names one; else the user's
/// ($XDG_CONFIG_HOME/espalier, or $HOME/.config/espalier) and the site's (/etc/espalier). None where
/// ESPALIER_TUNED is off. A program that has more rights than its user has the site's alone.
std::vector<std::string> tuned_folders(const Config& config);

struct TunedRules {
  std::string path;  ///< empty: there are none
  std::string text;  ///< of the file
  std::string why;   ///< a file that is there cannot be read
};

/// The first such file. There is none where there is no host MPI (`host` is empty): without one its rules were not
/// measured. Costs one look at each folder where nothing was ever tuned.
TunedRules find_tuned_rules(const Config& config, const std::string& host);

/// The host MPI of this process, said before the first use of what follows and of Table::instance().
void set_host(std::string_view version);
/// The first line of that text; empty: there is no host MPI.
const std::string& known_host();
/// Read once. Thread-safe.
const TunedRules& tuned_rules();

/// A hash of the settings that ranks must have in common and of the tuned rules: found by each rank for itself,
/// they may differ from node to node.
std::uint64_t agreement();

}  // namespace espalier::plan
