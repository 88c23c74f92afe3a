// What a process has of nonblocking and of long persistent collectives, which every long wait of it drives, and the progress
// thread, where there is one.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace espalier::runtime {

/// What has calls under way.
class Driven {
 public:
  virtual ~Driven() = default;
  /// Does what is to be done for them, if no other thread does so.
  virtual void advance_aside() = 0;
  /// The same in the progress thread, which may not call the host. Whether it is to come again.
  virtual bool advance_in_thread() { return false; }
};

/// In the order in which they were added. Thread-safe.
class NonblockingList {
 public:
  static NonblockingList& instance();
  void add(const std::shared_ptr<Driven>& one);
  /// Advances what is under way, where no other thread does so.
  void drive();
  /// The same in the progress thread. Whether it is to come again.
  bool drive_in_thread();
  /// Whether the progress thread runs, and drives them: it is made if the user wants it.
  static bool start_thread();
  /// Something long has been started.
  static void wake_thread();

 private:
  using Alive = std::vector<std::shared_ptr<Driven>>;
  /// False: another thread looks at them.
  bool find_alive(Alive& alive);

  std::mutex mutex_;
  std::vector<std::weak_ptr<Driven>> all_;
};

}  // namespace espalier::runtime
