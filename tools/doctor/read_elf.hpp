// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "readings.hpp"

namespace coroscope::tools {

/// Reads a 64-bit little-endian ELF file from an open descriptor. Trusts no number of the file: a
/// part that is damaged or missing counts as absent. Empty without a whole ELF header.
[[nodiscard]] std::optional<elf_readings> read_elf(int file);

/// Returns whether this mangled name belongs to the recorder.
[[nodiscard]] bool is_runtime_symbol(std::string_view name);

/// The machine for which the command was compiled, in ELF's numbers.
[[nodiscard]] std::uint16_t own_elf_machine();

}  // namespace coroscope::tools
