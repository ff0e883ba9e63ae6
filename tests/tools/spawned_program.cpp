// SPDX-License-Identifier: Apache-2.0
// Spawns tasks at several places. test_spawned_at.py finds the lines by their comments.

#include <coroscope/coroscope.hpp>

using coroscope::task;

namespace {

task<int> small(int value)  // head of small
{
    co_return value + 1;
}

template <class Number>
task<Number> sum(Number to)  // head of sum<int>
{
    Number all = 0;
    for (Number each = 0; each < to; ++each) all += co_await small(each);  // spawns small 6 times
    co_return all;
}

task<int> recurse(int depth)  // head of recurse
{
    if (depth == 0) co_return 0;
    const int below = co_await recurse(depth - 1);  // spawns recurse 3 times
    co_return below + 1;
}

task<int> all()  // head of all
{
    int result = co_await small(1);                  // spawns small
    result += co_await sum(6);                       // spawns sum<int>
    const auto local = [](int value) -> task<int> {  // head of all::{lambda}
        co_return value;
    };
    auto begun = local(3);  // spawns all::{lambda}
    result += co_await std::move(begun);
    result += co_await recurse(3);  // spawns recurse
    co_return result;
}

}  // namespace

int main(int, char** arguments) {
    const coroscope::profile session({.output = arguments[1], .all_threads = true});
    const int result = coroscope::sync_wait(all());  // spawns all
    return result == 0 ? 1 : 0;
}
