// What a process prints of its statistics when it ends before MPI_Finalize.
//
// Where each rank's counts are in a file of their own (counters_file.hpp) there is nothing to save: a rank
// prints where they are. Else the process prints its own counts: at exit, in MPI_Abort, and in a handler of
// those signals that would end it and that the program has left at their default. At a signal rank 0 alone
// prints, since all ranks get it.
#pragma once

#include <string>

#include "runtime/statistics/counters_file.hpp"

namespace espalier::runtime::statistics::early_end {

/// At an abnormal end: print that the counts are in files beside `target`.
void hint_at(const std::string& target, const Author& author);
/// At an abnormal end: print the counts. Installs the handlers.
void print_counts(const Author& author);
/// The run ends normally: nothing is printed. Restores those signals that still have Espalier's handler.
void dismiss();
/// The process ends; `how` says why ("it called MPI_Abort"). Prints once; safe in a signal handler.
void tell(const char* how) noexcept;

}  // namespace espalier::runtime::statistics::early_end
