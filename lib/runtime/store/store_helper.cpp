// SPDX-License-Identifier: Apache-2.0
#include "store_helper.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>

#include <unistd.h>

#include "../base/blocked_signals.hpp"
#include "../base/clock.hpp"
#include "../base/futex.hpp"
#include "../base/own_threads.hpp"
#include "store_parts.hpp"

namespace coroscope::runtime::inline store {
namespace {

// Sleeps grow from one turn to the next. A turn of a thread whose processor does something else
// costs some 60 µs, most of it caches, and the longest sleep is the longest time in which a cut
// file goes unnoticed.
constexpr long first_period_ns = 500'000;
constexpr long longest_idle_period_ns = 64'000'000;  // if no chunk was taken
// A process that dies leaves the reserve in its file, so the reserve is no larger than needed. It
// is what the threads can fill before the helper's next turn: four times the chunks that they
// opened in one of the longest sleeps, because they ring the bell when a quarter is used, and two
// chunks for each thread that can run.
constexpr std::uint64_t sleeps_in_reserve = 4;
constexpr std::uint64_t least_reserve_chunks = 4;
constexpr std::uint64_t chunks_per_running_thread = 2;
// A thread that only writes records fills about a gigabyte per second. On every processor, the part
// of these bytes that is left when the bell rings must last until the first new chunks are made. If
// real-time threads record, which make no chunks, the reserve has all of these bytes.
constexpr std::uint64_t reserve_bytes_per_processor = std::uint64_t{8} << 20;
constexpr long most_processors = 4;
constexpr std::uint32_t quarters_at_bell = 3;
constexpr std::uint64_t reserve_share = 4;  // at most a quarter of the trace's limit

constexpr std::uint64_t first_growth_bytes = std::uint64_t{1} << 20;  // open() waits for it
constexpr std::uint32_t recycled_share = 8;  // at most an eighth of the ring is emptied ahead

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t first_point_period_ns = 1'000'000;
// Clock records grow rarer as a session grows older: their number is logarithmic in its length.
constexpr std::uint32_t records_per_period = 256;

}  // namespace

// `ticks` is 0 ("not taken") while the other members change, because the process may be killed in
// between.
void store_last_point(trace::file_header& header, const trace::clock_point& now) noexcept {
    publish_word(&header.last.ticks, 0);
    publish_word(&header.last.monotonic_ns, static_cast<std::uint64_t>(now.monotonic_ns));
    publish_word(&header.last.realtime_ns, static_cast<std::uint64_t>(now.realtime_ns));
    publish_word(&header.last.ticks, now.ticks);
}

int store_helper::start() noexcept {
    {
        const blocked_signals inherited;
        if (const int error = ::pthread_create(&thread_, nullptr, run, this); error != 0)
            return error;
    }
    constexpr auto starting = static_cast<std::uint32_t>(phase::starting);
    // Acquire: pairs with the signal in run(); prepare() is done then.
    while (phase_.load(std::memory_order_acquire) == starting)
        futex_wait(phase_, starting, second_ns - 1);
    if (start_error_ != 0) ::pthread_join(thread_, nullptr);
    return start_error_;
}

void store_helper::stop() noexcept {
    stopping_.store(true, std::memory_order_relaxed);
    hurry();
    ::pthread_join(thread_, nullptr);
}

void store_helper::hurry() noexcept { futex_signal(bell_); }

void store_helper::mind_reserve() noexcept {
    const std::uint32_t low = low_free_.load(std::memory_order_relaxed);
    if (low == 0 || parts_.pool.free_chunks() >= low) return;
    if (low_free_.exchange(0, std::memory_order_relaxed) != 0) hurry();
}

void* store_helper::run(void* self) noexcept {
    const own_thread counted;
    auto& helper = *static_cast<store_helper*>(self);
    ::pthread_setname_np(::pthread_self(), "coroscope");
    if (helper.parts_.settings.when_begun != nullptr) helper.parts_.settings.when_begun();
    helper.prepare();
    const bool good = helper.start_error_ == 0;
    futex_signal(helper.phase_);  // any phase after `starting` ends the wait
    if (good) helper.serve();
    return nullptr;
}

void store_helper::prepare() noexcept {
    chunk_pool& pool = parts_.pool;
    start_error_ = parts_.map.grow(trace::file_header_bytes);
    if (start_error_ != 0) return;
    fill_header();
    const bool tasks = parts_.settings.task_table;
    const std::uint32_t table =
        tasks ? task_table::wanted_chunks(pool.capacity(), pool.chunk_bytes()) : 0;
    const auto usual = static_cast<std::uint32_t>(first_growth_bytes / pool.chunk_bytes());
    const std::uint32_t first =
        std::min(std::max(usual, 4U) + parts_.settings.threads + table, pool.capacity());
    while (pool.published() < first && grow(first)) {
    }
    if (tasks) parts_.tasks.create(std::min(table, pool.published()), parts_.header().start.ticks);
    parts_.metadata.keep_spare();

    processors_ = static_cast<std::uint32_t>(
        std::clamp(::sysconf(_SC_NPROCESSORS_ONLN), 1L, most_processors));
    base_reserve_ =
        static_cast<std::uint32_t>(processors_ * reserve_bytes_per_processor / pool.chunk_bytes());
}

void store_helper::fill_header() noexcept {
    trace::file_header& header = parts_.header();
    header.version = trace::format_version;
    header.header_bytes = trace::file_header_bytes;
    header.chunk_bytes = parts_.settings.chunk_bytes;
    header.policy = parts_.settings.policy;
    header.clock = tick_source();
    header.process_id = static_cast<std::uint32_t>(::getpid());
    header.start = take_clock_point();
    header.last = header.start;
    header.limit_bytes = parts_.settings.limit_bytes;
    publish_word(&header.magic, trace::file_magic);
    record_period_ns_ = second_ns;
    point_period_ns_ = second_ns;
    next_point_ns_ = next_record_ns_ = header.start.monotonic_ns + second_ns;
}

void store_helper::serve() noexcept {
    while (!stopping_.load(std::memory_order_relaxed)) {
        const std::uint32_t bell = bell_.load(std::memory_order_acquire);  // pairs with hurry()
        look_at_demand();
        watch_process();
        if (!watch_file()) {
            release_waiters();
            adapt_period();
            sleep(bell);
            continue;
        }
        if (parts_.settings.policy != trace::overflow_policy::overwrite_oldest) seal_handed_over();
        keep_reserve();
        parts_.metadata.keep_spare();
        release_waiters();
        tell_large();
        date();
        budget_.look(parts_);
        adapt_period();
        sleep(bell);
    }
}

// `bell` must be the value from before this turn checked anything.
void store_helper::sleep(std::uint32_t bell) noexcept {
    if (stopping_.load(std::memory_order_relaxed)) return;
    low_free_.store(bell_level(), std::memory_order_relaxed);
    futex_wait(bell_, bell, period_ns_);
    low_free_.store(0, std::memory_order_relaxed);
}

// Ends the process if only threads of ours are left: if its main thread ended by pthread_exit(),
// the process would have ended with its last thread.
void store_helper::watch_process() noexcept {
    const std::int64_t now_ns = monotonic_now();
    if (now_ns < next_watch_ns_) return;
    next_watch_ns_ = now_ns + second_ns;
    if (is_left_alone()) end_process_left_alone();
}

// Returns false once another process has cut the file: the bytes beyond its new end must not be
// touched any more, or the process dies. The mapping becomes anonymous memory, for the records that
// are being written.
bool store_helper::watch_file() noexcept {
    if (parts_.cut.load(std::memory_order_relaxed)) return false;
    const int damage = look_at_file();
    if (parts_.cut.load(std::memory_order_relaxed)) {
        if (parts_.settings.when_cut != nullptr) parts_.settings.when_cut();
        parts_.cut_told.store(true, std::memory_order_release);  // pairs with write_error()
        return false;
    }
    parts_.note_error(damage);
    return true;
}

// Returns the damage that others did to the file, and leaves the file if it was cut.
int store_helper::look_at_file() noexcept {
    const std::lock_guard guard(parts_.growth);
    const int damage = parts_.file_damage();
    // Sequentially consistent: pairs with refill_in(), which gives a thread its chunk and looks
    // whether it may.
    if (damage == ESTALE && parts_.map.cut_off()) parts_.cut.store(true, std::memory_order_seq_cst);
    return damage;
}

void store_helper::seal_handed_over() noexcept {
    while (parts_.sealer.seal_some()) {
        // If chunks are taken faster than they are sealed, the reserve comes first.
        if (parts_.pool.free_chunks() < wanted_free() / 2 && parts_.growth.may_grow() &&
            !parts_.sealer.is_behind())
            return;
    }
}

void store_helper::look_at_demand() noexcept {
    const std::uint64_t opened = parts_.pool.opened();
    is_idle_ = opened == opened_before_;
    opened_before_ = opened;
    demand_.note(opened, monotonic_now());
}

std::uint32_t store_helper::wanted_free() const noexcept {
    const std::uint32_t capacity = parts_.pool.capacity();
    // Not more than the chunks that were opened, so that a short trace has a small reserve.
    const std::uint64_t ahead =
        parts_.serves_real_time.load(std::memory_order_relaxed)
            ? base_reserve_
            : least_reserve_chunks +
                  std::min(sleeps_in_reserve * demand_.chunks(), parts_.pool.opened());
    const std::uint64_t base =
        std::min<std::uint64_t>({base_reserve_, capacity / reserve_share, ahead});
    const std::uint64_t running =
        std::min(parts_.threads.load(std::memory_order_relaxed), processors_);
    const std::uint64_t for_kernel = parts_.serves_kernel.load(std::memory_order_relaxed)
                                         ? chunks_left_for_threads + chunks_per_running_thread
                                         : 0;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(
        std::max(base + chunks_per_running_thread * running, for_kernel), capacity));
}

