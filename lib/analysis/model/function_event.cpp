// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/function_event.hpp>

#include <algorithm>
#include <string>

#include "bounded.hpp"

namespace coroscope::analysis {
namespace {

constexpr std::string_view step_prefix = "ProfilerStep#";

bool is_on_device(activity what) {
    return what == activity::kernel || what == activity::gpu_memcpy ||
           what == activity::gpu_memset || what == activity::gpu_user_annotation;
}

bool needs_extra(const event_values& from, bool is_step) {
    return is_step || !from.stack.empty() || !from.input_shapes.empty() ||
           !from.overload_name.empty() || from.sequence_number >= 0 || from.forward_thread != 0 ||
           from.flops != 0 || from.node_id != -1;
}

void fill_extra(event_list& to, event_row& row, const event_values& from, bool is_step) {
    const auto text = [&to](std::string_view each) {
        return each.empty() ? none : to.intern(each);
    };
    const std::uint32_t trace_name = is_step ? text(from.name) : none;
    event_extra& extra = to.extra_of(row);
    extra.trace_name = trace_name;
    extra.stack = text(from.stack);
    extra.input_shapes = text(from.input_shapes);
    extra.overload_name = text(from.overload_name);
    extra.sequence_number = from.sequence_number;
    extra.forward_thread = from.forward_thread;
    extra.flops = from.flops;
    extra.node_id = from.node_id;
}

}  // namespace

std::string_view activity_name(activity what) noexcept {
    switch (what) {
        case activity::cpu_op: return "cpu_op";
        case activity::user_annotation: return "user_annotation";
        case activity::runtime: return "runtime";
        case activity::kernel: return "kernel";
        case activity::gpu_memcpy: return "gpu_memcpy";
        case activity::gpu_memset: return "gpu_memset";
        case activity::gpu_user_annotation: return "gpu_user_annotation";
        case activity::synchronization: return "synchronization";
        case activity::python_function: return "python_function";
        case activity::overhead: return "overhead";
        case activity::memory: return "memory";
        case activity::other: break;
    }
    return "other";
}

const event_extra& function_event::extra() const {
    static const event_extra nothing;
    return row().extra == none ? nothing : list_->extras[row().extra];
}

const event_sums& function_event::sums() const {
    static const event_sums nothing;
    return row().sums == none ? nothing : list_->sums[row().sums];
}

std::string_view function_event::overload_name() const {
    return list_->text(extra().overload_name);
}
std::string_view function_event::trace_name() const {
    return extra().trace_name == none ? name() : list_->text(extra().trace_name);
}
std::string_view function_event::input_shapes() const { return list_->text(extra().input_shapes); }
std::string_view function_event::input_strides() const {
    return list_->text(extra().input_strides);
}
std::string_view function_event::input_dtypes() const { return list_->text(extra().input_dtypes); }
std::string_view function_event::concrete_inputs() const {
    return list_->text(extra().concrete_inputs);
}
std::string_view function_event::keyword_inputs() const {
    return list_->text(extra().keyword_inputs);
}
std::string_view function_event::metadata() const { return list_->text(extra().metadata); }
std::string_view function_event::stack() const { return list_->text(extra().stack); }
std::string_view function_event::modules() const { return list_->text(extra().modules); }

record_scope function_event::scope() const {
    if (extra().forward_thread != 0) return record_scope::backward_function;
    return is_user_annotation() ? record_scope::user_scope : record_scope::function;
}

std::uint32_t function_event::end_thread() const {
    return extra().end_thread == none ? thread() : extra().end_thread;
}

std::int64_t function_event::node_id() const {
    if (extra().node_id != -1 || thread() >= list_->threads.size()) return extra().node_id;
    return list_->threads[thread()].node_id;
}

std::optional<function_event> function_event::cpu_parent() const {
    if (row().parent == none || row().device != device_kind::cpu) return std::nullopt;
    return function_event(*list_, row().parent);
}

std::vector<function_event> function_event::cpu_children() const {
    std::vector<function_event> found;
    for (std::uint32_t at = index_ + 1; at < list_->rows.size(); ++at) {
        const event_row& each = list_->rows[at];
        if (each.start_ns >= row().end_ns) break;
        if (each.parent == index_ && each.device == device_kind::cpu)
            found.emplace_back(*list_, at);
    }
    return found;
}

std::vector<kernel> function_event::kernels() const {
    const std::vector<std::uint32_t>& launched = list_->launched;
    auto at = std::lower_bound(launched.begin(), launched.end(), index_,
                               [this](std::uint32_t row, std::uint32_t parent) {
                                   return list_->rows[row].parent < parent;
                               });
    std::vector<kernel> found;
    for (; at != launched.end() && list_->rows[*at].parent == index_; ++at) {
        const function_event each(*list_, *at);
        found.push_back({each.name(), each.device_index(), each.time_range().elapsed_ns()});
    }
    return found;
}

std::int64_t function_event::sequence_nr() const { return extra().sequence_number; }
std::uint64_t function_event::fwd_thread() const { return extra().forward_thread; }
std::uint64_t function_event::flow_id() const { return extra().flow_id; }
std::uint32_t function_event::flow_type() const { return extra().flow_type; }
bool function_event::flow_start() const { return extra().flow_start; }
std::int32_t function_event::device_index() const { return extra().device_index; }
std::int64_t function_event::device_resource_id() const { return extra().device_resource; }
time_split function_event::split() const { return extra().split; }
double function_event::flops() const { return extra().flops; }

std::uint64_t function_event::linked_correlation_id() const noexcept {
    return row().device != device_kind::cpu || row().what == activity::runtime ? row().external_id
                                                                               : 0;
}

bool function_event::is_async() const { return has(row_async) || end_thread() != thread(); }

bool function_event::is_user_annotation() const noexcept {
    return has(row_user_annotation) || row().what == activity::user_annotation ||
           row().what == activity::gpu_user_annotation;
}

std::int64_t function_event::cpu_time_total_ns() const {
    if (list_->has_recorded_times && extra().split.wall_ns() != 0) return extra().split.running_ns;
    return row().device == device_kind::cpu ? time_range().elapsed_ns() : 0;
}

std::int64_t function_event::self_cpu_time_total_ns() const {
    if (row().device != device_kind::cpu) return 0;
    if (list_->has_recorded_times)
        return extra().self_ns >= 0 ? extra().self_ns : time_range().elapsed_ns();
    if (is_async()) return 0;
    return saturated_difference(time_range().elapsed_ns(), row().children_ns);
}

std::int64_t function_event::device_time_total_ns() const {
    if (is_async()) return 0;
    if (row().device != device_kind::cpu) return time_range().elapsed_ns();
    return saturated_sum(sums().kernels_ns, sums().children_device_ns);
}

std::int64_t function_event::self_device_time_total_ns() const {
    if (is_async()) return 0;
    return row().device == device_kind::cpu ? sums().kernels_ns : time_range().elapsed_ns();
}

std::int64_t function_event::cpu_memory_usage() const { return sums().cpu_memory; }
std::int64_t function_event::device_memory_usage() const { return sums().device_memory; }

std::int64_t function_event::self_cpu_memory_usage() const {
    if (is_async() || row().device != device_kind::cpu) return 0;
    return saturated_difference(sums().cpu_memory, sums().children_cpu_memory);
}

std::int64_t function_event::self_device_memory_usage() const {
    if (is_async() || row().device != device_kind::cpu) return 0;
    return saturated_difference(sums().device_memory, sums().children_device_memory);
}

namespace {

// Lanes of other nodes are named as torch names them, so that they differ from the threads of this
// node.
std::uint32_t lane_of(event_list& to, const event_values& added) {
    std::string thread = std::to_string(added.thread);
    if (added.is_remote)
        thread = " node_id:" + std::to_string(added.node_id) + ", thread_id:" + thread + " ";
    return to.lane(std::to_string(added.process), thread, added.node_id);
}

}  // namespace

std::uint32_t add_event(event_list& to, const event_values& added) {
    const bool is_step = added.name.starts_with(step_prefix);
    event_row row;
    row.start_ns = added.start_ns;
    row.end_ns = added.end_ns;
    row.name = to.intern(is_step ? "ProfilerStep*" : added.name);
    row.category = to.intern(activity_name(added.what));
    row.thread = lane_of(to, added);
    row.what = added.what;
    row.device = is_on_device(added.what) ? device_kind::cuda : device_kind::cpu;
    row.external_id = added.external_id;
    if (added.is_async) row.flags |= row_async;
    if (added.is_remote) row.flags |= row_remote;
    if (needs_extra(added, is_step)) fill_extra(to, row, added, is_step);
    if (added.cpu_memory != 0 || added.device_memory != 0) {
        to.sums_of(row).cpu_memory = added.cpu_memory;
        to.sums_of(row).device_memory = added.device_memory;
    }
    if (!added.stack.empty()) to.stacks = true;
    to.rows.push_back(row);
    return static_cast<std::uint32_t>(to.rows.size() - 1);
}

}  // namespace coroscope::analysis
