// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether code belongs to the program or to a library of asynchronous operations, by the symbols in
// the file of the code.

#include <cstdint>

namespace coroscope::runtime::inline calls {

enum class code_owner : std::uint8_t {
    unknown,  ///< the file has no symbol for the code, or cannot be read
    library,  ///< a function of Asio, of the standard library, or ours
    program,  ///< any other function
};

/// Returns the owner of the function at that address. Reads the symbol table of the function's
/// file, up to the function: some milliseconds for a large one. Not async-signal-safe.
code_owner find_code_owner(std::uintptr_t address) noexcept;

}  // namespace coroscope::runtime::inline calls
