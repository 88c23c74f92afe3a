#include "runtime/statistics/abnormal_end.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "base/printable.hpp"
#include "base/ticks.hpp"
#include "runtime/statistics/counters.hpp"

namespace espalier::runtime::statistics::early_end {
namespace {

// Fixed memory, since this runs in signal handlers and after static objects have gone.
std::atomic<bool> is_armed{false};
pid_t owner = 0;  ///< a child of fork() has nothing to say
bool has_files = false;
int own_rank = 0, all_ranks = 0;
double tick = 0;
char file_name[1024], host_name[257], build_name[17];

/// Text on standard error, a piece at a time.
class Writer {
 public:
  ~Writer() { flush(); }
  Writer& operator<<(std::string_view text) {
    for (const char c : text) put(c);
    return *this;
  }
  Writer& operator<<(std::uint64_t number) { return number_of(number, 0, ' '); }
  Writer& right(std::uint64_t number, int width) { return number_of(number, width, ' '); }
  Writer& digits(std::uint64_t number, int width) { return number_of(number, width, '0'); }
  Writer& right(std::string_view text, int width) {
    for (auto i = static_cast<int>(text.size()); i < width; ++i) put(' ');
    return *this << text;
  }
  Writer& left(std::string_view text, int width) {
    *this << text;
    for (auto i = static_cast<int>(text.size()); i < width; ++i) put(' ');
    return *this;
  }

 private:
  void put(char c) {
    if (used_ == sizeof buffer_) flush();
    buffer_[used_++] = c;
  }
  Writer& number_of(std::uint64_t number, int width, char fill) {
    char text[20];
    int length = 0;
    do text[length++] = static_cast<char>('0' + number % 10);
    while (number /= 10);
    for (int i = length; i < width; ++i) put(fill);
    while (length > 0) put(text[--length]);
    return *this;
  }
  void flush() {
    for (std::size_t done = 0; done < used_;) {
      const ssize_t written = ::write(STDERR_FILENO, buffer_ + done, used_ - done);
      if (written < 0 && errno != EINTR) break;
      if (written > 0) done += static_cast<std::size_t>(written);
    }
    used_ = 0;
  }

