// SPDX-License-Identifier: Apache-2.0
#pragma once

// trace_handler: writes the trace of each cycle of a scheduled_profile (torch:
// tensorboard_trace_handler).
//
//     coroscope::analysis::trace_handler handler("runs", {.use_gzip = true});
//     coroscope::scheduled_profile profiler({}, plan, std::ref(handler));
//
// Each trace is loaded and written in Kineto's form as <host>_<pid>.<time_ns>.pt.trace.json[.gz],
// which TensorBoard, Perfetto and torch's own tools read. A file is written under another name and
// then renamed.
//
// Not thread-safe: one thread at a time must use an object.

#include <cstdint>
#include <string>

#include <coroscope/analysis/load.hpp>
#include <coroscope/analysis/result.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/trace/buffer.hpp>

namespace coroscope::analysis {

struct trace_handler_options {
    std::string worker_name{};  ///< in place of <host>_<pid>
    bool use_gzip = false;
    trace_load_options loading{};
};

/// Writes the traces of cycles into a folder; see above.
class trace_handler {
public:
    /// The folder and its parents are created when the first trace is written.
    COROSCOPE_API explicit trace_handler(std::string folder, trace_handler_options options = {});

    /// Writes one trace and returns the path of the file. Fails if `bytes` is not a trace, or if
    /// the file cannot be written.
    COROSCOPE_API result<std::string> write(const coroscope::trace::buffer& bytes);

    /// The callback for an object with a member `trace`. An error is kept in last_error().
    template <class Cycle>
    void operator()(Cycle& cycle) {
        const result<std::string> path = write(cycle.trace);
        path ? last_path_ = *path : last_error_ = path.error().message;
    }

    /// Empty if no trace was written, or if there was no error.
    [[nodiscard]] const std::string& last_path() const noexcept { return last_path_; }
    [[nodiscard]] const std::string& last_error() const noexcept { return last_error_; }

private:
    std::string folder_;
    trace_handler_options options_;
    std::string last_path_;
    std::string last_error_;
};

}  // namespace coroscope::analysis
