// SPDX-License-Identifier: Apache-2.0
#include "scope_calls.hpp"

#include <algorithm>
#include <cstddef>

#include <coroscope/trace/format.hpp>

#include "../../symbols/function_symbol.hpp"
#include "../../symbols/own_frames.hpp"
#include "../../symbols/spawn_calls.hpp"

namespace coroscope::analysis::inline profiles {
namespace {

// Returns the function's name as the recorder writes it: without the result, the parameters and
// anonymous namespaces.
std::string short_name(std::string_view function) {
    constexpr std::string_view unnamed = "(anonymous namespace)::";
    std::string name(qualified_name(function));
    for (std::size_t at = name.find(unnamed); at != std::string::npos; at = name.find(unnamed, at))
        name.erase(at, unnamed.size());
    return name;
}

// Erases the calls up to the last one that is enclosing; all, if there is none.
template <class Calls, class IsEnclosing>
void begin_behind(Calls& of, const IsEnclosing& is_enclosing) {
    const auto last = std::find_if(of.rbegin(), of.rend(), is_enclosing);
    of.erase(of.begin(), last == of.rend() ? of.end() : last.base());
}

bool is_address(std::uint64_t entry) {
    return entry != coroscope::trace::stack_cut && entry != coroscope::trace::stack_given_up;
}

}  // namespace

const call_stack* scope_calls::stack_of(std::uint32_t event) const {
    const auto note = std::ranges::lower_bound(from_.notes, event, {}, &event_note::event);
    const bool has_stack =
        note != from_.notes.end() && note->event == event && note->stack < from_.stacks.size();
    return has_stack ? &from_.stacks[note->stack] : nullptr;
}

const std::vector<scope_calls::function>& scope_calls::functions_at(std::uint64_t address) {
    const auto [found, is_new] = functions_.try_emplace(address);
    if (!is_new) return found->second;
    if (!files_) files_.emplace(from_);
    for (const source_place& each : files_->find(address))
        if (!each.function.empty())
            found->second.push_back({short_name(each.function), is_beneath(each), is_own(each)});
    return found->second;
}

scope_calls::calls scope_calls::calls_of(const call_stack& stack) {
    calls found;
    const std::size_t end =
        std::min<std::size_t>(stack.first + std::size_t{stack.count}, from_.frames.size());
    for (std::size_t at = stack.first; at < end; ++at)
        if (is_address(from_.frames[at]))
            for (const function& each : functions_at(from_.frames[at]))
                if (!found.empty() || !each.is_own) found.push_back(&each);
    std::ranges::reverse(found);
    return found;
}

void scope_calls::begin_in_scope(calls& of, std::uint32_t enclosing) {
    const call_stack* const stack = stack_of(enclosing);
    const calls outer = stack == nullptr ? calls() : calls_of(*stack);
    begin_behind(of, [&](const function* each) {
        return !outer.empty() && each->name == outer.back()->name;
    });
}

void scope_calls::begin_in_task(calls& of, std::uint32_t task) const {
    const std::uint32_t site = from_.tasks[task].spawn_site;
    const std::string_view coroutine =
        site < from_.sites.size() ? std::string_view(from_.sites[site].label) : "";
    const auto is_coroutine = [&](const function* each) {
        return is_same_function(each->name, coroutine);
    };
    const auto is_library = [](const function* each) { return each->in_library; };
    if (std::ranges::any_of(of, is_coroutine))
        begin_behind(of, is_coroutine);
    else
        begin_behind(of, is_library);
}

std::vector<std::string_view> scope_calls::of(std::uint32_t event) {
    const call_stack* const stack = stack_of(event);
    if (stack == nullptr) return {};
    const analysis::event& scope = from_.events[event];
    calls found = calls_of(*stack);
    if (scope.parent != none)
        begin_in_scope(found, scope.parent);
    else if (scope.task < from_.tasks.size())
        begin_in_task(found, scope.task);
    std::vector<std::string_view> names;
    for (const function* each : found) names.emplace_back(each->name);
    return names;
}

}  // namespace coroscope::analysis::inline profiles
