// SPDX-License-Identifier: Apache-2.0

#include <coroscope/coroscope.hpp>

int main() { COROSCOPE("main"); }
