// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/folded_stacks.hpp>

#include <algorithm>
#include <array>

#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/request_statistics.hpp>

#include "scope_index.hpp"
#include "stack_times.hpp"
#include "stack_tree.hpp"

namespace coroscope::analysis {
namespace {

struct time_name {
    std::string_view name;
    folded_time time;
};
constexpr std::array time_names{
    time_name{"wall", folded_time::wall},       time_name{"running", folded_time::running},
    time_name{"on-cpu", folded_time::on_cpu},   time_name{"off-cpu", folded_time::off_cpu},
    time_name{"blocked", folded_time::blocked}, time_name{"preempted", folded_time::preempted},
    time_name{"queued", folded_time::queued},   time_name{"suspended", folded_time::suspended},
    time_name{"path", folded_time::path},
};

bool is_running(path_kind kind) {
    return kind == path_kind::running || kind == path_kind::on_cpu || kind == path_kind::blocked ||
           kind == path_kind::preempted;
}

bool counts(folded_time asked, path_kind kind) {
    switch (asked) {
        case folded_time::wall:
        case folded_time::path: return true;
        case folded_time::running: return is_running(kind);
        case folded_time::on_cpu: return kind == path_kind::on_cpu;
        case folded_time::off_cpu:
            return kind != path_kind::on_cpu && kind != path_kind::running &&
                   kind != path_kind::unknown;
        case folded_time::blocked: return kind == path_kind::blocked;
        case folded_time::preempted: return kind == path_kind::preempted;
        case folded_time::queued: return kind == path_kind::queued;
        case folded_time::suspended: return kind == path_kind::suspended;
    }
    return false;
}

bool is_one_kind(folded_time asked) {
    return asked == folded_time::on_cpu || asked == folded_time::blocked ||
           asked == folded_time::preempted || asked == folded_time::queued ||
           asked == folded_time::suspended;
}

class folder {
public:
    folder(const trace& from, folded_time asked) : from_(from), asked_(asked), stacks_(from) {}

    written write(const byte_sink& sink) {
        if (asked_ == folded_time::path)
            add_path();
        else
            visit_stack_times(from_, scope_index(from_), stacks_,
                              [this](std::uint32_t node, path_kind kind, std::int64_t time_ns) {
                                  add(node, kind, time_ns);
                              });
        return stacks_.frames().write(sink);
    }

private:
    void add(std::uint32_t node, path_kind kind, std::int64_t time_ns) {
        if (time_ns <= 0 || !counts(asked_, kind)) return;
        if (!is_one_kind(asked_)) node = stacks_.frames().kind_child(node, kind);
        stacks_.frames().add(node, time_ns);
    }

    void add_path() {
        const request_list list = requests_of(from_);
        const auto slowest = find_slowest(list);
        if (!slowest) return;
        const critical_path path = critical_paths(from_, {&list.requests[*slowest], 1}).front();
        for (const path_segment& each : path.segments)
            add(node_of(stacks_, each), each.kind, each.length_ns());
    }

    const trace& from_;
    folded_time asked_;
    stack_tree stacks_;
};

}  // namespace

std::string_view folded_times() noexcept {
    return "wall, running, on-cpu, off-cpu, blocked, preempted, queued, suspended, path";
}

bool find_folded_time(std::string_view name, folded_time& time) noexcept {
    const auto* const found = std::ranges::find(time_names, name, &time_name::name);
    if (found == time_names.end()) return false;
    time = found->time;
    return true;
}

written export_folded_stacks(const trace& from, folded_time time, const byte_sink& sink) {
    return folder(from, time).write(sink);
}

}  // namespace coroscope::analysis
