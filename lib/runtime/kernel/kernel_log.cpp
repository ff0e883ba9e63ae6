// SPDX-License-Identifier: Apache-2.0
#include "kernel_log.hpp"

#include <cstring>

#include "../base/clock.hpp"
#include "../store/chunk.hpp"

namespace coroscope::runtime::inline kernel {
namespace {

constexpr std::size_t place_for_dropped =
    trace::record_unit_bytes + sizeof(trace::switches_lost_body);
constexpr std::size_t largest_record =
    trace::record_unit_bytes + trace::padded_payload(sizeof(trace::blocked_body));

}  // namespace

// Of the chunk, without the place for the count of dropped records.
std::size_t kernel_log::room() const noexcept {
    if (chunk_ == nullptr) return 0;
    const auto written = static_cast<std::size_t>(cursor_ - reinterpret_cast<char*>(chunk_));
    const std::size_t usable = store_.chunk_bytes() - place_for_dropped;
    return written < usable ? usable - written : 0;
}

bool kernel_log::is_ready() noexcept {
    return room() >= largest_record || take_chunk() || !store_.may_have_chunk_for_kernel();
}

bool kernel_log::take_chunk() noexcept {
    trace::chunk_header* const next = store_.acquire_for_kernel(current_ticks());
    if (next == nullptr) return false;
    trace::chunk_header* const before = chunk_;
    if (before != nullptr) {
        write_dropped();
        store_.hand_over(before);
    }
    chunk_ = next;
    cursor_ = records_of(*next);
    write_dropped();
    return true;
}

bool kernel_log::make_room(std::size_t bytes) noexcept {
    if (room() >= bytes || take_chunk()) return true;
    if (dropped_.count++ == 0) dropped_.since_ns = monotonic_now();
    return false;
}

void kernel_log::write(std::int64_t time_ns, std::uint64_t tag, const void* body,
                       std::size_t bytes) noexcept {
    auto* const words = reinterpret_cast<mapped_word*>(cursor_);
    words[0] = static_cast<std::uint64_t>(time_ns);
    if (bytes != 0) std::memcpy(words + 2, body, bytes);
    publish_word(words + 1, tag);  // pairs with the reader that measures the chunk
    cursor_ += trace::record_bytes(tag);
}

// Into the place that is kept for it. The next chunk's, if the log had no chunk before.
void kernel_log::write_dropped() noexcept {
    if (dropped_.count == 0) return;
    const std::uint64_t tag = trace::make_tag(
        trace::record_kind::fact, trace::fact_id(trace::fact_kind::switches_lost), sizeof dropped_);
    write(monotonic_now(), tag, &dropped_, sizeof dropped_);
    dropped_ = {};
}

void kernel_log::switched(std::int64_t time_ns, std::uint32_t thread, std::uint32_t flags,
                          std::uint32_t processor) noexcept {
    if (!make_room(trace::record_unit_bytes)) return;
    const std::uint32_t value = flags | processor << trace::processor_number_shift;
    write(time_ns, trace::make_tag(trace::record_kind::processor, thread, value), nullptr, 0);
}

void kernel_log::fact(std::int64_t time_ns, trace::fact_kind kind, const void* body,
                      std::size_t bytes) noexcept {
    if (!make_room(trace::record_unit_bytes + trace::padded_payload(bytes))) return;
    write(time_ns, trace::make_tag(trace::record_kind::fact, trace::fact_id(kind), bytes), body,
          bytes);
}

void kernel_log::finish() noexcept {
    if (chunk_ != nullptr) write_dropped();
}

}  // namespace coroscope::runtime::inline kernel
