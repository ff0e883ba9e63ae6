// SPDX-License-Identifier: Apache-2.0
#pragma once

// The source of a reader's bytes: a file, memory, or one of these decompressed. One thread at a
// time.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <coroscope/analysis/result.hpp>

namespace coroscope::analysis::inline reading {

class byte_source {
public:
    byte_source() = default;
    byte_source(const byte_source&) = delete;
    byte_source& operator=(const byte_source&) = delete;
    virtual ~byte_source() = default;

    /// Reads into `into` and returns the number of bytes, which is less than `size` only at the end
    /// or at a problem.
    virtual std::size_t read(char* into, std::size_t size) = 0;
    /// The share of the input that was read, from 0 to 1. It serves to estimate the rest.
    [[nodiscard]] virtual double progress() const = 0;
    /// The number of bytes of the input that were read. If the input is compressed, read() returned
    /// more.
    [[nodiscard]] virtual std::uint64_t consumed() const = 0;
    /// The reason for which there are no more bytes; none at the end of the input.
    [[nodiscard]] const std::optional<failure>& problem() const { return problem_; }

protected:
    void fail(failure reason) { problem_ = std::move(reason); }

private:
    std::optional<failure> problem_;
};

[[nodiscard]] result<std::unique_ptr<byte_source>> open_file(const std::string& path);
/// The source does not own the bytes.
[[nodiscard]] std::unique_ptr<byte_source> open_memory(std::string_view bytes);

/// Returns a source that gives `first`, which was already read from `rest`, and then the rest.
[[nodiscard]] std::unique_ptr<byte_source> with_first(std::string first,
                                                      std::unique_ptr<byte_source> rest);

/// Reads the rest of the source. Fails if a compressed source unpacks to far more than a recording
/// would.
[[nodiscard]] result<std::string> read_all(byte_source& source);

}  // namespace coroscope::analysis::inline reading
