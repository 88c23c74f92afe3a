// Communicators of the C API that a test's processes make by meeting under a name.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "espalier/espalier.h"
#include "tests/runtime/processes.hpp"

namespace espalier::testing {

inline std::string own_name(const char* test) {
  return std::string("capi-test-") + test + "-" + std::to_string(getppid());
}
inline bool error_has(const std::string& part) {
  return std::string(espalier_error_text()).find(part) != std::string::npos;
}

/// A communicator that goes with the test; meets under a name.
struct Met {
  espalier_comm* comm = nullptr;
  Met(const std::string& name, int rank, int size) {
    EXPECT_EQ(espalier_comm_meet(name.c_str(), rank, size, 20000, &comm), ESPALIER_OK)
        << espalier_error_text();
  }
  ~Met() { espalier_comm_free(comm); }
};

inline void check_collectives(espalier_comm* comm) {
  const int n = espalier_comm_size(comm), me = espalier_comm_rank(comm);
  for (const std::size_t count : {0, 1, 20, 5000, 200000}) {
    std::vector<double> send(count), receive(count, -1), sum(count);
    for (std::size_t i = 0; i < count; ++i) {
      send[i] = me + static_cast<double>(i % 100);
      sum[i] = n * (n - 1) / 2.0 + n * static_cast<double>(i % 100);
    }
    ASSERT_EQ(espalier_allreduce(comm, send.data(), receive.data(), count, ESPALIER_DOUBLE, ESPALIER_SUM),
              ESPALIER_OK);
    EXPECT_EQ(receive, sum);
    receive = send;
    ASSERT_EQ(
        espalier_allreduce(comm, ESPALIER_IN_PLACE, receive.data(), count, ESPALIER_DOUBLE, ESPALIER_SUM),
        ESPALIER_OK);
    EXPECT_EQ(receive, sum);
    for (int root = 0; root < n; ++root) {
      receive.assign(count, -1);
      ASSERT_EQ(espalier_reduce(comm, send.data(), me == root ? receive.data() : nullptr, count,
                                ESPALIER_DOUBLE, ESPALIER_SUM, root),
                ESPALIER_OK);
      EXPECT_EQ(receive, me == root ? sum : std::vector<double>(count, -1));
      receive = send;
      ASSERT_EQ(espalier_reduce(comm, me == root ? ESPALIER_IN_PLACE : send.data(), receive.data(), count,
                                ESPALIER_DOUBLE, ESPALIER_SUM, root),
                ESPALIER_OK);
      EXPECT_EQ(receive, me == root ? sum : send);
      receive.assign(count, me);
      ASSERT_EQ(espalier_bcast(comm, receive.data(), count * sizeof(double), root), ESPALIER_OK);
      EXPECT_EQ(receive, std::vector<double>(count, root));
    }
    ASSERT_EQ(espalier_barrier(comm), ESPALIER_OK);
  }
}

}  // namespace espalier::testing
