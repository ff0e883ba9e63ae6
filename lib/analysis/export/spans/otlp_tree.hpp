// SPDX-License-Identifier: Apache-2.0
#pragma once

// The place of each request and each task in a tree of spans.

#include <cstdint>
#include <optional>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/request_statistics.hpp>

#include "otlp_ids.hpp"
#include "otlp_span.hpp"

namespace coroscope::analysis::inline spans {

class otlp_tree {
public:
    /// Both arguments must outlive it.
    otlp_tree(const trace& from, const request_list& list);

    /// The trace and the span of a request (a place in the list) or a task.
    [[nodiscard]] otlp_context of_request(std::uint32_t request) const;
    [[nodiscard]] otlp_context of_task(std::uint32_t task) const;

    /// The span above it; zero if it begins a trace.
    [[nodiscard]] otlp_span_id above_request(std::uint32_t request) const;
    [[nodiscard]] otlp_span_id above_task(std::uint32_t task) const;

private:
    /// A request or a task. At most one of them is not `none`.
    struct node {
        std::uint32_t request = none;
        std::uint32_t task = none;
    };

    [[nodiscard]] std::uint32_t open_in(std::uint32_t task, std::int64_t time_ns,
                                        std::uint32_t before) const;
    [[nodiscard]] node spawner_of(std::uint32_t task) const;
    [[nodiscard]] node above(std::uint32_t request) const;
    [[nodiscard]] std::uint32_t outer(std::uint32_t request) const;
    [[nodiscard]] std::uint32_t outermost(std::uint32_t request) const;
    [[nodiscard]] otlp_trace_id trace_of_request(std::uint32_t request) const;
    [[nodiscard]] std::optional<otlp_context> from_outside(std::uint32_t request) const;
    void find_roots();

    const trace& from_;
    const request_list& list_;
    otlp_ids ids_;
    std::vector<std::uint32_t> by_task_;  // requests, by (task, start, longest first)
    std::vector<std::uint32_t> around_;   // by request: the request of its task around it, or none
    std::vector<node> parents_;           // by task: the request that it is, else its spawner
    std::vector<node> roots_;             // by task: the outermost span above it, or itself
};

}  // namespace coroscope::analysis::inline spans
