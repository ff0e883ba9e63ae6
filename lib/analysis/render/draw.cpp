// SPDX-License-Identifier: Apache-2.0

// Draws the elements of a trace in the order that placing them on lanes asks for.

#include <cstdint>

#include "drawing.hpp"
#include "drawing_order.hpp"

namespace coroscope::analysis::render {
namespace {

enum class span_kind : std::uint8_t { none, task, slice, scope, device, await };

/// Finds out whose turn it is among several sequences; between equals, the one offered first.
class turn {
public:
    template <class Spans>
    turn& offer(const Spans& spans, span_kind kind) {
        if (!spans.done() && (kind_ == span_kind::none || goes_before(spans.front(), front_))) {
            front_ = spans.front();
            kind_ = kind;
        }
        return *this;
    }
    [[nodiscard]] span_kind kind() const noexcept { return kind_; }

private:
    span front_{};
    span_kind kind_ = span_kind::none;
};

/// Feeds all kinds of span to `out` as one sequence by (start ascending, end descending),
/// which is what placing them on lanes asks for. Of equals the outer kind comes first.
void draw_spans(drawing& out, const trace& from, const canvas& on) {
    const auto spans_of = [&out](const auto& elements) {
        return ordered_spans(elements.size(),
                             [&](std::uint32_t at) { return out.span_of(elements[at]); });
    };
    auto tasks = spans_of(from.tasks);
    auto slices = spans_of(from.slices);
    auto scopes = spans_of(from.events);
    auto devices = spans_of(from.device_activities);
    auto awaits = spans_of(from.awaits);
    while (!on.failed()) {
        const turn next = turn()
                              .offer(tasks, span_kind::task)
                              .offer(slices, span_kind::slice)
                              .offer(scopes, span_kind::scope)
                              .offer(devices, span_kind::device)
                              .offer(awaits, span_kind::await);
        switch (next.kind()) {
            case span_kind::task: out.draw_task(tasks.pop()); break;
            case span_kind::slice: out.draw_slice(slices.pop()); break;
            case span_kind::scope: out.draw_scope(scopes.pop()); break;
            case span_kind::device: out.draw_device_activity(devices.pop()); break;
            case span_kind::await: out.draw_await(awaits.pop()); break;
            case span_kind::none: return;
        }
    }
}

}  // namespace

chrome_totals draw(const trace& from, canvas& on) {
    drawing out(from, on);
    out.name_lanes();
    out.draw_flow_sources();
    draw_spans(out, from, on);
    return out.totals();
}

}  // namespace coroscope::analysis::render
