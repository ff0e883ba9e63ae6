// SPDX-License-Identifier: Apache-2.0

// A program as a user builds it, by any compiler and with any options: records scopes and tasks.
//
//     consumer FILE      writes the trace there

#include <coroscope/coroscope.hpp>

namespace {

coroscope::task<int> child(int value) {
    COROSCOPE_FUNCTION();
    co_return value;
}

coroscope::task<int> parent() {
    COROSCOPE("parent");
    int sum = 0;
    for (int each = 1; each <= 3; ++each) sum += co_await COROSCOPE_AWAIT("a child", child(each));
    co_return sum;
}

}  // namespace

int main(int count, char** words) {
    coroscope::profile_options options;
    if (count == 2) options.output = words[1];
    coroscope::profile session(options);
    const int sum = coroscope::sync_wait(parent());
    const coroscope::record_function label("made at run time");
    session.stop();
    return count == 2 && sum == 6 ? 0 : 1;
}
