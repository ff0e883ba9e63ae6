// SPDX-License-Identifier: Apache-2.0
#include "passed_call.hpp"

#include <dlfcn.h>

namespace coroscope::interpose {

constinit const trace::call_recorder* recorder = nullptr;

void* find_next(next_symbol& symbol) noexcept {
    void* const found = ::dlsym(RTLD_NEXT, symbol.name);
    __atomic_store_n(&symbol.address, found, __ATOMIC_RELAXED);
    return found;
}

namespace {

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): the linker's names for the ends of the section
extern next_symbol __start_coroscope_next[] __attribute__((visibility("hidden")));
extern next_symbol __stop_coroscope_next[] __attribute__((visibility("hidden")));
// NOLINTEND(readability-identifier-naming)
}

[[gnu::constructor(101)]] void find_all() noexcept {
    const int before = errno;
    for (next_symbol* each = __start_coroscope_next; each != __stop_coroscope_next; ++each)
        find_next(*each);
    errno = before;
}

}  // namespace
}  // namespace coroscope::interpose

// The name is coroscope::trace::connect_calls_name. The first recorder of the process stays.
extern "C" __attribute__((visibility("default"))) void
coroscope_connect_calls_1(const coroscope::trace::call_recorder* to) noexcept {
    const coroscope::trace::call_recorder* none = nullptr;
    __atomic_compare_exchange_n(&coroscope::interpose::recorder, &none, to, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
}
