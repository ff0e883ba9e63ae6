// SPDX-License-Identifier: Apache-2.0
#include "device_text.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include <coroscope/analysis/units.hpp>

#include "../../text/text_grid.hpp"
#include "../../text/utf8.hpp"

namespace coroscope::analysis::inline listings {
namespace {

constexpr std::size_t longest_name = 40;
constexpr std::size_t most_streams = 4;

std::string streams_text(const device_work& work) {
    const std::vector<std::uint32_t>& streams = work.streams;
    if (streams.empty()) return "a stream that is not known";
    std::string text = streams.size() == 1 ? "stream " : "streams ";
    for (std::size_t at = 0; at < std::min(streams.size(), most_streams); ++at)
        text += fmt::format("{}{}", at == 0 ? "" : ", ", streams[at]);
    if (streams.size() > most_streams)
        text += fmt::format(" and {} more", streams.size() - most_streams);
    return text;
}

std::string part_text(const device_part& part, std::string_view one, std::string_view many) {
    return fmt::format("{} {} {}", part.count, part.count == 1 ? one : many,
                       format_span(part.total_ns));
}

std::string longest_text(const trace& from, const device_work& work) {
    if (work.kernels.count < 2 || work.longest >= from.device_activities.size()) return {};
    const device_activity& longest = from.device_activities[work.longest];
    if (longest.name >= from.strings.size()) return {};
    return fmt::format(" (longest {} {})",
                       cut_name(printable(from.strings[longest.name]), longest_name),
                       format_span(longest.end_ns - longest.start_ns));
}

/// Names the kernel if there is only one, else gives the number of kernels.
std::string kernels_text(const trace& from, const device_work& work) {
    std::string text = part_text(work.kernels, "kernel", "kernels");
    if (work.kernels.count != 1 || work.longest >= from.device_activities.size())
        return text + longest_text(from, work);
    const std::uint32_t name = from.device_activities[work.longest].name;
    if (name < from.strings.size())
        text += fmt::format(" ({})", cut_name(printable(from.strings[name]), longest_name));
    return text;
}

}  // namespace

std::string work_text(const trace& from, const device_work& work) {
    std::string text;
    const auto add = [&text](const device_part& part, const std::string& words) {
        if (part.count != 0) text.append(text.empty() ? "" : ", ").append(words);
    };
    add(work.kernels, kernels_text(from, work));
    add(work.copies, part_text(work.copies, "copy", "copies"));
    add(work.sets, part_text(work.sets, "set", "sets"));
    return text;
}

std::string wait_text(const trace& from, const device_work& work, const optional_ns& queued_ns) {
    if (work.streams.empty() && work.unknown == 0) return {};
    std::string text = streams_text(work);
    if (work.streams.empty()) return text;
    const std::string did = work_text(from, work);
    text += ": " + (did.empty() ? "nothing" : did);
    if (queued_ns && *queued_ns > 0) text += ", queued on the device " + format_span(*queued_ns);
    if (work.unknown != 0) text += ", and a stream that is not known";
    return text;
}

}  // namespace coroscope::analysis::inline listings
