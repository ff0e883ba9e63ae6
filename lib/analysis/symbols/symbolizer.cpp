// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/symbolizer.hpp>

#include <algorithm>

#include "dwarf_files.hpp"

namespace coroscope::analysis {
namespace {

// Names come from files: no line of a stack may become two.
std::string one_line(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
    return text;
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

}  // namespace

symbolizer::symbolizer(const trace& loaded)
    : loaded_(loaded), files_(std::make_unique<dwarf_files>(loaded)) {}
symbolizer::~symbolizer() = default;

std::string symbolizer::look_up(std::uint64_t address) {
    const source_place place = files_->find(address);
    const std::string offset = offset_in(module_of(loaded_, address), address);
    const std::string& function = place.function.empty() ? offset : place.function;
    if (!place.file.empty())
        return one_line(place.file + "(" + std::to_string(place.line) + "): " + function);
    return one_line(place.function.empty() ? offset : offset + ": " + function);
}

const std::string& symbolizer::frame(std::uint64_t address) {
    const auto [place, is_new] = known_.try_emplace(address);
    if (is_new) place->second = look_up(address);
    return place->second;
}

std::string symbolizer::stack(const call_stack& of) {
    std::string text;
    for (std::size_t at = 0; at < of.count && of.first + at < loaded_.frames.size(); ++at) {
        if (at != 0) text += '\n';
        text += frame(loaded_.frames[of.first + at]);
    }
    return text;
}

}  // namespace coroscope::analysis
