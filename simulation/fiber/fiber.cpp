#include "simulation/fiber/fiber.hpp"

#include <cxxabi.h>

#include <boost/context/preallocated.hpp>
#include <cstring>
#include <utility>

namespace espalier::simulation {
namespace {

/// The stacks outlive the fibers and are used again.
struct KeepStack {
  void deallocate(boost::context::stack_context&) const {}
};

}  // namespace

void Fiber::Exceptions::swap_with_thread() {
  const Exceptions mine = *this;
  void* const threads = abi::__cxa_get_globals();
  std::memcpy(static_cast<void*>(this), threads, sizeof mine);
  std::memcpy(threads, &mine, sizeof mine);
}

void Fiber::start(std::span<std::byte> stack, std::function<void()> body) {
  boost::context::stack_context context;
  context.size = stack.size();
  context.sp = stack.data() + stack.size();
  done_ = false;
  switch_.begin(stack);
  fiber_ = boost::context::fiber(std::allocator_arg,
                                 boost::context::preallocated(context.sp, context.size, context), KeepStack{},
                                 [this, run = std::move(body)](boost::context::fiber&& scheduler) {
                                   scheduler_ = std::move(scheduler);
                                   switch_.fiber_begins();
                                   run();
                                   done_ = true;
                                   switch_.fiber_ends();
                                   return std::move(scheduler_);
                                 });
}

}  // namespace espalier::simulation
