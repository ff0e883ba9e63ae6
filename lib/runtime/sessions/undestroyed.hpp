// SPDX-License-Identifier: Apache-2.0
#pragma once

// A static object that is never destroyed, because threads and exit handlers may still use it while
// the program destroys its static objects.

#include <new>

namespace coroscope::runtime::inline sessions {

/// The one object of this type for `Tag`, which the first call makes. Any thread may call it.
template <class Tag, class Value>
Value& undestroyed() noexcept {
    alignas(Value) static unsigned char bytes[sizeof(Value)];
    static Value& made = *::new (bytes) Value();
    return made;
}

}  // namespace coroscope::runtime::inline sessions
