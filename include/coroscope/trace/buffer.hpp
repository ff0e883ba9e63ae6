// SPDX-License-Identifier: Apache-2.0
#pragma once

// A finished trace as bytes: what a session hands over and what the analysis loads. It owns its
// memory; the layout is that of trace/format.hpp, the same in memory and in a file.
// Not thread-safe; movable, not copyable.

#include <cstddef>

#include <coroscope/detail/export.hpp>

namespace coroscope::trace {

class buffer {
public:
    buffer() noexcept = default;

    /// Takes over `size` bytes at `data`, which were allocated with std::malloc.
    static COROSCOPE_API buffer adopt(void* data, std::size_t size) noexcept;

    /// A copy of `size` bytes; empty where there is no memory for it.
    static COROSCOPE_API buffer copy(const void* data, std::size_t size) noexcept;

    buffer(buffer&& other) noexcept : data_(other.data_), size_(other.size_) {
        other.data_ = nullptr;
        other.size_ = 0;
    }
    buffer& operator=(buffer&& other) noexcept {
        if (this != &other) {
            reset();
            data_ = other.data_;
            size_ = other.size_;
            other.data_ = nullptr;
            other.size_ = 0;
        }
        return *this;
    }
    buffer(const buffer&) = delete;
    buffer& operator=(const buffer&) = delete;
    ~buffer() { reset(); }

    /// The bytes; null when empty.
    const unsigned char* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }

private:
    COROSCOPE_API void reset() noexcept;

    unsigned char* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace coroscope::trace