  char buffer_[1024];  // a handler may run on a small stack
  std::size_t used_ = 0;
};

struct Totals {
  std::uint64_t calls = 0, ticks = 0, progress = 0, yield = 0, sleep = 0;
};

/// Over communicators of one size. False: an earlier row has been printed for this one.
bool total_of(const Row& row, Totals& total) {
  bool is_first = true, is_passed = false;
  for_each_row([&](const Row& other) {
    if (other.calls.get() == 0 || !other.is_like(row)) return;
    if (&other == &row) is_passed = true;
    if (!is_passed) is_first = false;
    total.calls += other.calls.get();
    total.ticks += other.ticks.get();
    total.progress += other.progress.get();
    total.yield += other.yield.get();
    total.sleep += other.sleep.get();
  });
  return is_first;
}

void write_row(Writer& out, const Row& row, const Totals& total) {
  const auto microseconds = static_cast<std::uint64_t>(static_cast<double>(total.ticks) * tick * 1e6);
  const std::uint64_t first = row.size_class == 0 ? 0 : std::uint64_t{1} << (row.size_class - 1);
  out.right(static_cast<std::uint64_t>(row.communicator_size), 6) << " ";
  out.left(row.collective_name, 20).right(first, 12) << " .. ";
  out.right(first == 0 ? 0 : first * 2 - 1, 12).right(total.calls, 11).right(microseconds / 1'000'000, 7)
      << ".";
  out.digits(microseconds % 1'000'000, 6) << " ";
  out.left(row.algorithm, 20).right(total.progress, 10).right(total.yield, 9).right(total.sleep, 9)
      << "  " << row.why << "\n";
}

void write_counts(Writer& out, const char* how) {
  out << "espalier: " << how << " before MPI_Finalize; what rank " << static_cast<std::uint64_t>(own_rank)
      << " of " << static_cast<std::uint64_t>(all_ranks) << " counted until then (" << host_name << ", "
      << build_name << " build; ESPALIER_STATS=FILE keeps the counts of all ranks)\n";
  out.right("ranks", 6) << " ";
  out.left("collective", 20).right("bytes", 28).right("calls", 11).right("seconds", 14) << " ";
  out.left("algorithm", 20).right("progress", 10).right("yield", 9).right("sleep", 9)
      << "  host because, or why not sharp\n";
  for_each_row([&](const Row& row) {
    Totals total;
    if (row.calls.get() > 0 && total_of(row, total)) write_row(out, row, total);
  });
}

void write_hint(Writer& out, const char* how) {
  out << "espalier: " << how
      << " before MPI_Finalize; what the ranks counted until then is shown by: espalier stats " << file_name
      << "\n";
}

struct Watched {
  int number;
  const char* how;
};
constexpr std::array<Watched, 8> watched{{{SIGINT, "SIGINT ended rank 0"},
                                          {SIGTERM, "SIGTERM ended rank 0"},
                                          {SIGHUP, "SIGHUP ended rank 0"},
                                          {SIGQUIT, "SIGQUIT ended rank 0"},
                                          {SIGUSR1, "SIGUSR1 ended rank 0"},
                                          {SIGUSR2, "SIGUSR2 ended rank 0"},
                                          {SIGXCPU, "SIGXCPU ended rank 0"},
                                          {SIGABRT, "SIGABRT ended rank 0"}}};

void on_signal(int number) {
  const int kept = errno;
  for (const Watched& each : watched)
    if (each.number == number) tell(each.how);
  // By its default, so that the exit status is right; pending until this returns. A handler that the program
  // has put in our place and that called us goes on as it likes.
  struct sigaction now{};
  if (sigaction(number, nullptr, &now) == 0 && now.sa_handler == on_signal) {
    signal(number, SIG_DFL);
    raise(number);
  }
  errno = kept;
}

void watch_signals() {
  for (const Watched& each : watched) {
    struct sigaction now{}, ours{};
    if (sigaction(each.number, nullptr, &now) != 0 || now.sa_handler != SIG_DFL ||
        (now.sa_flags & SA_SIGINFO))
      continue;
    ours.sa_handler = on_signal;
    ours.sa_flags = SA_RESTART | SA_ONSTACK;
    sigaction(each.number, &ours, nullptr);
  }
}

void leave_signals() {
  for (const Watched& each : watched) {
    struct sigaction now{};
    if (sigaction(each.number, nullptr, &now) == 0 && now.sa_handler == on_signal)
      signal(each.number, SIG_DFL);
  }
}

template <std::size_t room>
void keep(char (&field)[room], const std::string& text) {
  field[text.copy(field, room - 1)] = '\0';
}

void arm(const Author& author) {
  owner = getpid();
  own_rank = author.rank;
  all_ranks = author.ranks;
  tick = ticks::seconds_per_tick();
  keep(host_name, author.host);
  keep(build_name, author.build);
  is_armed.store(true);
}

/// After the program's own static objects and exit handlers, which may still call MPI_Finalize.
[[gnu::destructor]] void at_exit() {
  if (own_rank == 0) tell("the program ended");  // all ranks may do so
}

}  // namespace

void hint_at(const std::string& target, const Author& author) {
  has_files = true;
  keep(file_name, printable(target));
  arm(author);
}

void print_counts(const Author& author) {
  has_files = false;
  arm(author);
  if (author.rank == 0) watch_signals();
}

void dismiss() {
  is_armed.store(false);
  if (!has_files) leave_signals();
}

void tell(const char* how) noexcept {
  if (getpid() != owner || !is_armed.exchange(false)) return;
  Writer out;
  if (has_files)
    write_hint(out, how);
  else
    write_counts(out, how);
}

}  // namespace espalier::runtime::statistics::early_end
