// SPDX-License-Identifier: Apache-2.0
#include "activity_names.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>

#include <coroscope/detail/device_recorder.hpp>

namespace coroscope::cuda {
namespace {

using detail::device_site;

std::uint32_t site_of(std::string_view text) noexcept {
    return device_site(text.data(), text.size());
}

template <std::size_t Count>
const char* text_in(const char* const (&texts)[Count], unsigned index) noexcept {
    return texts[index < Count ? index : 0];
}

constexpr const char* memories[] = {"Unknown", "Pageable", "Pinned",        "Device",
                                    "Array",   "Managed",  "Device Static", "Managed Static"};
constexpr const char* copies[] = {"Memcpy",      "Memcpy HtoD", "Memcpy DtoH", "Memcpy HtoA",
                                  "Memcpy AtoH", "Memcpy AtoA", "Memcpy AtoD", "Memcpy DtoA",
                                  "Memcpy DtoD", "Memcpy HtoH", "Memcpy PtoP"};
constexpr const char* synchronizations[] = {"Synchronization", "Event Sync", "Stream Wait Event",
                                            "Stream Sync", "Context Sync"};
constexpr const char* overheads[] = {"Overhead",
                                     "Activity Buffer Flush",
                                     "Instrumentation",
                                     "Resource",
                                     "Runtime Triggered Module Loading",
                                     "Lazy Function Loading",
                                     "Command Buffer Full",
                                     "Activity Buffer Request",
                                     "UVM Activity Init"};

// Returns "cudaLaunchKernel" for "cudaLaunchKernel_v7000": that version is CUPTI's. The driver's
// "_v2" is part of a name.
std::string_view without_version(std::string_view name) noexcept {
    const std::size_t mark = name.rfind("_v");
    if (mark == std::string_view::npos) return name;
    const std::string_view digits = name.substr(mark + 2);
    const bool version =
        digits.size() >= 4 &&
        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    return version ? name.substr(0, mark) : name;
}

}  // namespace

void activity_names::release::operator()(char* text) const noexcept { std::free(text); }

bool activity_names::keep(known_kernel& place, std::string_view mangled, name as) const noexcept {
    place.mangled.reset(static_cast<char*>(std::malloc(mangled.size() + 1)));
    if (place.mangled == nullptr) return false;
    *std::copy(mangled.begin(), mangled.end(), place.mangled.get()) = '\0';
    place.site = as.site;
    place.cut = as.cut;
    place.told_in = session_;
    return true;
}

activity_names::name activity_names::tell(known_kernel& kernel) const noexcept {
    const bool told = std::exchange(kernel.told_in, session_) == session_;
    return {kernel.site, kernel.cut && !told};
}

activity_names::name activity_names::of_kernel(const char* mangled) noexcept {
    if (mangled == nullptr || *mangled == '\0') return {site_of("(unnamed kernel)"), false};
    const std::string_view raw(mangled);
    const std::size_t home = std::hash<std::string_view>{}(raw);
    known_kernel* free_place = nullptr;
    for (std::size_t probe = 0; probe < kernel_probes && free_place == nullptr; ++probe) {
        known_kernel& place = kernels_[(home + probe) % kernel_places];
        if (place.mangled == nullptr)
            free_place = &place;
        else if (raw == place.mangled.get())
            return tell(place);
    }
    int status = 0;
    const std::unique_ptr<char, release> plain(
        abi::__cxa_demangle(mangled, nullptr, nullptr, &status));
    const std::string_view text = plain == nullptr ? raw : std::string_view(plain.get());
    const name found{site_of(text), text.size() > trace::payload_limit};
    if (free_place != nullptr) keep(*free_place, raw, found);
    return found;
}

std::uint32_t activity_names::of_call(const cupti_functions& cupti, CUpti_CallbackDomain domain,
                                      CUpti_CallbackId function) noexcept {
    const bool runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
    std::uint32_t* known = function < call_places ? &calls_[runtime ? 1 : 0][function] : nullptr;
    if (known != nullptr && *known != 0) return *known;
    const char* text = nullptr;
    if (cupti.callback_name != nullptr) cupti.callback_name(domain, function, &text);
    char number[32];
    std::snprintf(number, sizeof number, "%s #%u", runtime ? "runtime call" : "driver call",
                  function);
    const std::uint32_t site = site_of(text == nullptr ? number : without_version(text));
    if (known != nullptr) *known = site;
    return site;
}

std::uint32_t activity_names::of_copy(unsigned kind, unsigned from, unsigned to) noexcept {
    char text[64];
    const int size = std::snprintf(text, sizeof text, "%s (%s -> %s)", text_in(copies, kind),
                                   text_in(memories, from), text_in(memories, to));
    return site_of({text, static_cast<std::size_t>(size)});
}

std::uint32_t activity_names::of_set(unsigned memory) noexcept {
    char text[32];
    const int size = std::snprintf(text, sizeof text, "Memset (%s)", text_in(memories, memory));
    return site_of({text, static_cast<std::size_t>(size)});
}

std::uint32_t activity_names::of_synchronization(unsigned type) noexcept {
    return site_of(text_in(synchronizations, type));
}

// The compiler's overhead has the number 1; CUPTI's own numbers are above the lower 16 bits.
std::uint32_t activity_names::of_overhead(unsigned kind) noexcept {
    if (kind == CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER) return site_of("Driver Compiler");
    return site_of(text_in(overheads, kind >> 16));
}

std::uint32_t activity_names::of_memory() noexcept { return site_of("[memory]"); }

}  // namespace coroscope::cuda
