// SPDX-License-Identifier: Apache-2.0

// An acquisition and a release of a resource without waiters, each as a function. Also compiled
// with COROSCOPE_ENABLED=0, which must leave no code.

#include <coroscope/resource.hpp>

extern coroscope::resource held;

extern "C" void acquire();
void acquire() { held.acquired(); }

extern "C" void release();
void release() { held.released(); }

extern "C" void acquire_after_wait();
void acquire_after_wait() { held.acquired(held.wait_begin()); }

extern "C" void nothing();
void nothing() {}
