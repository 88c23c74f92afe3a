// Operations of a run that may be given up in the middle.
#pragma once

#include <exception>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "machine/levels/group_operations.hpp"

namespace espalier::simulation {

/// A machine ends the fibers of a run that it gives up by an exception of its own, which the C API, through
/// which base cases call, must not see: here it becomes an Error, and the base case returns its code. What the
/// rank does after that fails likewise, until its body ends.
class EndingOperations final : public machine::GroupOperations {
  template <class Body>
  static auto run(Body body) {
    try {
      return body();
    } catch (const std::exception&) {
      throw;
    } catch (...) {
      throw Error("the run has ended");
    }
  }

 public:
  explicit EndingOperations(std::unique_ptr<machine::GroupOperations> inner)
      : GroupOperations(inner->bytes()), inner_(std::move(inner)) {}

  void put(std::size_t offset, const void* source, std::size_t bytes) override {
    run([&] { inner_->put(offset, source, bytes); });
  }
  void get(std::size_t offset, void* target, std::size_t bytes) override {
    run([&] { inner_->get(offset, target, bytes); });
  }
  void store(std::size_t offset, std::uint64_t value) override {
    run([&] { inner_->store(offset, value); });
  }
  std::uint64_t load(std::size_t offset) override {
    return run([&] { return inner_->load(offset); });
  }
  std::uint64_t fetch_add(std::size_t offset, std::uint64_t value) override {
    return run([&] { return inner_->fetch_add(offset, value); });
  }
  std::uint64_t compare_swap(std::size_t offset, std::uint64_t expected, std::uint64_t desired) override {
    return run([&] { return inner_->compare_swap(offset, expected, desired); });
  }
  void wait_until(std::size_t offset, machine::Until until, std::uint64_t value) override {
    run([&] { inner_->wait_until(offset, until, value); });
  }
  void* segment() override { return inner_->segment(); }

 private:
  std::unique_ptr<machine::GroupOperations> inner_;
};

}  // namespace espalier::simulation
