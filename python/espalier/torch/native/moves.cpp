// Collectives that move data: bytes, of the same type on all ranks.
#include "backend.hpp"

namespace espalier_torch {
namespace {

Results flat(const std::vector<Tensors>& lists) {
  Results all;
  for (const Tensors& tensors : lists) all.insert(all.end(), tensors.begin(), tensors.end());
  return all;
}

/// `many` has a tensor for each rank, and this rank's is as long as `one`.
void check_list(const char* call, const Tensors& many, const at::Tensor& one, int ranks, int rank) {
  TORCH_CHECK_VALUE(many.size() == static_cast<std::size_t>(ranks), call, ": ", many.size(), " tensors for ",
                    ranks, " ranks");
  for (const at::Tensor& tensor : many)
    TORCH_CHECK_VALUE(tensor.scalar_type() == one.scalar_type(), call, ": all tensors must be ",
                      one.scalar_type());
  const auto own = many[static_cast<std::size_t>(rank)].numel();
  TORCH_CHECK_VALUE(own == one.numel(), call, ": number ", rank, " of the list has ", own,
                    " elements, this rank's tensor ", one.numel());
}

Lengths rows_of(const at::Tensor& tensor, const std::vector<int64_t>& rows, int ranks) {
  const int64_t length = tensor.dim() ? tensor.size(0) : 1;
  Lengths lengths;
  if (rows.empty()) {
    TORCH_CHECK_VALUE(length % ranks == 0, "all_to_all_single: ", length,
                      " rows cannot be divided evenly among ", ranks, " ranks");
    for (int rank = 0; rank < ranks; ++rank) lengths.add(bytes_of(tensor) / static_cast<std::size_t>(ranks));
    return lengths;
  }
  int64_t all = 0;
  for (const int64_t each : rows) all += each;
  TORCH_CHECK_VALUE(rows.size() == static_cast<std::size_t>(ranks) && all == length,
                    "all_to_all_single: splits of ", all, " rows in ", rows.size(), " parts, for ", length,
                    " rows and ", ranks, " ranks");
  const std::size_t row = length ? bytes_of(tensor) / static_cast<std::size_t>(length) : 0;
  for (const int64_t each : rows) lengths.add(static_cast<std::size_t>(each) * row);
  return lengths;
}

}  // namespace

WorkPointer Backend::broadcast(Tensors& tensors, const c10d::BroadcastOptions& opts) {
  if (!served(tensors)) return inner_->broadcast(tensors, opts);
  const at::Tensor& tensor = tensors.at(static_cast<std::size_t>(opts.rootTensor));
  const int root = static_cast<int>(opts.rootRank);
  return start(c10d::OpType::BROADCAST, "espalier:broadcast", opts, tensors, [this, tensor, root] {
    const at::Tensor data = getRank() == root ? packed(tensor) : room_for(tensor);
    label(label_of(data.scalar_type()));
    check(library_.bcast(comm_, data.data_ptr(), bytes_of(data), root));
    if (getRank() != root) unpack(data, tensor);
  });
}

void Backend::allgather_one(const at::Tensor& input, char* receive) {
  const at::Tensor data = packed(input);
  const std::size_t length = bytes_of(data);
  const bool at_its_place = address_of(data) == receive + static_cast<std::size_t>(getRank()) * length;
  label(label_of(data.scalar_type()));
  check(library_.allgather(comm_, at_its_place ? library_.in_place : data.data_ptr(), receive, length));
}

WorkPointer Backend::allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                               const c10d::AllgatherOptions& opts) {
  if (!served(outputs) || !served(inputs)) return inner_->allgather(outputs, inputs, opts);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    check_list("all_gather", outputs.at(i), inputs[i], getSize(), getRank());
  return start(c10d::OpType::ALLGATHER, "espalier:all_gather", opts, flat(outputs), [this, outputs, inputs] {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Blocks blocks(outputs[i], /*to_read=*/false);
      const Lengths lengths(outputs[i]);
      if (lengths.equal()) {
        allgather_one(inputs[i], blocks.address());
      } else {
        const at::Tensor data = packed(inputs[i]);
        label(label_of(data.scalar_type()));
        check(library_.allgatherv(comm_, data.data_ptr(), blocks.address(), lengths.bytes.data(),
                                  lengths.offsets.data()));
      }
      blocks.unpack();
    }
  });
}

WorkPointer Backend::allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                                         const c10d::AllgatherOptions& opts) {
  if (!served(outputs) || !served(inputs)) return inner_->allgather_coalesced(outputs, inputs, opts);
  // The other way round than allgather's lists: a list of each rank's, with a tensor for each input.
  std::vector<Tensors> lists(inputs.size());
  for (const Tensors& of_rank : outputs) {
    TORCH_CHECK_VALUE(of_rank.size() == inputs.size(), "all_gather_coalesced: each rank's list must have ",
                      inputs.size(), " outputs");
    for (std::size_t i = 0; i < inputs.size(); ++i) lists[i].push_back(of_rank[i]);
  }
  return allgather(lists, inputs, opts);
}

