// SPDX-License-Identifier: Apache-2.0
#include "chunk_store.hpp"

#include <cerrno>
#include <limits>
#include <new>

#include "chunk.hpp"
#include "clock.hpp"
#include "futex.hpp"
#include "store_state.hpp"

namespace coroscope::runtime {

using trace::chunk_header;
using trace::overflow_policy;
using trace::thread_body;

namespace {

constexpr std::uint32_t fewest_chunks = 2;         // one for metadata, one for records
constexpr std::int64_t shortest_span_ns = 20'000;  // so far apart, two points tell the rate to 1 %
constexpr long wait_check_ns = 10'000'000;  // policy wait looks again after this, woken or not

std::uint32_t capacity_of(const chunk_store::settings& settings) noexcept {
    if (settings.chunk_bytes == 0 || settings.chunk_bytes % 4096 != 0) return 0;
    if (settings.limit_bytes < trace::file_header_bytes) return 0;
    const std::uint64_t chunks =
        (settings.limit_bytes - trace::file_header_bytes) / settings.chunk_bytes;
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max() / 2;
    return static_cast<std::uint32_t>(chunks < most ? chunks : most);
}

// Policy wait: until the helper has made a chunk. Where it cannot make one there is none: a
// service must not stand still because its disk is full.
std::uint32_t wait_for_chunk(store_parts& parts, store_helper& helper) noexcept {
    parts.waiters.fetch_add(1, std::memory_order_relaxed);
    std::uint32_t index = chunk_pool::none;
    for (;;) {
        const std::uint32_t seen =
            parts.chunks_changed.load(std::memory_order_acquire);               // futex_signal()
        const bool last_try = parts.exhausted.load(std::memory_order_acquire);  // release_waiters()
        if (parts.closing.load(std::memory_order_relaxed) ||
            parts.cut.load(std::memory_order_relaxed))
            break;
        index = parts.pool.take();
        if (index != chunk_pool::none || last_try) break;
        helper.hurry();
        futex_wait(parts.chunks_changed, seen, wait_check_ns);
    }
    parts.waiters.fetch_sub(1, std::memory_order_relaxed);
    return index;
}

}  // namespace

int chunk_store::open(const settings& wanted) noexcept {
    const std::uint32_t capacity = capacity_of(wanted);
    if (capacity < fewest_chunks || state_ != nullptr) return EINVAL;
    auto* made = new (std::nothrow) state(wanted, capacity);
    if (made == nullptr) return ENOMEM;
    store_parts& parts = made->parts;
    int error = parts.error;
    if (error == 0 && !parts.pool.usable()) error = ENOMEM;
    if (error == 0) error = made->helper.start();
    if (error == 0) {
        state_ = made;
        return 0;
    }
    parts.map.remove_file(wanted.path);
    parts.map.unmap();
    delete made;
    return error;
}

trace::file_header& chunk_store::header() noexcept { return state_->parts.header(); }

std::uint32_t chunk_store::chunk_bytes() const noexcept {
    return state_->parts.settings.chunk_bytes;
}

overflow_policy chunk_store::policy() const noexcept { return state_->parts.settings.policy; }

int chunk_store::write_error() const noexcept {
    const store_parts& parts = state_->parts;
    if (parts.cut_told.load(std::memory_order_acquire)) return ESTALE;  // pairs with watch_file()
    return static_cast<int>(load_counter(&parts.header().write_error));
}

bool chunk_store::was_cut() const noexcept {
    return state_->parts.cut.load(std::memory_order_seq_cst);  // pairs with watch_file()
}

bool chunk_store::is_full() const noexcept {
    const store_parts& parts = state_->parts;
    return parts.cut.load(std::memory_order_relaxed) ||
           (parts.exhausted.load(std::memory_order_acquire) &&  // pairs with release_waiters()
            parts.pool.is_empty());
}

bool chunk_store::takes_threads() const noexcept {
    return !is_full() || !state_->parts.metadata.refused(sizeof(thread_body));
}

std::uint64_t chunk_store::file_bytes() const noexcept {
    const mapping& map = state_->parts.map;
    return map.has_file() ? map.reserved() : 0;
}

std::uint64_t chunk_store::start_clock() noexcept {
    store_parts& parts = state_->parts;
    const trace::clock_point start = take_clock_point();
    trace::clock_point next = start;
    while (next.monotonic_ns < start.monotonic_ns + shortest_span_ns) next = take_clock_point();
    parts.header().start = start;
    store_last_point(parts.header(), next);
    parts.clock_started.store(true, std::memory_order_release);  // pairs with the helper's exchange
    return start.ticks;
}

std::uint64_t chunk_store::overwritten_records() const noexcept {
    return state_->parts.pool.overwritten();
}

chunk_header* chunk_store::acquire(std::uint32_t thread, thread_body* body,
                                   std::uint64_t current_task, std::uint64_t ticks) noexcept {
    store_parts& parts = state_->parts;
    const store_visit visit(parts);
    // Of a file that was cut no more is used.
    if (!visit.open() || parts.cut.load(std::memory_order_relaxed)) return nullptr;
    std::uint32_t index = parts.pool.take();
    if (index == chunk_pool::none && parts.settings.policy == overflow_policy::wait)
        index = wait_for_chunk(parts, state_->helper);
    if (index == chunk_pool::none) return nullptr;
    state_->helper.mind_reserve();
    return parts.pool.open(index, {trace::chunk_kind::records, thread, body, current_task, ticks});
}

void chunk_store::hand_over(chunk_header* chunk, std::uint32_t taken) noexcept {
    const store_visit visit(state_->parts);
    // After close() the chunk is sealed already, and what stands here is nobody's.
    if (visit.open()) state_->parts.pool.hand_over(chunk, taken);
}

bool chunk_store::append_metadata(std::uint64_t first, std::uint64_t tag, const void* payload,
                                  std::size_t bytes) noexcept {
    // In a forked child the lock may be held by a thread that is not there: not even tried.
    const store_visit visit(state_->parts);
    return visit.open() && state_->parts.metadata.append(first, tag, payload, bytes) != nullptr;
}

thread_body* chunk_store::append_thread(std::uint64_t ticks, std::uint32_t thread,
                                        const thread_body& body) noexcept {
    store_parts& parts = state_->parts;
    const store_visit visit(parts);
    if (!visit.open()) return nullptr;
    parts.threads_seen.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t tag = trace::make_tag(trace::record_kind::thread, thread, sizeof(body));
    return reinterpret_cast<thread_body*>(parts.metadata.append(ticks, tag, &body, sizeof(body)));
}

bool chunk_store::put_task(const trace::task_slot& slot) noexcept {
    return state_->parts.tasks.put(slot);
}

trace::task_slot chunk_store::take_task(std::uint64_t task) noexcept {
    return state_->parts.tasks.take(task);
}

}  // namespace coroscope::runtime
