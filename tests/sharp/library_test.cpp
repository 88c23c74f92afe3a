// libespalier-sharp.so over real aggregation nodes: what a program with the interface's header sees.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "reduce/operation.hpp"
#include "sharp/operations.hpp"
#include "tests/sharp/local_tree.hpp"

namespace espalier::sharp {
namespace {

sharp_coll_data_desc describe(void* data, std::size_t bytes) {
  sharp_coll_data_desc result{};
  result.buffer.ptr = data;
  result.buffer.length = bytes;
  return result;
}

template <class T>
sharp_coll_reduce_spec sum_of(std::vector<T>& send, std::vector<T>& receive, sharp_datatype type) {
  sharp_coll_reduce_spec spec{};
  spec.sbuf_desc = describe(send.data(), send.size() * sizeof(T));
  spec.rbuf_desc = describe(receive.data(), receive.size() * sizeof(T));
  spec.dtype = type;
  spec.op = SHARP_OP_SUM;
  spec.length = send.size();
  return spec;
}

int allreduce_of(Member& member, std::size_t elements, bool& right) {
  std::vector<int> send(elements), receive(elements);
  std::iota(send.begin(), send.end(), member.rank);
  auto spec = sum_of(send, receive, SHARP_DTYPE_INT);
  const int code = sharp_coll_do_allreduce(member.comm, &spec);
  const int n = member.size;
  right = true;
  for (std::size_t i = 0; i < elements; ++i)
    right = right && receive[i] == n * (n - 1) / 2 + n * static_cast<int>(i);
  return code;
}

class Leaves : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Levels, Leaves, ::testing::Values(1, 2));

TEST_P(Leaves, allreduces_of_every_operator_and_type_of_the_caps) {
  const LocalTree tree(GetParam());
  std::atomic<int> checked = 0;
  run_job(5, [&](Member& member) {
    ASSERT_EQ(member.group_code, 0);
    sharp_coll_caps caps{};
    ASSERT_EQ(sharp_coll_caps_query(member.context, &caps), 0);
    for (std::uint8_t op = 0; op < SHARP_OP_NULL; ++op)
      for (std::uint8_t type = 0; type < SHARP_DTYPE_NULL; ++type) {
        const reduce::Operation* operation = kernel_of(op, type);
        constexpr std::size_t elements = 9;
        std::vector<std::byte> values[5], expected, send, receive(elements * 16);
        for (int rank = 0; rank < 5; ++rank)
          for (std::size_t i = 0; i < elements * 8; ++i)
            // Small floats of any width, by zeros; integers of any kind.
            values[rank].push_back(
                static_cast<std::byte>(i % 2 == 1 ? 0 : (rank * 5 + static_cast<int>(i)) % 7));
        send = values[member.rank];
        sharp_coll_reduce_spec spec{};
        spec.sbuf_desc = describe(send.data(), send.size());
        spec.rbuf_desc = describe(receive.data(), receive.size());
        spec.dtype = static_cast<sharp_datatype>(type);
        spec.op = static_cast<sharp_reduce_op>(op);
        spec.length = elements;
        const bool is_offered =
            (caps.support_mask.reduce_ops >> op & 1) && (caps.support_mask.dtypes >> type & 1) && operation;
        const int code = sharp_coll_do_allreduce(member.comm, &spec);
        ASSERT_EQ(code, is_offered ? 0 : SHARP_COLL_ENOT_SUPP) << int{op} << " " << int{type};
        if (!is_offered) continue;
        expected.resize(elements * operation->extent);
        const void* sources[] = {values[0].data(), values[1].data(), values[2].data(), values[3].data(),
                                 values[4].data()};
        operation->kernel(expected.data(), sources, 5, elements);
        ASSERT_EQ(std::memcmp(receive.data(), expected.data(), expected.size()), 0)
            << int{op} << " " << int{type};
        ++checked;
      }
  });
  EXPECT_GE(checked, 5 * 78);  // more where the compiler has half floats
}

TEST_P(Leaves, messages_longer_than_an_operation_and_in_place) {
  const LocalTree tree(GetParam(), R"({"payload": 100})");
  run_job(4, [&](Member& member) {
    for (const std::size_t elements : {0u, 1u, 25u, 26u, 5000u}) {
      bool right = false;
      EXPECT_EQ(allreduce_of(member, elements, right), 0);
      EXPECT_TRUE(right) << elements;
    }
    std::vector<double> values(1000, member.rank + 1.0);
    auto spec = sum_of(values, values, SHARP_DTYPE_DOUBLE);
    EXPECT_EQ(sharp_coll_do_allreduce(member.comm, &spec), 0);
    EXPECT_EQ(values, std::vector<double>(1000, 10.0));
  });
}

TEST_P(Leaves, reduce_bcast_and_barrier) {
  const LocalTree tree(GetParam());
  std::atomic<int> arrived = 0;
  run_job(4, [&](Member& member) {
    for (int root = 0; root < 4; ++root) {
      std::vector<float> send(3, 1.5f), receive(3, -1);
      auto spec = sum_of(send, receive, SHARP_DTYPE_FLOAT);
      spec.root = root;
      EXPECT_EQ(sharp_coll_do_reduce(member.comm, &spec), 0);
      EXPECT_EQ(receive, std::vector<float>(3, member.rank == root ? 6.0f : -1.0f));
      int value = member.rank == root ? 42 : 0;
      sharp_coll_bcast_spec bcast{};
      bcast.root = root;
      bcast.size = sizeof value;
      bcast.buf_desc = describe(&value, sizeof value);
      EXPECT_EQ(sharp_coll_do_bcast(member.comm, &bcast), 0);
      EXPECT_EQ(value, 42);
    }
    ++arrived;
    EXPECT_EQ(sharp_coll_do_barrier(member.comm), 0);
    EXPECT_EQ(arrived, 4);
    EXPECT_EQ(sharp_coll_do_allgather(member.comm, nullptr), SHARP_COLL_ENOT_SUPP);
  });
}

TEST_P(Leaves, more_requests_under_way_than_slots) {
  const LocalTree tree(GetParam(), R"({"slots_per_group": 2})");
  run_job(3, [&](Member& member) {
    constexpr int count = 20;
    std::vector<std::vector<long>> send, receive;
    for (int i = 0; i < count; ++i) send.push_back({i + member.rank}), receive.push_back({0});
    std::vector<void*> requests;
    for (std::size_t i = 0; i < count; ++i) {
      auto spec = sum_of(send[i], receive[i], SHARP_DTYPE_LONG);
      requests.emplace_back();
      ASSERT_EQ(sharp_coll_do_allreduce_nb(member.comm, &spec, &requests.back()), 0);
    }
    for (void* request : requests) EXPECT_EQ(sharp_coll_req_wait(request), 0);
    for (int i = 0; i < count; ++i) EXPECT_EQ(receive[static_cast<std::size_t>(i)][0], 3 * i + 3);
  });
}

TEST_P(Leaves, a_node_that_dies_ends_operations_and_comes_back_for_new_groups) {
  LocalTree tree(GetParam(), R"({"silence_seconds": 3})");
  std::barrier together(4);
  run_job(4, [&](Member& member) {
    bool right = false;
    ASSERT_EQ(allreduce_of(member, 8, right), 0);
    together.arrive_and_wait();
    if (member.rank == 0) tree.stop(0);
    together.arrive_and_wait();
    EXPECT_LT(allreduce_of(member, 8, right), 0);
    EXPECT_LT(sharp_coll_do_barrier(member.comm), 0) << "a dead group stays dead";
    together.arrive_and_wait();
    if (member.rank == 0) {
      tree.start(0);
      std::this_thread::sleep_for(std::chrono::milliseconds(1000));
    }
    together.arrive_and_wait();
    sharp_coll_comm_destroy(member.comm);
    member.comm = nullptr;
    ASSERT_EQ(make_group(member), 0);
    EXPECT_EQ(allreduce_of(member, 8, right), 0);
    EXPECT_TRUE(right);
  });
}

TEST(Library, members_hear_at_once_of_a_leaf_that_does_not_reach_its_parent) {
  LocalTree tree(2, R"({"join_seconds": 3600})");
  tree.stop(1);
  tree.start_without_way_up(1);
  run_job(4, [&](Member& member) {
    EXPECT_EQ(member.init_code, 0);
    EXPECT_EQ(member.group_code, member.rank < 2 ? SHARP_COLL_ECONN_TREE : SHARP_COLL_EGROUP_JOIN)
        << member.rank;
  });
}

TEST_P(Leaves, a_process_that_dies_ends_its_group) {
  LocalTree tree(GetParam());
  run_job(
      4,
      [&](Member& member) {
        bool right = false;
        for (int i = 0; i < 2; ++i) ASSERT_EQ(allreduce_of(member, 8, right), 0);
        EXPECT_LT(allreduce_of(member, 8, right), 0);
      },
      "operation.3@2=drop");
}

TEST(Library, gives_every_code_at_every_point) {
  const LocalTree tree(1);
  for (int code = SHARP_COLL_ENO_RESOURCE; code < 0; ++code) {
    EXPECT_STRNE(sharp_coll_strerror(code), "unknown error");
    const std::string value = std::to_string(code);
    run_job(2, [&](Member& member) { EXPECT_EQ(member.init_code, code); }, ("init=" + value).c_str());
    run_job(
        2,
        [&](Member& member) {
          EXPECT_EQ(member.group_code, member.rank == 1 ? code : SHARP_COLL_EGROUP_JOIN);
        },
        ("group@1=" + value).c_str());
    run_job(
        2,
        [&](Member& member) {
          bool right = false;
          EXPECT_EQ(allreduce_of(member, 1, right), 0);
          EXPECT_EQ(allreduce_of(member, 1, right), code);
        },
        ("operation.2=" + value).c_str());
    run_job(
        2,
        [&](Member& member) {
          bool right = false;
          EXPECT_EQ(allreduce_of(member, 1, right), code);
        },
        ("operation.1=late:" + value).c_str());
  }
}

TEST(Library, gives_init_an_error_on_all_processes_without_a_tree) {
  setenv("ESPALIER_AGGREGATION", "/nowhere/tree.json", 1);
  run_job(3, [](Member& member) { EXPECT_EQ(member.init_code, SHARP_COLL_ETREE_INFO); });
  unsetenv("ESPALIER_AGGREGATION");
  run_job(3, [](Member& member) { EXPECT_EQ(member.init_code, SHARP_COLL_ETREE_INFO); });
  LocalTree tree(1);
  tree.stop(0);
  run_job(3, [](Member& member) { EXPECT_EQ(member.init_code, SHARP_COLL_ECONN_TREE); });
}

TEST(Library, checks_its_arguments) {
  const LocalTree tree(1);
  run_job(1, [&](Member& member) {
    std::vector<int> send(4), receive(4);
    auto spec = sum_of(send, receive, SHARP_DTYPE_INT);
    spec.rbuf_desc.buffer.length = 15;
    EXPECT_EQ(sharp_coll_do_allreduce(member.comm, &spec), SHARP_COLL_EINVAL);
    spec = sum_of(send, receive, SHARP_DTYPE_INT);
    void* registered = nullptr;
    ASSERT_EQ(sharp_coll_reg_mr(member.context, send.data(), 8, &registered), 0);
    spec.sbuf_desc.buffer.mem_handle = registered;
    EXPECT_EQ(sharp_coll_do_allreduce(member.comm, &spec), SHARP_COLL_EINVAL) << "half of it is registered";
    EXPECT_EQ(sharp_coll_dereg_mr(member.context, registered), 0);
    spec = sum_of(send, receive, SHARP_DTYPE_INT);
    spec.sbuf_desc.mem_type = SHARP_MEM_TYPE_CUDA;
    EXPECT_EQ(sharp_coll_do_allreduce(member.comm, &spec), SHARP_COLL_ENOT_SUPP);
    spec = sum_of(send, receive, SHARP_DTYPE_INT);
    spec.aggr_mode = SHARP_AGGREGATION_STREAMING;
    EXPECT_EQ(sharp_coll_do_allreduce(member.comm, &spec), SHARP_COLL_ENOT_SUPP);
    spec.aggr_mode = SHARP_AGGREGATION_NONE;
    spec.root = 1;
    EXPECT_EQ(sharp_coll_do_reduce(member.comm, &spec), SHARP_COLL_EINVAL);
    spec = sum_of(send, receive, SHARP_DTYPE_INT);
    spec.length = ~std::size_t{0} / 2;
    EXPECT_EQ(sharp_coll_do_allreduce(member.comm, &spec), SHARP_COLL_EINVAL)
        << "its bytes do not fit a number";
    spec = sum_of(send, receive, SHARP_DTYPE_INT);
    const unsigned none = 256 + SHARP_OP_SUM;
    std::memcpy(&spec.op, &none, sizeof none);
    EXPECT_EQ(sharp_coll_do_allreduce(member.comm, &spec), SHARP_COLL_ENOT_SUPP);
  });
}

}  // namespace
}  // namespace espalier::sharp
