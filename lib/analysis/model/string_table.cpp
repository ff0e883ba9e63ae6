// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/string_table.hpp>

#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace coroscope::analysis {
namespace {

std::string demangled(const std::string& name) {
    if (name.size() <= 1) return name;
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
    return text != nullptr ? std::string(text.get()) : name;
}

}  // namespace

std::string_view string_table::operator[](std::string_view name) {
    const auto [place, is_new] = known_.try_emplace(std::string(name));
    if (is_new) place->second = demangled(place->first);
    return place->second;
}

}  // namespace coroscope::analysis
