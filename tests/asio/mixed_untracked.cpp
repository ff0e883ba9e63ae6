// SPDX-License-Identifier: Apache-2.0

// The translation unit that was compiled without tracking. What it makes is never destroyed: the two halves
// do not agree on what an operation looks like.

#include <boost/asio/io_context.hpp>

boost::asio::io_context& leaked_context() {
    static auto* const made = new boost::asio::io_context;
    return *made;
}
