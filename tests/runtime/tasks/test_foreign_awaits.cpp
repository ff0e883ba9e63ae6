// SPDX-License-Identifier: Apache-2.0

// Awaiters of other libraries that keep the address of their operand, and promises that ask for the
// source location: both get the same as without instrumentation.

#include <coroscope/instrumented.hpp>

#include <doctest/doctest.h>

#include <coroutine>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../support/foreign.hpp"
#include "../support/foreign_frames.hpp"

namespace foreign {

// --- a promise that asks for the source location ------------------------------------------------------

template <class Way>
struct located {
    struct promise : suspends_at_both_ends {
        auto
        get_return_object(std::source_location where = std::source_location::current()) noexcept {
            created = where;
            return located(*this);
        }
        template <class Awaitable>
        Awaitable&& await_transform(Awaitable&& awaitable,
                                    std::source_location where = std::source_location::current()) {
            awaited = where;
            return std::forward<Awaitable>(awaitable);
        }
        void return_void() const noexcept {}
        std::source_location created;
        std::source_location awaited;
    };
    using promise_type = typename promise_in<Way, promise>::type;
    explicit located(promise& of) noexcept : owner(of) {}
    frame_owner<promise> owner;
};

// --- awaiters that keep the address of their operand --------------------------------------------------

struct keeps_address {
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    const std::string* await_resume() const noexcept { return text; }
    const std::string* text;
};

/// await_transform takes a `Text`, a reference to a string.
template <class Text, class Way>
struct awaits_texts {
    struct promise : suspends_at_both_ends {
        awaits_texts get_return_object() noexcept { return awaits_texts(*this); }
        keeps_address
        await_transform(Text text,
                        std::source_location where = std::source_location::current()) noexcept {
            awaited = where;
            return {std::addressof(text)};
        }
        void return_void() const noexcept {}
        std::source_location awaited;
    };
    using promise_type = typename promise_in<Way, promise>::type;
    explicit awaits_texts(promise& of) noexcept : owner(of) {}
    void run() const {
        while (!owner.handle.done()) owner.handle.resume();
    }
    frame_owner<promise> owner;
};

}  // namespace foreign

COROSCOPE_INSTRUMENT_COROUTINE(foreign::located<foreign::outside>);
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), foreign::awaits_texts<T, foreign::outside>);

using namespace coroscope;
using namespace coroscope::test;

namespace {

template <class Way>
foreign::located<Way> asks_where(unsigned& line) {
    line = __LINE__ + 1;
    co_await std::suspend_never();
}

struct names_itself {
    operator const std::string&() const noexcept { return name; }  // NOLINT
    std::string name = long_text;
};

/// The texts at the addresses that the awaiters kept, at the end of each await expression.
using read_texts = std::vector<std::string>;

template <class Way>
foreign::awaits_texts<const std::string&, Way> converts(read_texts& read, unsigned& line) {
    line = __LINE__ + 1;
    read.push_back(*co_await long_text);
    read.push_back(*co_await COROSCOPE_AWAIT("labelled", std::string_view(long_text).data()));
}
template <class Way>
foreign::awaits_texts<std::string&&, Way> converts_to_rvalues(read_texts& read) {
    read.push_back(*co_await long_text);
}
template <class Way>
foreign::awaits_texts<const std::string&, Way> takes_as_it_is(bool& same) {
    const std::string own = long_text;
    const names_itself named;
    same = co_await own == &own && co_await named == &named.name;
}

}  // namespace

TYPE_TO_STRING_AS("plain", foreign::plain);
TYPE_TO_STRING_AS("declared", foreign::declared);
TYPE_TO_STRING_AS("outside", foreign::outside);

TEST_SUITE("foreign coroutine types") {
    TEST_CASE_TEMPLATE(
        "the result of a conversion in co_await lives until the end of the await expression", Way,
        foreign::plain, foreign::declared, foreign::outside) {
        read_texts read;
        unsigned line = 0;
        auto coroutine = converts<Way>(read, line);
        coroutine.owner.handle.resume();
        CHECK(coroutine.owner.handle.promise().awaited.line() == line);
        coroutine.run();
        converts_to_rvalues<Way>(read).run();
        CHECK(read == read_texts(3, long_text));
        bool same = false;
        takes_as_it_is<Way>(same).run();
        CHECK(same);
    }

    TEST_CASE_TEMPLATE(
        "a promise that asks for the source location gets the place in the coroutine", Way,
        foreign::plain, foreign::declared, foreign::outside) {
        unsigned line = 0;
        auto coroutine = asks_where<Way>(line);
        coroutine.owner.handle.resume();
        const auto& promise = coroutine.owner.handle.promise();
        CHECK(std::string_view(promise.created.file_name()).ends_with("test_foreign_awaits.cpp"));
        CHECK(std::string_view(promise.awaited.file_name()).ends_with("test_foreign_awaits.cpp"));
        CHECK(promise.awaited.line() == line);
    }
}
