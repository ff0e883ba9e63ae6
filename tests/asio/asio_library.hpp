// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Asio under test as `net`: Boost's, or the one that stands alone (COROSCOPE_TEST_STANDALONE_ASIO).

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>  // for awaitable.hpp of Boost 1.74, too

#if defined(COROSCOPE_TEST_STANDALONE_ASIO)
#include <asio.hpp>
#if __has_include(<asio/experimental/awaitable_operators.hpp>)
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/experimental/channel.hpp>
#define COROSCOPE_TEST_ASIO_HAS_GROUPS 1
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
#define COROSCOPE_TEST_ASIO_HAS_GROUPS 1
#endif
namespace net = boost::asio;
namespace net_error = boost::system;
#endif
