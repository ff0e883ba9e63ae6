// SPDX-License-Identifier: Apache-2.0
#pragma once

// The names of bars. Names and categories are numbers here, so that a canvas can write each text
// once. The texts may be any bytes, as in the trace.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline timelines {

/// Names that do not come from the trace.
enum class word : std::uint8_t { queued, spawn, wake, launch, awaited, blocked, preempted };
inline constexpr std::uint32_t word_count = 7;

/// Categories that do not come from a site.
enum class kind_of_bar : std::uint8_t {
    slice,
    task,
    await,
    queued,
    flow,
    kernel,
    copy,
    set,
    runtime_call,
    driver_call,
    synchronization,
    overhead,
    thread_state,
    request_lane,
    path_segment,
    wait,
};
inline constexpr std::uint32_t kinds_of_bar = 16;

class drawing_names {
public:
    explicit drawing_names(const trace& from)
        : from_(from),
          strings_(static_cast<std::uint32_t>(from.strings.size())),
          sites_(static_cast<std::uint32_t>(from.sites.size())) {}

    // Each returns the number of a name. An empty name becomes "(unnamed)", because every bar needs
    // a name.

    /// The name of a string of the trace.
    [[nodiscard]] std::uint32_t of_string(std::uint32_t string) const {
        return string < strings_ ? string : of_site(none);
    }
    /// The same for a string that labels an await.
    [[nodiscard]] std::uint32_t of_await_string(std::uint32_t string) const {
        return string < strings_ ? strings_ + string : of_await(none, none);
    }
    /// The name of a site: its label, else its function.
    [[nodiscard]] std::uint32_t of_site(std::uint32_t site) const { return of(site, role::itself); }

    /// The name of an await: "await db.get" by its site's label, else "await load" by the awaited
    /// task's spawn site, else by the operation, else "await at file.cpp:12".
    [[nodiscard]] std::uint32_t of_await(std::uint32_t site, std::uint32_t awaited_site) const;

    [[nodiscard]] std::uint32_t of_word(word which) const {
        return of(sites_, role::await) + 1 + static_cast<std::uint32_t>(which);
    }
    /// An upper bound of the numbers of names.
    [[nodiscard]] std::uint32_t count() const { return of_word(word{}) + word_count; }
    [[nodiscard]] std::string text(std::uint32_t name) const;

    /// The category of a scope: that of its site, else "scope".
    [[nodiscard]] std::uint32_t category_of_site(std::uint32_t site) const {
        return std::min(site, sites_);
    }
    [[nodiscard]] std::uint32_t category(kind_of_bar kind) const {
        return sites_ + 1 + static_cast<std::uint32_t>(kind);
    }
    [[nodiscard]] std::uint32_t categories() const {
        return category(kind_of_bar{}) + kinds_of_bar;
    }
    [[nodiscard]] std::string_view category_text(std::uint32_t category) const;

    /// "src/file.cpp:12" of a site of the trace; empty if the file is unknown.
    [[nodiscard]] std::string place_text(std::uint32_t site) const;

    /// The name of a lane for tasks that the site spawns: "run (session.cpp:25)".
    [[nodiscard]] std::string lane_name(std::uint32_t site) const;

private:
    /// The relation of a name to a site: the site itself, an await of a task that it spawned, or an
    /// await at its place.
    enum class role : std::uint8_t { itself, awaited, await };
    static constexpr std::uint32_t roles = 3;

    /// Numbers of sites follow those of strings and of awaits' strings. The roles of one site have
    /// neighbouring numbers. The unknown site comes last.
    [[nodiscard]] std::uint32_t of(std::uint32_t site, role as) const {
        return 2 * strings_ + roles * std::min(site, sites_) + static_cast<std::uint32_t>(as);
    }
    [[nodiscard]] std::string text_of_site(std::uint32_t site, role as) const;
    [[nodiscard]] bool is_request(std::uint32_t site) const;

    const trace& from_;
    std::uint32_t strings_;
    std::uint32_t sites_;
};

}  // namespace coroscope::analysis::inline timelines
