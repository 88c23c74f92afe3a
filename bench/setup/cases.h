// The cycles that are timed: each makes something of MPI and frees it again.
#ifndef ESPALIER_BENCH_CASES_H
#define ESPALIER_BENCH_CASES_H

struct setup_case {
  const char* name;
  void (*cycle)(void);
};

extern const struct setup_case setup_cases[];
extern const int setup_cases_number;

// NULL: no case has that name.
const struct setup_case* case_named(const char* name);

// Before the first cycle and after the last one.
void cases_begin(int rank);
void cases_end(void);

#endif
