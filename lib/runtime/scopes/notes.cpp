// SPDX-License-Identifier: Apache-2.0
#include "notes.hpp"

#include <unwind.h>

#include <cstring>

#include <coroscope/detail/arguments_scope.hpp>

#include "../carried/feature_data.hpp"
#include "../writer/recorder.hpp"
#include "open_scopes.hpp"
#include "shapes.hpp"

namespace coroscope::runtime::inline scopes {
namespace {

template <std::size_t Bytes>
struct note_buffer {
    explicit note_buffer(trace::note_kind what) noexcept : body{what, {}} {}
    trace::note_body body;
    char text[Bytes];

    void write(std::uint64_t start_ticks, std::size_t size) const noexcept {
        write_text(start_ticks, record_kind::note, 0, reinterpret_cast<const char*>(this),
                   sizeof body + size);
    }
};

}  // namespace

struct frame_walk {
    captured_stack& into;
    const void* caller;
    bool found_caller = false;
    std::uint64_t missing = trace::stack_given_up;  // 0: no frame is

    // The unwinder gives return addresses; one byte before lies in the call.
    static _Unwind_Reason_Code take(_Unwind_Context* context, void* data) noexcept {
        auto& walk = *static_cast<frame_walk*>(data);
        int is_interrupted = 0;
        const std::uint64_t address = _Unwind_GetIPInfo(context, &is_interrupted);
        if (!walk.found_caller && reinterpret_cast<const void*>(address) == walk.caller) {
            walk.found_caller = true;
            walk.into.count_ = 0;
        }
        // The outermost frame of a thread says that its caller is at 0.
        const bool full = walk.into.count_ == captured_stack::most_frames;
        if (address == 0 || full) {
            walk.missing = address == 0 ? 0 : trace::stack_cut;
            return _URC_END_OF_STACK;
        }
        walk.into.addresses_[walk.into.count_++] = address - (is_interrupted != 0 ? 0 : 1);
        return _URC_NO_REASON;
    }
};

captured_stack::captured_stack(const void* caller) noexcept {
    frame_walk walk{*this, caller};
    _Unwind_Backtrace(frame_walk::take, &walk);
    if (walk.missing != 0) addresses_[count_++] = walk.missing;
}

void captured_stack::note(std::uint64_t start_ticks) const noexcept {
    note_buffer<sizeof addresses_> note(trace::note_kind::stack);
    const std::size_t bytes = count_ * sizeof addresses_[0];
    std::memcpy(note.text, addresses_, bytes);
    note.write(start_ticks, bytes);
}

void note_sequence(std::uint64_t start_ticks, const deferred& place) noexcept {
    const trace::sequence_body body{place.number, place.forward_thread};
    note_buffer<sizeof body> note(trace::note_kind::sequence);
    std::memcpy(note.text, &body, sizeof body);
    note.write(start_ticks, sizeof body);
}

}  // namespace coroscope::runtime::inline scopes

namespace coroscope::detail {

using namespace runtime;

deferred take_sequence_number(bool take) noexcept {
    thread_record* record = register_thread(this_thread);
    if (record == nullptr) return {};
    const deferred place{record->sequence, take ? std::uint64_t{record->id} : 0};
    if (take) ++record->sequence;
    return place;
}

void record_shapes(const scope_start& start, shape_writer& shapes) noexcept {
    const std::uint64_t ticks = recorded_start(start).ticks;
    if (ticks == 0) return;
    begins_data_of(trace::feature_shapes | trace::feature_flops);
    shape_room* const room = shapes.room_;
    const std::size_t size = room == nullptr ? 0 : shapes.finish(room->note_text);
    if (size == 0) return count_truncated();
    static_assert(sizeof room->note_head + sizeof room->note_text <= trace::payload_limit);
    static_assert(offsetof(shape_room, note_text) ==
                  offsetof(shape_room, note_head) + sizeof room->note_head);
    room->note_head = {trace::note_kind::inputs, {}};
    write_text(ticks, record_kind::note, 0, reinterpret_cast<const char*>(&room->note_head),
               sizeof room->note_head + size);
}

}  // namespace coroscope::detail
