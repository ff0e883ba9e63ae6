// SPDX-License-Identifier: Apache-2.0
#include "blocking_text.hpp"

#include <algorithm>

#include <coroscope/analysis/blocking_statistics.hpp>
#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "../../model/result_waits.hpp"
#include "../../text/utf8.hpp"
#include "../../words/places.hpp"
#include "lock_text.hpp"

namespace coroscope::analysis::inline listings {

/// A time in which the thread was blocked, with its most informative look.
struct blocking_text::stretch {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::uint32_t look = none;  ///< index into thread_states::looks
    bool ends_later = false;    ///< the end is unknown: `end_ns` is the time of the look
};

blocking_text::blocking_text(const trace& loaded)
    : loaded_(loaded), waits_(loaded), names_(loaded), holders_(lock_holders(loaded)) {}

/// A recorded wait or call, with its part of the time.
struct blocking_text::reason {
    std::int64_t time_ns = 0;
    std::string what;
};

std::vector<blocking_text::reason>
blocking_text::recorded(std::uint32_t thread, std::int64_t from_ns, std::int64_t to_ns) const {
    std::vector<reason> found;
    waits_.locks.for_each_in(
        thread, from_ns, to_ns,
        [&](const lock_wait& wait, std::int64_t begin_ns, std::int64_t end_ns) {
            found.push_back({end_ns - begin_ns, fmt::format("{}, held by {}", lock_text(wait),
                                                            listings::holder_text(loaded_, wait))});
        });
    waits_.resources.for_each_in(
        thread, from_ns, to_ns,
        [&](const resource_wait& wait, std::int64_t begin_ns, std::int64_t end_ns) {
            std::string what = is_for_result(loaded_, wait)
                                   ? "the result of a future"
                                   : "resource " + printable(site_name(loaded_, wait.site));
            if (wait.holder_known)
                what += ", held by " +
                        thread_work_text(loaded_,
                                         {wait.holder_thread, wait.holder_task, wait.holder_scope});
            found.push_back({end_ns - begin_ns, std::move(what)});
        });
    if (found.empty())
        waits_.calls.for_each_in(
            thread, from_ns, to_ns,
            [&](const blocking_call& call, std::int64_t begin_ns, std::int64_t end_ns) {
                found.push_back({end_ns - begin_ns, std::string(name_of_function(call.function))});
            });
    std::ranges::stable_sort(found, std::ranges::greater(), &reason::time_ns);
    return found;
}

std::vector<blocking_text::stretch>
blocking_text::stretches(std::uint32_t thread, std::int64_t from_ns, std::int64_t to_ns) const {
    const thread_states& states = loaded_.states;
    std::vector<stretch> found;
    for (const blocked_look& look : states.looks_at(thread, from_ns, to_ns)) {
        const state_stretch around = states.around(thread, look.time_ns);
        stretch next;
        next.look = static_cast<std::uint32_t>(&look - states.looks.data());
        next.ends_later = around.state != thread_state::blocked;
        next.start_ns = next.ends_later ? look.since_ns.value_or(look.time_ns) : around.start_ns;
        next.end_ns = next.ends_later ? look.time_ns : around.end_ns;
        next.start_ns = std::max(next.start_ns, from_ns);
        next.end_ns = std::min(next.end_ns, to_ns);
        if (found.empty() || found.back().start_ns != next.start_ns) {
            found.push_back(next);
            continue;
        }
        found.back().end_ns = std::max(found.back().end_ns, next.end_ns);
        if (look.holder_os_id != 0 || states.looks[found.back().look].holder_os_id == 0)
            found.back().look = next.look;
    }
    std::ranges::stable_sort(found, std::ranges::greater(),
                             [](const stretch& each) { return each.end_ns - each.start_ns; });
    return found;
}

std::string blocking_text::of(std::uint32_t thread, std::int64_t from_ns,
                              std::int64_t to_ns) const {
    constexpr std::size_t most = 3;
    std::vector<std::string> reasons;
    for (const reason& each : recorded(thread, from_ns, to_ns))
        reasons.push_back(fmt::format("{} in {}", format_span(each.time_ns), each.what));
    if (reasons.empty())
        for (const stretch& each : stretches(thread, from_ns, to_ns)) reasons.push_back(text(each));
    std::string sentence;
    for (std::size_t at = 0; at < std::min(most, reasons.size()); ++at)
        sentence.append(at == 0 ? "" : "; ").append(reasons[at]);
    if (reasons.size() > most) sentence += fmt::format("; and {} more", reasons.size() - most);
    return sentence;
}

std::string blocking_text::text(const stretch& what) const {
    const blocked_look& look = loaded_.states.looks[what.look];
    std::string sentence = fmt::format("{}{} in {}", what.ends_later ? "at least " : "",
                                       format_span(what.end_ns - what.start_ns), names_.of(look));
    if (look.address != 0) sentence += fmt::format(" {:#x}", look.address);
    if (look.descriptor >= 0) sentence += fmt::format(" of descriptor {}", look.descriptor);
    return sentence + holder_text(what.look);
}

std::string blocking_text::holder_text(std::uint32_t look) const {
    const std::uint64_t os_id = loaded_.states.looks[look].holder_os_id;
    const lock_holder& holder = holders_[look];
    if (os_id == 0) return {};
    if (holder.thread == none) return fmt::format(", held by the thread of system id {}", os_id);
    return ", held by " + thread_work_text(loaded_, {holder.thread, holder.task, holder.event});
}

}  // namespace coroscope::analysis::inline listings
