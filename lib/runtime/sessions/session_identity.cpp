// SPDX-License-Identifier: Apache-2.0
#include "session_identity.hpp"

#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include <coroscope/detail/ticks.hpp>

#include "../../trace/program_features.hpp"

namespace coroscope::runtime::inline sessions {
namespace {

std::uint64_t random_word() noexcept {
    std::uint64_t word = 0;
    if (::getrandom(&word, sizeof word, GRND_NONBLOCK) != sizeof word)
        word = detail::counter_ticks() * 0x9e37'79b9'7f4a'7c15U;
    return word;
}

// The form of a random UUID (RFC 9562, version 4) without its hyphens.
void write_random_id(char* to) noexcept {
    const std::uint64_t words[] = {(random_word() & ~std::uint64_t{0xf000}) | 0x4000,
                                   (random_word() & ~(std::uint64_t{3} << 62)) | std::uint64_t{2}
                                                                                     << 62};
    for (const std::uint64_t word : words) {
        for (int shift = 60; shift >= 0; shift -= 4)
            *to++ = "0123456789ABCDEF"[word >> static_cast<unsigned>(shift) & 15];
    }
    *to = '\0';
}

constinit std::uint64_t features_of_all = 0;

}  // namespace

std::uint64_t asked_for(const profile_options& options) noexcept {
    std::uint64_t features = features_of_all;
    if (options.record_shapes || options.with_flops) features |= trace::feature_shapes;
    if (options.profile_memory) features |= trace::feature_memory;
    if (options.with_stack) features |= trace::feature_stacks;
    if (options.with_flops) features |= trace::feature_flops;
    if (options.with_modules) features |= trace::feature_modules;
    if (options.open_scopes) features |= trace::feature_open_scopes;
    if (options.record_arguments) features |= trace::feature_arguments;
    return features;
}

std::uint64_t without_data_at_first(const profile_options& options) noexcept {
    const std::uint64_t features = asked_for(options) & trace::all_program_features();
    // FLOPs are computed from shapes: what is said of one holds for the other.
    return (features & trace::feature_flops) != 0 ? features & ~trace::feature_shapes : features;
}

void ask_for_in_all_sessions(std::uint64_t features) noexcept { features_of_all = features; }

trace_name name_trace(const profile_options& options) noexcept {
    trace_name name;
    const char* chosen = options.trace_id == nullptr ? nullptr : options.trace_id();
    if (chosen == nullptr)
        write_random_id(name.text);
    else
        std::memcpy(name.text, chosen, std::min(std::strlen(chosen), sizeof name.text - 1));
    return name;
}

namespace {

// The name of the process is that of its first thread. A session that begins on another thread, as
// the further files of a rotation do, takes the name that was seen last.
void name_process(char* name) noexcept {
    static constinit char seen[16] = {};  // the kernel's limit
    if (::gettid() == ::getpid() || seen[0] == '\0') prctl(PR_GET_NAME, seen);
    std::memcpy(name, seen, sizeof seen);
}

}  // namespace

void identify(trace::file_header& header, const profile_options& options,
              const trace_name& name) noexcept {
    header.process_id = static_cast<std::uint32_t>(::getpid());
    name_process(header.process_name);
    header.session_id = random_word();
    header.all_threads = options.all_threads ? 1 : 0;
    header.asked_for = asked_for(options);
    header.without_data = without_data_at_first(options);
    header.node = options.node_id < 0 ? 0 : static_cast<std::uint64_t>(options.node_id) + 1;
    std::memcpy(header.trace_id, name.text, sizeof header.trace_id);
}

}  // namespace coroscope::runtime::inline sessions
