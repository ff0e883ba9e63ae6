// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <coroscope/analysis/device_statistics.hpp>

namespace coroscope::analysis {

std::string_view stream_name(const trace& loaded, std::uint32_t context, std::uint32_t stream) {
    const auto place = [](const device_stream& of) { return std::pair(of.context, of.stream); };
    const auto found =
        std::ranges::lower_bound(loaded.device_streams, std::pair(context, stream), {}, place);
    if (found == loaded.device_streams.end() || place(*found) != std::pair(context, stream))
        return {};
    return found->name;
}

std::string stream_text(const trace& loaded, std::uint32_t context, std::uint32_t stream) {
    if (stream == none) return "no stream";
    std::string text = "stream " + std::to_string(stream);
    if (const std::string_view own = stream_name(loaded, context, stream); !own.empty())
        text.append(" (").append(own).append(")");
    return text;
}

}  // namespace coroscope::analysis
