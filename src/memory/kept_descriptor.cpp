#include "memory/kept_descriptor.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace espalier::memory {
namespace {

bool is_file(int number, dev_t device, ino_t file) {
  struct stat status;
  return fstat(number, &status) == 0 && status.st_dev == device && status.st_ino == file;
}

}  // namespace

KeptDescriptor::KeptDescriptor(Descriptor descriptor) {
  struct stat status;
  if (!descriptor || fstat(descriptor.get(), &status) != 0) return;
  device_ = status.st_dev;
  file_ = status.st_ino;
  number_ = descriptor.release();
}

KeptDescriptor::~KeptDescriptor() {
  if (get() >= 0) close(number_);
}

int KeptDescriptor::get() const {
  return number_ >= 0 && is_file(number_, device_, file_) ? number_ : -1;
}

void KeptDescriptor::swap(KeptDescriptor& other) noexcept {
  std::swap(number_, other.number_);
  std::swap(device_, other.device_);
  std::swap(file_, other.file_);
}

}  // namespace espalier::memory
