// SPDX-License-Identifier: Apache-2.0
#include <coroscope/shapes.hpp>

#include <algorithm>
#include <cstring>
#include <new>

#include <sys/mman.h>

#include <coroscope/attribute.hpp>

#include "../base/compiler_barrier.hpp"
#include "../base/kept_errno.hpp"
#include "../base/unlocked_memory.hpp"
#include "shapes.hpp"

namespace coroscope {

detail::shape_room* detail::shape_room::take() noexcept {
    thread_record* record = runtime::register_thread(this_thread);
    if (record == nullptr) return nullptr;
    if (record->shape_room == nullptr) {
        const runtime::kept_errno programs;
        void* made =
            runtime::map_unlocked(sizeof(shape_room), MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
        if (made == MAP_FAILED) return nullptr;
        record->shape_room = made;
    }
    auto* const own = static_cast<shape_room*>(record->shape_room);
    if (own->taken) return nullptr;
    own->taken = true;
    runtime::compiler_barrier();  // a handler must not find the lines half-written
    return own;
}

void runtime::drop_shape_room(detail::thread_record& record) noexcept {
    if (record.shape_room != nullptr) ::munmap(record.shape_room, sizeof(detail::shape_room));
    record.shape_room = nullptr;
}

shape_writer::shape_writer() noexcept : room_(detail::shape_room::take()) {
    if (room_ == nullptr) return;
    for (detail::shape_line* each :
         {&room_->dimensions, &room_->strides, &room_->types, &room_->values})
        each->clear();
}

shape_writer::~shape_writer() {
    runtime::compiler_barrier();
    if (room_ != nullptr) room_->taken = false;
}

void detail::shape_line::add(const char* from, std::size_t count) noexcept {
    if (full || count > bytes - size) {
        full = true;
        return;
    }
    std::memcpy(text + size, from, count);
    size += count;
}

void detail::shape_line::add_number(std::int64_t number) noexcept {
    char digits[24];
    char* const end = digits + sizeof digits;
    const char* first = format_integer(number, end);
    add(first, static_cast<std::size_t>(end - first));
}

void detail::shape_line::add_quoted(const char* from, std::size_t count) noexcept {
    add("\"", 1);
    for (std::size_t at = 0; at < count; ++at) {
        const auto c = static_cast<unsigned char>(from[at]);
        if (c == '"' || c == '\\') add("\\", 1);
        if (c < 0x20) {
            const char escaped[] = {
                '\\', 'u', '0', '0', "0123456789abcdef"[c >> 4], "0123456789abcdef"[c & 15]};
            add(escaped, sizeof escaped);
        } else {
            add(from + at, 1);
        }
    }
    add("\"", 1);
}

// Writes a separator unless the next element is the first.
void detail::shape_line::separate() noexcept {
    if (size != 0 && text[size - 1] != '[') add(", ", 2);
}

void shape_writer::begin_argument() noexcept {
    if (room_ == nullptr) return;
    for (detail::shape_line* each :
         {&room_->dimensions, &room_->strides, &room_->types, &room_->values}) {
        if (each->size == 0) each->add("[", 1);
        each->separate();
    }
    room_->dimensions.add("[", 1);
    rollback_ = room_->strides.size;
    room_->strides.add("[", 1);
    strides_known_ = true;
    has_type_ = false;
    has_value_ = false;
}

void shape_writer::dimension(std::uint64_t extent, std::int64_t stride) noexcept {
    if (room_ == nullptr) return;
    room_->dimensions.separate();
    room_->dimensions.add_number(static_cast<std::int64_t>(extent));
    room_->strides.separate();
    room_->strides.add_number(stride);
    if (stride == unknown_stride) strides_known_ = false;
}

void shape_writer::type(const char* name, std::size_t size) noexcept {
    if (room_ == nullptr || has_type_) return;
    has_type_ = true;
    room_->types.add_quoted(name, size);
}

argument_writer* shape_writer::empty_text() noexcept {
    return room_ == nullptr ? nullptr : new (&room_->value) argument_writer;
}

void shape_writer::value(const argument_writer& text) noexcept {
    if (room_ == nullptr || has_value_) return;
    has_value_ = true;
    constexpr std::size_t longest = 64;
    room_->values.add_quoted(text.data(), std::min(text.size(), longest));
}

void shape_writer::end_argument() noexcept {
    if (room_ == nullptr) return;
    if (!strides_known_ && !room_->strides.full) {
        room_->strides.size = rollback_;
        room_->strides.add("[", 1);
    }
    room_->dimensions.add("]", 1);
    room_->strides.add("]", 1);
    if (!has_type_) room_->types.add_quoted("", 0);
    if (!has_value_) room_->values.add_quoted("", 0);
}

std::size_t shape_writer::finish(char* into) noexcept {
    if (room_ == nullptr) return 0;
    std::size_t size = 0;
    for (detail::shape_line* each :
         {&room_->dimensions, &room_->strides, &room_->types, &room_->values}) {
        if (each->size == 0) each->add("[", 1);
        each->add("]", 1);
        if (each->full) return 0;
        std::memcpy(into + size, each->text, each->size);
        size += each->size;
        into[size++] = '\n';
    }
    return size - 1;  // the last line needs no end
}

}  // namespace coroscope
