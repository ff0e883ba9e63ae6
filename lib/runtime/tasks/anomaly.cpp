// SPDX-License-Identifier: Apache-2.0

// Anomaly detection: finds new failures and reports them. An exception is recognised by the address
// of its object. Only the address is kept, never a reference, so that no exception lives longer
// than without us. An address may be reused after its exception is destroyed: decisions/0010 has
// the rules.

#include <coroscope/anomaly.hpp>

#include <cxxabi.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <typeinfo>

#include <coroscope/detail/task_transitions.hpp>

#include "../base/forks.hpp"
#include "../base/own_mutex.hpp"
#include "../base/uncancelled.hpp"
#include "../writer/recorder.hpp"
#include "anomaly.hpp"
#include "anomaly_message.hpp"
#include "async_stack.hpp"
#include "frames.hpp"
#include "live_tasks.hpp"
#include "unwinding.hpp"

namespace coroscope {
namespace {

using namespace runtime;
using builder = async_stack_builder;

// A failure on its way up. The newest are kept.
struct failure {
    const void* object = nullptr;  // of the exception; null for a result
    const std::type_info* type = nullptr;
    anomaly_kind kind = anomaly_kind::exception;
    bool in_flight = false;  // it went on through the task's promise, which did not keep it
    std::uint32_t thread = 0;
    std::uint64_t task = 0;   // that it left last
    std::uint64_t above = 0;  // the task that awaits that one, else its parent
    std::uint64_t serial = 0;
};
struct report {
    std::uint64_t serial = 0;
    anomaly_text text;
};
constexpr std::size_t kept_failures = 256;
constexpr std::size_t kept_reports = 16;

constinit std::atomic<unsigned> detections{0};

// `failures_mutex` guards the known failures, `handlers_mutex` the list of detections while one is
// called.
constinit own_mutex failures_mutex;
constinit failure failures[kept_failures];
constinit report reports[kept_reports];
constinit std::uint64_t last_serial = 0;
constinit std::uint64_t forgotten_serial = 0;  // the last one when detection was turned off

constinit own_mutex handlers_mutex;
constinit anomaly_detection* newest_detection = nullptr;
constinit std::atomic<const void*> calling_thread{
    nullptr};  // whose handler runs, by its state's address

// Returns whether a handler is the caller. If so, the thread holds the lock.
bool in_handler() noexcept {
    return calling_thread.load(std::memory_order_relaxed) == &this_thread;
}

bool detecting() noexcept { return detections.load(std::memory_order_relaxed) != 0; }

// The exception that is handled on this thread.
struct handled_exception {
    const void* object = nullptr;
    const std::type_info* type = nullptr;
    bool fresh = true;  // thrown as such, not out of an exception_ptr
};

// An exception that is thrown as such has its header right before it; one that comes out of an
// exception_ptr has its header elsewhere. Both as the Itanium C++ ABI has it.
bool has_header_before(const void* object) noexcept {
    constexpr std::uintptr_t header_bytes = 128;  // at most, in either library
    const void* const header = *reinterpret_cast<void* const*>(abi::__cxa_get_globals());
    const auto distance =
        reinterpret_cast<std::uintptr_t>(object) - reinterpret_cast<std::uintptr_t>(header);
    return distance <= header_bytes;
}

handled_exception find_handled() noexcept {
    handled_exception found;
    const std::exception_ptr current = std::current_exception();
    static_assert(sizeof current == sizeof found.object);
    __builtin_memcpy(static_cast<void*>(&found.object), &current, sizeof found.object);
    if (found.object == nullptr) return found;
    found.type = abi::__cxa_current_exception_type();
    found.fresh = has_header_before(found.object);
    return found;
}

std::uint32_t this_kernel_thread() noexcept {
    return this_thread.record == nullptr ? 0 : this_thread.record->os_id;
}

// Returns whether the exception has left this task already, or has come to this task from the one
// below.
bool comes_up_to(const failure& known, std::uint64_t task) noexcept {
    if (known.task == task) return true;
    return known.above != 0 &&
           (builder::descends(task, known.above) || builder::descends(known.above, task));
}

// Under the lock.
failure* find_object(const void* object) noexcept {
    failure* newest = nullptr;
    for (failure& each : failures) {
        if (each.object == object && each.serial != 0 &&
            (newest == nullptr || each.serial > newest->serial))
            newest = &each;
    }
    return object == nullptr ? nullptr : newest;
}

// Returns whether it may be the same exception, and not another one at its address.
bool may_be(const failure& known, const handled_exception& caught) noexcept {
    if (known.type != caught.type) return false;
    return !caught.fresh || (known.in_flight && known.thread == this_kernel_thread());
}

bool is_known(const failure& known, const handled_exception& caught, std::uint64_t task) noexcept {
    return may_be(known, caught) && comes_up_to(known, task);
}

void move_up(failure& known, std::uint64_t task) noexcept {
    known.task = task;
    known.above = builder::above(task);
    known.in_flight = false;
    known.thread = this_kernel_thread();
}

failure& remember(anomaly_kind kind, const handled_exception& caught, std::uint64_t task) noexcept {
    failure* known = find_object(caught.object);
    failure& kept = known != nullptr ? *known : failures[(last_serial + 1) % kept_failures];
    kept.object = caught.object;
    kept.type = caught.type;
    kept.kind = kind;
    kept.serial = ++last_serial;
    move_up(kept, task);
    return kept;
}

// Copies the text of the std::exception that is being handled.
void copy_what(char* to, std::size_t size) noexcept {
    text_writer what(to, size);
    try {
        throw;
    } catch (const std::exception& caught) {
        if (const char* said = caught.what(); said != nullptr) what.text(said);
    } catch (...) {
        // The type of the exception is unknown.
    }
}

// One write, so that messages of several threads do not mix. A failure of it cannot be reported.
void print(const anomaly_text& message) noexcept {
    const int before = errno;
    if (::write(STDERR_FILENO, message.text, message.size) < 0) errno = before;
    errno = before;
}

}  // namespace

/// The list of detections, and the calls of their handlers.
class anomaly_watch {
public:
    // A handler may fail, or end its detection: its thread has the lock already.
    class lock {
    public:
        lock() noexcept : taken_(!in_handler()) {
            if (taken_) handlers_mutex.lock();
        }
        ~lock() {
            if (taken_) handlers_mutex.unlock();
        }
        lock(const lock&) = delete;
        lock& operator=(const lock&) = delete;

