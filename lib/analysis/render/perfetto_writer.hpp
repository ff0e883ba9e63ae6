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

namespace coroscope::analysis::render {

template <class Message>
using message = protozero::pbf_builder<Message>;

/// One end of a bar, or a moment.
struct perfetto_event {
    perfetto::event_type type;
    std::uint64_t time_ns;
    std::uint64_t track;
    std::uint32_t category = 0;  ///< as it was interned; 0: none
    std::uint32_t name = 0;      ///< likewise
    std::string_view details{};  ///< further fields
};

class perfetto_writer {
public:
    explicit perfetto_writer(const byte_sink& sink) : sink_(sink), buffer_(buffer_bytes) {}

    /// Appends a packet, in which `fill` writes.
    template <class Fill>
    void packet(Fill&& fill, std::uint32_t flags = perfetto::sequence_needs_state) {
        packet_.clear();
        message<perfetto::packet> written(packet_);
        written.add_uint32(perfetto::packet::sequence_id, sequence);
        written.add_uint32(perfetto::packet::sequence_flags, flags);
        fill(written);
        append_packet();
    }

    /// Appends a packet that says of a text under which number, which is not 0, those behind it refer to
    /// it.
    void intern(perfetto::interned_data what, std::uint32_t iid, std::string_view text);

    void event(const perfetto_event& what);

    /// Hands the rest to the sink. False where any byte of the export was refused.
    bool flush();

    [[nodiscard]] bool failed() const noexcept { return failed_; }

private:
    static constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
    static constexpr std::uint32_t sequence = 1;

    void append_packet();
    /// Where a packet of so many bytes is to be written, its field in the file apart.
    [[nodiscard]] raw_fields room_for(std::size_t bytes);
    void written_to(const raw_fields& last);

    const byte_sink& sink_;
    std::vector<char> buffer_;  ///< larger than buffer_bytes where a packet was
    std::size_t used_ = 0;
    std::string packet_;
    bool failed_ = false;
};

}  // namespace coroscope::analysis::render
