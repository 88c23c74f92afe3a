#include "memory/kept_descriptor.hpp"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <utility>

namespace espalier::memory {
namespace {

bool is_file(int number, dev_t device, ino_t file) {
  struct stat status;
  return fstat(number, &status) == 0 && status.st_dev == device && status.st_ino == file;
}

// What a child of fork() closes: the arena's and the heap's, for others are open for a moment only. Without a
// lock, which another thread of the parent might have held for ever.
struct Entry {
  std::atomic<int> number{-1};
  std::atomic<dev_t> device{0};
  std::atomic<ino_t> file{0};
};
std::array<Entry, 8> entries;

void close_in_child() {
  for (Entry& entry : entries) {
    // acquire: pairs with the release in remember().
    const int number = entry.number.load(std::memory_order_acquire);
    if (number >= 0 && is_file(number, entry.device.load(std::memory_order_relaxed),
                               entry.file.load(std::memory_order_relaxed)))
      close(number);
  }
}

void remember(int number, dev_t device, ino_t file) {
  constexpr int taken = -2;
  static const int registered = pthread_atfork(nullptr, nullptr, close_in_child);
  static_cast<void>(registered);
  for (Entry& entry : entries) {
    int none = -1;
    if (!entry.number.compare_exchange_strong(none, taken, std::memory_order_relaxed)) continue;
    entry.device.store(device, std::memory_order_relaxed);
    entry.file.store(file, std::memory_order_relaxed);
    // release: a child that sees the number sees whose it is.
    entry.number.store(number, std::memory_order_release);
    return;
  }
}

void forget(int number) {
  for (Entry& entry : entries) {
    int same = number;
    if (entry.number.compare_exchange_strong(same, -1, std::memory_order_relaxed)) return;
  }
}

}  // namespace

KeptDescriptor::KeptDescriptor(Descriptor descriptor) {
  struct stat status;
  if (!descriptor || fstat(descriptor.get(), &status) != 0) return;
  device_ = status.st_dev;
  file_ = status.st_ino;
  number_ = descriptor.release();
  remember(number_, device_, file_);
}

KeptDescriptor::~KeptDescriptor() {
  if (number_ < 0) return;
  forget(number_);
  if (get() >= 0) close(number_);
}

int KeptDescriptor::get() const { return number_ >= 0 && is_file(number_, device_, file_) ? number_ : -1; }

void KeptDescriptor::swap(KeptDescriptor& other) noexcept {
  std::swap(number_, other.number_);
  std::swap(device_, other.device_);
  std::swap(file_, other.file_);
}

}  // namespace espalier::memory
