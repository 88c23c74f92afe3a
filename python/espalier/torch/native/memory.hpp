// Tensors as plain memory: where they are dense, what is put together, and what is taken apart again.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <vector>

namespace espalier_torch {

using Tensors = std::vector<at::Tensor>;

inline bool served(const at::Tensor& tensor) {
  return tensor.device().is_cpu() && tensor.layout() == at::kStrided;
}
inline bool served(const Tensors& tensors) {
  for (const at::Tensor& tensor : tensors)
    if (!served(tensor)) return false;
  return true;
}
inline bool served(const std::vector<Tensors>& lists) {
  for (const Tensors& tensors : lists)
    if (!served(tensors)) return false;
  return true;
}

/// Whether its memory is its elements in order, with nothing left to do to them.
inline bool dense(const at::Tensor& tensor) {
  return tensor.is_contiguous() && !tensor.is_neg() && !tensor.is_conj();
}

inline at::Tensor room_for(const at::Tensor& tensor) {
  return dense(tensor) ? tensor : at::empty(tensor.sizes(), at::TensorOptions(tensor.dtype()));
}

/// The tensor if it is dense, else a dense copy.
inline at::Tensor packed(const at::Tensor& tensor) {
  return dense(tensor) ? tensor : room_for(tensor).copy_(tensor);
}

inline void unpack(const at::Tensor& room, const at::Tensor& tensor) {
  if (!room.is_same(tensor)) tensor.copy_(room);
}

inline std::size_t bytes_of(const at::Tensor& tensor) { return tensor.nbytes(); }

inline char* address_of(const at::Tensor& tensor) { return static_cast<char*>(tensor.data_ptr()); }

/// Tensors as one piece of memory, one after the other: their own where they lie so, else a copy.
class Blocks {
 public:
  Blocks(const Tensors& tensors, bool to_read) : tensors_(tensors) {
    if (tensors.empty() || in_a_row()) return;
    int64_t elements = 0;
    for (const at::Tensor& tensor : tensors) elements += tensor.numel();
    whole_ = at::empty({elements}, at::TensorOptions(tensors[0].dtype()));
    if (to_read) each([](const at::Tensor& part, const at::Tensor& tensor) { part.copy_(tensor); });
  }

  char* address() const {
    if (whole_.defined()) return address_of(whole_);
    return tensors_.empty() ? nullptr : address_of(tensors_[0]);
  }
  /// What has been received goes to the tensors.
  void unpack() const {
    if (whole_.defined()) each([](const at::Tensor& part, const at::Tensor& tensor) { tensor.copy_(part); });
  }

 private:
  bool in_a_row() const {
    const char* at = address_of(tensors_[0]);
    for (const at::Tensor& tensor : tensors_) {
      if (!dense(tensor) || address_of(tensor) != at || !tensor.is_alias_of(tensors_[0])) return false;
      at += bytes_of(tensor);
    }
    return true;
  }
  template <class Body>
  void each(Body body) const {
    int64_t place = 0;
    for (const at::Tensor& tensor : tensors_) {
      body(whole_.narrow(0, place, tensor.numel()).view(tensor.sizes()), tensor);
      place += tensor.numel();
    }
  }

  const Tensors& tensors_;
  at::Tensor whole_;
};

/// Lengths of blocks in bytes, and where they begin when they follow each other.
struct Lengths {
  explicit Lengths(const Tensors& tensors) {
    for (const at::Tensor& tensor : tensors) add(bytes_of(tensor));
  }
  Lengths() = default;
  void add(std::size_t length) {
    offsets.push_back(bytes.empty() ? 0 : offsets.back() + bytes.back());
    bytes.push_back(length);
  }
  bool equal() const {
    for (const std::size_t length : bytes)
      if (length != bytes[0]) return false;
    return true;
  }
  std::vector<std::size_t> bytes, offsets;
};

}  // namespace espalier_torch
