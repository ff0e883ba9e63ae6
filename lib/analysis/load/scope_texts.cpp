// SPDX-License-Identifier: Apache-2.0
#include "scope_texts.hpp"

namespace coroscope::analysis::loading {

scope_texts::scope_texts(const task_records& records) {
    for (const scope_text& label : records.labels)
        labels_.insert_or_assign(key{label.key, label.thread, none}, label.text);
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

std::uint32_t scope_texts::label(std::uint32_t thread, std::uint32_t serial) const {
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

}  // namespace coroscope::analysis::loading
