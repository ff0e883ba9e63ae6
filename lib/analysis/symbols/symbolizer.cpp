// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/symbolizer.hpp>

#include <algorithm>
#include <string_view>

#include <coroscope/trace/format.hpp>

#include "../text/utf8.hpp"
#include "dwarf_files.hpp"
#include "own_frames.hpp"

namespace coroscope::analysis {
namespace {

/// Returns the reason why frames are missing, if the last entry of a stack is one.
std::string_view reason_of(std::uint64_t address) {
    if (address == coroscope::trace::stack_cut) return "(more frames, which were not recorded)";
    if (address == coroscope::trace::stack_given_up)
        return "(more frames, not found: unwind tables are missing)";
    return {};
}

std::string hexadecimal(std::uint64_t value) {
    std::string digits;
    do {
        digits += "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value != 0);
    return "0x" + std::string(digits.rbegin(), digits.rend());
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

const code_module* module_of(const trace& loaded, std::uint64_t address) {
    const auto after = std::upper_bound(
        loaded.modules.begin(), loaded.modules.end(), address,
        [](std::uint64_t wanted, const code_module& each) { return wanted < each.load_address; });
    if (after == loaded.modules.begin()) return nullptr;
    const code_module& found = *(after - 1);
    return address - found.load_address < found.bytes ? &found : nullptr;
}

std::string offset_in(const code_module* module, std::uint64_t address) {
    if (module == nullptr) return hexadecimal(address);
    const std::string name = file_name(module->path);
    return (name.empty() ? "unnamed" : name) + "+" + hexadecimal(address - module->load_address);
}

std::string text_of(const source_place& place, const std::string& offset) {
    const std::string& function = place.function.empty() ? offset : place.function;
    const code_line& at = shown_line(place);
    if (!at.file.empty())
        return printable(at.file + "(" + std::to_string(at.line) + "): " + function);
    return printable(place.function.empty() ? offset : offset + ": " + function);
}

}  // namespace

symbolizer::symbolizer(const trace& loaded)
    : loaded_(loaded), files_(std::make_unique<dwarf_files>(loaded)) {}
symbolizer::~symbolizer() = default;

const symbolizer::known_frames& symbolizer::look_up(std::uint64_t address) {
    const auto [known, is_new] = known_.try_emplace(address);
    known_frames& frames = known->second;
    if (!is_new) return frames;
    if (const std::string_view reason = reason_of(address); !reason.empty()) {
        frames.texts.emplace_back(reason);
        return frames;
    }
    const std::string offset = offset_in(module_of(loaded_, address), address);
    const auto calls = files_->find(address);
    while (frames.own < calls.size() && is_own(calls[frames.own])) ++frames.own;
    for (const source_place& each : calls) frames.texts.push_back(text_of(each, offset));
    return frames;
}

const std::vector<std::string>& symbolizer::frames(std::uint64_t address) {
    return look_up(address).texts;
}

std::string symbolizer::stack(const call_stack& of) {
    std::vector<const std::string*> lines;
    std::size_t own = 0, reasons = 0;
    for (std::size_t at = 0; at < of.count && of.first + at < loaded_.frames.size(); ++at) {
        const std::uint64_t address = loaded_.frames[of.first + at];
        const known_frames& found = look_up(address);
        reasons += reason_of(address).empty() ? 0 : 1;
        if (own == lines.size()) own += found.own;
        for (const std::string& each : found.texts) lines.push_back(&each);
    }
    std::string text;
    const bool all_own = own + reasons == lines.size();
    for (std::size_t at = all_own ? 0 : own; at < lines.size(); ++at)
        text.append(text.empty() ? "" : "\n").append(*lines[at]);
    return text;
}

}  // namespace coroscope::analysis
