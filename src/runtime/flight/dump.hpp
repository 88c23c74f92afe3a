// The flight record as a file, written by the rank itself: when it is about to be ended, and when it is asked to.
#pragma once

#include <string>

namespace espalier::runtime::flight {

/// From now on dump() writes `file`.rank-N, and so does the signal (a number; 0: none), after which the program goes
/// on. Once, after join().
void arm_dump(const std::string& file, int rank, int signal);

/// Writes the record, and behind it which files are mapped where, for the places of its calls. Nothing unless armed.
/// May be called in signal handlers.
void dump() noexcept;

/// "USR2", "SIGUSR2" or "12"; 0: there is no such signal, or none that can be caught.
int signal_of(const std::string& name);

}  // namespace espalier::runtime::flight
