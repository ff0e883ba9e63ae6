// SPDX-License-Identifier: Apache-2.0
#pragma once

// An imitation of the part of ITT that emit_itt uses, under its names. It writes down every call
// for the test to compare. It shows the calls of emit_itt, not that a collector accepts them.

#include <string>
#include <vector>

// NOLINTBEGIN(readability-identifier-naming): the names are ITT's.

struct __itt_domain {
    std::string name;
};
struct __itt_string_handle {
    std::string text;
};
struct __itt_id {
    unsigned long long d1, d2, d3;
};
inline constexpr __itt_id __itt_null{0, 0, 0};

__itt_domain* __itt_domain_create(const char* name);
__itt_string_handle* __itt_string_handle_create(const char* text);
__itt_id __itt_id_make(void* address, unsigned long long extra);
void __itt_task_begin(const __itt_domain* domain, __itt_id task, __itt_id parent,
                      __itt_string_handle* name);
void __itt_task_end(const __itt_domain* domain);
void __itt_task_begin_overlapped(const __itt_domain* domain, __itt_id task, __itt_id parent,
                                 __itt_string_handle* name);
void __itt_task_end_overlapped(const __itt_domain* domain, __itt_id task);

std::vector<std::string> take_itt_calls();

// NOLINTEND(readability-identifier-naming)
