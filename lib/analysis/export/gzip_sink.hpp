// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compresses what goes through it.

#include <memory>
#include <string_view>

#include <coroscope/analysis/chrome.hpp>

namespace coroscope::analysis::exporting {

class gzip_sink {
public:
    /// `to` must outlive it.
    explicit gzip_sink(const byte_sink& to);
    ~gzip_sink();
    gzip_sink(const gzip_sink&) = delete;
    gzip_sink& operator=(const gzip_sink&) = delete;

    /// False where the sink below failed, or memory is short.
    bool write(std::string_view text);
    /// To be called once, after the last byte.
    bool finish();

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace coroscope::analysis::exporting
