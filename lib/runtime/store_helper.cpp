// SPDX-License-Identifier: Apache-2.0
#include "store_helper.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>

#include <unistd.h>

#include "blocked_signals.hpp"
#include "chunk.hpp"
#include "clock.hpp"
#include "futex.hpp"
#include "own_threads.hpp"
#include "store_state.hpp"

namespace coroscope::runtime {
namespace {

// Sleeps grow from one turn to the next. A turn of a thread whose processor does something else costs some 60 µs, most
// of it caches, and the longest sleep is how long nobody looks whether the file was cut.
constexpr long first_period_ns = 500'000;
constexpr long longest_period_ns = 16'000'000;
constexpr long longest_idle_period_ns = 64'000'000;  // where no chunk went
// A thread that writes nothing but records fills about a gigabyte per second. What is left of this when the bell rings
// bridges the time to the first new chunks, on every processor.
constexpr std::uint64_t reserve_bytes_per_processor = std::uint64_t{8} << 20;
constexpr long most_processors = 4;
constexpr std::uint32_t quarters_at_bell = 3;
constexpr std::uint64_t reserve_share = 4;  // of the trace's limit at most one in so many

constexpr std::uint64_t first_growth_bytes = std::uint64_t{2} << 20;  // what open() waits for
constexpr std::uint64_t growth_step_bytes = std::uint64_t{4} << 20;   // published before the next
// By less the trace does not grow (but for its limit): small pieces of a file cost more per page.
constexpr std::uint64_t least_growth_bytes = std::uint64_t{1} << 20;
constexpr std::uint32_t recycled_share = 8;  // of the ring, emptied ahead: one in so many at most

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t first_point_period_ns = 1'000'000;
// Clock records grow rarer as a session grows older: their number is logarithmic in its length.
constexpr std::uint32_t records_per_period = 256;

std::int64_t monotonic_now() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * second_ns + now.tv_nsec;
}

}  // namespace

// `ticks` is 0, "not taken", while the others change: a process may be killed in between.
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
    helper.prepare();
    const bool good = helper.start_error_ == 0;
    futex_signal(helper.phase_);  // any change from `starting` will do
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
    while (pool.published() < first && grow(first - pool.published())) {
    }
    if (tasks) parts_.tasks.create(std::min(table, pool.published()), parts_.header().start.ticks);
    parts_.metadata.keep_spare();

    const auto processors = static_cast<std::uint64_t>(
        std::clamp(::sysconf(_SC_NPROCESSORS_ONLN), 1L, most_processors));
    base_reserve_ =
        static_cast<std::uint32_t>(processors * reserve_bytes_per_processor / pool.chunk_bytes());
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
        const std::uint64_t opened = parts_.pool.opened();
        consumed_ = opened - opened_before_;
        opened_before_ = opened;
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
        date();
        adapt_period();
        sleep(bell);
    }
}

// `bell`: as it was before this turn looked at anything.
void store_helper::sleep(std::uint32_t bell) noexcept {
    if (stopping_.load(std::memory_order_relaxed)) return;
    low_free_.store(attainable_free() / 4 * quarters_at_bell, std::memory_order_relaxed);
    futex_wait(bell_, bell, period_ns_);
    low_free_.store(0, std::memory_order_relaxed);
}

// Without this thread a process whose other threads have all ended, its main one by pthread_exit(), had ended with them.
void store_helper::watch_process() noexcept {
    const std::int64_t now_ns = monotonic_now();
    if (now_ns < next_watch_ns_) return;
    next_watch_ns_ = now_ns + second_ns;
    if (is_left_alone()) end_process_left_alone();
}

// False once the file was cut by somebody else: what it held beyond its new end may not be touched any more, or the
// process dies. Its mapping becomes memory of our own, for the records that are being written.
bool store_helper::watch_file() noexcept {
    if (parts_.cut.load(std::memory_order_relaxed)) return false;
    const int damage = parts_.map.file_damage();
    if (damage == ESTALE && parts_.map.cut_off()) {
        // Sequentially consistent: pairs with refill_in(), which gives a thread its chunk and looks whether it may.
        parts_.cut.store(true, std::memory_order_seq_cst);
        if (parts_.settings.when_cut != nullptr) parts_.settings.when_cut();
        parts_.cut_told.store(true, std::memory_order_release);  // pairs with write_error()
        return false;
    }
    parts_.note_error(damage);
    return true;
}

