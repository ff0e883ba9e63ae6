// SPDX-License-Identifier: Apache-2.0
#include "read_elf.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include <elf.h>
#include <unistd.h>

namespace coroscope::tools {
namespace {

constexpr std::uint64_t largest_part = std::uint64_t{1} << 29;  // most bytes read at once
constexpr std::size_t longest_build_id = 64;

/// Returns fewer bytes at the end of the file, or none for a part that is too large.
std::string read_part(int file, std::uint64_t at, std::uint64_t bytes) {
    if (bytes > largest_part || at > largest_part << 20) return {};
    std::string part(bytes, '\0');
    std::size_t filled = 0;
    while (filled < part.size()) {
        const ssize_t got = ::pread(file, part.data() + filled, part.size() - filled,
                                    static_cast<off_t>(at + filled));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        filled += static_cast<std::size_t>(got);
    }
    part.resize(filled);
    return part;
}

/// Returns the complete entries of a part.
template <class Entry>
std::vector<Entry> entries_of(const std::string& part) {
    std::vector<Entry> entries(part.size() / sizeof(Entry));
    if (!entries.empty()) std::memcpy(entries.data(), part.data(), entries.size() * sizeof(Entry));
    return entries;
}

std::string_view text_at(const std::string& table, std::uint64_t at) {
    if (at >= table.size()) return {};
    const std::string_view rest = std::string_view(table).substr(at);
    return rest.substr(0, rest.find('\0'));
}

std::string hexadecimal_digits(std::string_view bytes) {
    std::string text;
    for (const char each : bytes) {
        const auto byte = static_cast<unsigned char>(each);
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

class elf_reader {
public:
    elf_reader(int file, const Elf64_Ehdr& header) : file_(file), header_(header) {}

    elf_readings read() {
        into_.type = header_.e_type;
        into_.machine = header_.e_machine;
        read_segments();
        read_sections();
        return into_;
    }

private:
    [[nodiscard]] std::string contents_of(const Elf64_Shdr& section) const {
        return section.sh_type == SHT_NOBITS ? std::string()
                                             : read_part(file_, section.sh_offset, section.sh_size);
    }

    [[nodiscard]] std::string strings_of(const Elf64_Shdr& section) const {
        return section.sh_link < sections_.size() ? contents_of(sections_[section.sh_link])
                                                  : std::string();
    }

    void read_segments() {
        if (header_.e_phentsize != sizeof(Elf64_Phdr)) return;
        segments_ = entries_of<Elf64_Phdr>(
            read_part(file_, header_.e_phoff, std::uint64_t{header_.e_phnum} * sizeof(Elf64_Phdr)));
        for (const Elf64_Phdr& each : segments_) {
            if (each.p_type == PT_INTERP) into_.interpreted = true;
            if (each.p_type == PT_DYNAMIC) read_dynamic(each);
            if (each.p_type == PT_NOTE)
                read_build_id(read_part(file_, each.p_offset, each.p_filesz), each.p_align);
        }
    }

    /// Reads the part of the file that is loaded at an address: the loader's tables have addresses,
    /// not offsets.
    [[nodiscard]] std::string at_address(std::uint64_t address, std::uint64_t bytes) const {
        for (const Elf64_Phdr& each : segments_)
            if (each.p_type == PT_LOAD && address >= each.p_vaddr &&
                address - each.p_vaddr < each.p_filesz)
                return read_part(file_, each.p_offset + (address - each.p_vaddr),
                                 std::min(bytes, each.p_filesz - (address - each.p_vaddr)));
        return {};
    }

    void read_dynamic(const Elf64_Phdr& segment) {
        const auto entries =
            entries_of<Elf64_Dyn>(read_part(file_, segment.p_offset, segment.p_filesz));
        std::uint64_t strings = 0;
        std::uint64_t bytes = 0;
        for (const Elf64_Dyn& each : entries) {
            if (each.d_tag == DT_STRTAB) strings = each.d_un.d_ptr;
            if (each.d_tag == DT_STRSZ) bytes = each.d_un.d_val;
            if (each.d_tag == DT_FLAGS_1) into_.pie = (each.d_un.d_val & DF_1_PIE) != 0;
        }
        const std::string table = at_address(strings, bytes);
        for (const Elf64_Dyn& each : entries) {
            if (each.d_tag == DT_NULL) break;
            if (each.d_tag == DT_NEEDED) into_.needed.emplace_back(text_at(table, each.d_un.d_val));
        }
    }

    void read_build_id(std::string_view notes, std::uint64_t alignment) {
        const std::size_t unit = alignment == 8 ? 8 : 4;
        const auto padded = [unit](std::size_t size) { return (size + unit - 1) / unit * unit; };
        while (notes.size() >= sizeof(Elf64_Nhdr)) {
            Elf64_Nhdr note;
            std::memcpy(&note, notes.data(), sizeof note);
            const std::size_t contents = sizeof note + padded(note.n_namesz);
            if (contents > notes.size() || note.n_descsz > notes.size() - contents) return;
            if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz <= longest_build_id &&
                notes.substr(sizeof note, 4) == std::string_view("GNU\0", 4))
                into_.build_id = hexadecimal_digits(notes.substr(contents, note.n_descsz));
            notes.remove_prefix(std::min(contents + padded(note.n_descsz), notes.size()));
        }
    }

    void read_sections() {
        if (header_.e_shentsize != sizeof(Elf64_Shdr)) return;
        sections_ = entries_of<Elf64_Shdr>(
            read_part(file_, header_.e_shoff, std::uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr)));
        if (header_.e_shstrndx >= sections_.size()) return;
        const std::string names = contents_of(sections_[header_.e_shstrndx]);
        for (const Elf64_Shdr& each : sections_) read_section(each, text_at(names, each.sh_name));
    }

    void read_section(const Elf64_Shdr& section, std::string_view name) {
        if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM) read_symbols(section);
        if (section.sh_type == SHT_NOBITS) return;
        if (name == ".debug_line" || name == ".zdebug_line") into_.has_debug_lines = true;
        if (name == ".gnu_debuglink") into_.debug_link = text_at(contents_of(section), 0);
    }

    void read_symbols(const Elf64_Shdr& section) {
        if (section.sh_type == SHT_SYMTAB) into_.has_symbols = true;
        if (into_.has_runtime) return;
        const std::string names = strings_of(section);
        for (const Elf64_Sym& each : entries_of<Elf64_Sym>(contents_of(section)))
            if (each.st_shndx != SHN_UNDEF && is_runtime_symbol(text_at(names, each.st_name))) {
                into_.has_runtime = true;
                return;
            }
    }

    int file_;
    Elf64_Ehdr header_;
    std::vector<Elf64_Phdr> segments_;
    std::vector<Elf64_Shdr> sections_;
    elf_readings into_;
};

}  // namespace

bool is_runtime_symbol(std::string_view name) {
    return name.starts_with("_ZN9coroscope7runtime") || name.starts_with("_ZNK9coroscope7runtime");
}

std::uint16_t own_elf_machine() {
#if defined(__x86_64__)
    return EM_X86_64;
#elif defined(__aarch64__)
    return EM_AARCH64;
#else
    return EM_NONE;
#endif
}

std::optional<elf_readings> read_elf(int file) {
    const auto header = entries_of<Elf64_Ehdr>(read_part(file, 0, sizeof(Elf64_Ehdr)));
    if (header.empty()) return std::nullopt;
    return elf_reader(file, header.front()).read();
}

}  // namespace coroscope::tools
