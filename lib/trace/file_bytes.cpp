// SPDX-License-Identifier: Apache-2.0
#include "file_bytes.hpp"

#include <cerrno>
#include <coroscope/trace/format.hpp>
#include <coroscope/trace/reader.hpp>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace coroscope::trace {
namespace {

class descriptor {
public:
    explicit descriptor(const std::string& path)
        : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    ~descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    [[nodiscard]] int number() const { return number_; }

private:
    int number_;
};

failure system_failure(const char* what) {
    return failure{std::string(what) + ": " + std::strerror(errno)};
}

std::optional<file_bytes> map(int file, std::size_t size) {
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    if (address == MAP_FAILED) return std::nullopt;
    auto unmap = [size](const unsigned char* data) {
        ::munmap(const_cast<unsigned char*>(data), size);
    };
    return file_bytes{{static_cast<const unsigned char*>(address), unmap}, size};
}

result<file_bytes> read_to_end(int file) {
    auto bytes = std::make_shared<std::vector<unsigned char>>();
    constexpr std::size_t step = 1U << 20;
    for (;;) {
        const std::size_t used = bytes->size();
        bytes->resize(used + step);
        const ssize_t got = ::read(file, bytes->data() + used, step);
        if (got < 0 && errno != EINTR) return system_failure("cannot be read");
        bytes->resize(used + static_cast<std::size_t>(got > 0 ? got : 0));
        if (got == 0) break;
    }
    const std::size_t size = bytes->size();
    const unsigned char* data = bytes->data();
    return file_bytes{std::shared_ptr<const unsigned char>(std::move(bytes), data), size};
}

}  // namespace

result<file_bytes> read_file(const std::string& path) {
    const descriptor file(path);
    if (file.number() < 0) return system_failure("cannot be opened");
    struct stat status{};
    if (::fstat(file.number(), &status) != 0) return system_failure("cannot be read");
    if (S_ISDIR(status.st_mode)) return failure{"is a directory"};
    if (S_ISREG(status.st_mode) && status.st_size > 0) {
        if (auto mapped = map(file.number(), static_cast<std::size_t>(status.st_size)))
            return *mapped;
    }
    return read_to_end(file.number());
}

std::uint64_t size_of_file(const std::string& path) noexcept {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

// Closing the descriptor releases the lock. A session that starts at this moment is refused with
// EBUSY, so only unfinished traces are tried.
bool is_being_recorded(const std::string& path) noexcept {
    const descriptor file(path);
    if (file.number() < 0) return false;
    file_header header{};
    if (::pread(file.number(), &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header) ||
        header.magic != file_magic || header.finished != 0)
        return false;
    return ::flock(file.number(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace coroscope::trace
