// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks what a shared library of Coroscope exports; everything else is hidden.
#define COROSCOPE_API __attribute__((visibility("default")))

/// Calls through the global offset table instead of a stub: one jump less on the hot path. clang has
/// no such attribute.
#if defined(__clang__)
#define COROSCOPE_NO_PLT
#else
#define COROSCOPE_NO_PLT __attribute__((noplt))
#endif
