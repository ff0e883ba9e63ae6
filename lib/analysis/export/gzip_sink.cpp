// SPDX-License-Identifier: Apache-2.0
#include "gzip_sink.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

namespace coroscope::analysis::inline exports {

struct gzip_sink::state {
    explicit state(const byte_sink& below) : to(below) {
        constexpr int usual_window = 15, gzip_header = 16, usual_memory = 8;
        good = deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, usual_window + gzip_header,
                            usual_memory, Z_DEFAULT_STRATEGY) == Z_OK;
        begun = good;
    }
    ~state() {
        if (begun) deflateEnd(&stream);
    }

    bool compress(std::string_view text, int flush) {
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
        stream.avail_in = static_cast<uInt>(text.size());
        do {
            stream.next_out = reinterpret_cast<Bytef*>(out.data());
            stream.avail_out = static_cast<uInt>(out.size());
            deflate(&stream, flush);
            const std::size_t made = out.size() - stream.avail_out;
            good = good && (made == 0 || to({out.data(), made}));
        } while (good && stream.avail_out == 0);
        return good;
    }

    const byte_sink& to;
    z_stream stream{};
    bool begun = false;
    bool good = false;
    std::array<char, 65536> out;
};

gzip_sink::gzip_sink(const byte_sink& to) : state_(std::make_unique<state>(to)) {}
gzip_sink::~gzip_sink() = default;

bool gzip_sink::write(std::string_view text) {
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    while (!text.empty() && state_->good) {
        state_->compress(text.substr(0, most), Z_NO_FLUSH);
        text.remove_prefix(std::min(text.size(), most));
    }
    return state_->good;
}

bool gzip_sink::finish() { return state_->good && state_->compress({}, Z_FINISH); }

}  // namespace coroscope::analysis::inline exports
