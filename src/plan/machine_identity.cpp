#include "plan/machine_identity.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/environment.hpp"
#include "base/format.hpp"

namespace espalier::plan {
namespace {

/// The beginning of a file of /proc or /sys. The whole of /proc/cpuinfo takes milliseconds on large machines.
std::string beginning_of(const char* path) {
  std::array<char, 4096> text;
  const Descriptor file = open_file(path, O_RDONLY);
  const ssize_t bytes = file ? read(file.get(), text.data(), text.size()) : 0;
  return {text.data(), static_cast<std::size_t>(bytes > 0 ? bytes : 0)};
}

std::string line_of(const char* path) {
  const std::string text = beginning_of(path);
  return text.substr(0, text.find('\n'));
}

/// The value of the first line that begins with `key`.
std::string field_of(const std::string& text, std::string_view key) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    const std::size_t colon = line.find(':');
    if (line.starts_with(key) && colon != std::string_view::npos)
      return std::string(line.substr(std::min(colon + 2, line.size())));
    at = end + 1;
  }
  return "";
}

/// x86 has a model's name; Arm an implementer and a part; Power says "cpu".
std::string processor() {
  const std::string text = beginning_of("/proc/cpuinfo");
  if (std::string name = field_of(text, "model name"); !name.empty()) return name;
  if (const std::string part = field_of(text, "CPU part"); !part.empty())
    return formatted("Arm {} {}", field_of(text, "CPU implementer"), part);
  return field_of(text, "cpu");
}

std::string last_cache() {
  for (const char* folder :
       {"/sys/devices/system/cpu/cpu0/cache/index3/", "/sys/devices/system/cpu/cpu0/cache/index2/"})
    if (const std::string size = line_of(formatted("{}size", folder).c_str()); !size.empty())
      return formatted("{} for {}", size, line_of(formatted("{}shared_cpu_list", folder).c_str()));
  return "";
}

std::string in_place_of_it(const std::string& setting) {
  if (!setting.empty()) return setting;
  for (const char* name : {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC"})
    if (const char* value = variable(name)) return value;
  return "";
}

}  // namespace

std::string machine_identity(const std::string& setting) {
  const std::string other = in_place_of_it(setting);
  return formatted("{}; CPUs {}; NUMA nodes {}; package {}; cache {}{}", processor(),
                   line_of("/sys/devices/system/cpu/online"), line_of("/sys/devices/system/node/online"),
                   line_of("/sys/devices/system/cpu/cpu0/topology/package_cpus_list"), last_cache(),
                   other.empty() ? "" : formatted("; as {}", other));
}

}  // namespace espalier::plan
