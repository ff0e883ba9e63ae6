// SPDX-License-Identifier: Apache-2.0

// What coroutine types of other libraries are given by co_return, co_yield and co_await, where their promises declare more
// than one function for it, keep its address, or ask where it stands: the same as without instrumentation.

#include <coroscope/instrumented.hpp>

#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/awaitables.hpp"
#include "support/foreign.hpp"
#include "support/recording.hpp"

namespace foreign {

// The parts that the types below have in common: they own their frame.
template <class Promise>
struct frame_owner {
    using handle_type = std::coroutine_handle<Promise>;
    explicit frame_owner(Promise& promise) noexcept : handle(handle_type::from_promise(promise)) {}
    frame_owner(frame_owner&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
    frame_owner& operator=(frame_owner&&) = delete;
    ~frame_owner() {
        if (handle) handle.destroy();
    }
    handle_type handle;
};

struct suspends_at_both_ends {
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void unhandled_exception() const { throw; }
};

// --- generators that keep the address of what is yielded ----------------------------------------------

/// Overloads for lvalues and rvalues, the first a template, as a generator writes it that may be of references.
template <class T, class Way>
class pointing_generator {
public:
    struct promise : suspends_at_both_ends {
        pointing_generator get_return_object() noexcept { return pointing_generator(*this); }
        template <class U = T>
            requires(!std::is_rvalue_reference_v<U>)
        std::suspend_always yield_value(std::remove_reference_t<T>& value) noexcept {
            current = std::addressof(value);
            return {};
        }
        std::suspend_always yield_value(std::remove_reference_t<T>&& value) noexcept {
            current = std::addressof(value);
            return {};
        }
        void return_void() const noexcept {}
        std::remove_reference_t<T>* current = nullptr;
    };
    using promise_type = typename promise_in<Way, promise>::type;

    auto& next() {
        owner_.handle.resume();
        return *owner_.handle.promise().current;
    }

private:
    explicit pointing_generator(promise& of) noexcept : owner_(of) {}
    frame_owner<promise> owner_;
};

/// One template for whatever is yielded, whose body is the only place that says what it takes.
template <class T, class Way>
class keeping_generator {
public:
    struct promise : suspends_at_both_ends {
        keeping_generator get_return_object() noexcept { return keeping_generator(*this); }
        template <class U>
        auto yield_value(U&& value) {
            current.emplace(std::forward<U>(value));
            return std::suspend_always();
        }
        void return_void() const noexcept {}
        std::optional<T> current;
    };
    using promise_type = typename promise_in<Way, promise>::type;

    T next() {
        owner_.handle.resume();
        return std::move(*owner_.handle.promise().current);
    }

private:
    explicit keeping_generator(promise& of) noexcept : owner_(of) {}
    frame_owner<promise> owner_;
};

/// The one overload that the standard's generator has for values, and another for a tag.
template <class T, class Way>
class tagged_generator {
public:
    struct twice {
        const T& value;
    };
    struct promise : suspends_at_both_ends {
        tagged_generator get_return_object() noexcept { return tagged_generator(*this); }
        std::suspend_always yield_value(const T& value) noexcept {
            current = std::addressof(value);
            times = 1;
            return {};
        }
        std::suspend_always yield_value(twice of) noexcept {
            current = std::addressof(of.value);
            times = 2;
            return {};
        }
        void return_void() const noexcept {}
        const T* current = nullptr;
        int times = 0;
    };
    using promise_type = typename promise_in<Way, promise>::type;

    const T& next() {
        owner_.handle.resume();
        return *owner_.handle.promise().current;
    }
    int times() const { return owner_.handle.promise().times; }

private:
    explicit tagged_generator(promise& of) noexcept : owner_(of) {}
    frame_owner<promise> owner_;
};

// --- results ------------------------------------------------------------------------------------------

/// return_value is a template that takes the result's type unless told otherwise.
template <class T, class Way>
struct defaulted_result {
    struct promise : suspends_at_both_ends {
        auto get_return_object() noexcept { return defaulted_result(*this); }
        template <class U = T>
        void return_value(U&& value) {
            result = std::forward<U>(value);
        }
        T result{};
    };
    using promise_type = typename promise_in<Way, promise>::type;
    explicit defaulted_result(promise& of) noexcept : owner(of) {}
    const T& run() {
        owner.handle.resume();
        return owner.handle.promise().result;
    }
    frame_owner<promise> owner;
};

/// return_value for lvalues and for rvalues.
template <class T, class Way>
struct overloaded_result {
    struct promise : suspends_at_both_ends {
        auto get_return_object() noexcept { return overloaded_result(*this); }
        void return_value(const T& value) { result = value; }
        void return_value(T&& value) { result = std::move(value); }
        T result{};
    };
    using promise_type = typename promise_in<Way, promise>::type;
    explicit overloaded_result(promise& of) noexcept : owner(of) {}
    const T& run() {
        owner.handle.resume();
        return owner.handle.promise().result;
    }
    frame_owner<promise> owner;
};

// --- a promise that asks where it is ------------------------------------------------------------------

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

COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T),
                                        foreign::pointing_generator<T, foreign::outside>);
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), foreign::keeping_generator<T, foreign::outside>);
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), foreign::tagged_generator<T, foreign::outside>);
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), foreign::defaulted_result<T, foreign::outside>);
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), foreign::overloaded_result<T, foreign::outside>);
COROSCOPE_INSTRUMENT_COROUTINE(foreign::located<foreign::outside>);
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), foreign::awaits_texts<T, foreign::outside>);

