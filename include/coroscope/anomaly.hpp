// SPDX-License-Identifier: Apache-2.0
#pragma once

// Anomaly detection: finds the origin of a failed task. It reports an exception that leaves a task,
// and a result that its validator (result_validator.hpp) rejects. Each failure is reported once, at
// the task in which it began. The report has the task, the place of its spawn, and, for each of its
// ancestors, the await or the spawn that led to it.
//
//   coroscope::anomaly_detection detection;  // until the end of the block; or COROSCOPE_ANOMALY=1
//   coroscope::anomaly_detection detection(&handle, &log);  // a handler in place of stderr
//   …
//   catch (const std::exception&) { log(coroscope::describe_failed_task().text); }
//
// An exception that travels on is not reported again, on any thread: neither in the tasks that
// await the failed task nor in the task that spawned it. Detection enables the tracking of live
// tasks (async_stack.hpp), which it needs; beyond that it has a cost only when a failure happens.
// It does not see exceptions that a library catches before the task's promise does. Exceptions that
// leave a job or a handler are reported without their type.
//
// Thread-safety: any thread may call any of these functions. They never throw.

#include <cstddef>
#include <cstdint>

#include <coroscope/async_stack.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/result_validator.hpp>

namespace coroscope {

/// The kind of a failure: an exception left the task, or its result was rejected.
enum class anomaly_kind : std::uint8_t { exception, result };

/// The argument of a handler. Valid during the call only.
struct anomaly {
    anomaly_kind kind = anomaly_kind::exception;
    /// Type of the exception, as it is written in C++; empty if it is unknown.
    const char* type = "";
    const char* what = "";               ///< message of a std::exception
    const char* message = "";            ///< the text that would be written to stderr
    const async_stack* stack = nullptr;  ///< of the failed task, which is its first frame
};

/// Called on the thread of the failure. If an exception left a coroutine, std::current_exception()
/// returns it. An exception of the handler is dropped.
using anomaly_handler = void (*)(const anomaly& found, void* data);

/// Detection is on while one of these lives. The newest one that has a handler gets the reports.
class [[nodiscard]] anomaly_detection {
public:
    /// Turns detection on. `handler` gets the reports, with `data`; if it is null, they go to
    /// stderr. Both must be valid until the destructor has returned.
    COROSCOPE_API explicit anomaly_detection(anomaly_handler handler = nullptr,
                                             void* data = nullptr) noexcept;
    COROSCOPE_API ~anomaly_detection();
    anomaly_detection(const anomaly_detection&) = delete;
    anomaly_detection& operator=(const anomaly_detection&) = delete;

private:
    friend class anomaly_watch;
    anomaly_handler handler_;
    void* data_;
    anomaly_detection* older_ = nullptr;
    bool tracking_ = false;
};

/// A message as a value: NUL-terminated, lines separated by '\n'.
struct anomaly_text {
    static constexpr std::size_t capacity = 4096;
    std::size_t size = 0;
    char text[capacity] = {};
};

/// Returns the report of the exception that is being handled on this thread, else of the last
/// failure in the process. If there is none, or if detection is off, the text says so.
COROSCOPE_API anomaly_text describe_failed_task() noexcept;

}  // namespace coroscope
