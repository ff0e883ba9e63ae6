// SPDX-License-Identifier: Apache-2.0

// QCoro's coroutine types, instrumented from outside by one line each: two generators, and a task
// type. The task's promise transforms awaited objects, and the coroutine destroys itself in its
// final suspension.

#include <coroscope/analysis/load.hpp>
#include <coroscope/coroscope.hpp>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include <qcoroasyncgenerator.h>
#include <qcorogenerator.h>
#include <qcorotask.h>
#include <qcorotimer.h>

#include <QCoreApplication>
#include <QTimer>

#define DOCTEST_CONFIG_IMPLEMENT
#include "../runtime/support/recording.hpp"

COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), QCoro::Task<T>);
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), QCoro::Generator<T>);
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), QCoro::AsyncGenerator<T>);

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

QCoro::Task<> short_pause() {
    QTimer timer;
    timer.setSingleShot(true);
    timer.start(5ms);
    co_await timer;
}

QCoro::Task<int> twice(int value) {
    COROSCOPE("twice");
    co_await short_pause();
    co_return 2 * value;
}

QCoro::Task<std::string> ready(std::string text) { co_return text; }

QCoro::Task<> fails() {
    co_await short_pause();
    throw std::runtime_error("qcoro");
}

QCoro::Task<int> adds() {
    COROSCOPE("adds");
    int sum = 0;
    for (int value = 1; value <= 3; ++value) sum += co_await twice(value);
    const std::string text = co_await ready("four");
    try {
        co_await fails();
    } catch (const std::runtime_error& error) {
        sum += std::string(error.what()) == "qcoro" ? static_cast<int>(text.size()) : 0;
    }
    co_return sum;
}

QCoro::Generator<int> counts(int end) {
    for (int value = 0; value < end; ++value) co_yield value;
}

QCoro::AsyncGenerator<int> counts_slowly(int end) {
    for (int value = 0; value < end; ++value) {
        co_await short_pause();
        co_yield value;
    }
}

QCoro::Task<int> sums_slowly(int end) {
    int sum = 0;
    QCORO_FOREACH(const int value, counts_slowly(end)) sum += value;
    co_return sum;
}

QCoro::Task<> nobody_waits_for(int& ran) {
    co_await short_pause();
    ++ran;
}

}  // namespace

TEST_SUITE("QCoro") {
    TEST_CASE("values, exceptions and nested tasks pass as before, and each coroutine is a task") {
        recording session;
        CHECK(QCoro::waitFor(adds()) == 16);
        const recorded found = session.stop();
        CHECK(found.tasks("twice").size() == 3);
        CHECK(found.tasks("short_pause").size() == 4);
        CHECK(found.task("ready").state == analysis::task_state::finished);
        CHECK(found.task("fails").state == analysis::task_state::failed);
        const analysis::task_info& outer = found.task("adds");
        CHECK(outer.state == analysis::task_state::finished);
        CHECK(found.event("adds").task == found.task_index("adds"));
        for (const std::uint32_t task : found.tasks("twice"))
            CHECK(found.trace.tasks[task].parent == found.task_index("adds"));
        for (const analysis::task_info& task : found.trace.tasks)
            check_sum(task, found.trace.duration_ns);
    }

    TEST_CASE("a timer's wait is waiting time, because the wake is unknown") {
        recording session;
        QCoro::waitFor(short_pause());
        const recorded found = session.stop();
        const analysis::task_info& task = found.task("short_pause");
        CHECK(task.time.waiting_ns > 0);
        CHECK(task.time.suspended_ns == 0);
        CHECK(task.time.queued_ns == 0);
    }

    TEST_CASE("a generator yields the same values, and is a task") {
        recording session;
        int sum = 0;
        for (const int value : counts(5)) sum += value;
        CHECK(sum == 10);
        const recorded found = session.stop();
        CHECK(found.task("counts").slices.size() == 6);
    }

    TEST_CASE("an asynchronous generator yields the same values, and finishes its consumer") {
        recording session;
        CHECK(QCoro::waitFor(sums_slowly(4)) == 6);
        const recorded found = session.stop();
        CHECK(found.task("counts_slowly").slices.size() >= 8);
        CHECK(found.task("sums_slowly").state == analysis::task_state::finished);
    }

    TEST_CASE("a coroutine whose task object is destroyed runs to its end and destroys itself") {
        int ran = 0;
        recording session;
        nobody_waits_for(ran);
        QCoro::waitFor(short_pause());
        QCoro::waitFor(short_pause());
        CHECK(ran == 1);
        CHECK(session.stop().task("nobody_waits_for").state == analysis::task_state::finished);
    }

    TEST_CASE("tasks and generators work as before without a session") {
        CHECK(QCoro::waitFor(adds()) == 16);
        CHECK(QCoro::waitFor(sums_slowly(4)) == 6);
        CHECK(current_context().task == 0);
    }
}

int main(int count, char** arguments) {
    const QCoreApplication application(count, arguments);
    return doctest::Context(count, arguments).run();
}
