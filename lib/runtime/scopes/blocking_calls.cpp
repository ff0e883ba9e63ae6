// SPDX-License-Identifier: Apache-2.0
#include "blocking_calls.hpp"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>

#include "../../trace/interposed_calls.hpp"
#include "../base/kept_errno.hpp"
#include "../base/report_guard.hpp"
#include "../writer/recorder.hpp"
#include "interposed.hpp"

namespace coroscope::runtime::inline scopes {
namespace {

using trace::blocked_function;
using trace::descriptor_kind;

constinit threshold_ticks shortest{};

descriptor_kind kind_of_device(int descriptor) noexcept {
    termios settings{};
    return ::tcgetattr(descriptor, &settings) == 0 ? descriptor_kind::terminal
                                                   : descriptor_kind::device;
}

descriptor_kind kind_of(int descriptor) noexcept {
    if (descriptor < 0) return descriptor_kind::none;
    struct stat about{};
    if (::fstat(descriptor, &about) != 0) return descriptor_kind::unknown;
    switch (about.st_mode & S_IFMT) {
        case S_IFREG: return descriptor_kind::file;
        case S_IFDIR: return descriptor_kind::folder;
        case S_IFSOCK: return descriptor_kind::socket;
        case S_IFIFO: return descriptor_kind::pipe;
        case S_IFCHR: return kind_of_device(descriptor);
        case S_IFBLK: return descriptor_kind::device;
        case 0: return descriptor_kind::event;  // an anonymous inode
        default: return descriptor_kind::other;
    }
}

void write_call(std::uint64_t began, std::uint64_t duration, std::uint32_t id) noexcept {
    write_fact(began, id, trace::blocking_call_body{duration, this_thread.mark});
}

std::uint64_t begin_call() noexcept { return begin_interposed(trace::feature_blocking); }

void end_call(std::uint64_t began, blocked_function function, int descriptor) noexcept {
    const kept_errno programs;
    const report_guard outermost;
    if (!outermost) return;
    const std::uint64_t end = now();
    if (end <= began || end - began < shortest.at(end) || !wants(trace::feature_blocking)) return;
    write_call(began, end - began, trace::make_blocking_id(function, kind_of(descriptor)));
}

constexpr trace::call_recorder recorder{begin_call, end_call};

}  // namespace

bool watch_blocking_calls(std::uint64_t shortest_ns) noexcept {
    shortest.begin(shortest_ns);
    return connect_interposed(trace::connect_calls_name, &recorder);
}

}  // namespace coroscope::runtime::inline scopes
