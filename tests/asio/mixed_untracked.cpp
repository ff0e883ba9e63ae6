// SPDX-License-Identifier: Apache-2.0

// The translation unit that is compiled without tracking. Its object is never destroyed: the two
// halves of the program have different layouts of an operation.

#include <boost/asio/io_context.hpp>

boost::asio::io_context& leaked_context() {
    static auto* const made = new boost::asio::io_context;
    return *made;
}
