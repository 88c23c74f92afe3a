#pragma once

#include <string>

namespace espalier::topology {

// The group in which the kernel schedules this process because of its session ("autogroup", sched(7)), or ""
// when none applies: switched off, not built in, or overruled by a CPU control group. Between processes of
// different groups a yield makes room only once the caller has used up its group's share, so waiting by
// yields slows down those who work. Files are looked up below `root`, "" being the real file system.
std::string autogroup(const std::string& root = "");

}  // namespace espalier::topology