using namespace coroscope;
using namespace coroscope::test;

namespace {

constexpr const char* long_text = "a text that does not fit where a short one does";

struct two {
    int left = 0;
    int right = 0;
};

template <class Way>
foreign::pointing_generator<std::string, Way> texts() {
    co_yield long_text;
    std::string own = "own";
    co_yield own;
    co_yield std::string(long_text);
}
template <class Way>
foreign::pointing_generator<const double, Way> numbers() {
    co_yield 1;
    const double own = 2.5;
    co_yield own;
}
template <class Way>
foreign::pointing_generator<int&, Way> references(int& own) {
    co_yield own;
}
template <class Way>
foreign::pointing_generator<two, Way> lists() {
    co_yield {1, 2};
}
template <class Way>
foreign::keeping_generator<std::unique_ptr<int>, Way> movable() {
    co_yield std::make_unique<int>(1);
    auto own = std::make_unique<int>(2);
    co_yield std::move(own);
    co_yield nullptr;
}
template <class Way>
foreign::tagged_generator<std::string, Way> tagged() {
    co_yield long_text;
    const std::string own = "own";
    co_yield {own};
    co_yield typename foreign::tagged_generator<std::string, Way>::twice{own};
}

template <class Way>
foreign::defaulted_result<two, Way> defaulted(bool list) {
    if (list) co_return {3, 4};
    co_return two{5, 6};
}
template <class Way>
foreign::overloaded_result<std::vector<int>, Way> overloaded(bool list) {
    if (list) co_return {1, 2, 3};
    std::vector<int> own(5);
    co_return own;
}

template <class Way>
foreign::located<Way> asks_where(unsigned& line) {
    line = __LINE__ + 1;
    co_await std::suspend_never();
}

struct names_itself {
    operator const std::string&() const noexcept { return name; }  // NOLINT
    std::string name = long_text;
};

/// What the awaiters found where they kept an address, at the end of each await expression.
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
    TEST_CASE_TEMPLATE("what is converted to be yielded lives as long as the suspension", Way,
                       foreign::plain, foreign::declared, foreign::outside) {
        auto all = texts<Way>();
        CHECK(all.next() == long_text);
        CHECK(all.next() == "own");
        CHECK(all.next() == long_text);
        auto values = numbers<Way>();
        CHECK(values.next() == 1);
        CHECK(values.next() == 2.5);
        auto others = tagged<Way>();
        CHECK(others.next() == long_text);
    }

    TEST_CASE_TEMPLATE("each form of co_yield finds its overload", Way, foreign::plain,
                       foreign::declared, foreign::outside) {
        int own = 7;
        CHECK(&references<Way>(own).next() == &own);
        CHECK(lists<Way>().next().right == 2);
        auto others = tagged<Way>();
        others.next();
        CHECK(others.next() == "own");
        CHECK(others.times() == 1);
        CHECK(others.next() == "own");
        CHECK(others.times() == 2);
    }

    TEST_CASE_TEMPLATE("a template that does not compile for constants is not asked for them", Way,
                       foreign::plain, foreign::declared, foreign::outside) {
        auto values = movable<Way>();
        CHECK(*values.next() == 1);
        CHECK(*values.next() == 2);
        CHECK(values.next() == nullptr);
    }

    TEST_CASE_TEMPLATE("a list in braces may be returned to a template and to overloads", Way,
                       foreign::plain, foreign::declared, foreign::outside) {
        CHECK(defaulted<Way>(true).run().right == 4);
        CHECK(defaulted<Way>(false).run().right == 6);
        CHECK(overloaded<Way>(true).run().size() == 3);
        CHECK(overloaded<Way>(false).run().size() == 5);
    }

    TEST_CASE_TEMPLATE("what is converted to be awaited lives until the end of the await", Way,
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

    TEST_CASE_TEMPLATE("a promise that asks where it stands is told the coroutine's place", Way,
                       foreign::plain, foreign::declared, foreign::outside) {
        unsigned line = 0;
        auto coroutine = asks_where<Way>(line);
        coroutine.owner.handle.resume();
        const auto& promise = coroutine.owner.handle.promise();
        CHECK(std::string_view(promise.created.file_name()).ends_with("test_foreign_values.cpp"));
        CHECK(std::string_view(promise.awaited.file_name()).ends_with("test_foreign_values.cpp"));
        CHECK(promise.awaited.line() == line);
    }
}
