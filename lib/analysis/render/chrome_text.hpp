// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of a Chrome trace that repeat, escaped once: names of events, and of each site its
// names, category and place.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::render {

class chrome_text {
public:
    explicit chrome_text(const trace& from);

    /// `"name":"…"` of a string of the trace. Every event needs a name: an empty one is
    /// "(unnamed)".
    [[nodiscard]] std::string_view event_name(std::uint32_t string);

    /// The same of a string that labels an await.
    [[nodiscard]] std::string_view await_event_name(std::uint32_t string);

    /// The same of a site: its label, else its function, else "(unnamed)".
    [[nodiscard]] std::string_view site_name(std::uint32_t site) const;

    /// The same of an await: "await db.get" by its site's label, else "await load" by the awaited
    /// task's spawn site, else by the operation, else "await at file.cpp:12".
    [[nodiscard]] std::string_view await_name(std::uint32_t site, std::uint32_t awaited_site) const;

    /// What a lane of the tasks that are spawned there is called: "run (session.cpp:25)".
    [[nodiscard]] std::string lane_name(std::uint32_t site) const;

    /// `,"cat":"…"` of a scope: its site's category, else "scope".
    [[nodiscard]] std::string_view category(std::uint32_t site) const;

    /// `"at":"file:line"`, or nothing where the file is unknown.
    [[nodiscard]] std::string_view at(std::uint32_t site) const;

private:
    struct site_text {
        std::string name;
        std::string awaited;  ///< the name of an await of what the site names
        std::string await;    ///< the name of an await that stands there
        std::string category;
        std::string at;
    };

    [[nodiscard]] const site_text& find(std::uint32_t site) const;

    const trace& from_;
    std::vector<std::string> event_names_;  ///< empty until first asked for
    std::vector<std::string> await_event_names_;
    std::vector<site_text> sites_;  ///< one more than the trace has: the unknown site
};

}  // namespace coroscope::analysis::render
