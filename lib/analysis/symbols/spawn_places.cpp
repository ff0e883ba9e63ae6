// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/spawn_places.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dwarf_files.hpp"
#include "function_symbol.hpp"
#include "own_frames.hpp"
#include "spawn_calls.hpp"

namespace coroscope::analysis {
namespace {

using calls = std::vector<source_place>;  // innermost first

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Returns whether the symbol is a function that a compiler makes of a coroutine's body.
bool is_body(std::string_view symbol) {
    return symbol.find("[clone .actor") != std::string_view::npos ||
           symbol.find("[clone .resume") != std::string_view::npos;
}

bool has_line(const code_line& place) { return !place.file.empty() && place.line > 0; }

/// Returns whether the frame is the ramp of the site's coroutine. The site's line may be that of
/// the function's end.
bool is_ramp(const source_place& frame, const site_info& coroutine) {
    if (!has_line(frame.declared)) return is_same_function(frame.function, coroutine.label);
    return last_part(frame.declared.file) == last_part(coroutine.file) &&
           static_cast<std::uint32_t>(frame.declared.line) <= coroutine.line;
}

/// Returns the first frame from `at` on that is neither ours nor the standard library's; the last
/// one if there is none.
const source_place* program_frame(const calls& frames, std::size_t at) {
    const source_place* found = nullptr;
    for (; at < frames.size(); ++at) {
        if (frames[at].at.file.empty() && frames[at].function.empty()) continue;
        found = &frames[at];
        if (!is_own(*found) && !found->function.starts_with("std::")) break;
    }
    return found;
}

class namer {
public:
    explicit namer(trace& loaded) : loaded_(loaded), files_(loaded) {}

    void name(spawn_place& place) {
        if (place.site >= loaded_.sites.size()) return;
        if (!place.calls.empty()) return name_by_calls(place);
        if (place.inside == 0) return;
        site_info& coroutine = loaded_.sites[place.site];
        const calls& inner = find(place.inside);
        if (inner.size() == 1 && !has_line(inner[0].at)) return name_by_symbols(place, inner[0]);
        std::size_t ramp = 0;
        while (ramp < inner.size() && is_own(inner[ramp])) ++ramp;
        if (ramp == inner.size() || !is_ramp(inner[ramp], coroutine)) return;
        if (has_line(inner[ramp].declared)) heads_[place.site] = inner[ramp].declared.line;
        const source_place* call = program_frame(inner, ramp + 1);
        set_call(place, call != nullptr ? call : program_frame(find(place.caller), 0));
    }

    /// Moves the sites of coroutines to their heads. Must be called last, because name() compares
    /// with the recorded lines.
    void move_sites() {
        correct_ends();
        for (const auto& [site, line] : heads_)
            loaded_.sites[site].line = static_cast<std::uint32_t>(line);
    }

private:
    const calls& find(std::uint64_t address) {
        const auto [known, is_new] = known_.try_emplace(address);
        if (is_new) known->second = files_.find(address);
        return known->second;
    }

    void set_call(spawn_place& place, const source_place* call) {
        if (call == nullptr) return;
        place.function = qualified_name(call->function);
        const code_line& line = shown_line(*call);
        if (!has_line(line)) return;
        place.file = as_in_sites(line.file);
        place.line = static_cast<std::uint32_t>(line.line);
    }

    /// The operation's site has the line of the co_await expression of which the spawn is part, if
    /// there is one. An operation with a token such as use_awaitable is started behind that
    /// expression, outside of the calls of the program.
    void name_by_calls(spawn_place& place) {
        const source_place* const call = spawning_call(
            loaded_, place.calls, [this](std::uint64_t at) -> const calls& { return find(at); });
        set_call(place, call);
        const site_info& operation = loaded_.sites[place.site];
        if (operation.file.empty() || operation.line == 0) return;
        const std::string_view function = qualified_name(operation.function);
        if (call != nullptr && last_name(function) != last_name(place.function)) return;
        place.function = function;
        place.file = operation.file;
        place.line = operation.line;
    }

    void name_by_symbols(spawn_place& place, const source_place& inner) {
        if (inner.function.empty()) return;
        const bool inlined = is_body(inner.function) ||
                             !is_same_function(inner.function, loaded_.sites[place.site].label);
        place.function = qualified_name(inlined ? std::string_view(inner.function)
                                                : find(place.caller).back().function);
    }

    /// g++ 12 gives a call in the operand of a co_await the line of the coroutine's closing brace.
    /// Such a place gets the line of the await of the spawned task, if its parent awaits it; else
    /// only the function is known.
    void correct_ends() {
        std::set<std::pair<std::string_view, std::uint32_t>> ends;
        for (const auto& [site, line] : heads_) {
            const site_info& coroutine = loaded_.sites[site];
            if (coroutine.line != static_cast<std::uint32_t>(line))
                ends.emplace(last_part(coroutine.file), coroutine.line);
        }
        std::vector<bool> wrong;
        for (spawn_place& each : loaded_.spawn_places) {
            wrong.push_back(ends.contains({last_part(each.file), each.line}));
            if (!wrong.back()) continue;
            each.file.clear();
            each.line = 0;
        }
        if (std::ranges::find(wrong, true) == wrong.end()) return;
        const packed_list<task_info>& tasks = loaded_.tasks;
        for (const await_info& await : loaded_.awaits) {
            if (await.awaited >= loaded_.tasks.size() || await.site >= loaded_.sites.size())
                continue;
            const task_info& spawned = tasks[await.awaited];
            if (spawned.parent != await.task || spawned.spawn_place >= wrong.size() ||
                !wrong[spawned.spawn_place])
                continue;
            spawn_place& place = loaded_.spawn_places[spawned.spawn_place];
            if (!place.file.empty()) continue;
            place.file = loaded_.sites[await.site].file;
            place.line = loaded_.sites[await.site].line;
        }
    }

    /// Returns the name that sites have for the file. Debug information has absolute paths.
    std::string as_in_sites(const std::string& file) {
        const auto [known, is_new] = files_of_sites_.try_emplace(file, file);
        if (!is_new) return known->second;
        for (const site_info& each : loaded_.sites)
            if (!each.file.empty() && file.size() > each.file.size() && file.ends_with(each.file) &&
                file[file.size() - each.file.size() - 1] == '/')
                known->second = each.file;
        return known->second;
    }

    trace& loaded_;
    dwarf_files files_;
    std::unordered_map<std::string, std::string> files_of_sites_;
    std::unordered_map<std::uint64_t, calls> known_;
    std::unordered_map<std::uint32_t, int> heads_;  // lines, by site
};

}  // namespace

void name_spawn_places(trace& loaded) {
    if (loaded.spawn_places.empty()) return;
    namer names(loaded);
    for (spawn_place& each : loaded.spawn_places) names.name(each);
    names.move_sites();
}

}  // namespace coroscope::analysis
