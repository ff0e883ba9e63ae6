// SPDX-License-Identifier: Apache-2.0
#include "scope_calls.hpp"

#include <algorithm>
#include <cstddef>

#include <coroscope/trace/format.hpp>

#include "../../symbols/function_symbol.hpp"
#include "../../symbols/own_frames.hpp"

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

const std::vector<std::string>& scope_calls::functions_at(std::uint64_t address) {
    const auto [found, is_new] = functions_.try_emplace(address);
    if (!is_new) return found->second;
    if (!files_) files_.emplace(from_);
    for (const source_place& each : files_->find(address))
        if (!each.function.empty() && !is_own(each))
            found->second.push_back(short_name(each.function));
    return found->second;
}

std::vector<std::string_view> scope_calls::functions_of(const call_stack& stack) {
    std::vector<std::string_view> functions;
    const std::size_t end =
        std::min<std::size_t>(stack.first + std::size_t{stack.count}, from_.frames.size());
    for (std::size_t at = stack.first; at < end; ++at) {
        if (!is_address(from_.frames[at])) continue;
        const std::vector<std::string>& calls = functions_at(from_.frames[at]);
        functions.insert(functions.end(), calls.begin(), calls.end());
    }
    std::ranges::reverse(functions);
    return functions;
}

std::vector<std::string_view> scope_calls::of(std::uint32_t event) {
    const call_stack* const stack = stack_of(event);
    if (stack == nullptr) return {};
    const analysis::event& scope = from_.events[event];
    std::vector<std::string_view> calls = functions_of(*stack);
    const auto begin_behind = [&](const auto& is_enclosing) {
        const auto last = std::find_if(calls.rbegin(), calls.rend(), is_enclosing);
        calls.erase(calls.begin(), last == calls.rend() ? calls.end() : last.base());
    };
    if (scope.parent != none) {
        const call_stack* const outer = stack_of(scope.parent);
        const std::vector<std::string_view> enclosing =
            outer == nullptr ? std::vector<std::string_view>() : functions_of(*outer);
        begin_behind(
            [&](std::string_view each) { return !enclosing.empty() && each == enclosing.back(); });
    } else if (scope.task < from_.tasks.size()) {
        const std::uint32_t site = from_.tasks[scope.task].spawn_site;
        const std::string_view coroutine =
            site < from_.sites.size() ? std::string_view(from_.sites[site].label) : "";
        begin_behind([&](std::string_view each) { return is_same_function(each, coroutine); });
    }
    return calls;
}

}  // namespace coroscope::analysis::inline profiles
