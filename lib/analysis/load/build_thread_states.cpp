// SPDX-License-Identifier: Apache-2.0
#include "build_thread_states.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <vector>

#include "../text/warnings.hpp"
#include "records/kernel_records.hpp"
#include "state_pieces.hpp"
#include "thread_ids.hpp"

namespace coroscope::analysis::inline loading {
namespace {

using coroscope::trace::blocked_body;
using coroscope::trace::blocked_lock;
using coroscope::trace::thread_state_source;

class states_builder {
public:
    states_builder(const coroscope::trace::reader& input, const task_records& records,
                   const metadata& names, clock_map& clock, trace& loaded)
        : records_(read_kernel_records(input, clock, loaded.duration_ns,
                                       loaded.health.dropped_newest != 0)),
          ids_(records, names, clock, loaded),
          loaded_(loaded) {}

    void build() {
        thread_states& states = loaded_.states;
        states.switches = records_.switches;
        states.lost_switches = records_.lost_switches;
        std::vector<thread_history> histories(loaded_.threads.size());
        bool any = false;
        for (const auto& [id, thread] : records_.threads) {
            const std::vector<std::uint32_t>& threads = ids_.threads_of(id);
            if (threads.empty()) continue;
            const state_pieces found =
                pieces_of(thread, records_.lost, records_.has_each_switch, loaded_.duration_ns);
            contradictions_ += found.contradictions;
            for (const std::uint32_t at : threads) {
                const existence exists = ids_.existence_of(at);
                histories[at] =
                    history_between(found.pieces, thread.sums, exists.from_ns, exists.to_ns);
                any |= !histories[at].points.empty();
            }
        }
        if (any) states.histories = std::move(histories);
        for (const blocked_record& each : records_.blocked) add_look(each);
        std::ranges::stable_sort(states.looks, {}, [](const blocked_look& each) {
            return std::tuple(each.thread, each.time_ns);
        });
        warn(loaded_.health.warnings, "records of switches that contradict each other",
             contradictions_);
        warn(loaded_.health.warnings, "malformed facts about threads, left out",
             records_.malformed);
    }

private:
    [[nodiscard]] std::int64_t in_session(std::int64_t time_ns) const {
        return std::clamp<std::int64_t>(time_ns, 0, loaded_.duration_ns);
    }

    void add_look(const blocked_record& record) {
        const blocked_body& body = record.body;
        blocked_look look;
        look.time_ns = in_session(record.time_ns);
        look.thread = ids_.thread_at(body.thread, look.time_ns);
        if (look.thread == none) return;
        if (record.since_ns) look.since_ns = in_session(*record.since_ns);
        look.call = body.call;
        look.address = body.address;
        look.descriptor =
            static_cast<std::int64_t>(std::min<std::uint64_t>(body.descriptor, INT64_MAX)) - 1;
        look.holder_os_id = body.holder;
        if (body.holder != 0) look.holder = ids_.thread_at(body.holder, look.time_ns);
        if (body.lock <= static_cast<std::uint32_t>(blocked_lock::rwlock_writer))
            look.lock = static_cast<blocked_lock>(body.lock);
        loaded_.states.looks.push_back(look);
    }

    kernel_records records_;
    thread_ids ids_;
    trace& loaded_;
    std::uint64_t contradictions_ = 0;
};

}  // namespace

void build_thread_states(const coroscope::trace::reader& input, const task_records& records,
                         const metadata& names, clock_map& clock, trace& loaded) {
    const coroscope::trace::file_header& header = input.header();
    thread_states& states = loaded.states;
    if (header.thread_states <= static_cast<std::uint64_t>(thread_state_source::refused))
        states.source = static_cast<thread_state_source>(header.thread_states);
    states.message.assign(
        header.thread_states_message,
        strnlen(header.thread_states_message, sizeof(header.thread_states_message)));
    states.processors = header.processors;
    states.quota_percent = header.quota_percent;
    states_builder(input, records, names, clock, loaded).build();
}

}  // namespace coroscope::analysis::inline loading
