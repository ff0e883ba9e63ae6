// SPDX-License-Identifier: Apache-2.0

// A scope of each macro in a loop around nothing and around a call; and, with -DSAMPLE_WITHOUT_MACROS, the same
// loops without. What one turn costs while no session runs is counted in the machine code.

#ifdef SAMPLE_WITHOUT_MACROS
#define COROSCOPE(label) static_assert(true)
#define COROSCOPE_FUNCTION() static_assert(true)
#define COROSCOPE_CAT(category, level, label) static_assert(true)
#define COROSCOPE_ARGS(label, ...) static_assert(true)
#else
#include <coroscope/macro.hpp>
#endif

void work(int);

// Marks a turn in the machine code; never executed.
#define MARK() asm volatile("hlt")

#define LOOPS(name, ...)                                                                           \
    extern "C" void name##_around_nothing(int turns);                                              \
    void name##_around_nothing(int turns) {                                                        \
        for (int turn = 0; turn < turns; ++turn) {                                                 \
            {                                                                                      \
                __VA_ARGS__;                                                                       \
            }                                                                                      \
            MARK();                                                                                \
        }                                                                                          \
    }                                                                                              \
    extern "C" void name##_around_call(int turns);                                                 \
    void name##_around_call(int turns) {                                                           \
        for (int turn = 0; turn < turns; ++turn) {                                                 \
            __VA_ARGS__;                                                                           \
            work(turn);                                                                            \
        }                                                                                          \
    }

LOOPS(scope, COROSCOPE("scope"))
LOOPS(function, COROSCOPE_FUNCTION())
LOOPS(category, COROSCOPE_CAT("category", 3, "scope"))
LOOPS(arguments, COROSCOPE_ARGS("scope", turn, turns))
