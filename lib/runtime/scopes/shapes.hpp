// SPDX-License-Identifier: Apache-2.0
#pragma once

// The memory in which a thread writes shapes. The thread's first shape_writer allocates it, and it
// is kept until the thread ends. It is not on the stack, because a stack may have only a few
// kilobytes.

#include <cstddef>
#include <cstdint>

#include <coroscope/shapes.hpp>
#include <coroscope/trace/format.hpp>

#include "../writer/registry.hpp"

namespace coroscope {
namespace detail {

struct shape_line {
    static constexpr std::size_t bytes = shape_writer::line_bytes;

    std::size_t size;
    bool full;
    char text[bytes];
    void clear() noexcept {
        size = 0;
        full = false;
    }
    void add(const char* from, std::size_t count) noexcept;
    void add_number(std::int64_t number) noexcept;
    void add_quoted(const char* from, std::size_t count) noexcept;
    void separate() noexcept;
};

struct shape_room {
    bool taken;  ///< in use by a writer: a nested one (signal handler, hook) gets no room
    shape_line dimensions, strides, types, values;
    argument_writer value;
    trace::note_body note_head;
    char note_text[4 * (shape_line::bytes + 1)];

    /// Takes the calling thread's room. Returns null if it is taken already or memory is short.
    static shape_room* take() noexcept;
};

}  // namespace detail

namespace runtime::inline scopes {

/// Unmaps the memory of a thread that ends.
void drop_shape_room(detail::thread_record& record) noexcept;

}  // namespace runtime::inline scopes
}  // namespace coroscope