// Returns the number of free chunks at which keep_reserve() aims. It is 0 if the trace cannot grow
// and nothing is overwritten.
std::uint32_t store_helper::attainable_free() const noexcept {
    if (parts_.growth.may_grow()) return wanted_free();
    const bool overwrites = parts_.settings.policy == trace::overflow_policy::overwrite_oldest &&
                            !parts_.cut.load(std::memory_order_relaxed);
    return overwrites ? std::min(wanted_free(), parts_.pool.published() / recycled_share) : 0;
}

// Returns the number of free chunks below which a thread wakes the helper: three quarters of the
// reserve, or of the free chunks if a burst has left more of them.
std::uint32_t store_helper::bell_level() const noexcept {
    const std::uint32_t attainable = attainable_free();
    if (attainable == 0) return 0;
    const auto free = static_cast<std::uint32_t>(parts_.pool.free_chunks());
    return std::max(attainable, free) / 4 * quarters_at_bell;
}

void store_helper::keep_reserve() noexcept {
    chunk_pool& pool = parts_.pool;
    const std::uint32_t wanted = wanted_free();
    while (!stopping_.load(std::memory_order_relaxed)) {
        const auto free = static_cast<std::uint32_t>(pool.free_chunks());
        if (free >= wanted || !watch_file()) return;  // threads may take them as fast
        if (parts_.growth.may_grow()) {
            grow(wanted);
            if (parts_.sealer.is_behind()) seal_handed_over();
        } else {
            const bool overwrites =
                parts_.settings.policy == trace::overflow_policy::overwrite_oldest;
            if (!overwrites || free >= pool.published() / recycled_share || !recycle()) return;
        }
    }
}

