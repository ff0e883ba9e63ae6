// SPDX-License-Identifier: Apache-2.0

// Every test of Asio's tracking that needs only Asio's headers, in one translation unit. `./dev
// test --asio-versions` compiles it for each version of Asio.

#include "test_asio.cpp"
#include "test_callbacks.cpp"
#include "test_composed.cpp"
#include "test_contexts.cpp"
#include "test_executors.cpp"
#include "test_experimental.cpp"
#include "test_expressions.cpp"
#include "test_live.cpp"
#include "test_operations.cpp"
#include "test_outcomes.cpp"
#include "test_sampling.cpp"
#include "test_states.cpp"
#include "test_threads.cpp"
#include "test_timeouts.cpp"
#include "test_turns.cpp"
#include "test_wakes.cpp"
