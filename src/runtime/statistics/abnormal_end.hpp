// What is said of the statistics when a process ends before MPI_Finalize.
//
// Where each rank's counts are in a file of their own (counters_file.hpp) there is nothing to save: a rank
// says where they are. Else the process prints what it counted itself: at exit, in MPI_Abort, and in a
// handler of those signals that would end it and that the program has left at their default. Rank 0 alone
// speaks of signals, which all ranks get.
#pragma once

#include <string>

#include "runtime/statistics/counters_file.hpp"

namespace espalier::runtime::statistics::early_end {

/// The counts are in files beside `target`.
void hint_at(const std::string& target, const Author& author);
/// The counts are printed. Installs the handlers.
void print_counts(const Author& author);
/// The run ends well; gives the signals back that are still ours.
void dismiss();
/// The process ends because of this ("it called MPI_Abort"). Once; safe in a signal handler.
void tell(const char* how) noexcept;

}  // namespace espalier::runtime::statistics::early_end