bool store_helper::recycle() noexcept {
    const std::lock_guard guard(parts_.growth);
    return parts_.pool.recycle();
}

// Returns false if there cannot be that many free chunks.
bool store_helper::grow(std::uint32_t free_chunks) noexcept {
    const int error = parts_.growth.grow_ahead(free_chunks);
    if (error == ESTALE) watch_file();
    return error == 0;
}

void store_helper::release_waiters() noexcept {
    const bool exhausted = parts_.pool.published() == parts_.pool.capacity() ||
                           parts_.growth.has_failed() || parts_.cut.load(std::memory_order_relaxed);
    // Release: pairs with the acquire in wait_for_chunk(), which then sees all chunks that were
    // published before.
    parts_.exhausted.store(exhausted, std::memory_order_release);
    if (parts_.waiters.load(std::memory_order_relaxed) != 0) futex_signal(parts_.chunks_changed);
}

void store_helper::tell_large() noexcept {
    if (parts_.settings.when_large == nullptr || told_large_) return;
    if (parts_.opened_bytes() < parts_.settings.large_bytes) return;
    told_large_ = true;
    parts_.settings.when_large();
}

void store_helper::date() noexcept {
    // Acquire: pairs with start_clock(), whose point this one comes after.
    const bool started = parts_.clock_started.exchange(false, std::memory_order_acquire);
    if (started) point_period_ns_ = first_point_period_ns;
    if (!started && monotonic_now() < next_point_ns_) return;
    const trace::clock_point now = take_clock_point();
    store_last_point(parts_.header(), now);
    next_point_ns_ = now.monotonic_ns + point_period_ns_;
    point_period_ns_ = std::min(4 * point_period_ns_, second_ns);
    if (now.monotonic_ns < next_record_ns_) return;
    const std::int64_t body[2] = {now.monotonic_ns, now.realtime_ns};
    parts_.metadata.append(now.ticks, trace::make_tag(trace::record_kind::clock, 0, 0), body,
                           sizeof(body));
    if (++records_at_period_ == records_per_period) {
        records_at_period_ = 0;
        record_period_ns_ *= 2;
    }
    next_record_ns_ = now.monotonic_ns + record_period_ns_;
}

void store_helper::adapt_period() noexcept {
    const long longest = is_idle_ ? longest_idle_period_ns : longest_period_ns;
    period_ns_ = std::clamp(period_ns_ * 2, first_period_ns, longest);
}

}  // namespace coroscope::runtime::inline store
