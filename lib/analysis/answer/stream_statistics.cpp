// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/stream_statistics.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <unordered_map>

namespace coroscope::analysis {
namespace {

struct collected {
    stream_statistics sums;
    std::vector<std::int64_t> first_items_ns;
    std::vector<std::int64_t> gaps_ns;
};

void add(collected& into, const trace& loaded, const stream_info& stream) {
    ++into.sums.count;
    into.sums.unfinished += stream.end_ns ? 0 : 1;
    into.sums.items += stream.items.size();
    const stream_item* before = nullptr;
    for (const std::uint32_t index : stream.items) {
        const stream_item& item = loaded.stream_items[index];
        const std::uint64_t expected = before == nullptr ? 1 : before->number + 1;
        const std::int64_t since_ns = before == nullptr ? stream.start_ns : before->time_ns;
        if (item.number == expected) {
            auto& delays_ns = before == nullptr ? into.first_items_ns : into.gaps_ns;
            delays_ns.push_back(std::max<std::int64_t>(0, item.time_ns - since_ns));
        } else if (item.number > expected) {
            if (__builtin_add_overflow(into.sums.lost_items, item.number - expected,
                                       &into.sums.lost_items))
                into.sums.lost_items = std::numeric_limits<std::uint64_t>::max();
        }
        before = &item;
    }
}

}  // namespace

std::vector<stream_statistics> statistics_of_streams(const trace& loaded) {
    std::unordered_map<std::uint32_t, std::size_t> known;  // by name; equal names share one
    std::vector<collected> labels;
    for (const stream_info& stream : loaded.streams) {
        const auto [place, is_new] = known.try_emplace(stream.name, labels.size());
        if (is_new) labels.emplace_back().sums.name = loaded.strings[stream.name];
        add(labels[place->second], loaded, stream);
    }
    std::vector<stream_statistics> found;
    for (collected& each : labels) {
        each.sums.first_item = percentiles_of(each.first_items_ns);
        each.sums.gap = percentiles_of(each.gaps_ns);
        found.push_back(std::move(each.sums));
    }
    return found;
}

}  // namespace coroscope::analysis
