// SPDX-License-Identifier: Apache-2.0
#pragma once

// What bars are called. Names and categories are numbers here, so that a format writes the text of
// each once. The texts are any bytes, as the trace has them.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::render {

/// Names that stand in no trace.
enum class word : std::uint8_t { queued, spawn, wake, launch, awaited };
inline constexpr std::uint32_t words = 5;

/// Categories that are no site's.
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
};
inline constexpr std::uint32_t kinds_of_bar = 12;

class drawing_names {
public:
    explicit drawing_names(const trace& from)
        : from_(from),
          strings_(static_cast<std::uint32_t>(from.strings.size())),
          sites_(static_cast<std::uint32_t>(from.sites.size())) {}

    // Every bar needs a name: what has none is "(unnamed)".

    /// A string of the trace.
    [[nodiscard]] std::uint32_t of_string(std::uint32_t string) const {
        return string < strings_ ? string : of_site(none);
    }
    /// The same of a string that labels an await.
    [[nodiscard]] std::uint32_t of_await_string(std::uint32_t string) const {
        return string < strings_ ? strings_ + string : of_await(none, none);
    }
    /// A site: its label, else its function.
    [[nodiscard]] std::uint32_t of_site(std::uint32_t site) const { return of(site, role::itself); }

    /// An await: "await db.get" by its site's label, else "await load" by the awaited task's spawn
    /// site, else by the operation, else "await at file.cpp:12".
    [[nodiscard]] std::uint32_t of_await(std::uint32_t site, std::uint32_t awaited_site) const;

    [[nodiscard]] std::uint32_t of_word(word which) const {
        return of(sites_, role::await) + 1 + static_cast<std::uint32_t>(which);
    }
    /// How many names there may be.
    [[nodiscard]] std::uint32_t count() const { return of_word(word{}) + words; }
    [[nodiscard]] std::string text(std::uint32_t name) const;

    /// That of a scope: its site's, else "scope".
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

    /// "src/file.cpp:12" of a site of the trace; empty where the file is unknown.
    [[nodiscard]] std::string place_text(std::uint32_t site) const;

    /// What a lane of the tasks that are spawned there is called: "run (session.cpp:25)".
    [[nodiscard]] std::string lane_name(std::uint32_t site) const;

private:
    /// What a name says of a site: the thing there, an await of it, an await that stands there.
    enum class role : std::uint8_t { itself, awaited, await };
    static constexpr std::uint32_t roles = 3;

    /// Behind the strings and the strings of awaits, the roles of one site beside each other. Behind
    /// the last site stands the unknown one.
    [[nodiscard]] std::uint32_t of(std::uint32_t site, role as) const {
        return 2 * strings_ + roles * std::min(site, sites_) + static_cast<std::uint32_t>(as);
    }
    [[nodiscard]] std::string text_of_site(std::uint32_t site, role as) const;

    const trace& from_;
    std::uint32_t strings_;
    std::uint32_t sites_;
};

}  // namespace coroscope::analysis::render
