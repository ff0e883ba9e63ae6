// SPDX-License-Identifier: Apache-2.0

// Finds out whether Asio is tracked in this program, without a header of Asio. A program that uses
// Asio has a certain object of Asio's, and a tracked program has an object of asio.hpp. Both are
// weak references here, which the linker resolves if the program or one of its libraries defines
// them. asio.hpp also reports the version of the program's Asio. Faults that show later are in
// asio_check.hpp.

#include <cstdint>

#include <coroscope/integration/asio.hpp>

#include "../../runtime/sessions/program_faults.hpp"
#include "asio_check.hpp"

#define COROSCOPE_WEAK_OBJECT(type, name, symbol)                                                  \
    extern "C" __attribute__((weak)) const type name __asm__(symbol)

// service_base<scheduler>::id, which an io_context of either Asio defines.
COROSCOPE_WEAK_OBJECT(char, boost_asio_used,
                      "_ZN5boost4asio6detail30execution_context_service_baseINS1_9schedulerEE2idE");
COROSCOPE_WEAK_OBJECT(char, asio_used,
                      "_ZN4asio6detail30execution_context_service_baseINS0_9schedulerEE2idE");
COROSCOPE_WEAK_OBJECT(char, asio_is_tracked, "coroscope_asio_tracked");
COROSCOPE_WEAK_OBJECT(std::uint32_t, boost_version_told, "coroscope_boost_asio_version");
COROSCOPE_WEAK_OBJECT(std::uint32_t, version_told, "coroscope_asio_version");

namespace coroscope::runtime::inline sessions {

namespace {

std::uint32_t version_of(const std::uint32_t* told) noexcept { return told == nullptr ? 0 : *told; }

// If the build tracks both libraries, the versions of both are known. Returns only the versions of
// the libraries that the program uses; both if no use is seen.
asio_versions told_versions() noexcept {
    const bool uses_boost = &boost_asio_used != nullptr;
    const bool uses_asio = &asio_used != nullptr;
    return {uses_asio || !uses_boost ? version_of(&version_told) : 0,
            uses_boost || !uses_asio ? version_of(&boost_version_told) : 0};
}

}  // namespace

trace::asio_tracking asio_tracking() noexcept {
    const trace::asio_tracking found = asio::reported_fault();
    if (found != trace::asio_tracking::in_order) return found;
    const bool used = &boost_asio_used != nullptr || &asio_used != nullptr;
    if (used && &asio_is_tracked == nullptr) return trace::asio_tracking::missing;
    const asio_versions told = told_versions();
    return ((told.asio | told.boost_asio) & asio::untried_version) != 0
               ? trace::asio_tracking::untried
               : trace::asio_tracking::in_order;
}

asio_versions tracked_asio_versions() noexcept {
    const asio_versions told = told_versions();
    return {told.asio & ~asio::untried_version, told.boost_asio & ~asio::untried_version};
}

}  // namespace coroscope::runtime::inline sessions
