// SPDX-License-Identifier: Apache-2.0
#include "load_native.hpp"

#include <coroscope/analysis/load.hpp>

#include <exception>
#include <utility>

namespace coroscope::analysis {

using coroscope::trace::reader;

namespace {

// A smaller trace is loaded before a thread has started.
constexpr std::uint64_t smallest_divided_bytes = 256 * 1024;

// The number of threads for a trace, if the caller asks for `jobs`.
unsigned threads_for(const reader& input, unsigned jobs) {
    return jobs == 0 && input.size() < smallest_divided_bytes ? 1 : jobs;
}

}  // namespace

result<native_input> native_input::open(opened_file file, unsigned jobs) {
    try {
        if (!file.path.empty()) {
            // Checked before reading: a session that stops during the read did not end with its
            // process.
            const bool being_recorded = coroscope::trace::is_being_recorded(file.path);
            auto input = reader::open(file.path, jobs);
            if (!input) return input.error();
            return native_input(std::move(*input), std::nullopt, being_recorded);
        }
        auto bytes = trace_bytes(std::move(file));
        if (!bytes) return bytes.error();
        auto input = reader::open(*bytes, jobs);
        if (!input) return input.error();
        return native_input(std::move(*input), std::move(*bytes), false);
    } catch (const std::exception&) {
        return failure{"does not fit into memory"};
    }
}

result<native_input> native_input::open(const coroscope::trace::buffer& bytes, unsigned jobs) {
    auto input = reader::open(bytes, jobs);
    if (!input) return input.error();
    return native_input(std::move(*input), std::nullopt, false);
}

result<trace> native_input::load(const trace_load_options& options) const {
    return marked(load_input(input_, {options.scopes, threads_for(input_, options.jobs), nullptr},
                             options.post_processing_timeout_s));
}

result<trace>
native_input::load_without_scopes(unsigned jobs,
                                  const std::function<void(const loaded_streams&)>& visit) const {
    return marked(
        load_input(input_, {scopes_to_load::around_awaits, threads_for(input_, jobs), &visit}));
}

result<trace> native_input::marked(result<trace> loaded) const {
    if (loaded) loaded->health.being_recorded = being_recorded_ && !loaded->health.finished;
    return loaded;
}

result<trace> loading::load_native(opened_file file, const trace_load_options& options) {
    const auto input = native_input::open(std::move(file), options.jobs);
    return input ? input->load(options) : input.error();
}

result<trace> load(const std::string& path, const trace_load_options& options) {
    auto file = open_content(path);
    if (!file) return file.error();
    return load_native(std::move(*file), options);
}

result<trace> load(const coroscope::trace::buffer& bytes, const trace_load_options& options) {
    const auto input = native_input::open(bytes, options.jobs);
    return input ? input->load(options) : input.error();
}

}  // namespace coroscope::analysis
