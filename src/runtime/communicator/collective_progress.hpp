// What a process has of nonblocking and of long persistent collectives under way: every long wait of it drives them, and the
// progress thread, where there is one.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace espalier::runtime {

/// Of a communicator, a request or the messages between nodes.
class CollectivesUnderWay {
 public:
  virtual ~CollectivesUnderWay() = default;
  /// Does what is to be done for them, if no other thread does so.
  virtual void advance_aside() = 0;
  /// The same in the progress thread, which may not call the host. Whether it is to come again.
  virtual bool advance_in_thread() { return false; }
};

/// In the order in which they were added. Thread-safe.
class CollectiveProgress {
 public:
  static CollectiveProgress& instance();
  void add(const std::shared_ptr<CollectivesUnderWay>& one);
  /// Advances what is under way, where no other thread does so.
  void drive();
  /// The same in the progress thread. Whether it is to come again.
  bool drive_in_thread();
  /// Whether the progress thread runs, and drives them: it is made if the user wants it.
  static bool start_thread();
  /// Something long has been started.
  static void wake_thread();

 private:
  using Alive = std::vector<std::shared_ptr<CollectivesUnderWay>>;
  /// False: another thread looks at them.
  bool find_alive(Alive& alive);

  std::mutex mutex_;
  std::vector<std::weak_ptr<CollectivesUnderWay>> all_;
};

}  // namespace espalier::runtime
