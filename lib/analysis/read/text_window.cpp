// SPDX-License-Identifier: Apache-2.0
#include "text_window.hpp"

#include <cstring>

namespace coroscope::analysis::inline reading {
namespace {

// Large enough that a window's beginning and end cost nothing, small enough for the processor's
// caches.
constexpr std::size_t usual_room = std::size_t{1} << 19;
// A short text needs no more.
constexpr std::size_t first_room = std::size_t{1} << 14;

}  // namespace

text_window::text_window(byte_source& source)
    : source_(source),
      bytes_(std::make_unique_for_overwrite<char[]>(before + first_room + behind)),
      room_(first_room) {}

void text_window::fill() {
    if (at_end_) return;
    std::memmove(bytes_.get() + before, data(), size());
    end_ = before + size();
    begin_ = before;
    const std::size_t wanted = before + room_ - end_;
    const std::size_t got = source_.read(bytes_.get() + end_, wanted);
    end_ += got;
    at_end_ = got < wanted;
    if (!at_end_ && room_ < usual_room) widen_to(usual_room);
}

void text_window::widen() { widen_to(room_ * 2); }

void text_window::widen_to(std::size_t room) {
    auto bytes = std::make_unique_for_overwrite<char[]>(before + room + behind);
    std::memcpy(bytes.get() + before, data(), size());
    end_ = before + size();
    begin_ = before;
    bytes_ = std::move(bytes);
    room_ = room;
    fill();
}

}  // namespace coroscope::analysis::inline reading
