// SPDX-License-Identifier: Apache-2.0

// check_headers.py names the header.
#include COROSCOPE_HEADER
#include COROSCOPE_HEADER
