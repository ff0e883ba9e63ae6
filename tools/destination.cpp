// SPDX-License-Identifier: Apache-2.0
#include "destination.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "output.hpp"
#include "subcommand.hpp"

namespace coroscope::tools {

destination::destination(const std::string& path) : path_(path), is_file_(path != "-") {}

void destination::open() {
    if (state_ != state::unopened) return;
    state_ = state::open;
    descriptor_ = is_file_ ? ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
                           : STDOUT_FILENO;
    if (descriptor_ < 0) error_ = errno;
}

bool destination::write(std::string_view text) {
    open();
    if (error_ == 0) error_ = write_all(descriptor_, text);
    return error_ == 0;
}

void destination::discard() {
    if (state_ == state::closed) return;
    if (error_ == 0) error_ = ECANCELED;
    close();
}

int destination::finish() {
    if (state_ == state::closed) return error_;
    open();
    return close();
}

int destination::close() {
    state_ = state::closed;
    if (!is_file_ || descriptor_ < 0) return error_;
    struct stat what{};
    const bool regular = ::fstat(descriptor_, &what) == 0 && S_ISREG(what.st_mode);
    if (::close(descriptor_) != 0 && error_ == 0) error_ = errno;
    descriptor_ = -1;
    if (error_ != 0 && regular) ::unlink(path_.c_str());
    return error_;
}

int failed(const destination& to, int error) {
    if (error == EPIPE) return exit_success;
    report(to.name(), {std::generic_category().message(error)});
    return exit_failure;
}

bool is_same_file(const std::string& one, const std::string& other) {
    struct stat first{};
    struct stat second{};
    return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace coroscope::tools
