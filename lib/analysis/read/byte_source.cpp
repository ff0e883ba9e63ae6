// SPDX-License-Identifier: Apache-2.0
#include "byte_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <coroscope/trace/pack_format.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace coroscope::analysis::inline reading {
namespace {

constexpr std::size_t largest_part = std::size_t{16} << 20;

std::string system_error(int number) { return std::strerror(number); }

class file_source final : public byte_source {
public:
    file_source(int descriptor, std::uint64_t size) : descriptor_(descriptor), size_(size) {}
    ~file_source() override { ::close(descriptor_); }

    std::size_t read(char* into, std::size_t size) override {
        std::size_t filled = 0;
        while (filled < size && !problem()) {
            const ssize_t got = ::read(descriptor_, into + filled, size - filled);
            if (got == 0) break;
            if (got > 0)
                filled += static_cast<std::size_t>(got);
            else if (errno != EINTR)
                fail({"cannot be read: " + system_error(errno), read_ + filled});
        }
        read_ += filled;
        return filled;
    }
    [[nodiscard]] double progress() const override {
        return size_ == 0 ? 1 : static_cast<double>(read_) / static_cast<double>(size_);
    }
    [[nodiscard]] std::uint64_t consumed() const override { return read_; }

private:
    int descriptor_;
    std::uint64_t size_;  // 0: unknown, for example of a pipe
    std::uint64_t read_ = 0;
};

class memory_source final : public byte_source {
public:
    explicit memory_source(std::string_view bytes) : bytes_(bytes) {}

    std::size_t read(char* into, std::size_t size) override {
        const std::size_t part = std::min(size, bytes_.size() - at_);
        if (part != 0) std::memcpy(into, bytes_.data() + at_, part);
        at_ += part;
        return part;
    }
    [[nodiscard]] double progress() const override {
        return bytes_.empty() ? 1 : static_cast<double>(at_) / static_cast<double>(bytes_.size());
    }
    [[nodiscard]] std::uint64_t consumed() const override { return at_; }

private:
    std::string_view bytes_;
    std::size_t at_ = 0;
};

class replayed_source final : public byte_source {
public:
    replayed_source(std::string first, std::unique_ptr<byte_source> rest)
        : first_(std::move(first)), rest_(std::move(rest)) {}

    std::size_t read(char* into, std::size_t size) override {
        const std::size_t part = first_.copy(into, size, std::min(at_, first_.size()));
        at_ += part;
        if (part == size) return part;
        const std::size_t more = rest_->read(into + part, size - part);
        if (rest_->problem()) fail(*rest_->problem());
        return part + more;
    }
    [[nodiscard]] double progress() const override { return rest_->progress(); }
    [[nodiscard]] std::uint64_t consumed() const override { return rest_->consumed(); }

private:
    std::string first_;
    std::size_t at_ = 0;
    std::unique_ptr<byte_source> rest_;
};

}  // namespace

result<std::unique_ptr<byte_source>> open_file(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return failure{"cannot be opened: " + system_error(errno)};
    struct stat about{};
    std::uint64_t size = 0;
    if (::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode))
        size = static_cast<std::uint64_t>(about.st_size);
    std::unique_ptr<byte_source> opened = std::make_unique<file_source>(descriptor, size);
    if (S_ISDIR(about.st_mode)) return failure{"is a directory"};
    return opened;
}

std::unique_ptr<byte_source> open_memory(std::string_view bytes) {
    return std::make_unique<memory_source>(bytes);
}

std::unique_ptr<byte_source> with_first(std::string first, std::unique_ptr<byte_source> rest) {
    return std::make_unique<replayed_source>(std::move(first), std::move(rest));
}

result<std::string> read_all(byte_source& source) {
    std::string all;
    for (std::size_t part = std::size_t{1} << 16;;) {
        const std::size_t before = all.size();
        all.resize(before + part);
        const std::size_t got = source.read(all.data() + before, part);
        all.resize(before + got);
        if (source.problem()) return *source.problem();
        if (!coroscope::trace::may_unpack(source.consumed(), all.size()))
            return failure{
                "unpacks to more than 64 times its size, as no recording does: decompress "
                "it first if you trust it",
                source.consumed()};
        if (got < part) return all;
        part = std::min(all.size(), largest_part);
    }
}

}  // namespace coroscope::analysis::inline reading
