// SPDX-License-Identifier: Apache-2.0
#include "blocked_reasons.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include <coroscope/analysis/lock_statistics.hpp>
#include <fmt/format.h>

namespace coroscope::analysis::inline timelines {
namespace {

using coroscope::trace::blocked_lock;

bool knows_call(const blocked_look& look) {
    return look.address != 0 || look.call != coroscope::trace::blocked_call_unknown;
}

bool knows_holder(const blocked_look& look) { return look.holder_os_id != 0; }

std::string_view name_of(blocked_lock lock) {
    switch (lock) {
        case blocked_lock::mutex: return "mutex";
        case blocked_lock::rwlock_writer: return "rwlock, held by a writer";
        case blocked_lock::unknown: break;
    }
    return {};
}

/// Returns the most informative look, or nullptr.
const blocked_look* best_of(std::span<const blocked_look> looks) {
    auto found = std::ranges::find_if(looks, knows_holder);
    if (found == looks.end()) found = std::ranges::find_if(looks, knows_call);
    return found == looks.end() ? nullptr : &*found;
}

}  // namespace

blocked_reasons::blocked_reasons(const trace& from)
    : from_(from), calls_(from), holders_(lock_holders(from)), waits_(from.threads.size()) {
    for (std::uint32_t at = 0; at < from.lock_waits.size(); ++at) {
        const std::uint32_t thread = from.lock_waits[at].waiter.thread;
        if (thread < waits_.size()) waits_[thread].push_back(at);
    }
}

/// Returns the recorded wait that contains the time, or null. A thread may be blocked several times
/// within a wait, if it was woken and found the lock taken again.
const lock_wait* blocked_reasons::wait_around(std::uint32_t thread, std::int64_t from_ns,
                                              std::int64_t to_ns) const {
    if (thread >= waits_.size()) return nullptr;
    const std::vector<std::uint32_t>& waits = waits_[thread];
    const auto after = std::ranges::upper_bound(
        waits, from_ns, {}, [this](std::uint32_t at) { return from_.lock_waits[at].start_ns; });
    if (after == waits.begin()) return nullptr;
    const lock_wait& last = from_.lock_waits[*std::prev(after)];
    return to_ns <= last.end_ns ? &last : nullptr;
}

blocked_reason blocked_reasons::reason_of(const lock_wait& wait) const {
    blocked_reason reason;
    reason.call = name_of_lock(wait.kind);
    reason.lock = name_of_lock(wait.kind);
    reason.address = fmt::format("{:#x}", wait.address);
    const thread_work& blamed = wait.blamed();
    if (blamed.thread == none && wait.holder_os_id == 0) return reason;
    reason.holder = name_of_thread(blamed.thread, wait.holder_os_id);
    reason.holder_task = blamed.task;
    reason.holder_scope = blamed.scope;
    return reason;
}

blocked_reason blocked_reasons::of(std::uint32_t thread, std::int64_t from_ns,
                                   std::int64_t to_ns) const {
    if (const lock_wait* wait = wait_around(thread, from_ns, to_ns)) return reason_of(*wait);
    blocked_reason reason;
    const blocked_look* look = best_of(from_.states.looks_at(thread, from_ns, to_ns));
    if (look == nullptr) return reason;
    if (knows_call(*look)) reason.call = calls_.of(*look);
    reason.descriptor = look->descriptor;
    if (look->address != 0) reason.address = fmt::format("{:#x}", look->address);
    reason.lock = name_of(look->lock);
    if (!knows_holder(*look)) return reason;
    reason.holder = name_of_thread(look->holder, look->holder_os_id);
    const lock_holder& held = holders_[static_cast<std::size_t>(look - from_.states.looks.data())];
    reason.holder_task = held.task;
    reason.holder_scope = held.event;
    return reason;
}

std::string blocked_reasons::name_of_thread(std::uint32_t thread, std::uint64_t os_id) const {
    if (thread >= from_.threads.size()) return fmt::format("thread {}", os_id);
    const thread_info& known = from_.threads[thread];
    if (known.name.empty()) return fmt::format("thread {}", known.os_id);
    return fmt::format("{} ({})", known.name, known.os_id);
}

}  // namespace coroscope::analysis::inline timelines
