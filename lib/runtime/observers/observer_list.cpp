// SPDX-License-Identifier: Apache-2.0
#include "observer_list.hpp"

#include <algorithm>
#include <new>

namespace coroscope::runtime::inline observers {

void release(observer_entry* entry) noexcept {
    if (entry->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
        delete entry;  // pairs with itself
}

void release(observer_list* list) noexcept {
    if (list == nullptr) return;
    if (list->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;  // pairs with itself
    for (observer_entry* each : *list) release(each);
    ::operator delete(list);
}

observer_list* make_list(const observer_list* before, observer_entry* added) noexcept {
    const std::size_t most = (before == nullptr ? 0 : before->size) + (added == nullptr ? 0U : 1U);
    void* memory =
        ::operator new(sizeof(observer_list) + most * sizeof(observer_entry*), std::nothrow);
    if (memory == nullptr) return nullptr;
    auto* list = new (memory) observer_list;
    auto* to = reinterpret_cast<observer_entry**>(list + 1);
    if (before != nullptr) to = std::copy_if(before->begin(), before->end(), to, is_live);
    if (added != nullptr) *to++ = added;
    list->size = static_cast<std::uint32_t>(to - list->begin());
    for (observer_entry* each : *list) each->references.fetch_add(1, std::memory_order_relaxed);
    if (list->size != 0) return list;
    release(list);
    return nullptr;
}

bool has_observers(const observer_list* list) noexcept {
    return list != nullptr && std::any_of(list->begin(), list->end(), is_live);
}

}  // namespace coroscope::runtime::inline observers
