// Collectives that compute.
#include "backend.hpp"

namespace espalier_torch {
namespace {

std::vector<Fold> folds_of(const Tensors& tensors, const c10d::ReduceOp& op) {
  std::vector<Fold> folds;
  for (const at::Tensor& tensor : tensors) {
    auto fold = fold_of(tensor.scalar_type(), op);
    if (!fold) return {};
    folds.push_back(std::move(*fold));
  }
  return folds;
}

void check_scattered(const at::Tensor& output, const Tensors& inputs, int ranks, int rank) {
  int64_t whole = 0;
  for (const at::Tensor& input : inputs) {
    TORCH_CHECK_VALUE(input.scalar_type() == output.scalar_type(),
                      "reduce_scatter: the output and the inputs must have the same type");
    whole += input.numel();
  }
  if (inputs.size() == 1) {
    TORCH_CHECK_VALUE(whole == output.numel() * ranks, "reduce_scatter: ", whole, " elements for ", ranks,
                      " ranks of ", output.numel(), " elements each");
    return;
  }
  const bool fits = inputs.size() == static_cast<std::size_t>(ranks) &&
                    inputs[static_cast<std::size_t>(rank)].numel() == output.numel();
  TORCH_CHECK_VALUE(fits, "reduce_scatter: need ", ranks, " inputs, number ", rank, " of the output's size");
}

}  // namespace

void Backend::allreduce_one(const at::Tensor& tensor, const Fold& fold) {
  const at::Tensor data = fold.plain() && dense(tensor) ? tensor : fold.scaled(tensor);
  label(fold.label);
  check(library_.allreduce(comm_, library_.in_place, data.data_ptr(), static_cast<std::size_t>(data.numel()),
                           fold.type, fold.op));
  fold.finish(data, getSize());
  unpack(data, tensor);
}

WorkPointer Backend::allreduce(Tensors& tensors, const c10d::AllreduceOptions& opts) {
  auto folds = folds_of(tensors, opts.reduceOp);
  if (folds.empty() || !served(tensors)) return inner_->allreduce(tensors, opts);
  return start(c10d::OpType::ALLREDUCE, "espalier:all_reduce", opts, tensors,
               [this, tensors, folds = std::move(folds)] {
                 for (std::size_t i = 0; i < tensors.size(); ++i) allreduce_one(tensors[i], folds[i]);
               });
}

WorkPointer Backend::allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& opts) {
  return inner_->allreduce(tensors, opts);
}

WorkPointer Backend::allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& opts) {
  if (folds_of(tensors, opts.reduceOp).empty() || !served(tensors))
    return inner_->allreduce_coalesced(tensors, opts);
  return allreduce(tensors, opts);
}

WorkPointer Backend::reduce(Tensors& tensors, const c10d::ReduceOptions& opts) {
  const at::Tensor& tensor = tensors.at(static_cast<std::size_t>(opts.rootTensor));
  auto fold = fold_of(tensor.scalar_type(), opts.reduceOp);
  if (!fold || !served(tensors)) return inner_->reduce(tensors, opts);
  const int root = static_cast<int>(opts.rootRank);
  return start(c10d::OpType::REDUCE, "espalier:reduce", opts, tensors, [this, tensor, root, fold = *fold] {
    const at::Tensor data = fold.scaled(tensor);
    const bool here = getRank() == root;
    label(fold.label);
    check(library_.reduce(comm_, here ? library_.in_place : data.data_ptr(), here ? data.data_ptr() : nullptr,
                          static_cast<std::size_t>(data.numel()), fold.type, fold.op, root));
    if (!here) return;
    fold.finish(data, getSize());
    unpack(data, tensor);
  });
}

void Backend::reduce_scatter_one(const at::Tensor& output, const Tensors& inputs, const Fold& fold) {
  Tensors scaled;
  for (const at::Tensor& input : inputs) scaled.push_back(fold.factor ? fold.scaled(input) : input);
  const Blocks blocks(scaled, /*to_read=*/true);
  const at::Tensor room = room_for(output);
  std::vector<std::size_t> counts;
  for (const at::Tensor& input : inputs) counts.push_back(static_cast<std::size_t>(input.numel()));
  label(fold.label);
  if (Lengths(inputs).equal())
    check(library_.reduce_scatter_block(comm_, blocks.address(), room.data_ptr(),
                                        static_cast<std::size_t>(output.numel()), fold.type, fold.op));
  else
    check(
        library_.reduce_scatter(comm_, blocks.address(), room.data_ptr(), counts.data(), fold.type, fold.op));
  fold.finish(room, getSize());
  unpack(room, output);
}

WorkPointer Backend::reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                    const c10d::ReduceScatterOptions& opts) {
  auto folds = folds_of(outputs, opts.reduceOp);
  if (folds.empty() || !served(outputs) || !served(inputs))
    return inner_->reduce_scatter(outputs, inputs, opts);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    check_scattered(outputs[i], inputs.at(i), getSize(), getRank());
  return start(c10d::OpType::REDUCE_SCATTER, "espalier:reduce_scatter", opts, outputs,
               [this, outputs, inputs, folds = std::move(folds)] {
                 for (std::size_t i = 0; i < outputs.size(); ++i)
                   reduce_scatter_one(outputs[i], inputs[i], folds[i]);
               });
}

WorkPointer Backend::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                          const c10d::ReduceScatterOptions& opts) {
  if (!fold_of(output.scalar_type(), opts.reduceOp) || !served(output) || !served(input))
    return inner_->_reduce_scatter_base(output, input, opts);
  Tensors outputs{output};
  std::vector<Tensors> inputs{{input}};
  return reduce_scatter(outputs, inputs, opts);
}

WorkPointer Backend::reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                     const c10d::ReduceScatterOptions& opts) {
  if (folds_of(outputs, opts.reduceOp).empty() || !served(outputs) || !served(inputs))
    return inner_->reduce_scatter_tensor_coalesced(outputs, inputs, opts);
  std::vector<Tensors> lists;
  for (const at::Tensor& input : inputs) lists.push_back({input});
  return reduce_scatter(outputs, lists, opts);
}

}  // namespace espalier_torch
