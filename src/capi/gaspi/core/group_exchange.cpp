// Each edge of the tree has a slot at either end. A child writes its next block only after the result of the last has come,
// and its parent sends that only after it has read the block, so one block in a slot is enough.
#include "capi/gaspi/core/group_exchange.hpp"

#include <bit>
#include <cstring>

namespace espalier::capi::gaspi {
namespace {

constexpr std::size_t slot_bytes = 2048;

int slots_of_group() { return layer.levels + 1; }  // a slot for each child, and one for the parent

// Of a rank's slot, among those of its node: the notification's id, and the place of the block in units of slot_bytes.
int slot(int rank, int group, int number) {
  return layer.place(rank).local * control_ids() + group * slots_of_group() + number;
}
std::size_t offset_of(int id) { return static_cast<std::size_t>(id) * slot_bytes; }

const char* name_of(std::uint32_t kind) {
  switch (static_cast<Call>(kind >> 24)) {
    case Call::barrier:
      return "gaspi_barrier";
    case Call::allreduce:
      return "gaspi_allreduce";
    case Call::allreduce_user:
      return "gaspi_allreduce_user";
    default:
      return "the set-up of a group or segment";
  }
}

std::string text_of(std::uint32_t kind) {
  std::string text = name_of(kind);
  if (kind >> 24 == static_cast<std::uint32_t>(Call::allreduce))
    text += " of " + std::to_string(kind & 0xffff) + " elements (type " + std::to_string(kind >> 20 & 0xf) +
            ", operation " + std::to_string(kind >> 16 & 0xf) + ")";
  return text;
}

class Exchange {
 public:
  Exchange(int number, std::uint32_t kind, std::size_t bytes, const Deadline& deadline)
      : number_(number),
        group_(layer.group(number)),
        running_(group_.running),
        kind_(kind),
        bytes_(bytes),
        deadline_(deadline) {}

  void run(const void* mine, void* result, const Fold& fold) {
    begin(mine);
    gather(fold);
    release();
    if (bytes_ > 0) std::memcpy(result, running_.result.data(), bytes_);
    running_.kind = 0;
  }

 private:
  int index() const { return group_.index; }
  int size() const { return static_cast<int>(group_.ranks.size()); }
  int rank_of(int member) const { return group_.ranks[static_cast<std::size_t>(member)]; }
  // The number of children that there would be in a group without end.
  int child_limit() const {
    return index() == 0 ? layer.levels : std::countr_zero(static_cast<unsigned>(index()));
  }
  int child(int number) const { return index() + (1 << number); }
  bool has_child(int number) const { return number < child_limit() && child(number) < size(); }
  int parent() const { return index() & (index() - 1); }

  void begin(const void* mine) {
    if (running_.kind == kind_) return;
    if (running_.kind != 0)
      throw Failure(GASPI_ERROR, std::string(name_of(kind_)) + " in group " + std::to_string(number_) +
                                     ", where a timeout has interrupted " + text_of(running_.kind) +
                                     ": repeat that until it returns GASPI_SUCCESS");
    running_.kind = kind_;
    running_.next_child = 0;
    running_.sent_up = running_.has_result = false;
    if (bytes_ > 0) std::memcpy(running_.folded.data(), mine, bytes_);
  }

  void gather(const Fold& fold) {
    for (; has_child(running_.next_child); ++running_.next_child) {
      const void* block = take(running_.next_child, rank_of(child(running_.next_child)));
      if (bytes_ > 0) fold(running_.folded.data(), block);
    }
    if (running_.sent_up) return;
    if (index() == 0)
      running_.result = running_.folded;
    else
      send(parent(), std::countr_zero(static_cast<unsigned>(index())), running_.folded.data());
    running_.sent_up = true;
  }

  void release() {
    if (!running_.has_result) {
      if (index() != 0) {
        const void* block = take(layer.levels, rank_of(parent()));
        if (bytes_ > 0) std::memcpy(running_.result.data(), block, bytes_);
      }
      running_.has_result = true;
      for (int number = child_limit() - 1; number >= 0; --number)
        if (has_child(number)) send(child(number), layer.levels, running_.result.data());
    }
    flush(layer.control, deadline_);
  }

  void send(int member, int to_slot, const void* block) {
    const int rank = rank_of(member), id = slot(rank, number_, to_slot);
    check(espalier_window_put_notify(layer.control, layer.place(rank).node, offset_of(id), block, bytes_, id,
                                     kind_));
  }

  const void* take(int from_slot, int sender) {
    const int id = slot(layer.rank, number_, from_slot);
    await_some(layer.control, id, 1, deadline_);
    std::uint32_t kind = 0;
    check(espalier_window_notify_reset(layer.control, id, &kind));
    if (kind != kind_)
      throw Failure(GASPI_ERROR, "rank " + std::to_string(sender) + " calls " + text_of(kind) + ", rank " +
                                     std::to_string(layer.rank) + " " + text_of(kind_) + ", in group " +
                                     std::to_string(number_));
    return static_cast<const std::byte*>(espalier_window_memory(layer.control)) + offset_of(id);
  }

  int number_;
  Group& group_;
  Running& running_;
  std::uint32_t kind_;
  std::size_t bytes_;
  const Deadline& deadline_;
};

}  // namespace

int control_ids() { return most_groups * slots_of_group(); }
std::size_t control_bytes() { return static_cast<std::size_t>(control_ids()) * slot_bytes; }

void fold_over(int group, std::uint32_t kind, const void* mine, void* result, std::size_t bytes,
               const Fold& fold, const Deadline& deadline) {
  Exchange(group, kind, bytes, deadline).run(mine, result, fold);
}

// Each rank brings zeros but for its own block; the union of all is the whole.
void gather_over(int group, Purpose purpose, const void* mine, void* all, std::size_t bytes,
                 const Deadline& deadline) {
  Group& members = layer.group(group);
  Gathering& gathering = members.gathering;
  std::vector<unsigned char>& whole = gathering.whole;
  if (members.running.kind == 0) {  // no timeout has interrupted it
    gathering = {0, std::vector<unsigned char>(members.ranks.size() * bytes, 0)};
    std::memcpy(whole.data() + static_cast<std::size_t>(members.index) * bytes, mine, bytes);
  }
  for (std::size_t& begin = gathering.begin; begin < whole.size(); begin += longest_block) {
    const std::size_t count = std::min(longest_block, whole.size() - begin);
    const Fold unite = [count](void* into, const void* from) {
      for (std::size_t i = 0; i < count; ++i)
        static_cast<unsigned char*>(into)[i] |= static_cast<const unsigned char*>(from)[i];
    };
    const auto kind = call_kind(Call::set_up, static_cast<unsigned>(count), static_cast<unsigned>(purpose));
    fold_over(group, kind, whole.data() + begin, whole.data() + begin, count, unite, deadline);
  }
  std::memcpy(all, whole.data(), whole.size());
  gathering = {};
}

}  // namespace espalier::capi::gaspi
