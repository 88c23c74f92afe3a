// Configuration with provenance: every key, its value, and where the value came from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// One known key. `agreed` keys change what ranks do together: ranks whose agreed values differ refuse to
/// share memory.
struct ConfigKey {
  std::string_view name;
  std::string_view fallback;
  bool agreed;
  std::string_view help;
};

struct ConfigValue {
  const ConfigKey* key;
  std::string text;
  std::string origin;  ///< "default", "environment" or "FILE:LINE"
};

/// Read once from the environment and from the file that ESPALIER_CONFIG names (KEY=VALUE lines, # comments);
/// the environment wins. A program that has more rights than its user (set-user-ID) has the defaults.
/// Immutable afterwards, hence thread-safe.
class Config {
 public:
  static const Config& instance();
  /// From given text instead of this process's environment; `environment` is a null-terminated KEY=VALUE
  /// list.
  explicit Config(const char* const* environment);

  const ConfigValue& value(std::string_view name) const;
  const std::string& text(std::string_view key) const { return value(key).text; }
  bool flag(std::string_view key) const;          ///< on/off, yes/no, true/false, 1/0
  std::size_t bytes(std::string_view key) const;  ///< "64KiB", "2M", "4096"
  const std::vector<ConfigValue>& values() const { return values_; }
  /// One line each: unknown keys (with the nearest known one), unreadable values (the default is used
  /// instead).
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// A hash of all agreed values.
  std::uint64_t agreement() const;

 private:
  void set(std::string_view name, std::string_view text, std::string origin);
  void read_file(const std::string& path);
  void check_values();
  std::vector<ConfigValue> values_;
  std::vector<std::string> warnings_;
};

/// on, yes, true, 1 and off, no, false, 0, in any case.
bool is_on(std::string_view text);
bool is_off(std::string_view text);
/// "64KiB", "64k", "1.5MiB", "4096" to bytes; throws Error naming the text.
std::size_t parse_bytes(std::string_view text);
/// 65536 to "64KiB".
std::string print_bytes(std::size_t bytes);

}  // namespace espalier
