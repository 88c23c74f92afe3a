// torch.ops.espalier.all_reduce_, the CPU's part. operators.py declares it.
#include <ATen/core/grad_mode.h>
#include <torch/library.h>
#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>

#include <array>
#include <string_view>
#include <utility>

#include "backend.hpp"

namespace espalier_torch {
namespace {

// The names of torch's functional collectives, which operators.py has, too.
c10d::ReduceOp::RedOpType operator_of(std::string_view name) {
  using Op = c10d::ReduceOp::RedOpType;
  constexpr std::array<std::pair<std::string_view, Op>, 8> ops = {{{"sum", Op::SUM},
                                                                   {"avg", Op::AVG},
                                                                   {"product", Op::PRODUCT},
                                                                   {"min", Op::MIN},
                                                                   {"max", Op::MAX},
                                                                   {"band", Op::BAND},
                                                                   {"bor", Op::BOR},
                                                                   {"bxor", Op::BXOR}}};
  for (const auto& [known, op] : ops)
    if (known == name) return op;
  TORCH_CHECK_VALUE(false, "espalier::all_reduce_: no operator \"", std::string(name),
                    "\"; there are sum, avg, product, min, max, band, bor, bxor");
}

void all_reduce(at::Tensor tensor, c10::string_view op_name, c10::string_view group_name) {
  const c10d::ReduceOp op(operator_of({op_name.data(), op_name.size()}));
  const auto group = c10d::resolve_process_group({group_name.data(), group_name.size()});
  auto* backend = dynamic_cast<Backend*>(group->getBackend(c10::DeviceType::CPU).get());
  if (backend && backend->allreduce_directly(tensor, op)) return;
  Tensors tensors{tensor};
  c10d::AllreduceOptions opts;
  opts.reduceOp = op;
  set_synchronous(opts);
  const WorkPointer work = group->allreduce(tensors, opts);
  if (work) work->wait();
}

}  // namespace

bool Backend::allreduce_directly(const at::Tensor& tensor, const c10d::ReduceOp& op) {
  if (recorded_ || !served(tensor)) return false;
  const auto fold = fold_of(tensor.scalar_type(), op);
  if (!fold) return false;
  const at::NoGradGuard no_grad;
  worker_.drain();
  const std::lock_guard lock(mutex_);
  wait_as(By::program);
  allreduce_one(tensor, *fold);
  return true;
}

}  // namespace espalier_torch

TORCH_LIBRARY_IMPL(espalier, CPU, library) { library.impl("all_reduce_", &espalier_torch::all_reduce); }
