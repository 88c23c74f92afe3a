// Where memory comes from that one rank backs for another one.
#pragma once

namespace espalier::memory {

/// The NUMA node of a processor, as Linux numbers them; -1: not known, or the machine has one node alone.
int numa_node_of(int cpu);

/// While it lives, pages that this thread asks for come from that node where it has some; `node` -1, or a
/// policy that the user has chosen (numactl): as without it.
class PreferredNode {
 public:
  explicit PreferredNode(int node);
  ~PreferredNode();
  PreferredNode(const PreferredNode&) = delete;
  PreferredNode& operator=(const PreferredNode&) = delete;

 private:
  bool is_set_ = false;
};

}  // namespace espalier::memory
