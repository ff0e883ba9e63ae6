// SPDX-License-Identifier: Apache-2.0
#pragma once

// The objects that tasks await, and their numbers. An object is known by its address and its kind.
// It gets its number when a task first awaits it, and keeps it for the life of the process. Its
// description is then written to the trace of each live session, and to that of each later session
// at its start. Thread-safe. The lookup takes no lock; a new number takes the sites' lock.

#include <cstdint>

#include <coroscope/trace/await_format.hpp>

#include "../store/chunk_store.hpp"

namespace coroscope::runtime::inline writer {

/// Returns the number of the object at `address`; 0 if the address is null, or the table of objects
/// is full. `name` describes an object of kind `other`. It is copied, and cut at 255 characters in
/// traces.
std::uint32_t object_number(const void* address, trace::object_kind kind,
                            const char* name = "") noexcept;

/// Writes the descriptions of all objects so far. The session must be live already, as for
/// define_all_sites().
void define_all_objects(chunk_store& store) noexcept;

}  // namespace coroscope::runtime::inline writer
