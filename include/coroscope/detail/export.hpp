// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks the exports of Coroscope's shared libraries; all other symbols are hidden.
#define COROSCOPE_API __attribute__((visibility("default")))

/// Calls through the global offset table and not through the procedure linkage table, which saves
/// one jump on the hot path.
/// clang has no such attribute.
#if defined(__clang__)
#define COROSCOPE_NO_PLT
#else
#define COROSCOPE_NO_PLT __attribute__((noplt))
#endif
