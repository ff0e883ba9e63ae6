// SPDX-License-Identifier: Apache-2.0
#include "chunk_store.hpp"

#include <cerrno>
#include <limits>
#include <new>

#include "../base/clock.hpp"
#include "../base/futex.hpp"
#include "../base/own_threads.hpp"
#include "chunk.hpp"
#include "chunk_store_state.hpp"

namespace coroscope::runtime::inline store {

using trace::chunk_header;
using trace::overflow_policy;
using trace::thread_body;

namespace {

constexpr std::uint32_t fewest_chunks = 2;         // one for metadata, one for records
constexpr std::int64_t shortest_span_ns = 20'000;  // then two points give the rate to 1 %
// If nothing is overwritten, the kernel's facts get at most 1 / kernel_share of all chunks.
constexpr std::uint32_t kernel_share = 4;
constexpr long wait_check_ns = 10'000'000;  // a waiting thread checks again after this time
constexpr std::int64_t longest_wait_for_successor_ns = 5'000'000'000;

std::uint32_t capacity_of(const chunk_store::settings& settings) noexcept {
    if (settings.chunk_bytes == 0 || settings.chunk_bytes % 4096 != 0) return 0;
    if (settings.limit_bytes < trace::file_header_bytes) return 0;
    const std::uint64_t chunks =
        (settings.limit_bytes - trace::file_header_bytes) / settings.chunk_bytes;
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max() / 2;
    return static_cast<std::uint32_t>(chunks < most ? chunks : most);
}

// Policy wait: waits until the helper has made a chunk. Returns none if the helper cannot make one,
// because a service must not stop when its disk is full. If another store is to follow this one,
// waits for give_up() before, for some seconds at most.
std::uint32_t wait_for_chunk(store_parts& parts, store_helper& helper) noexcept {
    parts.waiters.fetch_add(1, std::memory_order_relaxed);
    std::uint32_t index = chunk_pool::none;
    const std::int64_t end_ns =
        parts.has_successor() ? monotonic_now() + longest_wait_for_successor_ns : 0;
    for (;;) {
        const std::uint32_t seen =
            parts.chunks_changed.load(std::memory_order_acquire);  // futex_signal()
        const bool exhausted =
            parts.exhausted.load(std::memory_order_acquire);  // release_waiters()
        if (parts.closing.load(std::memory_order_relaxed) ||
            parts.given_up.load(std::memory_order_relaxed) ||
            parts.cut.load(std::memory_order_relaxed))
            break;
        index = parts.pool.take();
        if (index != chunk_pool::none) break;
        if (exhausted && monotonic_now() >= end_ns) {
            parts.gives_up_late.store(true, std::memory_order_relaxed);
            break;
        }
        if (!exhausted) helper.hurry();
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
    if (error == 0 && !(parts.pool.usable() && parts.sealer.create())) error = ENOMEM;
    if (wanted.watched != nullptr)
        wanted.watched->mapping.set(parts.map.base(), parts.map.reserved());
    if (error == 0) error = made->helper.start();
    if (error == 0) {
        state_ = made;
        return 0;
    }
    parts.map.remove_file(wanted.path);
    if (wanted.watched != nullptr) wanted.watched->mapping.clear();
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
    return parts.write_error.load(std::memory_order_relaxed);
}

bool chunk_store::was_cut() const noexcept {
    return state_->parts.cut.load(std::memory_order_seq_cst);  // pairs with watch_file()
}

bool chunk_store::is_full() const noexcept {
    const store_parts& parts = state_->parts;
    return parts.cut.load(std::memory_order_relaxed) ||
           (parts.exhausted.load(std::memory_order_acquire) &&  // pairs with release_waiters()
            parts.pool.is_empty() && !parts.has_successor());
}

bool chunk_store::takes_threads() const noexcept {
    return !is_full() || !state_->parts.metadata.refused(sizeof(thread_body));
}

std::uint64_t chunk_store::opened_bytes() const noexcept { return state_->parts.opened_bytes(); }

void chunk_store::give_up() noexcept {
    state_->parts.given_up.store(true, std::memory_order_relaxed);
    futex_signal(state_->parts.chunks_changed);
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
    // After the file was cut, none of its chunks are used any more.
    if (!visit.open() || parts.cut.load(std::memory_order_relaxed) ||
        parts.given_up.load(std::memory_order_relaxed))
        return nullptr;
    std::uint32_t index = parts.growth.take();
    if (index == chunk_pool::none && parts.settings.policy == overflow_policy::wait)
        index = wait_for_chunk(parts, state_->helper);
    if (index == chunk_pool::none) return nullptr;
    state_->helper.mind_reserve();
    return parts.pool.open(index, {trace::chunk_kind::records, thread, body, current_task, ticks});
}

bool chunk_store::kernel_has_its_share() const noexcept {
    const store_parts& parts = state_->parts;
    return chunks_for_kernel_ >= parts.pool.capacity() / kernel_share &&
           parts.settings.policy != overflow_policy::overwrite_oldest;
}

chunk_header* chunk_store::acquire_for_kernel(std::uint64_t ticks) noexcept {
    store_parts& parts = state_->parts;
    const store_visit visit(parts);
    if (!visit.open() || parts.cut.load(std::memory_order_relaxed) || kernel_has_its_share())
        return nullptr;
    parts.serves_kernel.store(true, std::memory_order_relaxed);
    const bool has_spare = parts.pool.free_chunks() > chunks_left_for_threads;
    const bool overwrites =
        parts.settings.policy == overflow_policy::overwrite_oldest && !parts.growth.may_grow();
    const std::uint32_t index = has_spare    ? parts.pool.take_free()
                                : overwrites ? parts.pool.take()
                                             : chunk_pool::none;
    if (index == chunk_pool::none) {
        if (parts.growth.may_grow()) state_->helper.hurry();
        return nullptr;
    }
    ++chunks_for_kernel_;
    state_->helper.mind_reserve();
    return parts.pool.open(index, {trace::chunk_kind::kernel, 0, nullptr, 0, ticks});
}

bool chunk_store::may_have_chunk_for_kernel() const noexcept {
    return state_->parts.growth.may_grow() && !kernel_has_its_share();
}

void chunk_store::hand_over(chunk_header* chunk, std::uint32_t taken) noexcept {
    const store_visit visit(state_->parts);
    // After close() the chunk is sealed already, and its memory is not the trace's any more.
    if (visit.open()) state_->parts.pool.hand_over(chunk, taken);
}

static_assert(chunk_store::least_section_bytes ==
              chunk_pool::least_rest_bytes -
                  trace::record_bytes(trace::make_tag(trace::record_kind::next_thread, 0, 0)));

bool chunk_store::has_rests() const noexcept { return state_->parts.pool.has_rests(); }

chunk_store::section chunk_store::take_rest(std::uint32_t thread, thread_body* body,
                                            std::uint64_t current_task,
                                            std::uint64_t ticks) noexcept {
    store_parts& parts = state_->parts;
    const store_visit visit(parts);
    if (!visit.open() || parts.cut.load(std::memory_order_relaxed)) return {};
    const std::uint32_t index = parts.pool.take_rest();
    if (index == chunk_pool::none) return {};
    return {parts.pool.chunk(index),
            parts.pool.begin_section(
                index, {trace::chunk_kind::records, thread, body, current_task, ticks})};
}

char* chunk_store::begin_anew(const section& held, char* cursor, std::uint32_t thread,
                              thread_body* body, std::uint64_t current_task,
                              std::uint64_t ticks) noexcept {
    store_parts& parts = state_->parts;
    const store_visit visit(parts);
    if (!visit.open()) return nullptr;
    return parts.pool.begin_anew(held.chunk, held.begin, cursor,
                                 {trace::chunk_kind::records, thread, body, current_task, ticks});
}

void chunk_store::leave(const section& held, const char* cursor) noexcept {
    store_parts& parts = state_->parts;
    const store_visit visit(parts);
    if (!visit.open()) return;
    parts.threads.fetch_sub(1, std::memory_order_relaxed);
    if (held.chunk != nullptr && !parts.pool.set_aside(held.chunk, held.begin, cursor))
        parts.pool.hand_over(held.chunk, 0);
}

bool chunk_store::append_metadata(std::uint64_t first, std::uint64_t tag, const void* payload,
                                  std::size_t bytes) noexcept {
    // In a forked child the visit is not open, so the lock is not tried: a thread that does not
    // exist there may hold it.
    const store_visit visit(state_->parts);
    return visit.open() && state_->parts.metadata.append(first, tag, payload, bytes) != nullptr;
}

thread_body* chunk_store::append_thread(std::uint64_t ticks, std::uint32_t thread,
                                        const thread_body& body) noexcept {
    store_parts& parts = state_->parts;
    const store_visit visit(parts);
    if (!visit.open()) return nullptr;
    if (is_real_time() && !parts.serves_real_time.exchange(true, std::memory_order_relaxed))
        state_->helper.hurry();
    const std::uint64_t tag = trace::make_tag(trace::record_kind::thread, thread, sizeof(body));
    std::byte* const at = parts.metadata.append(ticks, tag, &body, sizeof(body));
    if (at != nullptr) parts.threads.fetch_add(1, std::memory_order_relaxed);
    return reinterpret_cast<thread_body*>(at);
}

bool chunk_store::put_task(const trace::task_slot& slot) noexcept {
    return state_->parts.tasks.put(slot);
}

trace::task_slot chunk_store::take_task(std::uint64_t task) noexcept {
    return state_->parts.tasks.take(task);
}

trace::open_scope* chunk_store::open_scope_place(std::uint32_t number) noexcept {
    store_parts& parts = state_->parts;
    const store_visit visit(parts);
    if (!visit.open() || parts.cut.load(std::memory_order_relaxed)) return nullptr;
    trace::open_scope* place = parts.open_scopes.place(number, is_full());
    if (place == nullptr) add_to_counter(&parts.header().unnamed_scopes, 1);
    return place;
}

void chunk_store::count_unnamed_scope() noexcept {
    const store_visit visit(state_->parts);
    if (visit.open()) add_to_counter(&state_->parts.header().unnamed_scopes, 1);
}

}  // namespace coroscope::runtime::inline store
