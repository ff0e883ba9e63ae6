// SPDX-License-Identifier: Apache-2.0

// The links by which a page opens a file in an editor.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <coroscope/analysis/report.hpp>
#include <fmt/format.h>

#include "../text/utf8.hpp"

namespace coroscope::analysis {
namespace {

struct known_editor {
    std::string_view name;
    std::string_view link;
};
constexpr std::array<known_editor, 8> known_editors{{
    {"vscode", "vscode://file/{file}:{line}"},
    {"vscodium", "vscodium://file/{file}:{line}"},
    {"cursor", "cursor://file/{file}:{line}"},
    {"zed", "zed://file/{file}:{line}"},
    {"clion", "clion://open?file={file}&line={line}"},
    {"idea", "idea://open?file={file}&line={line}"},
    {"sublime", "subl://open?url=file://{file}&line={line}"},
    {"emacs", "emacs://open?url=file://{file}&line={line}"},
}};

/// Schemes by which a link could run code, or show content of its own, in the page.
constexpr std::array<std::string_view, 4> refused_schemes{"javascript", "data", "vbscript", "blob"};

/// Returns the scheme of a link in lower case; empty if it has none. A browser ignores control
/// characters in a scheme, so a link must not have any.
std::string scheme_of(std::string_view link) {
    std::string scheme;
    for (const char next : link.substr(0, link.find(':'))) {
        const bool is_upper = next >= 'A' && next <= 'Z';
        const bool is_letter = is_upper || (next >= 'a' && next <= 'z');
        const bool is_other = (next >= '0' && next <= '9') || next == '+' || next == '-';
        if (!is_letter && (scheme.empty() || !is_other)) return {};
        scheme += static_cast<char>(is_upper ? next - 'A' + 'a' : next);
    }
    return link.find(':') == std::string_view::npos ? std::string() : scheme;
}

}  // namespace

std::string editor_names() {
    std::string names;
    for (const known_editor& each : known_editors)
        names.append(names.empty() ? "" : ", ").append(each.name);
    return names;
}

result<std::string> editor_link(std::string_view name) {
    const auto* const known = std::ranges::find(known_editors, name, &known_editor::name);
    if (known != known_editors.end()) return std::string(known->link);
    const std::string scheme = scheme_of(name);
    if (scheme.empty() || name.find("{file}") == std::string_view::npos)
        return failure{fmt::format("\"{}\" is neither an editor ({}) nor a link such as "
                                   "vscode://file/{{file}}:{{line}}",
                                   printable(name), editor_names())};
    if (std::ranges::find(refused_schemes, scheme) != refused_schemes.end())
        return failure{fmt::format("a link of the scheme {} would run in the page", scheme)};
    return std::string(name);
}

}  // namespace coroscope::analysis
