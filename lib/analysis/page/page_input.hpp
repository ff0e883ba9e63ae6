// SPDX-License-Identifier: Apache-2.0
#pragma once

// All that the parts of a page are computed from.

#include <vector>

#include <coroscope/analysis/executor_statistics.hpp>
#include <coroscope/analysis/report.hpp>
#include <coroscope/analysis/request_statistics.hpp>

#include "request_order.hpp"
#include "shown_rows.hpp"
#include "work_index.hpp"

namespace coroscope::analysis::inline pages {

struct page_input {
    page_input(const trace& loaded, const report_options& asked)
        : from(loaded),
          options(asked),
          list(requests_of(loaded)),
          types(statistics_of_requests(loaded, list)),
          order(loaded, list, types),
          work(loaded),
          paths(paths_to_show(loaded, order)),
          shown(rows_to_show(loaded, order, work, paths, asked.most_events)),
          queues(queue_lengths(loaded)) {}

    const trace& from;
    const report_options& options;
    request_list list;
    std::vector<request_type> types;
    request_order order;
    work_index work;
    shown_paths paths;
    shown_rows shown;
    std::vector<std::vector<queue_step>> queues;  // by index into trace::executors
};

}  // namespace coroscope::analysis::inline pages
