// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/trace_handler.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/events_of.hpp>

#include "file_sink.hpp"
#include "gzip_sink.hpp"

namespace coroscope::analysis {
namespace {

std::string own_name() {
    char host[256] = "localhost";
    ::gethostname(host, sizeof host - 1);
    return std::string(host) + "_" + std::to_string(::getpid());
}

std::string now_ns() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// A name is one component of a path.
std::string file_name(std::string worker, bool is_gzip) {
    if (worker.empty()) worker = own_name();
    std::replace(worker.begin(), worker.end(), '/', '_');
    return worker + "." + now_ns() + ".pt.trace.json" + (is_gzip ? ".gz" : "");
}

written write_compressed(const event_list& events, const byte_sink& sink) {
    gzip_sink compressed(sink);
    written done = export_chrome_trace(
        events, [&compressed](std::string_view text) { return compressed.write(text); });
    if (done && !compressed.finish()) done = failure{"could not be written"};
    return done;
}

}  // namespace

trace_handler::trace_handler(std::string folder, trace_handler_options options)
    : folder_(std::move(folder)), options_(std::move(options)) {}

result<std::string> trace_handler::write(const coroscope::trace::buffer& bytes) {
    const result<trace> loaded = load(bytes, options_.loading);
    if (!loaded) return loaded.error();
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error) return failure{folder_ + ": " + error.message()};
    const event_list events = events_of(*loaded);
    const std::string path =
        (std::filesystem::path(folder_) / file_name(options_.worker_name, options_.use_gzip))
            .string();
    const written done = to_file(path, [&](const byte_sink& sink) {
        return options_.use_gzip ? write_compressed(events, sink)
                                 : export_chrome_trace(events, sink);
    });
    if (!done) return failure{path + ": " + done.error().message};
    return path;
}

}  // namespace coroscope::analysis
