// SPDX-License-Identifier: Apache-2.0
#include "spelling.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include <fmt/format.h>

#include "output.hpp"

namespace coroscope::tools {
namespace {

/// Returns the number of edits that turn one text into the other: insert, remove or replace a
/// letter, or swap two neighbours.
std::size_t distance(std::string_view one, std::string_view other) {
    std::vector<std::size_t> before(other.size() + 1);
    std::vector<std::size_t> last(other.size() + 1);
    std::vector<std::size_t> now(other.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t at = 1; at <= one.size(); ++at) {
        now[0] = at;
        for (std::size_t to = 1; to <= other.size(); ++to) {
            const bool same = one[at - 1] == other[to - 1];
            now[to] = std::min({last[to] + 1, now[to - 1] + 1, last[to - 1] + (same ? 0U : 1U)});
            const bool swapped =
                at > 1 && to > 1 && one[at - 1] == other[to - 2] && one[at - 2] == other[to - 1];
            if (swapped) now[to] = std::min(now[to], before[to - 2] + 1);
        }
        before.swap(last);
        last.swap(now);
    }
    return last.back();
}

std::string unknown(std::string_view what, std::string_view given,
                    const std::vector<std::string>& names) {
    std::string text = fmt::format("there is no {} {}", what, one_line(given));
    if (const std::string meant = nearest_name(given, names); !meant.empty())
        text += fmt::format("; did you mean {}?", meant);
    return text;
}

std::vector<std::string> option_names(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* each : command.get_options())
        for (const std::string& name : each->get_lnames()) names.push_back("--" + name);
    return names;
}

/// Returns whether the next argument is the value of this one.
bool takes_next(const CLI::App& command, const std::string& argument) {
    if (!argument.starts_with('-') || argument.find('=') != std::string::npos) return false;
    const CLI::Option* option = command.get_option_no_throw(argument);
    return option != nullptr && option->get_items_expected_min() > 0;
}

std::string check_options(const CLI::App& command, const std::vector<std::string>& arguments,
                          std::size_t first) {
    const std::vector<std::string> names = option_names(command);
    for (std::size_t at = first; at < arguments.size() && arguments[at] != "--"; ++at) {
        const std::string& argument = arguments[at];
        const std::string name = argument.substr(0, argument.find('='));
        if (name.starts_with("--") && std::ranges::find(names, name) == names.end())
            return unknown("option", name, names);
        if (takes_next(command, argument)) ++at;
    }
    return {};
}

}  // namespace

std::string nearest_name(std::string_view given, const std::vector<std::string>& names) {
    constexpr std::size_t longest = 64;  // longer ones are no mistyped names
    if (given.size() > longest) return {};
    // Of two names that are equally far, the one with the same letters was meant.
    std::size_t least = 2 * (std::max<std::size_t>(given.size() / 3, 1) + 1);
    std::string nearest;
    for (const std::string& each : names) {
        const std::size_t far =
            2 * distance(given, each) + (std::ranges::is_permutation(given, each) ? 0U : 1U);
        if (far >= least) continue;
        least = far;
        nearest = each;
    }
    return nearest;
}

std::string check_spelling(const CLI::App& root, const std::vector<std::string>& arguments) {
    if (arguments.empty()) return {};
    if (arguments.front().starts_with('-')) return check_options(root, arguments, 0);
    std::vector<std::string> names;
    for (const CLI::App* each : root.get_subcommands(nullptr)) names.push_back(each->get_name());
    const auto found = std::ranges::find(names, arguments.front());
    if (found == names.end()) return unknown("command", arguments.front(), names);
    return check_options(*root.get_subcommand(*found), arguments, 1);
}

}  // namespace coroscope::tools
