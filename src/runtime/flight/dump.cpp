#include "runtime/flight/dump.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/descriptor.hpp"
#include "base/format.hpp"
#include "runtime/flight/recorder.hpp"

namespace espalier::runtime::flight {
namespace {

// Fixed memory, since this is read in signal handlers.
std::array<char, 1024> dump_path{};
pid_t dump_owner = 0;  ///< a child of fork() has nothing to say
std::atomic<bool> awaits_end{false};

bool write_all(int file, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = ::write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
  return true;
}

void copy(const char* path, int file) {
  const Descriptor source = open_file(path, O_RDONLY);
  if (!source) return;
  std::array<char, 4096> piece;
  for (;;) {
    const ssize_t bytes = ::read(source.get(), piece.data(), piece.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0 || !write_all(file, piece.data(), static_cast<std::size_t>(bytes))) break;
  }
}

void on_dump_signal(int) {
  const int kept = errno;
  dump();
  errno = kept;
}

}  // namespace

void arm_dump(const std::string& file, int rank, int signal) {
  const std::string path = formatted("{}.rank-{}", file, rank);
  if (path.size() >= dump_path.size()) return;
  path.copy(dump_path.data(), path.size());
  dump_owner = getpid();
  if (signal == 0) return;
  struct sigaction ours{};
  ours.sa_handler = on_dump_signal;
  ours.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(signal, &ours, nullptr);
}

void dump() noexcept {
  const char* record = mark_now();
  if (!record || dump_owner == 0 || getpid() != dump_owner) return;
  const Descriptor file = open_file(dump_path.data(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
  if (!file || !write_all(file.get(), record, record_bytes)) return;
  copy("/proc/self/maps", file.get());
  constexpr std::string_view heading = "boot_id ";
  if (write_all(file.get(), heading.data(), heading.size()))
    copy("/proc/sys/kernel/random/boot_id", file.get());
}

void arm_timed_dump(std::uint64_t calls) {
  awaits_end.store(true, std::memory_order_relaxed);
  time_all(calls == 0 ? ~std::uint64_t{0} : calls, dump_at_end);
}

void dump_at_end() noexcept {
  if (awaits_end.exchange(false, std::memory_order_relaxed)) dump();
}

std::optional<std::uint64_t> calls_of(const std::string& text) {
  if (text == "end") return 0;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number == 0) return std::nullopt;
  return number;
}

int signal_of(const std::string& name) {
  std::string_view text = name;
  if (text.starts_with("SIG")) text.remove_prefix(3);
  constexpr std::array<std::pair<std::string_view, int>, 8> known{{{"USR1", SIGUSR1},
                                                                   {"USR2", SIGUSR2},
                                                                   {"QUIT", SIGQUIT},
                                                                   {"HUP", SIGHUP},
                                                                   {"TERM", SIGTERM},
                                                                   {"INT", SIGINT},
                                                                   {"URG", SIGURG},
                                                                   {"WINCH", SIGWINCH}}};
  for (const auto& [word, number] : known)
    if (word == text) return number;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_one =
      error == std::errc{} && end == text.data() + text.size() && number > 0 && number <= SIGRTMAX;
  return is_one && number != SIGKILL && number != SIGSTOP ? number : 0;
}

}  // namespace espalier::runtime::flight
