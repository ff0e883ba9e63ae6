// SPDX-License-Identifier: Apache-2.0

// The two words of a site that change: its tag, at the registration, and its limit, also when the
// list of categories changes. Other threads may read them at any time.

#include <link.h>

#include <atomic>
#include <cstring>
#include <mutex>

#include <coroscope/categories.hpp>
#include <coroscope/trace/format.hpp>

#include "categories.hpp"
#include "session_table.hpp"
#include "sites.hpp"

namespace coroscope::runtime::inline writer {
namespace {

// The site that has its tag and gets its limit at this moment. A scope that ends meanwhile on
// another thread must not take it for one that is switched off.
constinit std::atomic<const site*> being_published{nullptr};

// The address is in the memory of a loaded module. Compares the tag, because `known` may describe a
// site of an unloaded module that was at this address before.
void switch_site(const known_site& known) noexcept {
    site& where = *known.origin;
    const std::uint64_t tag = __atomic_load_n(&where.tag, __ATOMIC_RELAXED);
    if (tag != trace::make_tag(trace::record_kind::scope, known.id, 0)) return;
    __atomic_store_n(&where.duration_limit, limit_of_site(where), __ATOMIC_RELAXED);
}

struct memory_range {
    std::uintptr_t begin;
    std::uintptr_t end;
};

void switch_sites_in(const memory_range& segment) noexcept {
    for (const known_site* known = known_sites; known != nullptr; known = known->next) {
        const auto at = reinterpret_cast<std::uintptr_t>(known->origin);
        if (at >= segment.begin && at < segment.end && segment.end - at >= sizeof(site))
            switch_site(*known);
    }
}

// The loader unloads no module during this call.
int switch_module(dl_phdr_info* module, std::size_t, void*) noexcept {
    for (unsigned at = 0; at < module->dlpi_phnum; ++at) {
        const ElfW(Phdr)& segment = module->dlpi_phdr[at];
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
        const std::uintptr_t begin = module->dlpi_addr + segment.p_vaddr;
        switch_sites_in({begin, begin + segment.p_memsz});
    }
    return 0;
}

}  // namespace

bool is_switched_off(const site& where) noexcept {
    if (is_ready(where) || !is_registered(where)) return false;
    // The tag is there. So the site is being published, is ready by now, or is switched off.
    return being_published.load(std::memory_order_acquire) != &where && !is_ready(where);
}

void publish(site& where, std::uint32_t id) noexcept {
    const std::uint64_t limit = limit_of_site(where);
    // These stores pair with is_switched_off().
    if (limit != 0) being_published.store(&where, std::memory_order_release);
    // pairs with is_registered()
    __atomic_store_n(&where.tag, trace::make_tag(trace::record_kind::scope, id, 0),
                     __ATOMIC_RELEASE);
    // pairs with the end of a scope
    __atomic_store_n(&where.duration_limit, limit, __ATOMIC_RELEASE);
    being_published.store(nullptr, std::memory_order_release);
}

}  // namespace coroscope::runtime::inline writer

namespace coroscope {

bool set_categories(const char* list) noexcept {
    using namespace runtime;
    const std::size_t size = list == nullptr ? 0 : std::strlen(list);
    if (list == nullptr || size > categories_chars) return false;
    const std::lock_guard lock(sites_mutex());
    keep_categories({list, size});
    for_each_store([](chunk_store& store) { describe_categories(store.header()); });
    ::dl_iterate_phdr(switch_module, nullptr);
    return true;
}

}  // namespace coroscope
