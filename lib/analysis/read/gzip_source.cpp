// SPDX-License-Identifier: Apache-2.0
#include "gzip_source.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <zlib.h>

namespace coroscope::analysis::inline reading {
namespace {

constexpr std::string_view gzip_magic = "\x1f\x8b";
constexpr std::size_t packed_part = std::size_t{1} << 16;

/// Members of a gzip file, one after the other. A file that ends within a member was cut: the
/// source gives the bytes that could be decompressed, and then ends.
class gzip_source final : public byte_source {
public:
    explicit gzip_source(std::unique_ptr<byte_source> packed) : packed_(std::move(packed)) {
        constexpr int gzip_window = 15 + 16;  // the largest window; 16 more selects gzip's format
        if (inflateInit2(&stream_, gzip_window) != Z_OK) throw std::bad_alloc();
    }
    ~gzip_source() override { inflateEnd(&stream_); }

    std::size_t read(char* into, std::size_t size) override {
        std::size_t filled = 0;
        while (filled < size && !problem()) {
            if (stream_.avail_in == 0 && !refill()) break;
            const std::size_t most = std::numeric_limits<uInt>::max();
            const auto room = static_cast<uInt>(std::min(size - filled, most));
            stream_.next_out = reinterpret_cast<Bytef*>(into + filled);
            stream_.avail_out = room;
            if (!inflate_some()) break;
            filled += room - stream_.avail_out;
        }
        return filled;
    }
    [[nodiscard]] double progress() const override { return packed_->progress(); }
    [[nodiscard]] std::uint64_t consumed() const override { return packed_->consumed(); }

private:
    bool refill() {
        const std::size_t got = packed_->read(input_.data(), input_.size());
        if (packed_->problem()) fail(*packed_->problem());
        packed_read_ += got;
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        stream_.avail_in = static_cast<uInt>(got);
        return got != 0;
    }

    /// Returns false if no more bytes can come.
    bool inflate_some() {
        if (between_members_) {
            // Zeros may pad a file behind its last member.
            if (*stream_.next_in != static_cast<Bytef>(gzip_magic[0])) return false;
            inflateReset(&stream_);
            between_members_ = false;
        }
        const int answer = inflate(&stream_, Z_NO_FLUSH);
        if (answer == Z_STREAM_END) between_members_ = true;
        if (answer == Z_OK || answer == Z_STREAM_END || answer == Z_BUF_ERROR) return true;
        const char* why = stream_.msg != nullptr ? stream_.msg : "no memory";
        fail({std::string("the compressed data is damaged (") + why + ")",
              packed_read_ - stream_.avail_in});
        return false;
    }

    std::unique_ptr<byte_source> packed_;
    z_stream stream_{};
    std::array<char, packed_part> input_{};
    std::uint64_t packed_read_ = 0;
    bool between_members_ = false;
};

}  // namespace

unpacked unpack(std::unique_ptr<byte_source> source) {
    std::string first(gzip_magic.size(), '\0');
    first.resize(source->read(first.data(), first.size()));
    const bool packed = first == gzip_magic;
    source = with_first(std::move(first), std::move(source));
    if (packed) source = std::make_unique<gzip_source>(std::move(source));
    return {std::move(source), packed};
}

}  // namespace coroscope::analysis::inline reading
