// SPDX-License-Identifier: Apache-2.0
#include "environment_file.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "../../trace/environment_variables.hpp"

namespace coroscope::runtime::inline process {
namespace {

constexpr const char* owner_variable = trace::name_of(trace::variable::trace_owner);
constexpr std::size_t longest_path = 4096;
constexpr std::size_t longest_suffix = 32;  // ".PID.N"
constexpr int most_files_of_an_id = 1000;

constinit char file[longest_path] = {};
constinit char beside[longest_path] = {};  // FILE.PID
constinit bool has_file = false;           // this process may write FILE itself

bool fits(int length) noexcept {
    return length > 0 && static_cast<std::size_t>(length) < longest_path - longest_suffix;
}

bool exists(const char* path) noexcept {
    struct stat about{};
    return ::lstat(path, &about) == 0;
}

const char* file_of_this_process() noexcept {
    const auto id = static_cast<long>(::getpid());
    constexpr int most = longest_path - longest_suffix;  // fits() has checked this
    std::snprintf(beside, sizeof beside, "%.*s.%ld", most, file, id);
    for (int number = 2; exists(beside) && number < most_files_of_an_id; ++number)
        std::snprintf(beside, sizeof beside, "%.*s.%ld.%d", most, file, id, number);
    return beside;
}

}  // namespace

bool name_environment_file(const char* named) noexcept {
    char folder[longest_path];
    if (*named == '/' || ::getcwd(folder, sizeof folder) == nullptr)
        return fits(std::snprintf(file, sizeof file, "%s", named));
    return fits(std::snprintf(file, sizeof file, "%s/%s", folder, named));
}

const char* environment_file() noexcept {
    char self[24];
    std::snprintf(self, sizeof self, "%ld", static_cast<long>(::getpid()));
    const char* owner = ::secure_getenv(owner_variable);
    has_file = owner == nullptr || std::strcmp(owner, self) == 0;
    if (owner == nullptr) ::setenv(owner_variable, self, 1);
    return has_file ? file : file_of_this_process();
}

const char* environment_file_beside() noexcept {
    return std::exchange(has_file, false) ? file_of_this_process() : nullptr;
}

}  // namespace coroscope::runtime::inline process
