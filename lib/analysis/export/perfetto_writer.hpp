// SPDX-License-Identifier: Apache-2.0
#pragma once

// The packets of a Perfetto trace: one sequence of them, and a buffer.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <protozero/pbf_builder.hpp>

#include <coroscope/analysis/perfetto.hpp>

#include "perfetto_fields.hpp"
#include "raw_fields.hpp"

namespace coroscope::analysis::inline exports {

template <class Message>
using message = protozero::pbf_builder<Message>;

/// One end of a bar, or a moment.
struct perfetto_event {
    perfetto::event_type type;
    std::uint64_t time_ns;
    std::uint64_t track;
    std::uint32_t category = 0;  ///< number of the interned text; 0: none
    std::uint32_t name = 0;      ///< number of the interned text; 0: none
    std::string_view details{};  ///< further fields
};

class perfetto_writer {
public:
    explicit perfetto_writer(const byte_sink& sink) : sink_(sink), buffer_(buffer_bytes) {}

    /// Appends a packet. `fill` is called with the message and writes its fields.
    template <class Fill>
    void packet(Fill&& fill, std::uint32_t flags = perfetto::sequence_needs_state) {
        packet_.clear();
        message<perfetto::packet> written(packet_);
        written.add_uint32(perfetto::packet::sequence_id, sequence);
        written.add_uint32(perfetto::packet::sequence_flags, flags);
        fill(written);
        append_packet();
    }

    /// Appends a packet that assigns the number `iid` to a text. Later packets refer to the text by
    /// the number, which must not be 0.
    void intern(perfetto::interned_data what, std::uint32_t iid, std::string_view text);

    void event(const perfetto_event& what);

    /// Passes the rest of the buffer to the sink. Returns false if the sink refused any byte of the
    /// export.
    bool flush();

    [[nodiscard]] bool failed() const noexcept { return failed_; }

private:
    static constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
    static constexpr std::uint32_t sequence = 1;

    void append_packet();
    /// Makes room for a packet of `bytes` bytes and for its field in the file, which `bytes` does
    /// not count. The caller must write the field first.
    [[nodiscard]] raw_fields room_for(std::size_t bytes);
    void written_to(const raw_fields& last);

    const byte_sink& sink_;
    std::vector<char> buffer_;  ///< larger than buffer_bytes if a packet was
    std::size_t used_ = 0;
    std::string packet_;
    bool failed_ = false;
};

}  // namespace coroscope::analysis::inline exports
