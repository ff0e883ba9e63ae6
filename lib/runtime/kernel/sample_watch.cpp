// SPDX-License-Identifier: Apache-2.0
#include "sample_watch.hpp"

#include <algorithm>

#include "../base/clock.hpp"
#include "../base/own_threads.hpp"
#include "private_descriptors.hpp"
#include "sums_round.hpp"

namespace coroscope::runtime::inline kernel {
namespace {

constexpr std::uint32_t looks_per_pass = 64;
constexpr std::uint32_t looks_at_end = 2048;  // the session's stop waits for them
constexpr std::uint64_t descriptors_for_looks = 8;

// A thread that does not change is looked at more and more rarely.
constexpr std::int64_t shortest_pause_ns = 4'000'000;  // less than a turn
constexpr std::int64_t longest_pause_ns = 60'000'000;
constexpr std::uint8_t most_quiet_looks = 4;
constexpr std::int64_t shortest_look_ns = 8'000'000;  // that is looked at

// New threads are found by their number, but one may have taken the place of another.
constexpr std::int64_t listing_ns = 1'000'000'000;
constexpr std::int64_t shortest_listing_ns = 50'000'000;

std::int64_t pause_of(const watched_thread& thread) noexcept {
    return std::min(shortest_pause_ns << thread.quiet_looks, longest_pause_ns);
}

}  // namespace

bool sample_watch::begin(std::uint32_t first) noexcept {
    thread_sums sums;
    if (read_sums_of(first, sums) != 0) return false;
    list_threads();
    turn(monotonic_now());
    return true;
}

void sample_watch::list_threads() noexcept {
    const std::uint64_t limit = descriptor_limit();
    files_.keep_at_most(limit > descriptors_for_looks ? limit - descriptors_for_looks : 0);
    known_threads_ = threads_of_process();
    for_each_thread([this](std::uint32_t id) noexcept {
        watched_thread* const thread = threads_.find_or_add(id);
        if (thread != nullptr && thread->seen_ns == 0) thread->is_ours = own_thread::has_id(id);
        return thread != nullptr;
    });
    next_listing_ns_ = monotonic_now() + listing_ns;
}

bool sample_watch::read(watched_thread& thread, thread_sums& sums) noexcept {
    return files_.read(thread, sums, thread.quiet_looks < most_quiet_looks);
}

// The thread has ended.
void sample_watch::leave(watched_thread& thread) noexcept {
    if (thread.seen_ns != 0 && !thread.is_written) write_sums(log_, thread);
    files_.close(thread);
    threads_.remove(thread);
}

// Returns whether the sums have changed.
bool sample_watch::look(watched_thread& thread, std::int64_t now_ns) noexcept {
    thread_sums sums;
    if (!read(thread, sums)) {
        leave(thread);
        return false;
    }
    if (thread.seen_ns != 0 && sums == thread.sums) {
        thread.seen_ns = now_ns;
        thread.is_written = false;
        thread.quiet_looks = std::min<std::uint8_t>(thread.quiet_looks + 1, most_quiet_looks);
        if (!thread.was_looked_at && now_ns - thread.since_ns >= shortest_look_ns)
            look_at_wait(thread);
        thread.due_ns = now_ns + pause_of(thread);
        return false;
    }
    if (thread.seen_ns != 0 && !thread.is_written) write_sums(log_, thread);
    thread.sums = sums;
    thread.since_ns = thread.seen_ns = now_ns;
    thread.quiet_looks = 0;
    thread.was_looked_at = false;
    thread.due_ns = now_ns + pause_of(thread);
    write_sums(log_, thread);
    return true;
}

// Its sums are read again, so that the facts are of this wait.
void sample_watch::look_at_wait(watched_thread& thread) noexcept {
    trace::blocked_body what{};
    thread_sums sums;
    if (!looks_.look(thread.id, what) || !read(thread, sums) || sums != thread.sums) return;
    what.since_ns = thread.since_ns;
    thread.was_looked_at = true;
    log_.blocked(thread.seen_ns, what);
}

bool sample_watch::turn(std::int64_t now_ns) noexcept {
    const bool differ = threads_of_process() != known_threads_;
    if (now_ns >= next_listing_ns_ ||
        (differ && now_ns >= next_listing_ns_ - listing_ns + shortest_listing_ns))
        list_threads();
    bool changed = false;
    std::uint32_t looks = 0;
    for (std::uint32_t passed = 0; passed < threads_.size() && looks < looks_per_pass; ++passed) {
        next_ = next_ + 1 < threads_.size() ? next_ + 1 : 0;
        watched_thread& thread = threads_.at(next_);
        if (thread.id == 0 || thread.is_ours || thread.due_ns > now_ns) continue;
        ++looks;
        changed |= look(thread, monotonic_now());
    }
    return changed;
}

void sample_watch::end() noexcept {
    list_threads();
    std::uint32_t looks = 0;
    for (std::uint32_t at = 0; at < threads_.size() && looks < looks_at_end; ++at) {
        watched_thread& thread = threads_.at(at);
        if (thread.id == 0 || thread.is_ours) continue;
        ++looks;
        if (!look(thread, monotonic_now()) && thread.id != 0 && !thread.is_written)
            write_sums(log_, thread);
    }
}

}  // namespace coroscope::runtime::inline kernel
