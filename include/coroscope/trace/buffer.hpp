// SPDX-License-Identifier: Apache-2.0
#pragma once

// A finished trace as bytes: a session returns it, and the analysis loads it. It owns its memory.
// Its layout is that of trace/format.hpp, the same in memory and in a file.
//
// Not thread-safe. Movable, not copyable. All functions are inline, so a program that only records
// links no reader.

#include <cstddef>

namespace coroscope::trace {

/// A trace in memory; see above.
class buffer {
public:
    buffer() noexcept = default;

    /// Takes over `size` bytes at `data`, which must have been allocated with std::malloc.
    static buffer adopt(void* data, std::size_t size) noexcept {
        buffer taken;
        taken.data_ = static_cast<unsigned char*>(data);
        taken.size_ = size;
        return taken;
    }

    /// Returns a copy of `size` bytes; empty if memory is short.
    static buffer copy(const void* data, std::size_t size) noexcept {
        void* const memory = size == 0 ? nullptr : __builtin_malloc(size);
        if (memory == nullptr) return {};
        __builtin_memcpy(memory, data, size);
        return adopt(memory, size);
    }

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

    /// The bytes; null if the buffer is empty.
    const unsigned char* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }

private:
    void reset() noexcept {
        __builtin_free(data_);
        data_ = nullptr;
        size_ = 0;
    }

    unsigned char* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace coroscope::trace
