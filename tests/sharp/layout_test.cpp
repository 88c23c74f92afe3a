// The clean-room header beside the sizes and offsets of version 3.6 on x86-64 (computed with a layout probe
// from its list of fields).
#include <gtest/gtest.h>
#include <sharp/api/sharp_coll.h>

namespace {

#define ESPALIER_AT(type, field, offset) \
  static_assert(offsetof(struct type, field) == offset, #type "." #field)

static_assert(sizeof(struct sharp_coll_config) == 32);
ESPALIER_AT(sharp_coll_config, user_progress_num_polls, 8);
ESPALIER_AT(sharp_coll_config, coll_timeout, 12);
ESPALIER_AT(sharp_coll_config, flags, 16);

static_assert(sizeof(struct sharp_coll_out_of_band_colls) == 24);
ESPALIER_AT(sharp_coll_out_of_band_colls, bcast, 0);
ESPALIER_AT(sharp_coll_out_of_band_colls, barrier, 8);
ESPALIER_AT(sharp_coll_out_of_band_colls, gather, 16);

static_assert(sizeof(struct sharp_coll_comm_init_spec) == 32);
ESPALIER_AT(sharp_coll_comm_init_spec, oob_ctx, 8);
ESPALIER_AT(sharp_coll_comm_init_spec, group_world_ranks, 16);

static_assert(sizeof(struct sharp_coll_init_spec) == 120);
ESPALIER_AT(sharp_coll_init_spec, job_id, 0);
ESPALIER_AT(sharp_coll_init_spec, world_rank, 8);
ESPALIER_AT(sharp_coll_init_spec, progress_func, 16);
ESPALIER_AT(sharp_coll_init_spec, group_channel_idx, 24);
ESPALIER_AT(sharp_coll_init_spec, config, 32);
ESPALIER_AT(sharp_coll_init_spec, oob_colls, 64);
ESPALIER_AT(sharp_coll_init_spec, world_local_rank, 88);
ESPALIER_AT(sharp_coll_init_spec, enable_thread_support, 92);
ESPALIER_AT(sharp_coll_init_spec, oob_ctx, 96);

static_assert(sizeof(struct sharp_coll_caps) == 112);
ESPALIER_AT(sharp_coll_caps, support_mask.dtypes, 24);
ESPALIER_AT(sharp_coll_caps, support_mask.tag_dtypes, 32);
ESPALIER_AT(sharp_coll_caps, support_mask.reduce_ops, 40);
ESPALIER_AT(sharp_coll_caps, support_mask.feature_mask, 48);
ESPALIER_AT(sharp_coll_caps, resources.max_osts, 88);
ESPALIER_AT(sharp_coll_caps, resources.user_data_per_ost, 92);
ESPALIER_AT(sharp_coll_caps, resources.osts_per_group, 104);

static_assert(sizeof(struct sharp_coll_data_desc) == 40);
ESPALIER_AT(sharp_coll_data_desc, mem_type, 4);
ESPALIER_AT(sharp_coll_data_desc, buffer.ptr, 16);
ESPALIER_AT(sharp_coll_data_desc, buffer.length, 24);
ESPALIER_AT(sharp_coll_data_desc, buffer.mem_handle, 32);
ESPALIER_AT(sharp_coll_data_desc, iov.vector, 24);

static_assert(sizeof(struct sharp_coll_reduce_spec) == 136);
ESPALIER_AT(sharp_coll_reduce_spec, sbuf_desc, 8);
ESPALIER_AT(sharp_coll_reduce_spec, rbuf_desc, 48);
ESPALIER_AT(sharp_coll_reduce_spec, dtype, 88);
ESPALIER_AT(sharp_coll_reduce_spec, length, 96);
ESPALIER_AT(sharp_coll_reduce_spec, op, 104);
ESPALIER_AT(sharp_coll_reduce_spec, aggr_mode, 112);
ESPALIER_AT(sharp_coll_reduce_spec, offset, 120);

static_assert(sizeof(struct sharp_coll_bcast_spec) == 72);
ESPALIER_AT(sharp_coll_bcast_spec, buf_desc, 8);
ESPALIER_AT(sharp_coll_bcast_spec, size, 48);

static_assert(sizeof(struct sharp_coll_gather_spec) == 120);
ESPALIER_AT(sharp_coll_gather_spec, rbuf_desc, 40);
ESPALIER_AT(sharp_coll_gather_spec, dtype, 80);
ESPALIER_AT(sharp_coll_gather_spec, size, 88);
ESPALIER_AT(sharp_coll_gather_spec, offset, 96);

static_assert(SHARP_DTYPE_UNSIGNED == 0 && SHARP_DTYPE_LONG == 3 && SHARP_DTYPE_FLOAT_SHORT == 8 &&
              SHARP_DTYPE_INT8 == 11 && SHARP_DTYPE_NULL == 12);
static_assert(SHARP_OP_MAX == 0 && SHARP_OP_SUM == 2 && SHARP_OP_BXOR == 9 && SHARP_OP_NULL == 12);
static_assert(SHARP_API == ((3 << 24) | (6 << 16)));

// The asserts above are the test; this makes it one that is counted.
TEST(SharpHeader, has_the_layout_of_version_3_6) { EXPECT_EQ(sizeof(struct sharp_coll_init_spec), 120u); }

}  // namespace
