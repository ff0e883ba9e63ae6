// SPDX-License-Identifier: Apache-2.0
#include "system_calls.hpp"

#include <csignal>
#include <cstdarg>

#include <dlfcn.h>

namespace coroscope::test {

constinit std::atomic<std::uint64_t> system_calls{0};

namespace {

template <class Call>
Call* counted(const char* name) noexcept {
    system_calls.fetch_add(1, std::memory_order_relaxed);
    return reinterpret_cast<Call*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace coroscope::test

// Replace the C library's functions, and call them.
extern "C" int prctl(int option, ...) noexcept {
    std::va_list list;
    va_start(list, option);
    unsigned long words[4];
    for (unsigned long& word : words) word = va_arg(list, unsigned long);
    va_end(list);
    const auto real = coroscope::test::counted<int(int, ...)>("prctl");
    return real(option, words[0], words[1], words[2], words[3]);
}

extern "C" int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
    const auto real =
        coroscope::test::counted<int(int, const sigset_t*, sigset_t*)>("pthread_sigmask");
    return real(how, set, before);
}
