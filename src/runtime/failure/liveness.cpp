// Looks a process up in /proc.
#include "runtime/failure/liveness.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <sstream>
#include <string>

#include "base/descriptor.hpp"
#include "base/format.hpp"
#include "base/process_exists.hpp"

namespace espalier::runtime {
namespace {

struct Stat {
  char state;
  std::uint64_t started;
};

// The text of /proc/PID/stat; empty, with errno set, when it cannot be read. One read() returns all of it.
std::string read_stat(pid_t process) {
  const Descriptor file = open_file(formatted("/proc/{}/stat", process).c_str(), O_RDONLY);
  if (!file) return "";
  std::array<char, 2048> text;
  const ssize_t bytes = read(file.get(), text.data(), text.size());
  return {text.data(), static_cast<std::size_t>(bytes > 0 ? bytes : 0)};
}

// proc_pid_stat(5): the second field is the program's name in parentheses, and may hold anything; the third
// is the state, the 22nd when the process was started.
std::optional<Stat> parse_stat(const std::string& text) {
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  Stat stat{};
  fields >> stat.state;
  std::string skipped;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  fields >> stat.started;
  return fields ? std::optional(stat) : std::nullopt;
}

}  // namespace

ProcessMark own_mark() {
  const auto stat = parse_stat(read_stat(getpid()));
  return {getpid(), stat ? stat->started : 0};
}

Liveness liveness_of(const ProcessMark& mark) {
  errno = 0;
  const std::string text = read_stat(mark.process);
  const bool missing = text.empty() && (errno == ENOENT || errno == ESRCH);
  // A /proc with hidepid shows no processes of other users, and either process may have changed its user.
  if (missing && !process_exists(mark.process)) return Liveness::ended;
  if (text.empty()) return Liveness::unknown;
  const auto stat = parse_stat(text);
  if (!stat) return Liveness::unknown;
  // Z, X: it has ended, and its parent has not waited for it yet.
  const bool gone = stat->state == 'Z' || stat->state == 'X' || stat->started != mark.started;
  return gone ? Liveness::ended : Liveness::runs;
}

}  // namespace espalier::runtime
