// SPDX-License-Identifier: Apache-2.0
#include "stream_items.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "../scopes/open_ranges.hpp"

namespace coroscope::analysis::inline devices {
namespace {

struct placed_item {
    std::uint32_t label = none;  // index into task_records::labels
    stream_item item;
};

// Sorts the items by range, in the order in which the ranges began, then by number.
std::vector<placed_item> in_order(const scope_texts& texts, const scope_context& context) {
    std::vector<placed_item> placed;
    std::uint64_t without_range = 0;
    for (const range_item& found : context.records.items) {
        const std::uint32_t thread = context.names.thread(found.thread_id);
        const std::uint32_t label = texts.find_label(thread, found.serial);
        if (label == none)
            ++without_range;
        else
            placed.push_back({label, {found.time_ns, found.number}});
    }
    if (without_range != 0)
        context.loaded.health.warnings.push_back(std::to_string(without_range) +
                                                 " items belong to ranges whose label is lost");
    const std::vector<range_label>& labels = context.records.labels;
    std::sort(placed.begin(), placed.end(), [&](const placed_item& left, const placed_item& right) {
        return std::tuple(labels[left.label].start_ns, left.label, left.item.number) <
               std::tuple(labels[right.label].start_ns, right.label, right.item.number);
    });
    return placed;
}

}  // namespace

void read_streams(const scope_texts& texts, const std::vector<timeline>& timelines,
                  const scope_context& context) {
    trace& loaded = context.loaded;
    const std::vector<placed_item> placed = in_order(texts, context);
    loaded.stream_items.reserve(placed.size());
    for (auto first = placed.begin(); first != placed.end();) {
        const auto last = std::find_if(first, placed.end(), [first](const placed_item& candidate) {
            return candidate.label != first->label;
        });
        const range_label& label = context.records.labels[first->label];
        stream_info stream;
        stream.name = label.text;
        stream.thread = context.records.streams[label.stream].thread;
        stream.task = task_of(label, timelines[label.stream], loaded);
        stream.start_ns = label.start_ns;
        stream.end_ns = texts.end_of(first->label);
        const auto begin = static_cast<std::uint32_t>(loaded.stream_items.size());
        for (; first != last; ++first)  // number 0 marks the range; it is not an item
            if (first->item.number != 0) loaded.stream_items.push_back(first->item);
        const auto end = static_cast<std::uint32_t>(loaded.stream_items.size());
        stream.items = index_range(begin, end - begin);
        loaded.streams.push_back(stream);
    }
}

}  // namespace coroscope::analysis::inline devices
