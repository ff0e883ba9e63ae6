// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a reader's bytes come from: a file, memory, or one of these decompressed. One thread at a time.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <coroscope/analysis/result.hpp>

namespace coroscope::analysis::reading {

class byte_source {
public:
    byte_source() = default;
    byte_source(const byte_source&) = delete;
    byte_source& operator=(const byte_source&) = delete;
    virtual ~byte_source() = default;

    /// Fills `into` as far as there are bytes; fewer than `size` only at the end or at a problem.
    virtual std::size_t read(char* into, std::size_t size) = 0;
    /// The share of the input that was read, from 0 to 1: what is still to come can be estimated.
    [[nodiscard]] virtual double progress() const = 0;
    /// Why there are no more bytes, where that is not the end of the input.
    [[nodiscard]] const std::optional<failure>& problem() const { return problem_; }

protected:
    void fail(failure reason) { problem_ = std::move(reason); }

private:
    std::optional<failure> problem_;
};

[[nodiscard]] result<std::unique_ptr<byte_source>> open_file(const std::string& path);
/// Does not own the bytes.
[[nodiscard]] std::unique_ptr<byte_source> open_memory(std::string_view bytes);

/// A source, or what it decompresses to.
struct unpacked {
    std::unique_ptr<byte_source> source;
    bool was_packed = false;
};
/// Decompresses what begins as gzip does.
[[nodiscard]] unpacked unpack(std::unique_ptr<byte_source> source);

/// The source from its beginning, of which `first` was already read.
[[nodiscard]] std::unique_ptr<byte_source> with_first(std::string first,
                                                      std::unique_ptr<byte_source> rest);

/// All that is left of it.
[[nodiscard]] result<std::string> read_all(byte_source& source);

}  // namespace coroscope::analysis::reading
