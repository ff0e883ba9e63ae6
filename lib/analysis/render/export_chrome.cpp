// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/chrome.hpp>

#include <cstdint>

#include "chrome_events.hpp"
#include "chrome_order.hpp"

namespace coroscope::analysis {
namespace {

using render::chrome_events;
using render::goes_before;
using render::ordered_spans;
using render::span;

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
void write_spans(chrome_events& out, const trace& from) {
    const auto spans_of = [&out](const auto& elements) {
        return ordered_spans(elements.size(),
                             [&](std::uint32_t at) { return out.span_of(elements[at]); });
    };
    auto tasks = spans_of(from.tasks);
    auto slices = spans_of(from.slices);
    auto scopes = spans_of(from.events);
    auto devices = spans_of(from.device_activities);
    auto awaits = spans_of(from.awaits);
    while (!out.failed()) {
        const turn next = turn()
                              .offer(tasks, span_kind::task)
                              .offer(slices, span_kind::slice)
                              .offer(scopes, span_kind::scope)
                              .offer(devices, span_kind::device)
                              .offer(awaits, span_kind::await);
        switch (next.kind()) {
            case span_kind::task: out.write_task(tasks.pop()); break;
            case span_kind::slice: out.write_slice(slices.pop()); break;
            case span_kind::scope: out.write_scope(scopes.pop()); break;
            case span_kind::device: out.write_device_activity(devices.pop()); break;
            case span_kind::await: out.write_await(awaits.pop()); break;
            case span_kind::none: return;
        }
    }
}

}  // namespace

result<chrome_totals> export_chrome(const trace& from, const byte_sink& sink) {
    chrome_events out(from, sink);
    out.begin();
    out.write_flow_sources();
    write_spans(out, from);
    if (!out.end()) return failure{"the export could not be written"};
    return out.totals();
}

}  // namespace coroscope::analysis
