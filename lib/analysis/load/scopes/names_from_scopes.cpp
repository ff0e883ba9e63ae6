// SPDX-License-Identifier: Apache-2.0
#include "names_from_scopes.hpp"

#include <coroscope/trace/format.hpp>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace coroscope::analysis::inline scopes {
namespace {

using coroscope::trace::site_kind;

bool is_kind(const trace& loaded, std::uint32_t site, site_kind kind) {
    return site != none && loaded.sites[site].kind == static_cast<std::uint8_t>(kind);
}

bool lacks_spawn_site(const trace& loaded, const task_info& task) {
    return task.spawn_site == none ||
           (task.asio && is_kind(loaded, task.spawn_site, site_kind::coroutine)) ||
           (is_kind(loaded, task.spawn_site, site_kind::operation) &&
            (loaded.sites[task.spawn_site].label == "co_spawn" || task.fiber));
}

void name_tasks(trace& loaded) {
    for (const event& scope : loaded.events) {
        if (scope.task == none || !is_kind(loaded, scope.site, site_kind::function)) continue;
        task_info task = std::as_const(loaded).tasks[scope.task];
        if (!(task.asio || task.fiber) || !lacks_spawn_site(loaded, task)) continue;
        task.spawn_site = scope.site;
        loaded.tasks.set(scope.task, task);
    }
}

// Returns whether it found a label.
bool label_operation(const trace& loaded, await_info& await) {
    for (std::uint32_t at = await.scope; at != none; at = loaded.events[at].parent) {
        if (!is_kind(loaded, loaded.events[at].site, site_kind::await)) continue;
        await.site = loaded.events[at].site;
        return true;
    }
    return false;
}

// The runtime's words for an await without a label; see docs/reference/format.md.
bool lacks_label(const trace& loaded, const await_info& await) {
    constexpr std::string_view unlabelled = "co_await in ";
    return is_kind(loaded, await.site, site_kind::await) &&
           std::string_view(loaded.sites[await.site].label).starts_with(unlabelled);
}

// An await scope begins right before its await. It ends with the whole expression, in which other
// awaits may follow.
void label_awaits(trace& loaded) {
    if (loaded.events.empty()) return;
    std::unordered_set<std::uint32_t> met;  // await scopes
    loaded.awaits.update([&](await_info& await, std::size_t) {
        const bool is_labelled =
            is_kind(loaded, await.site, site_kind::operation) && label_operation(loaded, await);
        if (await.scope == none) return is_labelled;
        const event& scope = loaded.events[await.scope];
        if (!is_kind(loaded, scope.site, site_kind::await) || !met.insert(await.scope).second)
            return is_labelled;
        if (!lacks_label(loaded, await) || scope.task != await.task) return is_labelled;
        await.site = scope.site;
        return true;
    });
}

}  // namespace

void take_names_from_scopes(trace& loaded) {
    name_tasks(loaded);
    label_awaits(loaded);
}

}  // namespace coroscope::analysis::inline scopes
