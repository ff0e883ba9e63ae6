// SPDX-License-Identifier: Apache-2.0

// A library with a name of each kind, all of which are unloaded before their trace is finished.

#include <coroscope/attribute.hpp>
#include <coroscope/record_function.hpp>
#include <coroscope/task.hpp>

#include <coroscope/coroscope.hpp>

using namespace coroscope;

namespace {

task<int> library_child(int number) {
    COROSCOPE_CAT("library category", 1, "library categorised");
    co_return number;
}

task<int> library_parent(int number) {
    const attribute tenant("library key", "library value");
    COROSCOPE_ARGS("library arguments", number);
    const int first = co_await COROSCOPE_AWAIT("library await", library_child(number));
    co_return first + co_await library_child(number);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int use_every_name() {
    const char label[] = "library range";
    const record_function range(label);
    return sync_wait(library_parent(21));
}
