// SPDX-License-Identifier: Apache-2.0

// A program with requests and some work in each. The first argument is the number of requests, the
// second one the number of scopes in each request.

#include <cstdlib>

#include <coroscope/coroscope.hpp>

namespace {

void work() {
    constexpr int steps = 30'000;
    volatile int done = 0;
    while (done < steps) done = done + 1;
}

void handle(int scopes) {
    COROSCOPE_REQUEST("GET");
    work();
    for (int at = 0; at < scopes; ++at) {
        COROSCOPE("inside");
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 3) return 2;
    const int requests = std::atoi(arguments[1]);
    const int scopes = std::atoi(arguments[2]);
    for (int at = 0; at < requests; ++at) handle(scopes);
    COROSCOPE("outside");
    return 0;
}
