// SPDX-License-Identifier: Apache-2.0
#include "call_names.hpp"

#include <algorithm>
#include <iterator>

#include <string_view>

#include <fmt/format.h>

namespace coroscope::analysis::inline words {
namespace {

/// A call's number on each architecture; -1: the architecture has no such call.
struct named_call {
    std::string_view name;
    std::int32_t x86_64;
    std::int32_t aarch64;
};

constexpr named_call blocking_calls[] = {
    {"accept", 43, 202},
    {"accept4", 288, 242},
    {"brk", 12, 214},
    {"clock_nanosleep", 230, 115},
    {"clone", 56, 220},
    {"clone3", 435, 435},
    {"close", 3, 57},
    {"connect", 42, 203},
    {"copy_file_range", 326, 285},
    {"epoll_pwait", 281, 22},
    {"epoll_pwait2", 441, 441},
    {"epoll_wait", 232, -1},
    {"execve", 59, 221},
    {"exit", 60, 93},
    {"exit_group", 231, 94},
    {"fallocate", 285, 47},
    {"fcntl", 72, 25},
    {"fdatasync", 75, 83},
    {"flock", 73, 32},
    {"fork", 57, -1},
    {"fstat", 5, 80},
    {"fsync", 74, 82},
    {"ftruncate", 77, 46},
    {"futex", 202, 98},
    {"futex_wait", 455, 455},
    {"futex_waitv", 449, 449},
    {"getdents64", 217, 61},
    {"getrandom", 318, 278},
    {"inotify_add_watch", 254, 27},
    {"io_getevents", 208, 4},
    {"io_pgetevents", 333, 292},
    {"io_uring_enter", 426, 426},
    {"ioctl", 16, 29},
    {"madvise", 28, 233},
    {"membarrier", 324, 283},
    {"mkdir", 83, -1},
    {"mkdirat", 258, 34},
    {"mlock", 149, 228},
    {"mmap", 9, 222},
    {"mprotect", 10, 226},
    {"mq_timedreceive", 243, 183},
    {"mq_timedsend", 242, 182},
    {"mremap", 25, 216},
    {"msgrcv", 70, 188},
    {"msgsnd", 69, 189},
    {"msync", 26, 227},
    {"munmap", 11, 215},
    {"nanosleep", 35, 101},
    {"newfstatat", 262, 79},
    {"open", 2, -1},
    {"openat", 257, 56},
    {"pause", 34, -1},
    {"poll", 7, -1},
    {"ppoll", 271, 73},
    {"pread64", 17, 67},
    {"preadv", 295, 69},
    {"process_vm_readv", 310, 270},
    {"pselect6", 270, 72},
    {"ptrace", 101, 117},
    {"pwrite64", 18, 68},
    {"pwritev", 296, 70},
    {"read", 0, 63},
    {"readv", 19, 65},
    {"recvfrom", 45, 207},
    {"recvmmsg", 299, 243},
    {"recvmsg", 47, 212},
    {"rename", 82, -1},
    {"renameat2", 316, 276},
    {"rt_sigsuspend", 130, 133},
    {"rt_sigtimedwait", 128, 137},
    {"sched_yield", 24, 124},
    {"select", 23, -1},
    {"semop", 65, 193},
    {"semtimedop", 220, 192},
    {"sendfile", 40, 71},
    {"sendmmsg", 307, 269},
    {"sendmsg", 46, 211},
    {"sendto", 44, 206},
    {"shutdown", 48, 210},
    {"splice", 275, 76},
    {"stat", 4, -1},
    {"statx", 332, 291},
    {"sync_file_range", 277, 84},
    {"syncfs", 306, 267},
    {"unlink", 87, -1},
    {"unlinkat", 263, 35},
    {"userfaultfd", 323, 282},
    {"vfork", 58, -1},
    {"wait4", 61, 260},
    {"waitid", 247, 95},
    {"write", 1, 64},
    {"writev", 20, 66},
};

constexpr std::uint32_t futex_x86_64 = 202;
constexpr std::uint32_t futex_aarch64 = 98;

bool has_futex_call(const trace& loaded, std::uint32_t number) {
    return std::ranges::any_of(loaded.states.looks, [number](const blocked_look& each) {
        return each.address != 0 && each.call == number;
    });
}

}  // namespace

// The processor's architecture is known if the trace's clock is a processor's counter. Else it is
// derived from the number of a call that waited for a futex.
call_names::call_names(const trace& loaded) {
    if (loaded.clock == "tsc" || has_futex_call(loaded, futex_x86_64))
        recorded_on_ = architecture::x86_64;
    else if (loaded.clock == "cntvct" || has_futex_call(loaded, futex_aarch64))
        recorded_on_ = architecture::aarch64;
}

bool call_names::may_wait_for_lock(const blocked_look& look) const {
    return look.call == coroscope::trace::blocked_call_unknown || of(look).starts_with("futex");
}

std::string call_names::of(const blocked_look& look) const {
    if (look.address != 0) return "futex";
    if (look.call == coroscope::trace::blocked_call_unknown) return "an unknown call";
    if (recorded_on_ != architecture::unknown) {
        const auto number =
            recorded_on_ == architecture::x86_64 ? &named_call::x86_64 : &named_call::aarch64;
        const auto found = std::ranges::find(
            blocking_calls, std::int64_t{look.call},
            [number](const named_call& each) -> std::int64_t { return each.*number; });
        if (found != std::end(blocking_calls)) return std::string(found->name);
    }
    return fmt::format("system call {}", look.call);
}

}  // namespace coroscope::analysis::inline words
