// SPDX-License-Identifier: Apache-2.0
#include "lock_text.hpp"

#include <coroscope/analysis/lock_statistics.hpp>
#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "../../text/utf8.hpp"
#include "../../words/places.hpp"

namespace coroscope::analysis::inline listings {

std::string thread_work_text(const trace& loaded, const thread_work& work) {
    if (work.thread >= loaded.threads.size()) return "unknown";
    std::string text = fmt::format("thread {}", printable(thread_name(loaded, work.thread)));
    if (work.scope < loaded.events.size()) {
        const std::uint32_t name = loaded.events[work.scope].name;
        text += fmt::format(" in scope {}", printable(loaded.strings[name]));
    }
    if (work.task < loaded.tasks.size())
        text += fmt::format(" (task {})", loaded.tasks[work.task].id);
    return text;
}

std::string holder_text(const trace& loaded, const lock_wait& wait) {
    const thread_work& blamed = wait.blamed();
    if (blamed.thread == none && wait.holder_os_id != 0)
        return fmt::format("the thread of system id {}", wait.holder_os_id);
    return thread_work_text(loaded, blamed);
}

std::string lock_text(const lock_wait& wait) {
    return fmt::format("{} {:#x}", name_of_lock(wait.kind), wait.address);
}

std::string both_sides_text(const trace& loaded, const lock_wait& wait) {
    std::string text =
        fmt::format("{}{}: {} waited for {}", wait.began_before ? "at least " : "",
                    format_span(wait.end_ns - wait.start_ns), thread_work_text(loaded, wait.waiter),
                    holder_text(loaded, wait));
    if (wait.gave_up) return text + ", and gave up";
    if (const optional_ns until = wait.arrival_to_release_ns())
        text += fmt::format(", released after {}", format_span(*until));
    return text;
}

}  // namespace coroscope::analysis::inline listings
