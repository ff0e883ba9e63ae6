// SPDX-License-Identifier: Apache-2.0
#pragma once

// The call of a program that spawned a task by a function of Asio, among the calls that were on the
// stack.

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include <coroscope/analysis/model.hpp>

#include "dwarf_files.hpp"
#include "function_symbol.hpp"
#include "own_frames.hpp"

namespace coroscope::analysis::inline symbols {

/// Returns whether the file is a header of Asio or of the standard library, or one of ours.
inline bool is_library_file(const code_line& place) {
    return in_own_header(place) || place.file.find("boost/asio/") != std::string::npos ||
           place.file.find("include/asio/") != std::string::npos ||
           place.file.find("include/c++/") != std::string::npos;
}

/// Returns whether the function is in Asio or a library beneath it. The file decides for a function
/// without a mangled name, as of a lambda.
inline bool is_beneath(const source_place& call) {
    if (call.owner != code_owner::unknown)
        return call.in_library || call.owner == code_owner::coroscope;
    return is_library_file(call.declared.file.empty() ? call.at : call.declared);
}

/// Returns whether the function of Asio runs handlers. The calls further out have not spawned.
inline bool runs_handlers(const source_place& call) {
    constexpr std::string_view names[] = {"do_complete", "do_run_one", "do_poll_one", "do_wait_one",
                                          "complete",    "run",        "run_one",     "poll",
                                          "poll_one",    "pump"};
    return std::ranges::count(names, last_name(qualified_name(call.function))) != 0;
}

/// Returns whether the address is in the runtime's library, whose functions may have no symbols.
inline bool is_in_runtime(const trace& from, std::uint64_t address) {
    return std::ranges::any_of(from.modules, [address](const code_module& each) {
        return address - each.load_address < each.bytes &&
               each.path.find("/libcoroscope.so") != std::string::npos;
    });
}

/// Returns the innermost call that is neither ours nor Asio's; null if it is unknown. `addresses`:
/// innermost first. `find` returns the calls at an address, as dwarf_files::find() does.
template <class Find>
const source_place* spawning_call(const trace& from, const std::vector<std::uint64_t>& addresses,
                                  const Find& find) {
    for (const std::uint64_t address : addresses) {
        if (is_in_runtime(from, address)) continue;
        for (const source_place& call : find(address)) {
            if (call.function.empty()) return nullptr;
            if (!is_beneath(call)) return &call;
            if (runs_handlers(call)) return nullptr;
        }
    }
    return nullptr;
}

}  // namespace coroscope::analysis::inline symbols
