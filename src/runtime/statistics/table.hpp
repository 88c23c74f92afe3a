// The statistics as a table on standard error.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace espalier::runtime::statistics {

/// `report`: what ESPALIER_STATS=FILE writes (docs/statistics.md). The layout is that of `espalier stats FILE`
/// (python/espalier/stats/table.py), which a test compares.
void print_table(const nlohmann::json& report);

}  // namespace espalier::runtime::statistics
