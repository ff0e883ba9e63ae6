// SPDX-License-Identifier: Apache-2.0
#pragma once

// The list of the process's registered threads.

#include "../base/quiet_mutex.hpp"
#include "thread_record.hpp"

namespace coroscope::runtime::inline writer {

/// Guards the list, the table of sessions and the gates' bits that concern all threads.
quiet_mutex& registry_mutex() noexcept;

// The caller of the following must hold it.

thread_record* first_thread() noexcept;

/// Adds the record of a thread that has none in the list, and gives it its id.
void list_thread(thread_record& record) noexcept;
void unlist_thread(thread_record& record) noexcept;

/// Removes all records but that one, which may be null. In a forked child, which needs no lock.
void unlist_all_but(thread_record* only) noexcept;

}  // namespace coroscope::runtime::inline writer
