// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loads native traces for the rooms above. They can load one input several times, and can compute
// answers from the records instead of the events.

#include <functional>
#include <optional>
#include <utility>

#include <coroscope/analysis/load.hpp>
#include <coroscope/trace/buffer.hpp>
#include <coroscope/trace/reader.hpp>

#include "../read/opened_file.hpp"
#include "load_input.hpp"

namespace coroscope::analysis::inline loading {

/// Like load(path), for a file that was opened to detect its format. Fails if it is no native
/// trace.
[[nodiscard]] result<trace> load_native(opened_file file, const trace_load_options& options = {});

/// A native trace that was opened and checked.
class native_input {
public:
    /// Fails like load_native().
    [[nodiscard]] static result<native_input> open(opened_file file, unsigned jobs);

    /// `bytes` must outlive the result.
    [[nodiscard]] static result<native_input> open(const coroscope::trace::buffer& bytes,
                                                   unsigned jobs);

    [[nodiscard]] const coroscope::trace::reader& chunks() const { return input_; }

    [[nodiscard]] result<trace> load(const trace_load_options& options) const;

    /// Loads all except the stack scopes, and then calls `visit`.
    [[nodiscard]] result<trace>
    load_without_scopes(unsigned jobs,
                        const std::function<void(const loaded_streams&)>& visit) const;

private:
    native_input(coroscope::trace::reader input, std::optional<coroscope::trace::buffer> bytes,
                 bool being_recorded)
        : bytes_(std::move(bytes)), input_(std::move(input)), being_recorded_(being_recorded) {}
    [[nodiscard]] result<trace> marked(result<trace> loaded) const;

    std::optional<coroscope::trace::buffer> bytes_;  // those of input_, unless it maps a file
    coroscope::trace::reader input_;
    bool being_recorded_ = false;
};

}  // namespace coroscope::analysis::inline loading
