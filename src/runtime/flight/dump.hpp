// The flight record as a file, written by the rank itself: when it is about to be ended, and when it is asked to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace espalier::runtime::flight {

/// From now on dump() writes `file`.rank-N, and so does the signal (a number; 0: none), after which the program goes
/// on. Once, after join().
void arm_dump(const std::string& file, int rank, int signal);

/// Each call has its times from now on. `calls`: dump() when this rank has made so many; 0: dump_at_end() does it.
void arm_timed_dump(std::uint64_t calls);

/// Writes the record, and behind it which files are mapped where, for the places of its calls, and which start of the
/// machine its clock counts from. Nothing unless armed. May be called in signal handlers.
void dump() noexcept;
/// The same at the end of a run, where arm_timed_dump() has asked for it and no call number has come before.
void dump_at_end() noexcept;

/// "end": 0, or a number of calls; none: it is neither.
std::optional<std::uint64_t> calls_of(const std::string& text);

/// "USR2", "SIGUSR2" or "12"; 0: there is no such signal, or none that can be caught.
int signal_of(const std::string& name);

}  // namespace espalier::runtime::flight
