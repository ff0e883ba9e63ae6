// SPDX-License-Identifier: Apache-2.0
#include "private_descriptors.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COROSCOPE_KEEPS_STDERR 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define COROSCOPE_KEEPS_STDERR 1
#endif
#endif

namespace coroscope::runtime::inline kernel {
namespace {

#ifdef COROSCOPE_KEEPS_STDERR
constexpr unsigned first = 3;  // for the sanitizer's reports
#else
constexpr unsigned first = 0;
#endif

constexpr long close_range = 436;            // SYS_close_range, which C libraries name late
constexpr unsigned unshare_first = 1U << 1;  // CLOSE_RANGE_UNSHARE

}  // namespace

int take_private_descriptors() noexcept {
    return ::syscall(close_range, first, ~0U, unshare_first) == 0 ? 0 : errno;
}

std::uint64_t descriptor_limit() noexcept {
    rlimit limit{};
    return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

int open_private(const char* path, int flags) noexcept {
    return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags));
}

void close_private(int descriptor) noexcept { ::syscall(SYS_close, descriptor); }

long read_private(int descriptor, void* to, std::size_t bytes) noexcept {
    return ::syscall(SYS_pread64, descriptor, to, bytes, 0L);
}

void* map_private(int descriptor, std::size_t bytes) noexcept {
    const long mapped =
        ::syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0L);
    return mapped == -1 ? nullptr : reinterpret_cast<void*>(mapped);
}

int control_private(int descriptor, unsigned long request, int argument) noexcept {
    return ::syscall(SYS_ioctl, descriptor, request, argument) == 0 ? 0 : errno;
}

}  // namespace coroscope::runtime::inline kernel
