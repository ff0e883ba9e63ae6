// SPDX-License-Identifier: Apache-2.0
#pragma once

// Numbers for the places at which tasks wait and work runs.

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../words/await_names.hpp"
#include "../words/places.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline paths {

/// A label and its site.
struct numbered_place {
    std::string label;
    std::uint32_t site = none;  ///< index into trace::sites
};

/// Gives one number to each pair of a label and a site.
class place_numbers {
public:
    /// `loaded` must outlive it.
    explicit place_numbers(const trace& loaded) : loaded_(loaded) {}

    /// Returns the number of a scope; if `event` is none, that of the task. One of the two must not
    /// be none.
    [[nodiscard]] std::uint32_t of_work(std::uint32_t task, std::uint32_t event) {
        if (event == none) return of_task(task);
        const analysis::event& scope = loaded_.events[event];
        const auto [found, is_new] =
            scopes_.try_emplace(std::uint64_t{scope.name} << 32 | scope.site, 0);
        if (is_new) found->second = number(loaded_.strings[scope.name], scope.site);
        return found->second;
    }

    [[nodiscard]] std::uint32_t of_task(std::uint32_t task) {
        const std::uint32_t site =
            task < loaded_.tasks.size() ? loaded_.tasks[task].spawn_site : none;
        const auto [found, is_new] = tasks_.try_emplace(site, 0);
        if (is_new) found->second = number(site_name(loaded_, site), site);
        return found->second;
    }

    [[nodiscard]] std::uint32_t of_await(const await_info& await) {
        const std::uint32_t place = await_place(loaded_, await);
        if (is_interruption(await) || is_placed_by_scope(loaded_, await))
            return number(await_title(loaded_, await), place);
        const auto [found, is_new] = awaits_.try_emplace(place, 0);
        if (is_new) found->second = number(await_title(loaded_, await), place);
        return found->second;
    }

    /// Returns the number of a place without a name.
    [[nodiscard]] std::uint32_t nowhere() { return number({}, none); }

    [[nodiscard]] const numbered_place& operator[](std::uint32_t number) const {
        return places_[number];
    }

private:
    std::uint32_t number(std::string label, std::uint32_t site) {
        const auto [found, is_new] = numbers_.try_emplace(
            std::pair(site, label), static_cast<std::uint32_t>(places_.size()));
        if (is_new) places_.push_back({std::move(label), site});
        return found->second;
    }

    const trace& loaded_;
    std::vector<numbered_place> places_;
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> numbers_;
    std::unordered_map<std::uint64_t, std::uint32_t> scopes_;  // by name and site
    std::unordered_map<std::uint32_t, std::uint32_t> tasks_;   // by spawn site
    std::unordered_map<std::uint32_t, std::uint32_t> awaits_;  // by site
};

}  // namespace coroscope::analysis::inline paths
