// Creates, maps and reserves shared memory.
#include "memory/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/config.hpp"
#include "base/format.hpp"
#include "memory/shared_file.hpp"

namespace espalier::memory {

void Segment::swap(Segment& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(size_, other.size_);
  std::swap(descriptor_, other.descriptor_);
}

Segment::~Segment() {
  if (base_) munmap(base_, size_);
}

Segment Segment::map(Descriptor descriptor, std::size_t bytes, std::string& why) {
  Segment segment;
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.get(), 0);
  if (address == MAP_FAILED) {
    why = formatted("cannot map {} bytes of shared memory: {}", bytes, std::strerror(errno));
    return {};
  }
  segment.base_ = static_cast<std::byte*>(address);
  segment.size_ = bytes;
  segment.descriptor_ = KeptDescriptor(std::move(descriptor));
  // A fork()ed child must not keep the job's memory alive, nor write into it.
  madvise(address, bytes, MADV_DONTFORK);
#ifdef MADV_HUGEPAGE
  madvise(address, bytes, MADV_HUGEPAGE);  // only a hint: shmem huge pages are off on most machines
#endif
  return segment;
}

namespace {

// A file that grows beyond that limit would end the process (SIGXFSZ), also a memfd.
bool exceeds_limit(std::size_t bytes, std::string& why) {
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= bytes) return false;
  why =
      formatted("{} of shared memory are more than the size of files may be (ulimit -f)", print_bytes(bytes));
  return true;
}

}  // namespace

Segment Segment::create_memfd(std::size_t bytes, std::string& why) {
  if (exceeds_limit(bytes, why)) return {};
  Descriptor descriptor = own_descriptor(memfd_create("espalier", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!descriptor) {
    why = formatted("memfd_create: {}", std::strerror(errno));
    return {};
  }
  if (ftruncate(descriptor.get(), static_cast<off_t>(bytes)) != 0) {
    why = formatted("ftruncate of a memfd to {} bytes: {}", bytes, std::strerror(errno));
    return {};
  }
  if (!seal(descriptor.get(), why)) return {};
  return map(std::move(descriptor), bytes, why);
}

Segment Segment::create_named(const std::string& name, std::size_t bytes, std::string& why) {
  if (exceeds_limit(bytes, why)) return {};
  Descriptor descriptor = own_descriptor(shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!descriptor) {
    why = formatted("shm_open {}: {}", name, std::strerror(errno));
    return {};
  }
  if (ftruncate(descriptor.get(), static_cast<off_t>(bytes)) != 0) {
    why = formatted("ftruncate of {} to {} bytes: {}", name, bytes, std::strerror(errno));
    unlink(name);
    return {};
  }
  Segment segment = map(std::move(descriptor), bytes, why);
  if (!segment) unlink(name);
  return segment;
}

Segment Segment::open_named(const std::string& name, std::size_t bytes, std::string& why) {
  Descriptor descriptor = own_descriptor(shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0600));
  if (!descriptor) {
    why = formatted("shm_open {}: {}", name, std::strerror(errno));
    return {};
  }
  return is_own_file(descriptor.get(), bytes, why) ? map(std::move(descriptor), bytes, why) : Segment{};
}

Segment Segment::adopt(Descriptor descriptor, std::size_t bytes, std::string& why) {
  if (!is_own_file(descriptor.get(), bytes, why) || !is_sealed(descriptor.get(), why)) return {};
  return map(std::move(descriptor), bytes, why);
}

void Segment::unlink(const std::string& name) { shm_unlink(name.c_str()); }

bool Segment::reserve(std::size_t offset, std::size_t bytes) const {
  if (bytes == 0) return true;
  const int descriptor = descriptor_.get();
  if (descriptor < 0) errno = EBADF;
  if (descriptor < 0) return false;
  int status;
  do {
    status = posix_fallocate(descriptor, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (status == EINTR);
  if (status != 0) errno = status;
  return status == 0;
}

void Segment::share_with_children(std::size_t offset, std::size_t bytes) const {
  madvise(base_ + offset, bytes, MADV_DOFORK);
}

}  // namespace espalier::memory
