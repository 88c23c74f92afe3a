#include "topology/cgroup.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/files.hpp"

namespace espalier::topology {

namespace {

// A mounted hierarchy of control groups that can limit CPU time.
struct Mount {
  bool v2;
  std::string root;   // the control group that is mounted
  std::string point;  // where
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool lists(const std::string& comma_list, std::string_view word) {
  auto words = split(comma_list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The kernel writes blanks and backslashes in paths as \040 and \134.
std::string unescape(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto octal = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && octal(i + 1) && octal(i + 2) && octal(i + 3)) {
      result += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

// proc(5): id parent device root point options [more...] - type source options
std::optional<Mount> read_mount(const std::string& line) {
  auto fields = split(line, ' ');
  auto dash = std::find(fields.begin(), fields.end(), "-");
  if (dash - fields.begin() < 6 || fields.end() - dash < 4) return std::nullopt;
  bool v2 = dash[1] == "cgroup2";
  if (!v2 && !(dash[1] == "cgroup" && lists(dash[3], "cpu"))) return std::nullopt;
  return Mount{v2, unescape(fields[3]), unescape(fields[4])};
}

std::vector<Mount> read_mounts(const std::string& root) {
  std::vector<Mount> mounts;
  std::istringstream file(text_of(root + "/proc/self/mountinfo"));
  for (std::string line; std::getline(file, line);) {
    if (auto mount = read_mount(line)) mounts.push_back(*mount);
  }
  return mounts;
}

// The control group of the process in v2, or in v1's hierarchy of the controller `cpu`.
std::optional<std::string> own_group(const std::string& root, bool v2) {
  std::istringstream file(text_of(root + "/proc/self/cgroup"));
  for (std::string line; std::getline(file, line);) {
    auto first = line.find(':');
    auto second = line.find(':', first == std::string::npos ? first : first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = line.substr(first + 1, second - first - 1);
    if (v2 ? controllers.empty() : lists(controllers, "cpu")) return line.substr(second + 1);
  }
  return std::nullopt;
}

// The path of a control group below the mount point, "" for the mount point itself. A group outside of what
// is mounted (a container without a namespace of its own) cannot be seen; the mount point is then the nearest
// that can.
std::string below_mount(const std::string& group, const std::string& mounted) {
  std::string top = mounted == "/" ? "" : mounted;
  bool inside =
      group.compare(0, top.size(), top) == 0 && (group.size() == top.size() || group[top.size()] == '/');
  if (!inside || group.find("/..") != std::string::npos) return "";
  std::string path = group.substr(top.size());
  return path == "/" ? "" : path;
}

std::optional<double> number_in(const std::string& path) {
  std::istringstream file(text_of(path));
  double value = 0;
  if (!(file >> value)) return std::nullopt;
  return value;
}

CpuQuota quota_v2(const std::string& folder) {
  std::string path = folder + "/cpu.max";
  std::istringstream file(text_of(path));
  std::string quota;
  double period = 0;
  // "max 100000" when there is none
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return {};
  double microseconds = std::strtod(quota.c_str(), nullptr);
  return microseconds > 0 ? CpuQuota{microseconds / period, path} : CpuQuota{};
}

CpuQuota quota_v1(const std::string& folder) {
  std::string path = folder + "/cpu.cfs_quota_us";
  auto quota = number_in(path);  // -1 when there is none
  auto period = number_in(folder + "/cpu.cfs_period_us");
  if (!quota || !period || *quota <= 0 || *period <= 0) return {};
  return {*quota / *period, path};
}

CpuQuota tightest(const Mount& mount, std::string path, const std::string& root) {
  CpuQuota result;
  while (true) {
    std::string folder = root + mount.point + path;
    CpuQuota here = mount.v2 ? quota_v2(folder) : quota_v1(folder);
    if (here.cpus < result.cpus) result = here;
    if (path.empty()) return result;
    path.erase(path.rfind('/'));
  }
}

}  // namespace

CpuQuota cgroup_quota(const std::string& root) {
  CpuQuota result;
  for (const Mount& mount : read_mounts(root)) {
    auto group = own_group(root, mount.v2);
    if (!group) continue;
    CpuQuota here = tightest(mount, below_mount(*group, mount.root), root);
    if (here.cpus < result.cpus) result = here;
  }
  return result;
}

bool in_cpu_cgroup(const std::string& root) {
  for (const Mount& mount : read_mounts(root)) {
    auto group = own_group(root, mount.v2);
    if (!group) continue;
    // v2: the controller may be off in this group; where it is on, and not in the root group, the file is
    // there.
    std::string folder = root + mount.point + below_mount(*group, mount.root);
    if (mount.v2 ? read_file(folder + "/cpu.max").has_value() : *group != "/" || mount.root != "/")
      return true;
  }
  return false;
}

}  // namespace espalier::topology
