// SPDX-License-Identifier: Apache-2.0
#include "code_owner.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace coroscope::runtime::inline calls {
namespace {

// Makes its system calls without the C library's functions, which the program may replace.
class opened_file {
public:
    explicit opened_file(const char* path) noexcept
        : descriptor_(::syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)) {
    }
    ~opened_file() {
        if (descriptor_ >= 0) ::syscall(SYS_close, descriptor_);
    }
    opened_file(const opened_file&) = delete;
    opened_file& operator=(const opened_file&) = delete;

    // Returns the number of bytes that were read.
    std::size_t read(void* to, std::size_t bytes, std::uint64_t from) const noexcept {
        const long done = ::syscall(SYS_pread64, descriptor_, to, bytes, from);
        return done < 0 ? 0 : static_cast<std::size_t>(done);
    }
    template <class Part>
    bool read(Part& part, std::uint64_t from) const noexcept {
        return read(&part, sizeof part, from) == sizeof part;
    }

private:
    long descriptor_;
};

struct code_place {
    std::uintptr_t wanted;
    std::uintptr_t in_file = 0;  // the address in the file's numbering
    const char* path = nullptr;  // null: not found
};

// The program itself has no name in the list.
int look_at(dl_phdr_info* info, std::size_t, void* data) noexcept {
    auto& place = *static_cast<code_place*>(data);
    const std::uintptr_t relative = place.wanted - info->dlpi_addr;
    for (int at = 0; at < info->dlpi_phnum; ++at) {
        const ElfW(Phdr)& segment = info->dlpi_phdr[at];
        if (segment.p_type != PT_LOAD || relative - segment.p_vaddr >= segment.p_memsz) continue;
        place.in_file = relative;
        place.path = *info->dlpi_name == '\0' ? "/proc/self/exe" : info->dlpi_name;
        return 1;
    }
    return 0;
}

bool find_symbols(const opened_file& file, Elf64_Shdr& symbols, Elf64_Shdr& texts) noexcept {
    Elf64_Ehdr header;
    if (!file.read(header, 0) || !std::equal(header.e_ident, header.e_ident + SELFMAG, ELFMAG) ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr))
        return false;
    for (unsigned at = 0; at < header.e_shnum; ++at) {
        if (!file.read(symbols, header.e_shoff + at * sizeof symbols)) return false;
        if (symbols.sh_type != SHT_SYMTAB || symbols.sh_entsize != sizeof(Elf64_Sym)) continue;
        return file.read(texts, header.e_shoff + symbols.sh_link * sizeof texts);
    }
    return false;
}

bool contains(const Elf64_Sym& symbol, std::uint64_t address) noexcept {
    return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && address - symbol.st_value < symbol.st_size;
}

bool find_symbol(const opened_file& file, const Elf64_Shdr& symbols, std::uint64_t address,
                 Elf64_Sym& found) noexcept {
    Elf64_Sym some[128];
    for (std::uint64_t done = 0; done < symbols.sh_size;) {
        const std::size_t bytes =
            file.read(some, std::min<std::uint64_t>(sizeof some, symbols.sh_size - done),
                      symbols.sh_offset + done);
        const std::size_t count = bytes / sizeof some[0];
        if (count == 0) return false;
        for (std::size_t at = 0; at < count; ++at) {
            if (!contains(some[at], address)) continue;
            found = some[at];
            return true;
        }
        done += count * sizeof some[0];
    }
    return false;
}

// Asio's customisation points are in namespaces of their own, such as asio_prefer_fn.
bool is_customisation(std::string_view scoped) noexcept {
    scoped.remove_prefix(std::min(scoped.find_first_not_of("0123456789"), scoped.size()));
    return scoped.starts_with("boost_asio_") || scoped.starts_with("asio_");
}

// `name` is the begin of a symbol's name.
code_owner owner_of(std::string_view name) noexcept {
    if (!name.starts_with("_Z")) return code_owner::program;
    name.remove_prefix(2);
    while (name.starts_with('Z')) name.remove_prefix(1);  // local to a function
    if (name.starts_with("St")) return code_owner::library;
    if (!name.starts_with('N')) return code_owner::program;
    // Behind the qualifiers: const, volatile, & and &&.
    name.remove_prefix(std::min(name.find_first_not_of("rVKRO", 1), name.size()));
    for (const std::string_view each :
         {"5boost4asio", "4asio", "9coroscope", "St", "Sa", "Ss", "9__gnu_cxx"})
        if (name.starts_with(each)) return code_owner::library;
    return is_customisation(name) ? code_owner::library : code_owner::program;
}

}  // namespace

code_owner find_code_owner(std::uintptr_t address) noexcept {
    code_place place{address};
    ::dl_iterate_phdr(look_at, &place);
    if (place.path == nullptr) return code_owner::unknown;
    const opened_file file(place.path);
    Elf64_Shdr symbols;
    Elf64_Shdr texts;
    Elf64_Sym found;
    if (!find_symbols(file, symbols, texts) || !find_symbol(file, symbols, place.in_file, found))
        return code_owner::unknown;
    char name[32];
    const std::size_t bytes = file.read(name, sizeof name, texts.sh_offset + found.st_name);
    return bytes == 0 ? code_owner::unknown : owner_of({name, bytes});
}

}  // namespace coroscope::runtime::inline calls