    private:
        bool taken_;
    };

    static void add(anomaly_detection& added) noexcept {
        const lock guard;
        added.older_ = newest_detection;
        newest_detection = &added;
    }
    static void remove(anomaly_detection& removed) noexcept {
        const lock guard;
        anomaly_detection** at = &newest_detection;
        while (*at != &removed) at = &(*at)->older_;
        *at = removed.older_;
    }
    static void tell(const anomaly& found, const anomaly_text& message) noexcept {
        const uncancelled meanwhile;  // a handler, which writes a log, neither
        const lock guard;
        const anomaly_detection* at = newest_detection;
        while (at != nullptr && at->handler_ == nullptr) at = at->older_;
        if (at == nullptr) return print(message);
        const bool nested = in_handler();
        calling_thread.store(&this_thread, std::memory_order_relaxed);
        try {
            at->handler_(found, at->data_);
        } catch (...) {
            // Nothing that a handler throws may leave the runtime.
        }
        if (!nested) calling_thread.store(nullptr, std::memory_order_relaxed);
    }
};

namespace {

void tell(anomaly_kind kind, const handled_exception& caught, std::uint64_t task,
          const detail::task_state* state, std::uint64_t serial) noexcept {
    char what[1024] = "";
    if (caught.object != nullptr) copy_what(what, sizeof what);
    int status = 0;
    char* readable = caught.type == nullptr
                         ? nullptr
                         : abi::__cxa_demangle(caught.type->name(), nullptr, nullptr, &status);
    const async_stack stack = builder::build(task, state);
    anomaly_text message;
    anomaly found;
    found.kind = kind;
    if (caught.type != nullptr) found.type = readable != nullptr ? readable : caught.type->name();
    found.what = what;
    found.stack = &stack;
    found.message = message.text;
    text_writer writer(message.text, anomaly_text::capacity);
    write_message(writer, found);
    message.size = writer.size();
    {
        const std::lock_guard lock(failures_mutex);
        reports[serial % kept_reports] = {serial, message};
    }
    anomaly_watch::tell(found, message);
    std::free(readable);
}

// A failure without an object: recognised by whom it comes up to.
void fail_unseen(anomaly_kind kind, std::uint64_t task) noexcept {
    std::uint64_t serial = 0;
    {
        const std::lock_guard lock(failures_mutex);
        for (failure& each : failures) {
            if (each.serial == 0 || each.kind != kind || each.above != task) continue;
            if (kind == anomaly_kind::exception &&
                (!each.in_flight || each.thread != this_kernel_thread()))
                continue;
            const bool in_flight = each.in_flight;
            move_up(each, task);
            each.in_flight = in_flight;
            return;
        }
        serial = remember(kind, {}, task).serial;
    }
    tell(kind, {}, task, nullptr, serial);
}

void turn_on() noexcept { detections.fetch_add(1, std::memory_order_relaxed); }

// Forgets the failures: a later detection must not recognise them, because another exception may
// have the same address by then.
void turn_off() noexcept {
    if (detections.fetch_sub(1, std::memory_order_relaxed) != 1) return;
    const std::lock_guard lock(failures_mutex);
    for (failure& each : failures) each = {};
    forgotten_serial = last_serial;
}

}  // namespace

namespace detail {

void exception_leaves(const task_state& task) noexcept {
    if (!detecting() || is_unwound(task)) return;
    const handled_exception caught = find_handled();
    const std::uint64_t id = id_of(task);
    std::uint64_t serial = 0;
    {
        const std::lock_guard lock(failures_mutex);
        failure* known = find_object(caught.object);
        if (known != nullptr && is_known(*known, caught, id)) return move_up(*known, id);
        serial = remember(anomaly_kind::exception, caught, id).serial;
    }
    tell(anomaly_kind::exception, caught, id, &task, serial);
}

void exception_passes(const task_state& task) noexcept {
    if (!detecting()) return;
    const std::uint64_t id = id_of(task);
    const std::lock_guard lock(failures_mutex);
    for (failure& each : failures) {
        if (each.serial != 0 && each.task == id && each.kind == anomaly_kind::exception)
            each.in_flight = true;
    }
}

void unseen_exception_leaves(std::uint64_t task) noexcept {
    if (detecting()) fail_unseen(anomaly_kind::exception, task);
}

bool validates_results() noexcept { return detecting(); }
void anomalous_result(const task_state& task) noexcept {
    fail_unseen(anomaly_kind::result, id_of(task));
}

}  // namespace detail

anomaly_detection::anomaly_detection(anomaly_handler handler, void* data) noexcept
    : handler_(handler), data_(data), tracking_(set_live_tracking(live_reason::needed, true)) {
    anomaly_watch::add(*this);
    turn_on();
}

anomaly_detection::~anomaly_detection() {
    turn_off();
    anomaly_watch::remove(*this);
    if (tracking_) set_live_tracking(live_reason::needed, false);
}

anomaly_text describe_failed_task() noexcept {
    const handled_exception caught = find_handled();
    anomaly_text answer;
    text_writer text(answer.text, anomaly_text::capacity);
    {
        const std::lock_guard lock(failures_mutex);
        const failure* known = find_object(caught.object);
        const bool reported = known != nullptr && may_be(*known, caught);
        const std::uint64_t last = last_serial > forgotten_serial ? last_serial : 0;
        const std::uint64_t serial =
            caught.object == nullptr ? last : (reported ? known->serial : 0);
        const report& kept = reports[serial % kept_reports];
        if (serial != 0 && kept.serial == serial) return kept.text;
        if (serial != 0) text.text("coroscope: the report of this failure is no longer kept\n");
    }
    if (text.size() == 0 && !detecting())
        text.text("coroscope: nothing was recorded of tasks that fail; turn it on with "
                  "coroscope::anomaly_detection or COROSCOPE_ANOMALY=1\n");
    if (text.size() == 0)
        text.text(caught.object != nullptr
                      ? "coroscope: this exception has not left a task that was watched\n"
                      : "coroscope: no task has failed since detection was turned on\n");
    answer.size = text.size();
    return answer;
}

}  // namespace coroscope

namespace coroscope::runtime::inline tasks {

namespace {

// A handler may fork, too: its thread has the first lock already.
struct both_locks {
    static void lock() noexcept {
        if (!in_handler()) handlers_mutex.lock();
        failures_mutex.lock();
    }
    static void unlock() noexcept {
        failures_mutex.unlock();
        if (!in_handler()) handlers_mutex.unlock();
    }
};
constinit both_locks locks;
constinit fork_guest around_forks = guest_with<locks>(fork_rank::failures);
[[gnu::constructor(101)]] void join() noexcept { join_forks(around_forks); }

}  // namespace

void detect_anomalies_for_good() noexcept {
    set_live_tracking(live_reason::needed, true);
    turn_on();
}

}  // namespace coroscope::runtime::inline tasks
