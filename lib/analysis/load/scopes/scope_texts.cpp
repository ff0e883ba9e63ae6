// SPDX-License-Identifier: Apache-2.0
#include "scope_texts.hpp"

namespace coroscope::analysis::inline scopes {

scope_texts::scope_texts(const task_records& records)
    : records_(records), ends_ns_(records.labels.size()) {
    for (std::size_t at = 0; at < records.labels.size(); ++at) {
        const range_label& label = records.labels[at];
        const auto number = static_cast<std::uint32_t>(at);
        const auto [place, is_first] =
            by_start_.try_emplace(key_of(label.start_ns, label.serial), number);
        const range_label& first = records.labels[place->second];
        if (!is_first && (first.text == label.text || first.stream == label.stream)) {
            ends_ns_[at] = label.start_ns;  // a repeated label: not a range
            continue;
        }
        labels_.insert_or_assign(key{label.serial, records.streams[label.stream].thread, none},
                                 number);
    }
    for (const scope_text& arguments : records.arguments) {
        const key of_scope{arguments.key, arguments.thread, arguments.site};
        const auto number = static_cast<std::uint32_t>(entries_.size());
        const auto [latest, is_first] = arguments_.try_emplace(of_scope, number);
        entries_.push_back({arguments.text, is_first ? none : latest->second});
        latest->second = number;
        if (arguments.site >= sites_with_arguments_.size())
            sites_with_arguments_.resize(arguments.site + 1);
        sites_with_arguments_[arguments.site] = 1;
    }
}

// The start of a label that was repeated on another thread identifies its range.
std::uint32_t scope_texts::take_label(std::uint32_t thread, std::uint32_t serial,
                                      std::int64_t start_ns, std::int64_t end_ns) {
    std::uint32_t label = find_label(thread, serial);
    if (label == none || records_.labels[label].start_ns != start_ns) {
        const auto found = by_start_.find(key_of(start_ns, serial));
        if (found != by_start_.end()) label = found->second;
    }
    if (label == none) return none;
    ends_ns_[label] = end_ns;
    return records_.labels[label].text;
}

std::uint32_t scope_texts::find_label(std::uint32_t thread, std::uint32_t serial) const {
    const auto found = labels_.find(key{serial, thread, none});
    return found == labels_.end() ? none : found->second;
}

std::uint32_t scope_texts::take_arguments(std::uint32_t thread, std::uint64_t start_ticks,
                                          std::uint32_t site) {
    const auto latest = arguments_.find(key{start_ticks, thread, site});
    if (latest == arguments_.end() || latest->second == none) return none;
    const entry taken = entries_[latest->second];
    latest->second = taken.earlier;
    return taken.text;
}

}  // namespace coroscope::analysis::inline scopes
