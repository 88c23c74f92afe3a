// Where the rows of the statistics lie, and how communicators take them and give them back.
#include "runtime/statistics/counters.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>

#include "base/printable.hpp"
#include "base/ticks.hpp"
#include "runtime/statistics/counters_file.hpp"
#include "runtime/statistics/statistics.hpp"

namespace espalier::runtime::statistics {

std::array<std::atomic<Row*>, most_runs> runs{};

namespace {

std::mutex mutex;  // of what follows, and of rows that belong to no communicator
std::size_t runs_made = 0;
std::size_t taken_of_last = 0;
// Never destroyed: threads may still be in a collective at exit.
std::vector<Row*>& unused = *new std::vector<Row*>;
std::vector<Row*>& retired = *new std::vector<Row*>;

template <std::size_t room>
void put(char (&field)[room], std::string_view text) {
  const std::size_t length = std::min(text.size(), room - 1);
  std::memcpy(field, text.data(), length);
  field[length] = '\0';
}

std::string_view carrier_name(Carrier carrier) {
  switch (carrier) {
    case Carrier::aggregation_nodes:
      return "shared memory and aggregation nodes";
    case Carrier::messages:
      return "shared memory and messages";
    case Carrier::host:
      return "host";
    case Carrier::shared_memory:
      break;
  }
  return "shared memory";
}

/// The reason of a call, as a row has it.
std::string words_of(const Call& call) {
  return call.has_reason() ? printable(*call.why, sizeof(Row::why) - 1) : "";
}

Row* new_run(std::size_t number) {
  const std::size_t rows = first_run << number;
  void* place = counters_file::extend(rows * sizeof(Row));
  Row* run = place ? static_cast<Row*>(place) : static_cast<Row*>(operator new(rows * sizeof(Row)));
  std::uninitialized_value_construct_n(run, rows);
  runs[number].store(run, std::memory_order_release);  // pairs with the acquire in for_each_row()
  return run;
}

/// Null: all rows are in use, over two billion.
Row* unused_row() {
  if (!unused.empty()) {
    Row* row = unused.back();
    unused.pop_back();
    return row;
  }
  if (runs_made == 0 || taken_of_last == first_run << (runs_made - 1)) {
    if (runs_made == most_runs) return nullptr;
    new_run(runs_made++);
    taken_of_last = 0;
  }
  return &runs[runs_made - 1].load(std::memory_order_relaxed)[taken_of_last++];
}

void describe(Row& row, const Call& call, int communicator_size) {
  row.kind = call.kind();
  row.communicator_size = communicator_size;
  row.size_class = static_cast<std::uint8_t>(call.size_class());
  row.collective = static_cast<std::uint8_t>(call.collective);
  row.by_host = call.carrier == Carrier::host;
  put(row.collective_name, to_string(call.collective));
  put(row.algorithm, call.persistent    ? "persistent"
                     : call.nonblocking ? "nonblocking"
                                        : to_string(call.algorithm));
  put(row.transport, carrier_name(call.carrier));
  put(row.why, words_of(call));
}

void add(Row& sum, const Row& row) {
  sum.calls.add(row.calls.get());
  sum.ticks.add(row.ticks.get());
  sum.spin.add(row.spin.get());
  sum.progress.add(row.progress.get());
  sum.yield.add(row.yield.get());
  sum.sleep.add(row.sleep.get());
  sum.waited.add(row.waited.get());
  sum.last.add(row.last.get());
  sum.bytes.add(row.bytes.get());
  for (std::size_t i = 0; i < row.spread.size(); ++i) sum.spread[i].add(row.spread[i].get());
}

void clear(Row& row) {
  row.in_use.store(0, std::memory_order_relaxed);
  for (Count* count : {&row.calls, &row.ticks, &row.spin, &row.progress, &row.yield, &row.sleep, &row.waited,
                       &row.last, &row.bytes})
    count->set(0);
  for (Count& count : row.spread) count.set(0);
}

}  // namespace

Row* take_row(const Call& call, int communicator_size) {
  ticks::seconds_per_tick();  // a rank with a row reads the clock
  const std::lock_guard lock(mutex);
  Row* row = unused_row();
  if (!row) return nullptr;
  describe(*row, call, communicator_size);
  row->in_use.store(1, std::memory_order_release);  // pairs with the acquire in for_each_row()
  return row;
}

void retire_row(Row* row) {
  const std::lock_guard lock(mutex);
  const auto same =
      std::find_if(retired.begin(), retired.end(), [&](Row* kept) { return kept->is_like(*row); });
  if (same == retired.end()) return retired.push_back(row);
  add(**same, *row);
  clear(*row);
  unused.push_back(row);
}

Counters::Counters(int communicator_size) {
  if (enabled()) table_.reset(new Table{communicator_size, {}, {}});
}

Counters::~Counters() {
  if (!table_) return;
  for (Row* row : table_->all) retire_row(row);
}

Row* Counters::find(const Call& call) {
  const std::string words = words_of(call);
  const auto known = std::find_if(table_->all.begin(), table_->all.end(),
                                  [&](const Row* row) { return row->is_of(call, words); });
  Row*& last = table_->last[static_cast<std::size_t>(call.collective)][call.size_class()];
  if (known != table_->all.end()) return last = *known;
  Row* row = take_row(call, table_->communicator_size);
  if (row) table_->all.push_back(row);
  return last = row;
}

}  // namespace espalier::runtime::statistics
