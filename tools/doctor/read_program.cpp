// SPDX-License-Identifier: Apache-2.0
#include "read_program.hpp"

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <elf.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "read_elf.hpp"
#include "system_files.hpp"

namespace coroscope::tools {
namespace {

class opened_program {
public:
    explicit opened_program(const std::string& path)
        : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    opened_program(const opened_program&) = delete;
    opened_program& operator=(const opened_program&) = delete;
    ~opened_program() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    [[nodiscard]] int get() const { return descriptor_; }

private:
    int descriptor_;
};

bool is_regular_file(const std::string& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

void read_form(int file, program_readings& into) {
    char text[256];
    const ssize_t got = ::pread(file, text, sizeof text, 0);
    const std::string_view start(text, got < 0 ? 0 : static_cast<std::size_t>(got));
    if (start.starts_with(ELFMAG) && start.size() > EI_DATA) {
        into.form = file_form::foreign_elf;
        if (start[EI_CLASS] != ELFCLASS64 || start[EI_DATA] != ELFDATA2LSB) return;
        auto elf = read_elf(file);
        into.form = elf ? file_form::elf : file_form::other;
        if (elf) into.elf = std::move(*elf);
    } else if (start.starts_with("#!")) {
        into.form = file_form::script;
        into.script_interpreter = trimmed(start.substr(2, start.find('\n') - 2));
    }
}

/// The kernel drops the bits of a file system that is mounted nosuid, and all under no_new_privs.
bool are_rights_ignored(int file) {
    struct statvfs system{};
    const bool nosuid = ::fstatvfs(file, &system) == 0 && (system.f_flag & ST_NOSUID) != 0;
    return nosuid || ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

void read_rights(int file, const struct stat& status, program_readings& into) {
    const bool sets_user = (status.st_mode & S_ISUID) != 0;
    const bool sets_group = (status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0;
    into.has_id_bits = sets_user || sets_group;
    into.changes_user =
        (sets_user && status.st_uid != ::getuid()) || (sets_group && status.st_gid != ::getgid());
    into.has_capabilities = ::fgetxattr(file, "security.capability", nullptr, 0) > 0;
    into.by_root = ::getuid() == 0;
    into.changes_ignored = are_rights_ignored(file);
}

/// In the folders that libdw searches.
std::string find_debug_file(const std::string& path, const elf_readings& elf) {
    constexpr const char* system_folder = "/usr/lib/debug";
    if (elf.build_id.size() > 2) {
        std::string named = std::string(system_folder) + "/.build-id/" + elf.build_id.substr(0, 2) +
                            '/' + elf.build_id.substr(2) + ".debug";
        if (is_regular_file(named)) return named;
    }
    if (elf.debug_link.empty() || elf.debug_link.find('/') != std::string::npos) return {};
    std::error_code failed;
    const std::filesystem::path whole = std::filesystem::absolute(path, failed).lexically_normal();
    const std::string folder = whole.parent_path().string();
    for (const std::string& each : {folder, folder + "/.debug", system_folder + folder})
        if (std::string named = each + '/' + elf.debug_link;
            named != whole.string() && is_regular_file(named))
            return named;
    return {};
}

analysis::failure failed_with(int error) { return {std::generic_category().message(error)}; }

}  // namespace

analysis::result<program_readings> read_program(const std::string& path) {
    const opened_program file(path);
    if (file.get() < 0) return failed_with(errno);
    struct stat status{};
    if (::fstat(file.get(), &status) != 0) return failed_with(errno);
    if (S_ISDIR(status.st_mode)) return analysis::failure{"is a directory"};
    if (!S_ISREG(status.st_mode)) return analysis::failure{"is not a regular file"};
    program_readings into;
    into.path = path;
    into.own_machine = own_elf_machine();
    read_form(file.get(), into);
    read_rights(file.get(), status, into);
    into.debug_file = find_debug_file(path, into.elf);
    return into;
}

}  // namespace coroscope::tools
