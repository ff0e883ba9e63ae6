// SPDX-License-Identifier: Apache-2.0
#include "cupti_recorder.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <new>
#include <utility>

#include "cupti_streams.hpp"

namespace coroscope::cuda {
namespace {

using detail::device_delivery;
using detail::device_message;

struct wanted_kind {
    CUpti_ActivityKind kind;
    const char* name;
};
// The first kind is essential: if it is refused, nothing is recorded.
constexpr wanted_kind kinds[] = {
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernels"},
    {CUPTI_ACTIVITY_KIND_MEMCPY, "copies"},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, "copies between devices"},
    {CUPTI_ACTIVITY_KIND_MEMSET, "sets"},
    {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, "tasks"},
    {CUPTI_ACTIVITY_KIND_RUNTIME, "runtime calls"},
    {CUPTI_ACTIVITY_KIND_DRIVER, "driver calls"},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "synchronisation"},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, "overhead"},
    {CUPTI_ACTIVITY_KIND_MEMORY2, "memory"},
    {CUPTI_ACTIVITY_KIND_DEVICE, "devices"},
    {CUPTI_ACTIVITY_KIND_CONTEXT, "contexts"},
    {CUPTI_ACTIVITY_KIND_STREAM, "streams"},
    {CUPTI_ACTIVITY_KIND_NAME, "names"},
};

// The ids that the calling thread has given CUPTI. CUPTI's stack has at most one for it.
struct thread_ids {
    std::uint64_t pushed = 0;
    bool delivering = false;       ///< CUPTI is calling us on this thread
    std::uint32_t in_runtime = 0;  ///< the session that followed the thread into a runtime call
};
constinit thread_local thread_ids here;

void CUPTIAPI api_called(void*, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                         const void* data) {
    the_recorder().called(domain, cbid, *static_cast<const CUpti_CallbackData*>(data));
}

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* bytes,
                               std::size_t* most_records) {
    *most_records = 0;
    the_recorder().request(buffer, bytes);
}

void CUPTIAPI buffer_completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                               std::size_t valid_bytes) {
    the_recorder().complete(buffer, valid_bytes);
}

bool has_driver() noexcept {
    void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (driver != nullptr) ::dlclose(driver);
    return driver != nullptr;
}

[[gnu::format(printf, 2, 3)]] void say(device_message& message, const char* format, ...) noexcept {
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(message.text, sizeof message.text, format, arguments);
    va_end(arguments);
}

}  // namespace

bool cupti_recorder::fail(device_message& message, const char* what, CUptiResult result) noexcept {
    say(message, "%s answers %s%s", what, text_of(*cupti_, result),
        has_driver() ? "." : ", and there is no CUDA driver (libcuda.so.1).");
    return false;
}

bool cupti_recorder::start(std::uint64_t start_ticks, device_message& message) noexcept {
    if (process_ != 0 && process_ != ::getpid()) {
        say(message, "CUPTI was opened before this process was forked.");
        return false;
    }
    if (cupti_ == nullptr) cupti_ = open_cupti();  // set only once, because other threads read it
    if (cupti_ == nullptr) {
        say(message, "%s", why_no_cupti());
        return false;
    }
    process_ = ::getpid();
    if (!pool_.prepare()) {
        say(message, "there is no memory for CUPTI's buffers.");
        return false;
    }
    if (!subscribe(message)) return false;
    if (set_clock(message)) {
        const std::uint32_t period = next_period();
        {
            const std::lock_guard reading(reading_);
            const call_moments* moments = notes_moments_.load() ? &moments_ : nullptr;
            reader_.begin(*cupti_, record_line_, moments, period, start_ticks);
            name_devices();
        }
        period_.store(period, std::memory_order_release);
        session_.fetch_add(1, std::memory_order_release);
        taken_before_ = pool_.taken();
        recording_.store(enable_kinds(message), std::memory_order_release);
        if (recording_.load(std::memory_order_relaxed)) {
            flusher_.start(*cupti_);
            return true;
        }
    }
    cupti_->unsubscribe(subscriber_);
    return false;
}

