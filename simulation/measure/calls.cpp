#include "simulation/measure/calls.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"
#include "simulation/engine/asked.hpp"
#include "simulation/engine/node_call.hpp"
#include "simulation/measure/crew.hpp"
#include "simulation/measure/values.hpp"

namespace espalier::measure {

using nlohmann::json;

namespace {

/// A point, ready to run.
struct Job {
  simulation::Point point;
  simulation::Call call;
  std::shared_ptr<const simulation::TreePositions> places;
  simulation::BufferSizes sizes;
  int calls;    // in a block, which is timed as a whole
  int samples;  // blocks in each round
};

bool no_rank_leaves_before_all_have_come(Collective collective) {
  return collective == Collective::barrier || collective == Collective::allreduce ||
         collective == Collective::allgather || collective == Collective::alltoall;
}

// As in bench/README.md: where no rank can run ahead, short calls are timed as a block, so that reading the
// clock does not count.
int calls_of(const simulation::Call& call) {
  return no_rank_leaves_before_all_have_come(call.collective) && call.bytes <= 1024 ? 20 : 1;
}

std::vector<Job> jobs_of(const json& request, const simulation::NodeModel& node) {
  std::vector<Job> jobs;
  for (const simulation::Point& point : simulation::points_of(request)) {
    if (point.shape.nodes != 1) throw Error("only calls on one node can be measured");
    const simulation::Call call = simulation::call_of(request, point, node);
    jobs.push_back({point, call, simulation::places_for(call, point.shape, node),
                    simulation::buffer_sizes(call, point.shape), calls_of(call),
                    call.bytes > 100'000 ? 5 : 15});
  }
  return jobs;
}

/// One rank's buffers for one job.
class Buffers {
 public:
  explicit Buffers(const simulation::BufferSizes& sizes)
      : send_(sizes.send / 8 + 1), receive_(sizes.receive / 8 + 1), scratch_(sizes.scratch / 8 + 1) {}

  void write_send(int rank, int number) {
    for (std::size_t i = 0; i < send_.size(); ++i) send_[i] = value(rank, i, number);
  }
  void write(int rank, int number) {
    write_send(rank, number);
    if (rank == 0) std::copy_n(send_.begin(), std::min(send_.size(), receive_.size()), receive_.begin());
  }
  simulation::Buffers raw() {
    const auto bytes = [](Words& words) { return reinterpret_cast<std::byte*>(words.data()); };
    return {bytes(send_), bytes(receive_), bytes(scratch_)};
  }
  const Words& received() const { return receive_; }

 private:
  Words send_, receive_, scratch_;
};

double sample(Rank& rank, const Job& job, Buffers& buffers, int number) {
  const reduce::Operation& sum = *reduce::find(reduce::Op::sum, reduce::Type::uint64);
  const auto places = simulation::node_positions(*job.places, rank.number());
  const simulation::Buffers raw = buffers.raw();
  buffers.write(rank.number(), number);
  const double took = rank.time([&] {
    for (int i = 0; i < job.calls; ++i) {
      if (i > 0) buffers.write_send(rank.number(), number + i);
      simulation::call_on_one_node(rank.machine(), job.call, places, raw, sum);
    }
  });
  if (!is_right(job.call, rank.count(), rank.number(), job.call.bytes / 8, buffers.received(),
                number + job.calls - 1))
    throw Error(formatted("wrong result: {} of {} bytes by {}", to_string(job.call.collective),
                          job.call.bytes, job.point.variant));
  return took / job.calls;
}

/// All samples of all jobs, round by round; rank 0 keeps them.
void measure(Rank& rank, const std::vector<Job>& jobs, int rounds, double* results) {
  int number = 0;
  for (int round = 0; round < rounds; ++round)
    for (const Job& job : jobs) {
      Buffers buffers(job.sizes);
      sample(rank, job, buffers, number++);  // touches the buffers
      for (int i = 0; i < job.samples; ++i) {
        const double took = sample(rank, job, buffers, number++);
        if (rank.number() == 0) *results++ = took;
      }
    }
}

json row_of(const Job& job, std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t count = samples.size();
  return {{"variant", job.point.variant},
          {"bytes", job.call.bytes},
          {"nodes", 1},
          {"ranks_per_node", job.point.shape.ranks_per_node},
          {"calls", job.calls},
          {"ns", samples[count / 2]},
          {"lowest_ns", samples[count / 4]},
          {"highest_ns", samples[count * 3 / 4]}};
}

}  // namespace

json measure_calls(const json& request, const std::vector<int>& cpus) {
  const simulation::Model model = simulation::read_model(request.at("model"));
  const int rounds = request.value("rounds", 5);
  json rows = json::array();
  for (const int ranks : request.value("ranks_per_node", std::vector<int>{2})) {
    json asked = request;
    asked["ranks_per_node"] = {ranks};
    const std::vector<Job> jobs = jobs_of(asked, model.node);
    std::size_t results = 0;
    for (const Job& job : jobs) results += static_cast<std::size_t>(job.samples);
    Crew crew(ranks, cpus);
    const std::vector<double> all = crew.run(
        results * static_cast<std::size_t>(rounds),
        [&](Rank& rank, double* into) { measure(rank, jobs, rounds, into); }, 600);
    std::size_t at = 0;
    for (const Job& job : jobs) {
      std::vector<double> samples;
      for (int round = 0; round < rounds; ++round) {
        const auto first =
            all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(round) * results + at);
        samples.insert(samples.end(), first, first + job.samples);
      }
      at += static_cast<std::size_t>(job.samples);
      rows.push_back(row_of(job, samples));
    }
  }
  return rows;
}

}  // namespace espalier::measure