void store_helper::seal_handed_over() noexcept {
    std::uint32_t unwritten = chunk_pool::none;  // the first that a handler handed over too early
    for (;;) {
        const std::uint32_t index = parts_.pool.pop_handed_over();
        if (index == chunk_pool::none) return;
        if (!seal(*parts_.pool.chunk(index), parts_.pool.chunk_bytes())) {
            parts_.pool.put_back(index);
            if (index == unwritten) return;
            if (unwritten == chunk_pool::none) unwritten = index;
        }
        // The reserve comes first when chunks go faster than they are sealed.
        if (parts_.pool.free_chunks() < wanted_free() / 2 && may_grow()) return;
    }
}

std::uint32_t store_helper::wanted_free() const noexcept {
    const std::uint32_t capacity = parts_.pool.capacity();
    const std::uint64_t base = std::min<std::uint64_t>(base_reserve_, capacity / reserve_share);
    const std::uint64_t threads = parts_.threads_seen.load(std::memory_order_relaxed);
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(base + 2 * threads + consumed_, capacity));
}

// The free chunks that keep_reserve() would see to: none where there is no room for any and nothing is overwritten.
std::uint32_t store_helper::attainable_free() const noexcept {
    if (may_grow()) return wanted_free();
    const bool overwrites = parts_.settings.policy == trace::overflow_policy::overwrite_oldest &&
                            !parts_.cut.load(std::memory_order_relaxed);
    return overwrites ? std::min(wanted_free(), parts_.pool.published() / recycled_share) : 0;
}

bool store_helper::may_grow() const noexcept {
    return !parts_.cut.load(std::memory_order_relaxed) &&
           parts_.pool.published() < parts_.pool.capacity() &&
           (retry_growth_ns_ == 0 || monotonic_now() >= retry_growth_ns_);
}

void store_helper::keep_reserve() noexcept {
    chunk_pool& pool = parts_.pool;
    const std::uint32_t wanted = wanted_free();
    const auto least = static_cast<std::uint32_t>(least_growth_bytes / pool.chunk_bytes());
    while (!stopping_.load(std::memory_order_relaxed)) {
        const auto free = static_cast<std::uint32_t>(pool.free_chunks());
        if (free >= wanted || !watch_file()) return;  // threads may take as fast as we make
        if (may_grow()) {
            grow(std::min(std::max(wanted - free, least), pool.capacity() - pool.published()));
        } else {
            const bool overwrites =
                parts_.settings.policy == trace::overflow_policy::overwrite_oldest;
            if (!overwrites || free >= pool.published() / recycled_share || !pool.recycle()) return;
        }
    }
}

// Grows by as many of `chunks` as one step and the disk allow; false when by none.
bool store_helper::grow(std::uint32_t chunks) noexcept {
    chunk_pool& pool = parts_.pool;
    const auto step = static_cast<std::uint32_t>(growth_step_bytes / pool.chunk_bytes());
    trace::file_header& header = parts_.header();
    int error = 0;
    for (chunks = std::min(chunks, std::max(step, 1U)); chunks != 0; chunks /= 2) {
        error = parts_.map.grow(trace::file_header_bytes +
                                (std::uint64_t{pool.published()} + chunks) * pool.chunk_bytes());
        if (error == ESTALE) return watch_file();  // without a touch of the header
        if (error != 0) continue;
        // The count first: a trace may have fewer chunks in use than it has room for.
        publish_word(&header.chunk_count, std::uint64_t{pool.published()} + chunks);
        pool.publish(chunks);
        retry_growth_ns_ = 0;
        return true;
    }
    parts_.note_error(error);
    retry_growth_ns_ = monotonic_now() + second_ns;  // space may come back
    return false;
}

void store_helper::release_waiters() noexcept {
    const bool exhausted = parts_.pool.published() == parts_.pool.capacity() ||
                           retry_growth_ns_ != 0 || parts_.cut.load(std::memory_order_relaxed);
    // Release: pairs with the acquire in wait_for_chunk(); what was published before is seen there.
    parts_.exhausted.store(exhausted, std::memory_order_release);
    if (parts_.waiters.load(std::memory_order_relaxed) != 0) futex_signal(parts_.chunks_changed);
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
    const long longest = consumed_ != 0 ? longest_period_ns : longest_idle_period_ns;
    period_ns_ = std::clamp(period_ns_ * 2, first_period_ns, longest);
}

}  // namespace coroscope::runtime