// CUPTI allows only one subscriber. The result shows whether there is another one.
bool cupti_recorder::subscribe(device_message& message) noexcept {
    const auto callback = reinterpret_cast<CUpti_CallbackFunc>(api_called);
    const CUptiResult result = cupti_->subscribe(&subscriber_, callback, nullptr);
    if (result == CUPTI_SUCCESS) return true;
    if (result != CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
        return fail(message, "cuptiSubscribe", result);
    say(message, "another profiler has subscribed (%s).", text_of(*cupti_, result));
    return false;
}

namespace {

// Returns one line with the kinds that CUPTI does not record.
class refusals {
public:
    explicit refusals(device_message& into) noexcept : into_(into) {}

    void add(const char* what, const char* why) noexcept {
        const int size = std::snprintf(into_.text + used_, sizeof into_.text - used_, "%s%s (%s)",
                                       used_ == 0 ? "CUPTI does not record " : ", ", what, why);
        used_ =
            std::min(used_ + static_cast<std::size_t>(std::max(size, 0)), sizeof into_.text - 1);
    }

private:
    device_message& into_;
    std::size_t used_ = 0;
};

}  // namespace

bool cupti_recorder::enable_kinds(device_message& message) noexcept {
    enabled_ = 0;
    CUptiResult result = cupti_->register_callbacks(buffer_requested, buffer_completed);
    if (result != CUPTI_SUCCESS) return fail(message, "cuptiActivityRegisterCallbacks", result);
    refusals refused(message);
    for (std::size_t at = 0; at < std::size(kinds); ++at) {
        result = cupti_->activity_enable(kinds[at].kind);
        if (result == CUPTI_SUCCESS)
            enabled_ |= 1U << at;
        else if (at == 0)
            return fail(message, "cuptiActivityEnable", result);
        else
            refused.add(kinds[at].name, text_of(*cupti_, result));
    }
    result =
        cupti_->enable_latency == nullptr ? CUPTI_ERROR_NOT_SUPPORTED : cupti_->enable_latency(1);
    if (result != CUPTI_SUCCESS) refused.add("when kernels were queued", text_of(*cupti_, result));
    result = events_.begin(*cupti_, subscriber_);
    if (result != CUPTI_SUCCESS) refused.add("events", text_of(*cupti_, result));
    return true;
}

void cupti_recorder::disable_kinds() noexcept {
    for (std::size_t at = 0; at < std::size(kinds); ++at)
        if ((enabled_ & 1U << at) != 0) cupti_->activity_disable(kinds[at].kind);
    enabled_ = 0;
}

// CUPTI reports the devices when CUDA begins, and not to a session that begins later. The driver
// has their names then. The caller must hold reading_.
void cupti_recorder::name_devices() noexcept {
    const driver_functions driver = find_driver_functions();
    int count = 0;
    if (driver.device_count == nullptr || driver.device == nullptr ||
        driver.device_name == nullptr || driver.device_count(&count) != CUDA_SUCCESS)
        return;
    device_delivery to;
    for (int number = 0; number < count; ++number) {
        CUdevice device = 0;
        char name[128];
        if (driver.device(&device, number) == CUDA_SUCCESS &&
            driver.device_name(name, sizeof name, device) == CUDA_SUCCESS)
            reader_.name_device(static_cast<std::uint32_t>(number), name, to);
    }
}

// CUDA ends before a session of the environment does, and can deliver nothing afterwards. CUPTI
// requests its first buffer when CUDA has begun, so a function that is registered then runs before
// CUDA's own end.
void cupti_recorder::flush_at_exit() noexcept {
    if (recording_.load(std::memory_order_acquire) && process_ == ::getpid())
        cupti_->flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

std::uint32_t cupti_recorder::next_period() const noexcept {
    return (period_.load(std::memory_order_relaxed) + 1) & collected_periods::number_mask;
}

// Buffers that CUPTI returns at once need not be kept.
void cupti_recorder::collect(bool on) noexcept {
    const std::uint64_t ticks = detail::session_ticks();
    if (!on) cupti_->flush_all(0);
    const std::lock_guard reading(reading_);
    if (!on) return reader_.pause(ticks);
    const std::uint32_t period = next_period();
    reader_.resume(ticks, period);
    period_.store(period, std::memory_order_release);
    read_kept();
}

void cupti_recorder::stop() noexcept {
    recording_.store(false, std::memory_order_relaxed);
    flusher_.stop();
    disable_kinds();
    cupti_->flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    {
        const std::lock_guard reading(reading_);
        read_kept();
        name_devices();
    }
    count_missing();
    cupti_->unsubscribe(subscriber_);
}

void cupti_recorder::count_missing() noexcept {
    collect_dropped();
    const std::uint64_t dropped = dropped_.exchange(0, std::memory_order_relaxed);
    const std::uint64_t refusals = pool_.take_refusals();
    const auto kept = static_cast<unsigned>(std::popcount(pool_.taken() & ~taken_before_));
    if (dropped + refusals + kept == 0) return;
    device_delivery to;
    to.count_lost(dropped + kept);
    device_message message{};
    say(message,
        "%llu records were dropped by CUPTI or still in flight; %u buffers did not come back; %llu "
        "times none was free.",
        static_cast<unsigned long long>(dropped), kept, static_cast<unsigned long long>(refusals));
    to.tell(message);
}

void cupti_recorder::collect_dropped() noexcept {
    std::size_t dropped = 0;
    if (cupti_->dropped_records(nullptr, 0, &dropped) == CUPTI_SUCCESS)
        dropped_.fetch_add(dropped, std::memory_order_relaxed);
}

void cupti_recorder::follow(std::uint64_t task) noexcept {
    const std::uint64_t id = external_id(period_.load(std::memory_order_acquire), task);
    if (here.pushed == id || here.delivering) return;
    if (here.pushed != 0) cupti_->pop_id(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, nullptr);
    const bool pushed =
        id != 0 && cupti_->push_id(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, id) == CUPTI_SUCCESS;
    here.pushed = pushed ? id : 0;
}

void cupti_recorder::request(std::uint8_t** buffer, std::size_t* bytes) noexcept {
    if (!has_exit_.exchange(true, std::memory_order_relaxed))
        std::atexit([] { the_recorder().flush_at_exit(); });
    *buffer = pool_.take();
    *bytes = *buffer == nullptr ? 0 : buffer_pool::buffer_bytes;
    flusher_.wake();
}

bool cupti_recorder::keep(std::uint8_t* buffer, std::size_t bytes) noexcept {
    if (!reader_.is_paused() || kept_count_ == most_kept) return false;
    kept_[kept_count_++] = {buffer, bytes};
    return true;
}

void cupti_recorder::read(std::uint8_t* buffer, std::size_t bytes) noexcept {
    const bool outer = std::exchange(here.delivering, true);
    {
        device_delivery to;
        if (to.open())
            dropped_.fetch_add(reader_.read(buffer, std::min(bytes, buffer_pool::buffer_bytes), to),
                               std::memory_order_relaxed);
    }
    here.delivering = outer;
    pool_.give_back(buffer);
}

void cupti_recorder::read_kept() noexcept {
    for (std::size_t at = 0; at < kept_count_; ++at) read(kept_[at].buffer, kept_[at].bytes);
    kept_count_ = 0;
}

void cupti_recorder::complete(std::uint8_t* buffer, std::size_t bytes) noexcept {
    {
        const std::lock_guard reading(reading_);
        if (!keep(buffer, bytes)) read(buffer, bytes);
    }
    collect_dropped();
}

// Calls of the runtime make calls of the driver, for which CUPTI calls us, too.
void cupti_recorder::called(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                            const CUpti_CallbackData& data) noexcept {
    const bool of_runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
    if (!of_runtime && domain != CUPTI_CB_DOMAIN_DRIVER_API) return;
    const bool enters = data.callbackSite == CUPTI_API_ENTER;
    const std::uint32_t session = session_.load(std::memory_order_relaxed);
    if (of_runtime) here.in_runtime = enters ? session : 0;
    const bool inner = !of_runtime && here.in_runtime == session;
    if (notes_moments_.load(std::memory_order_relaxed) && !inner && enters)
        moments_.note(data.correlationId, detail::session_ticks());
    events_.called(domain, cbid, data, inner);
}

// In a forked child the lock may be held by a thread that does not exist there.
recorded_work cupti_recorder::work() noexcept {
    if (process_ != 0 && process_ != ::getpid()) return {};
    const std::lock_guard reading(reading_);
    return reader_.work();
}

// The recorder is never destroyed: CUPTI's threads may call it until the process ends.
cupti_recorder& the_recorder() noexcept {
    alignas(cupti_recorder) static char place[sizeof(cupti_recorder)];
    static auto* recorder = new (place) cupti_recorder;
    return *recorder;
}

recorded_work latest_recorded_work() noexcept { return the_recorder().work(); }

namespace {

const detail::device_recorder cuda_recorder{
    "cuda",
    [](std::uint64_t start_ticks, device_message& message) noexcept {
        return the_recorder().start(start_ticks, message);
    },
    [](bool on) noexcept { the_recorder().collect(on); },
    []() noexcept { the_recorder().stop(); },
    [](std::uint64_t task) noexcept { the_recorder().follow(task); },
    identify_stream,
    [](const void* event) noexcept { return the_recorder().find_event(event); },
};

[[gnu::constructor]] void enter() noexcept { detail::register_device_recorder(cuda_recorder); }

}  // namespace
}  // namespace coroscope::cuda
