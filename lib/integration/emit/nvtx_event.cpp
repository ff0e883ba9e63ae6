// SPDX-License-Identifier: Apache-2.0

// Compiled with COROSCOPE_HAS_NVTX if NVTX's headers were found.

#if COROSCOPE_HAS_NVTX

#include "nvtx_event.hpp"

#include <iterator>
#include <mutex>
#include <string>
#include <unordered_map>

#include "../../runtime/base/forked_mutex.hpp"

namespace coroscope::nvtx {
namespace {

// Opaque colours that red-green colour-blind readers can distinguish, too (after Okabe and Ito).
constexpr std::uint32_t colours[] = {0xffe69f00, 0xff56b4e9, 0xff009e73, 0xfff0e442,
                                     0xff0072b2, 0xffd55e00, 0xffcc79a7, 0xff999999};

// FNV-1a, 32 bits: the same in every run.
std::uint32_t hash_of(std::string_view text) noexcept {
    std::uint32_t hash = 2166136261U;
    for (const char each : text) hash = (hash ^ static_cast<unsigned char>(each)) * 16777619U;
    return hash;
}

constinit runtime::forked_mutex numbers_mutex{runtime::fork_rank::inner};

[[gnu::constructor]] void hold_numbers_over_forks() noexcept { runtime::join_forks(numbers_mutex); }

// Returns the number of a category, from 1, in the order in which a tool learns them. Kept until
// the process ends.
std::uint32_t number_of(std::string_view category) {
    const std::lock_guard lock(numbers_mutex);
    static auto& numbers = *new std::unordered_map<std::string, std::uint32_t>;
    const auto [found, added] =
        numbers.try_emplace(std::string(category), static_cast<std::uint32_t>(numbers.size()) + 1);
    if (added) nvtxDomainNameCategoryA(domain(), found->second, found->first.c_str());
    return found->second;
}

}  // namespace

nvtxDomainHandle_t domain() noexcept {
    static const nvtxDomainHandle_t created = nvtxDomainCreateA("coroscope");
    return created;
}

nvtxEventAttributes_t attributes_of(const char* text, std::string_view name, const char* category,
                                    std::uint64_t task) {
    const std::string_view group(category);
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = text;
    attributes.category = group.empty() ? 0 : number_of(group);
    attributes.colorType = NVTX_COLOR_ARGB;
    attributes.color = colours[hash_of(group.empty() ? name : group) % std::size(colours)];
    if (task != 0) {
        attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
        attributes.payload.ullValue = task;
    }
    return attributes;
}

}  // namespace coroscope::nvtx

#endif
