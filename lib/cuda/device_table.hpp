// SPDX-License-Identifier: Apache-2.0
#pragma once

// What CUPTI tells of devices once, and every session needs: their names, and whose a context is. Not thread-safe.

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include <coroscope/detail/device_recorder.hpp>

namespace coroscope::cuda {

class device_table {
public:
    /// Another session has not been told.
    void begin() noexcept { told_ = false; }

    void name(std::uint32_t device, const char* text, detail::device_delivery& to) noexcept {
        if (text == nullptr) return;
        if (device < device_places)
            std::snprintf(names_[device], sizeof names_[device], "%s", text);
        if (told_ || device >= device_places) to.name_device(device, text);
    }

    void tell_names(detail::device_delivery& to) noexcept {
        if (told_) return;
        told_ = true;
        for (std::uint32_t device = 0; device < device_places; ++device)
            if (names_[device][0] != '\0') to.name_device(device, names_[device]);
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
    char names_[device_places][128] = {};
    std::uint32_t contexts_[context_places] = {};  ///< the device's index and 1
    bool told_ = false;
};

}  // namespace coroscope::cuda
