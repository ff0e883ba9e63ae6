// SPDX-License-Identifier: Apache-2.0
#pragma once

// Data of devices that CUPTI reports once and that every session needs: the names of devices and
// streams, and the device of each context. Not thread-safe.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include <coroscope/detail/device_recorder.hpp>

namespace coroscope::cuda {

class device_table {
public:
    /// Must be called when a session begins, whose trace has none of the names yet.
    void begin() noexcept { told_ = false; }

    void name(std::uint32_t device, const char* text, detail::device_delivery& to) noexcept {
        if (text == nullptr) return;
        if (device < device_places)
            std::snprintf(names_[device], sizeof names_[device], "%s", text);
        if (told_ || device >= device_places) to.name_device(device, text);
    }

    /// Also returns true for numbers beyond the table.
    bool knows(std::uint32_t device) const noexcept {
        return device >= device_places || names_[device][0] != '\0';
    }

    void tell_names(detail::device_delivery& to) noexcept {
        if (told_) return;
        told_ = true;
        for (std::uint32_t device = 0; device < device_places; ++device)
            if (names_[device][0] != '\0') to.name_device(device, names_[device]);
        for (std::size_t at = 0; at < known_streams_; ++at)
            to.name_stream(streams_[at].context, streams_[at].stream, streams_[at].text);
    }

    void name_stream(std::uint32_t context, std::uint32_t stream, const char* text,
                     detail::device_delivery& to) noexcept {
        if (text == nullptr) return;
        std::size_t at = 0;
        while (at != known_streams_ &&
               (streams_[at].context != context || streams_[at].stream != stream))
            ++at;
        if (at != stream_places) {
            known_streams_ = std::max(known_streams_, at + 1);
            streams_[at].context = context;
            streams_[at].stream = stream;
            std::snprintf(streams_[at].text, sizeof streams_[at].text, "%s", text);
        }
        if (told_) to.name_stream(context, stream, text);
    }

    void place_context(std::uint32_t context, std::uint32_t device) noexcept {
        if (context < context_places) contexts_[context] = device + 1;
    }
    std::uint32_t of_context(std::uint32_t context) const noexcept {
        const std::uint32_t known = context < context_places ? contexts_[context] : 0;
        return known == 0 ? trace::device_unknown : known - 1;
    }

private:
    static constexpr std::size_t device_places = 64;
    static constexpr std::size_t context_places = 256;
    static constexpr std::size_t stream_places = 256;
    struct stream_name {
        std::uint32_t context;
        std::uint32_t stream;
        char text[64];
    };
    char names_[device_places][128] = {};
    stream_name streams_[stream_places] = {};
    std::size_t known_streams_ = 0;
    std::uint32_t contexts_[context_places] = {};  ///< index of the device, plus 1
    bool told_ = false;
};

}  // namespace coroscope::cuda
