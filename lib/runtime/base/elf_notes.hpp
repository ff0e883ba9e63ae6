// SPDX-License-Identifier: Apache-2.0
#pragma once

// The notes of a module that is loaded: (name size, description size, type, name, description), one
// after the other, each part padded to four bytes.

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace coroscope::runtime::inline base {

constexpr std::size_t padded_note(std::size_t bytes) noexcept { return (bytes + 3) / 4 * 4; }

/// Calls `take(description, size)` for each note of that name and type.
template <class Take>
void each_note(const dl_phdr_info& module, const char* name, std::uint32_t type, const Take& take) {
    const std::size_t name_bytes = std::strlen(name) + 1;
    for (int at = 0; at < module.dlpi_phnum; ++at) {
        const ElfW(Phdr)& segment = module.dlpi_phdr[at];
        if (segment.p_type != PT_NOTE) continue;
        const std::uintptr_t place = module.dlpi_addr + segment.p_vaddr;
        const char* notes = reinterpret_cast<const char*>(place);
        for (std::size_t left = segment.p_filesz; left >= sizeof(ElfW(Nhdr));) {
            ElfW(Nhdr) note;
            std::memcpy(&note, notes, sizeof note);
            const char* const its_name = notes + sizeof note;
            const std::size_t whole =
                sizeof note + padded_note(note.n_namesz) + padded_note(note.n_descsz);
            if (whole > left) break;
            if (note.n_type == type && note.n_namesz == name_bytes &&
                std::memcmp(its_name, name, name_bytes) == 0)
                take(its_name + padded_note(note.n_namesz), std::size_t{note.n_descsz});
            notes += whole;
            left -= whole;
        }
    }
}

}  // namespace coroscope::runtime::inline base
