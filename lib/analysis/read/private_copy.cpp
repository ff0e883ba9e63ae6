// SPDX-License-Identifier: Apache-2.0
#include "private_copy.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace coroscope::analysis::inline reading {

std::optional<private_copy> private_copy::of(std::initializer_list<std::string> paths) {
    std::error_code error;
    const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
    if (error) return std::nullopt;
    std::string folder = parent / "coroscope-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) return std::nullopt;
    private_copy copy(folder);
    for (const std::string& path : paths) {
        const std::filesystem::path target =
            std::filesystem::path(folder) / std::filesystem::path(path).filename();
        std::filesystem::copy_file(path, target, error);
        if (error) return std::nullopt;
        std::filesystem::permissions(target, std::filesystem::perms::owner_write,
                                     std::filesystem::perm_options::add, error);
        if (copy.first_.empty()) copy.first_ = target;
    }
    return copy;
}

private_copy::~private_copy() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

}  // namespace coroscope::analysis::inline reading
