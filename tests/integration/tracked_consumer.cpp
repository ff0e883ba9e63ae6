// SPDX-License-Identifier: Apache-2.0
// The effect of the dependency coroscope-asio: Asio includes the header that the dependency's
// definitions name.

#if !defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING) || !defined(ASIO_CUSTOM_HANDLER_TRACKING)
#error "coroscope-asio defines the tracking of Asio and of Boost.Asio"
#endif
#include ASIO_CUSTOM_HANDLER_TRACKING
#include BOOST_ASIO_CUSTOM_HANDLER_TRACKING

int main() { return coroscope::asio::coroscope_asio_tracked == 1 ? 0 : 1; }
