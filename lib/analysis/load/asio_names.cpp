// SPDX-License-Identifier: Apache-2.0
#include "asio_names.hpp"

#include <coroscope/trace/format.hpp>

namespace coroscope::analysis::loading {
namespace {

using coroscope::trace::site_kind;

bool is_kind(const trace& loaded, std::uint32_t site, site_kind kind) {
    return site != none && loaded.sites[site].kind == static_cast<std::uint8_t>(kind);
}

bool lacks_spawn_site(const trace& loaded, const task_info& task) {
    return task.spawn_site == none ||
           (is_kind(loaded, task.spawn_site, site_kind::operation) &&
            (loaded.sites[task.spawn_site].label == "co_spawn" || task.fiber));
}

void name_tasks(trace& loaded) {
    for (const event& scope : loaded.events) {
        if (scope.task == none || !is_kind(loaded, scope.site, site_kind::function)) continue;
        task_info& task = loaded.tasks[scope.task];
        if ((task.asio || task.fiber) && lacks_spawn_site(loaded, task))
            task.spawn_site = scope.site;
    }
}

void label_await(trace& loaded, await_info& await) {
    if (!is_kind(loaded, await.site, site_kind::operation)) return;
    for (std::uint32_t at = await.scope; at != none; at = loaded.events[at].parent) {
        if (!is_kind(loaded, loaded.events[at].site, site_kind::await)) continue;
        await.site = loaded.events[at].site;
        return;
    }
}

}  // namespace

void name_asio_tasks(trace& loaded) {
    name_tasks(loaded);
    for (await_info& await : loaded.awaits) label_await(loaded, await);
}

}  // namespace coroscope::analysis::loading
