// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Asio under test as `net`: Boost.Asio, or standalone Asio (COROSCOPE_TEST_STANDALONE_ASIO).
// COROSCOPE_TEST_ASIO_HAS_SECOND_TURN: if co_spawn itself runs its function to the end, it posts the
// result to its own executor first. Older versions post it to the executor of the awaiter at once.
// COROSCOPE_TEST_ASIO_HAS_SECOND_TURN_LATER: the same if another thread runs the function.

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>  // for awaitable.hpp of Boost 1.74, too

#if defined(COROSCOPE_TEST_STANDALONE_ASIO)
#include <asio.hpp>
#if ASIO_VERSION >= 102400
#define COROSCOPE_TEST_ASIO_HAS_DEFERRED 1
#define COROSCOPE_TEST_ASIO_HAS_SECOND_TURN 1
#endif
#if ASIO_VERSION >= 102400 && ASIO_VERSION < 103600
#define COROSCOPE_TEST_ASIO_HAS_SECOND_TURN_LATER 1
#endif
#if ASIO_VERSION >= 102200
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/experimental/channel.hpp>
#define COROSCOPE_TEST_ASIO_HAS_BOUND_TOKENS 1
#define COROSCOPE_TEST_ASIO_HAS_GROUPS 1
#endif
#if __has_include(<asio/cancel_after.hpp>)
#include <asio/cancel_after.hpp>
#define COROSCOPE_TEST_ASIO_HAS_TIMEOUTS 1
#endif
namespace net = asio;
namespace net_error = asio;
#else
#include <boost/asio.hpp>
#include <boost/version.hpp>
#if BOOST_VERSION >= 108100
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/experimental/channel.hpp>
#define COROSCOPE_TEST_ASIO_HAS_DEFERRED 1
#define COROSCOPE_TEST_ASIO_HAS_SECOND_TURN 1
#if BOOST_ASIO_VERSION < 103600
#define COROSCOPE_TEST_ASIO_HAS_SECOND_TURN_LATER 1
#endif
#define COROSCOPE_TEST_ASIO_HAS_BOUND_TOKENS 1
#define COROSCOPE_TEST_ASIO_HAS_GROUPS 1
#endif
#if BOOST_VERSION >= 108600
#include <boost/asio/cancel_after.hpp>
#define COROSCOPE_TEST_ASIO_HAS_TIMEOUTS 1
#endif
namespace net = boost::asio;
namespace net_error = boost::system;
#endif
