// SPDX-License-Identifier: Apache-2.0
#include "kineto_flows.hpp"

#include <string>
#include <unordered_map>
#include <utility>

#include <coroscope/analysis/function_event.hpp>

namespace coroscope::analysis::inline exports {
namespace {

constexpr std::string_view launches = "ac2g";
constexpr std::string_view deferrals = "fwdbwd";

void write_flows_of_file(const event_list& events, const flow_writer& write) {
    for (const event_flow& each : events.flows)
        write({each.time_ns, each.id, events.text(each.category), each.thread, each.start,
               each.step, each.enclosing,
               each.name == none ? events.text(each.category) : events.text(each.name)});
}

flow_end end_at(const event_row& row, std::string_view category, std::uint64_t id, bool start) {
    return {.time_ns = row.start_ns,
            .id = id,
            .category = category,
            .thread = row.thread,
            .start = start,
            .name = category};
}

// Writes an arrow from each call to the activities that it launched. A call that launched a graph
// has one start, and an end at each activity of the graph.
void write_launches(const event_list& events, const flow_writer& write) {
    std::unordered_map<std::uint32_t, const event_row*> calls;  // null: its start is written
    for (const event_row& each : events.rows)
        if (each.what == activity::runtime && each.correlation != 0)
            calls.emplace(each.correlation, &each);
    for (const event_row& each : events.rows) {
        if (each.device == device_kind::cpu || each.correlation == 0) continue;
        const auto call = calls.find(each.correlation);
        if (call == calls.end()) continue;
        if (const event_row* from = std::exchange(call->second, nullptr); from != nullptr)
            write(end_at(*from, launches, each.correlation, true));
        write(end_at(each, launches, each.correlation, false));
    }
}

/// The events that deferred work, by thread and sequence number.
class deferring_events {
public:
    explicit deferring_events(const event_list& events) : events_(events) {
        for (const function_event each : events)
            if (each.sequence_nr() >= 0 && each.fwd_thread() == 0)
                found_[key(thread_text(each.thread()), each.sequence_nr())] = &each.row();
    }

    /// The event that deferred the work of `backward`; null if there is none, or it was taken
    /// before.
    const event_row* take(const function_event& backward) {
        const auto found =
            found_.find(key(std::to_string(backward.fwd_thread()), backward.sequence_nr()));
        if (found == found_.end()) return nullptr;
        return std::exchange(found->second, nullptr);
    }

private:
    [[nodiscard]] std::string_view thread_text(std::uint32_t thread) const {
        return thread < events_.threads.size() ? events_.text(events_.threads[thread].thread)
                                               : std::string_view();
    }
    static std::string key(std::string_view thread, std::int64_t number) {
        return std::string(thread).append("/").append(std::to_string(number));
    }

    const event_list& events_;
    std::unordered_map<std::string, const event_row*> found_;
};

void write_deferrals(const event_list& events, const flow_writer& write) {
    deferring_events deferring(events);
    std::uint64_t id = 0;
    for (const function_event each : events) {
        if (each.fwd_thread() == 0 || each.sequence_nr() < 0) continue;
        const event_row* const from = deferring.take(each);
        if (from == nullptr) continue;
        write(end_at(*from, deferrals, ++id, true));
        write(end_at(each.row(), deferrals, id, false));
    }
}

}  // namespace

void write_flows(const event_list& events, const flow_writer& write) {
    if (!events.flows.empty()) return write_flows_of_file(events, write);
    write_launches(events, write);
    write_deferrals(events, write);
}

}  // namespace coroscope::analysis::inline exports
