// SPDX-License-Identifier: Apache-2.0
#include "text_window.hpp"

#include <cstring>

namespace coroscope::analysis::inline reading {
namespace {

// Large enough that a window's beginning and end cost nothing, small enough for the processor's
// caches.
constexpr std::size_t usual_room = std::size_t{1} << 19;

}  // namespace

text_window::text_window(byte_source& source)
    : source_(source),
      bytes_(std::make_unique_for_overwrite<char[]>(before + usual_room + behind)),
      room_(usual_room) {}

void text_window::fill() {
    if (at_end_) return;
    std::memmove(bytes_.get() + before, data(), size());
    end_ = before + size();
    begin_ = before;
    const std::size_t wanted = before + room_ - end_;
    const std::size_t got = source_.read(bytes_.get() + end_, wanted);
    end_ += got;
    at_end_ = got < wanted;
}

void text_window::widen() {
    const std::size_t wider = room_ * 2;
    auto bytes = std::make_unique_for_overwrite<char[]>(before + wider + behind);
    std::memcpy(bytes.get() + before, data(), size());
    end_ = before + size();
    begin_ = before;
    bytes_ = std::move(bytes);
    room_ = wider;
    fill();
}

}  // namespace coroscope::analysis::inline reading
