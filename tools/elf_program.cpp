// SPDX-License-Identifier: Apache-2.0
#include "elf_program.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace coroscope::tools {
namespace {

#if defined(__x86_64__)
constexpr std::uint16_t our_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t our_machine = EM_AARCH64;
#else
constexpr std::uint16_t our_machine = EM_NONE;
#endif

constexpr std::uint64_t longest_path = 4096;

template <class Value>
bool read_at(std::ifstream& file, std::uint64_t offset, Value& value) {
    file.clear();
    file.seekg(static_cast<std::streamoff>(offset));
    return static_cast<bool>(file.read(reinterpret_cast<char*>(&value), sizeof value));
}

bool is_elf(const Elf64_Ehdr& header) { return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0; }

bool is_of_our_machine(const Elf64_Ehdr& header) {
    return header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
           (our_machine == EM_NONE || header.e_machine == our_machine);
}

/// The loader that the program asks for; empty for a static program.
std::string loader_of(std::ifstream& file, const Elf64_Ehdr& header) {
    for (std::uint64_t at = 0; at < header.e_phnum; ++at) {
        Elf64_Phdr part;
        if (!read_at(file, header.e_phoff + at * sizeof part, part)) return {};
        if (part.p_type != PT_INTERP) continue;
        std::string path(std::min<std::uint64_t>(part.p_filesz, longest_path), '\0');
        file.seekg(static_cast<std::streamoff>(part.p_offset));
        file.read(path.data(), static_cast<std::streamsize>(path.size()));
        return path;
    }
    return {};
}

std::string obstacle_in_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    Elf64_Ehdr header{};
    if (!read_at(file, 0, header) || !is_elf(header)) return {};
    if (!is_of_our_machine(header)) return "it is built for another architecture";
    if (header.e_phentsize != sizeof(Elf64_Phdr)) return {};
    const std::string loader = loader_of(file, header);
    if (loader.empty()) return "it is statically linked";
    if (loader.find("musl") != std::string::npos) return "it uses the C library musl";
    return {};
}

/// The kernel raises the privileges of a program that gains another user, group or capability. The
/// loader then ignores LD_PRELOAD.
std::string obstacle_in_privileges(const std::string& path) {
    struct stat about{};
    if (::stat(path.c_str(), &about) != 0) return {};
    if ((about.st_mode & S_ISUID) != 0 && about.st_uid != ::getuid()) return "it is set-user-ID";
    if ((about.st_mode & S_ISGID) != 0 && about.st_gid != ::getgid()) return "it is set-group-ID";
    const bool has_capabilities =
        ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0 && ::getuid() != 0;
    return has_capabilities ? "it has file capabilities" : "";
}

}  // namespace

std::string preload_obstacle(const std::string& path) {
    std::string obstacle = obstacle_in_file(path);
    return obstacle.empty() ? obstacle_in_privileges(path) : obstacle;
}

}  // namespace coroscope::tools
