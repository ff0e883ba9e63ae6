// SPDX-License-Identifier: Apache-2.0
#include "preload.hpp"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "elf_program.hpp"

namespace coroscope::tools {
namespace {

constexpr std::string_view library_name = COROSCOPE_INTERPOSE_NAME;

std::filesystem::path folder_of_command() {
    std::error_code failed;
    return std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
}

/// Returns the folders with the library, for an installed command and for one in the build tree.
std::vector<std::filesystem::path> folders() {
    constexpr std::string_view origin = "$ORIGIN";
    const std::filesystem::path command = folder_of_command();
    const std::string_view installed = COROSCOPE_LIBRARIES;
    std::filesystem::path libraries = installed;
    if (installed.starts_with(origin))
        libraries = command.string().append(installed.substr(origin.size()));
    return {libraries, command / "../lib/interpose"};
}

/// Returns the path of the library; empty if it is not installed.
std::string find_library() {
    for (const std::filesystem::path& folder : folders()) {
        std::error_code failed;
        const auto found = std::filesystem::canonical(folder / library_name, failed);
        if (!failed) return found.string();
    }
    return {};
}

std::string with_present(const char* name, const std::string& value) {
    std::string assigned = std::string(name).append("=").append(value);
    const char* const present = std::getenv(name);
    if (present != nullptr && *present != '\0') assigned.append(":").append(present);
    return assigned;
}

}  // namespace

preloading preload_into(const std::string& path) {
    if (const std::string obstacle = preload_obstacle(path); !obstacle.empty())
        return {{}, obstacle};
    const std::string library = find_library();
    if (library.empty())
        return {{}, std::string(library_name).append(" is not installed beside coroscope")};
    if (library.find_first_of(" :") != std::string::npos)
        return {{}, "the loader takes no path with a space or a colon: " + library};
    // AddressSanitizer refuses to run behind another library unless it is asked not to.
    return {{with_present("LD_PRELOAD", library),
             with_present("ASAN_OPTIONS", "verify_asan_link_order=0")},
            {}};
}

}  // namespace coroscope::tools
