// SPDX-License-Identifier: Apache-2.0
#pragma once

// A sink that compresses the bytes of an export and passes them on.

#include <memory>
#include <string_view>

#include <coroscope/analysis/chrome.hpp>

namespace coroscope::analysis::inline exports {

class gzip_sink {
public:
    /// `to` must outlive it.
    explicit gzip_sink(const byte_sink& to);
    ~gzip_sink();
    gzip_sink(const gzip_sink&) = delete;
    gzip_sink& operator=(const gzip_sink&) = delete;

    /// Returns false if the next sink failed or memory is short.
    bool write(std::string_view text);
    /// Writes the end of the gzip file. Must be called once, after the last byte.
    bool finish();

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace coroscope::analysis::inline exports
