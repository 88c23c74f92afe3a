// Groups: their numbers, their ranks and how they are committed.
#include <algorithm>
#include <cstring>

#include "base/hash.hpp"
#include "capi/gaspi/core/group_exchange.hpp"
#include "capi/gaspi/core/layer.hpp"

using namespace espalier::capi::gaspi;

namespace {

int free_number() {
  for (int number = 1; number < most_groups; ++number)
    if (!layer.groups.contains(number)) return number;
  throw Failure(GASPI_ERR_MANY_GRP, "there are " + std::to_string(most_groups) + " groups already");
}

Group& uncommitted(int number) {
  Group& group = layer.group(number);
  if (group.committed)
    throw Failure(GASPI_ERR_INV_GROUP, "group " + std::to_string(number) + " is committed already");
  return group;
}

std::uint64_t digest(const std::vector<int>& ranks) {
  return espalier::hash({reinterpret_cast<const char*>(ranks.data()), ranks.size() * sizeof(int)});
}

void check_same_ranks(int number, const Group& group, const Deadline& deadline) {
  const std::uint64_t mine = digest(group.ranks);
  std::vector<std::uint64_t> all(group.ranks.size());
  gather_over(number, Purpose::commit, &mine, all.data(), sizeof mine, deadline);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] != mine)
      throw Failure(GASPI_ERR_INV_GROUP, "rank " + std::to_string(group.ranks[i]) +
                                             " has added other ranks to group " + std::to_string(number));
}

}  // namespace

extern "C" {

gaspi_return_t gaspi_group_create(gaspi_group_t* group) {
  return locked(__func__, [&] {
    check_place(group);
    const int number = free_number();
    layer.groups.emplace(number, Group{});
    *group = static_cast<gaspi_group_t>(number);
  });
}

gaspi_return_t gaspi_group_add(gaspi_group_t number, gaspi_rank_t rank) {
  return locked(__func__, [&] {
    Group& group = uncommitted(number);
    layer.place(rank);
    const auto where = std::lower_bound(group.ranks.begin(), group.ranks.end(), rank);
    if (where != group.ranks.end() && *where == rank)
      throw Failure(GASPI_ERR_INV_RANK, "rank " + std::to_string(rank) + " is in the group already");
    group.ranks.insert(where, rank);
  });
}

gaspi_return_t gaspi_group_commit(gaspi_group_t number, gaspi_timeout_t timeout) {
  return locked_until(__func__, timeout, [&](const Deadline& deadline) {
    Group& group = uncommitted(number);
    const auto own = std::find(group.ranks.begin(), group.ranks.end(), layer.rank);
    if (own == group.ranks.end())
      throw Failure(GASPI_ERR_INV_GROUP,
                    "this rank, " + std::to_string(layer.rank) + ", is not in the group");
    group.index = static_cast<int>(own - group.ranks.begin());
    check_same_ranks(number, group, deadline);
    group.committed = true;
  });
}

gaspi_return_t gaspi_group_delete(gaspi_group_t number) {
  return locked(__func__, [&] {
    if (number == GASPI_GROUP_ALL) throw Failure(GASPI_ERR_INV_GROUP, "GASPI_GROUP_ALL stays");
    espalier_comm_free(layer.group(number).comm);
    // The number may come to stand for other ranks, with whom this group's windows cannot be freed.
    for (auto& [id, segment] : layer.segments)
      if (segment.group == number) segment.group = -1;
    layer.groups.erase(number);
  });
}

gaspi_return_t gaspi_group_num(gaspi_number_t* number) {
  return locked(__func__, [&] {
    check_place(number);
    *number = static_cast<gaspi_number_t>(layer.groups.size());
  });
}

gaspi_return_t gaspi_group_max(gaspi_number_t* most) {
  return guarded(__func__, [&] {
    check_place(most);
    *most = most_groups;
  });
}

gaspi_return_t gaspi_group_size(gaspi_group_t number, gaspi_number_t* size) {
  return locked(__func__, [&] {
    check_place(size);
    *size = static_cast<gaspi_number_t>(layer.group(number).ranks.size());
  });
}

gaspi_return_t gaspi_group_ranks(gaspi_group_t number, gaspi_rank_t* ranks) {
  return locked(__func__, [&] {
    check_place(ranks);
    for (const int rank : layer.group(number).ranks) *ranks++ = static_cast<gaspi_rank_t>(rank);
  });
}

}  // extern "C"
