// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where did this failed task come from? With anomaly detection on, an exception that leaves a task, and a
// result that its validator (result_validator.hpp) declares anomalous, is reported once, at the task where it
// began: that task, the place where it was spawned, and for each of its ancestors the await or the
// spawn that led to it.
//
//   coroscope::anomaly_detection detection;         // until the end of the block; or COROSCOPE_ANOMALY=1
//   coroscope::anomaly_detection detection(&handle, &log);            // instead of a message on stderr
//   …
//   catch (const std::exception&) { log(coroscope::describe_failed_task().text); }
//
// An exception that travels on, through those who await the task or through whoever spawned it, on whatever
// thread, is not reported again. Detection needs the live tasks (async_stack.hpp) and turns their tracking on;
// beyond that it costs only where something fails. It does not see exceptions that a library catches
// before the task's promise does. Those that leave a job or a handler are reported without their type.
//
// Any thread may call any of these functions. They never throw.

#include <cstddef>
#include <cstdint>

#include <coroscope/async_stack.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/result_validator.hpp>

namespace coroscope {

enum class anomaly_kind : std::uint8_t { exception, result };

/// What a handler gets; valid during its call.
struct anomaly {
    anomaly_kind kind = anomaly_kind::exception;
    const char* type =
        "";  ///< of the exception, as it is written in C++; empty where that is unknown
    const char* what = "";               ///< of a std::exception
    const char* message = "";            ///< the text that would go to stderr
    const async_stack* stack = nullptr;  ///< of the failed task, which is its first frame
};

/// Called on the thread of the failure. std::current_exception() is the exception, where one left a coroutine.
/// What it throws is dropped.
using anomaly_handler = void (*)(const anomaly& found, void* data);

/// Detection is on while one of these lives. The handler of the newest that has one is called.
class [[nodiscard]] anomaly_detection {
public:
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

/// While detection is on: what was reported of the exception that is being handled on this thread, else of the last failure in the
/// process; or why there is nothing to say.
COROSCOPE_API anomaly_text describe_failed_task() noexcept;

}  // namespace coroscope
