#include "network/task.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace espalier::network {
namespace {

/// Something to await that the test opens by hand.
class Gate {
 public:
  bool await_ready() const { return open_; }
  void await_suspend(std::coroutine_handle<> task) { waiting_ = task; }
  void await_resume() const {
    if (fails_) throw std::runtime_error("the gate fell");
  }
  void open(bool fails = false) {
    open_ = true;
    fails_ = fails;
    if (waiting_) std::exchange(waiting_, {}).resume();
  }

 private:
  bool open_ = false, fails_ = false;
  std::coroutine_handle<> waiting_;
};

using Notes = std::vector<std::string>;

Task through(Gate& gate, Notes& notes, std::string name) {
  notes.push_back(name + " begins");
  co_await gate;
  notes.push_back(name + " ends");
}

Task around(Gate& gate, Notes& notes, int depth) {
  if (depth == 0) {
    auto inner = through(gate, notes, "innermost");
    co_await inner;
  } else {
    auto inner = around(gate, notes, depth - 1);
    co_await inner;
  }
  notes.push_back("depth " + std::to_string(depth));
}

TEST(Task, RunsUntilItsFirstUnfinishedMessage) {
  Gate gate;
  Notes notes;
  const Task task = through(gate, notes, "task");
  EXPECT_EQ(notes, Notes{"task begins"});
  EXPECT_FALSE(task.done());
  gate.open();
  EXPECT_TRUE(task.done());
  EXPECT_TRUE(task.done()) << "asked again";
  EXPECT_EQ(notes.back(), "task ends");
}

TEST(Task, IsDoneAtOnceWhenNothingIsUnderWay) {
  Gate gate;
  gate.open();
  Notes notes;
  const Task task = around(gate, notes, 2);
  EXPECT_TRUE(task.done());
  EXPECT_EQ(notes.back(), "depth 2");
}

TEST(Task, NoTaskIsDone) { EXPECT_TRUE(Task().done()); }

TEST(Task, GoesOnInTheOneThatAwaitsIt) {
  Gate gate;
  Notes notes;
  const Task task = around(gate, notes, 3);
  EXPECT_FALSE(task.done());
  gate.open();
  EXPECT_TRUE(task.done());
  EXPECT_EQ(notes, (Notes{"innermost begins", "innermost ends", "depth 0", "depth 1", "depth 2", "depth 3"}));
}

TEST(Task, ExceptionOfANestedTaskReachesTheOutermost) {
  for (const bool at_once : {true, false}) {
    Gate gate;
    Notes notes;
    if (at_once) gate.open(true);
    const Task task = around(gate, notes, 3);
    if (!at_once) gate.open(true);
    EXPECT_THROW(task.done(), std::runtime_error);
    EXPECT_THROW(task.done(), std::runtime_error) << "asked again";
    EXPECT_EQ(notes, Notes{"innermost begins"});
  }
}

TEST(Task, ExceptionOfANestedTaskMayBeCaught) {
  Gate gate;
  Notes notes;
  const auto careful = [&]() -> Task {
    auto inner = around(gate, notes, 1);
    try {
      co_await inner;
    } catch (const std::runtime_error& error) {
      notes.push_back(error.what());
    }
  };
  const Task task = careful();
  gate.open(true);
  EXPECT_TRUE(task.done());
  EXPECT_EQ(notes.back(), "the gate fell");
}

TEST(Task, UnfinishedOneMayBeDestroyedWithAllItAwaits) {
  Gate gate;
  Notes notes;
  const auto kept = std::make_shared<int>(1);
  const auto holds = [&gate](std::shared_ptr<int> value) -> Task {
    co_await gate;
    *value = 2;
  };
  const auto nested = [&]() -> Task {
    auto inner = holds(kept);
    co_await inner;
  };
  {
    const Task task = nested();
    EXPECT_GT(kept.use_count(), 1);
  }
  EXPECT_EQ(kept.use_count(), 1) << "a frame was left behind";
  EXPECT_EQ(*kept, 1);
}

TEST(Task, MovesKeepTheCoroutine) {
  Gate first, second;
  Notes notes;
  Task task = through(first, notes, "first");
  Task moved = std::move(task);
  EXPECT_TRUE(task.done()) << "no task is left behind";
  first.open();
  EXPECT_TRUE(moved.done());
  moved = through(second, notes, "second");
  EXPECT_FALSE(moved.done());
  second.open();
  EXPECT_TRUE(moved.done());
  EXPECT_EQ(notes.back(), "second ends");
}

}  // namespace
}  // namespace espalier::network
