// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/executor_statistics.hpp>

namespace coroscope::analysis {

std::string_view name_of_kind(coroscope::trace::executor_kind kind) noexcept {
    using coroscope::trace::executor_kind;
    switch (kind) {
        case executor_kind::other: break;
        case executor_kind::context: return "context";
        case executor_kind::io_context: return "io_context";
        case executor_kind::thread_pool: return "thread_pool";
        case executor_kind::system_executor: return "system_executor";
        case executor_kind::strand: return "strand";
        case executor_kind::fibers: return "fibers";
        case executor_kind::arena: return "arena";
        case executor_kind::further: return "further";
    }
    return "other";
}

std::string name_of_executor(const trace& loaded, std::uint32_t executor) {
    if (executor >= loaded.executors.size()) return "unknown";
    const executor_info& info = loaded.executors[executor];
    if (!info.name.empty()) return info.name;
    if (info.kind == coroscope::trace::executor_kind::further) return "further executors";
    const std::string_view kind = info.kind == coroscope::trace::executor_kind::other
                                      ? std::string_view("executor")
                                      : name_of_kind(info.kind);
    return std::string(kind).append(" ").append(std::to_string(info.number));
}

}  // namespace coroscope::analysis
