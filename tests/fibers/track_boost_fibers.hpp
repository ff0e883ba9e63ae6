// SPDX-License-Identifier: Apache-2.0
#pragma once

// Included (-include) before a program that uses Boost.Fiber but not Coroscope: wraps the algorithm
// of its main thread, and each algorithm that the program installs. With COROSCOPE_TEST_PLAIN in
// the environment it wraps none, so that a test can compare the program's output.

#include <cstdlib>
#include <utility>

#include <boost/fiber/all.hpp>

#include <coroscope/integration/boost_fiber.hpp>

namespace boost::fibers {

template <class Algorithm, class... Arguments>
void use_tracked_algorithm(Arguments&&... arguments) {
    if (std::getenv("COROSCOPE_TEST_PLAIN") != nullptr)
        use_scheduling_algorithm<Algorithm>(std::forward<Arguments>(arguments)...);
    else
        use_scheduling_algorithm<coroscope::fibers::tracked<Algorithm>>(
            std::forward<Arguments>(arguments)...);
}

inline const bool tracks_main_thread = (use_tracked_algorithm<algo::round_robin>(), true);

}  // namespace boost::fibers

#define use_scheduling_algorithm use_tracked_algorithm