WorkPointer Backend::_allgather_base(at::Tensor& output, at::Tensor& input,
                                     const c10d::AllgatherOptions& opts) {
  if (!served(output) || !served(input)) return inner_->_allgather_base(output, input, opts);
  Tensors outputs{output}, inputs{input};
  return allgather_into_tensor_coalesced(outputs, inputs, opts);
}

WorkPointer Backend::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                     const c10d::AllgatherOptions& opts) {
  if (!served(outputs) || !served(inputs))
    return inner_->allgather_into_tensor_coalesced(outputs, inputs, opts);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    TORCH_CHECK_VALUE(outputs.at(i).scalar_type() == inputs[i].scalar_type() &&
                          outputs[i].numel() == inputs[i].numel() * getSize(),
                      "all_gather: an output of ", outputs[i].numel(), " ", outputs[i].scalar_type(), " for ",
                      getSize(), " ranks of ", inputs[i].numel(), " ", inputs[i].scalar_type(), " each");
  return start(c10d::OpType::_ALLGATHER_BASE, "espalier:all_gather_into_tensor", opts, outputs,
               [this, outputs, inputs] {
                 for (std::size_t i = 0; i < inputs.size(); ++i) {
                   const at::Tensor room = room_for(outputs[i]);
                   allgather_one(inputs[i], address_of(room));
                   unpack(room, outputs[i]);
                 }
               });
}

WorkPointer Backend::gather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::GatherOptions& opts) {
  const int root = static_cast<int>(opts.rootRank);
  const bool here = getRank() == root;
  const Tensors to = here ? outputs.at(0) : Tensors{};
  if (!served(inputs) || !served(to)) return inner_->gather(outputs, inputs, opts);
  if (here) {
    check_list("gather", to, inputs.at(0), getSize(), getRank());
    TORCH_CHECK_VALUE(Lengths(to).equal(), "gather: all tensors must have the same size");
  }
  return start(
      c10d::OpType::GATHER, "espalier:gather", opts, to, [this, to, input = inputs.at(0), root, here] {
        const at::Tensor data = packed(input);
        const Blocks blocks(to, /*to_read=*/false);
        label(label_of(data.scalar_type()));
        check(
            library_.gather(comm_, data.data_ptr(), here ? blocks.address() : nullptr, bytes_of(data), root));
        blocks.unpack();
      });
}

WorkPointer Backend::scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                             const c10d::ScatterOptions& opts) {
  const int root = static_cast<int>(opts.rootRank);
  const bool here = getRank() == root;
  const Tensors from = here ? inputs.at(0) : Tensors{};
  if (!served(outputs) || !served(from)) return inner_->scatter(outputs, inputs, opts);
  if (here) {
    check_list("scatter", from, outputs.at(0), getSize(), getRank());
    TORCH_CHECK_VALUE(Lengths(from).equal(), "scatter: all tensors must have the same size");
  }
  return start(c10d::OpType::SCATTER, "espalier:scatter", opts, outputs,
               [this, from, output = outputs.at(0), root, here] {
                 const Blocks blocks(from, /*to_read=*/true);
                 const at::Tensor room = room_for(output);
                 label(label_of(room.scalar_type()));
                 check(library_.scatter(comm_, here ? blocks.address() : nullptr, room.data_ptr(),
                                        bytes_of(room), root));
                 unpack(room, output);
               });
}

// With no type of its own: a rank with nothing to send or to receive may have empty tensors of another.
void Backend::alltoallv(const char* send, const Lengths& sent, char* receive, const Lengths& received) const {
  check(library_.alltoallv(comm_, send, sent.bytes.data(), sent.offsets.data(), receive,
                           received.bytes.data(), received.offsets.data()));
}

WorkPointer Backend::alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_rows,
                                   std::vector<int64_t>& input_rows, const c10d::AllToAllOptions& opts) {
  if (!served(output) || !served(input))
    return inner_->alltoall_base(output, input, output_rows, input_rows, opts);
  return start(c10d::OpType::ALLTOALL_BASE, "espalier:all_to_all_single", opts, {output},
               [this, output, input, sent = rows_of(input, input_rows, getSize()),
                received = rows_of(output, output_rows, getSize())] {
                 const at::Tensor data = packed(input), room = room_for(output);
                 alltoallv(address_of(data), sent, address_of(room), received);
                 unpack(room, output);
               });
}

WorkPointer Backend::alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& opts) {
  if (!served(outputs) || !served(inputs)) return inner_->alltoall(outputs, inputs, opts);
  const auto ranks = static_cast<std::size_t>(getSize());
  TORCH_CHECK_VALUE(outputs.size() == ranks && inputs.size() == ranks, "all_to_all: ", inputs.size(),
                    " inputs and ", outputs.size(), " outputs for ", ranks, " ranks");
  return start(c10d::OpType::ALLTOALL, "espalier:all_to_all", opts, outputs, [this, outputs, inputs] {
    const Blocks sent(inputs, /*to_read=*/true), received(outputs, /*to_read=*/false);
    alltoallv(sent.address(), Lengths(inputs), received.address(), Lengths(outputs));
    received.unpack();
  });
}

}  // namespace espalier_torch
