// SPDX-License-Identifier: Apache-2.0

// The scope macros in ordinary functions: their records, and the parts that a build compiles out.

#include <coroscope/macro.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>

#include "../support/recording.hpp"
#include "macro_parts.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

void outer_and_inner() {
    COROSCOPE("outer");
    {
        COROSCOPE("inner");
    }
    COROSCOPE("late");
}

int add(int left, int right) {
    COROSCOPE_FUNCTION();
    return left + right;
}

struct point {
    int x;
    int y;
};
void coroscope_argument(argument_writer& writer, const point& value) noexcept {
    writer.integer(value.x);
    writer.text("/", 1);
    writer.integer(value.y);
}

enum class colour : unsigned char { red, green };

void with_arguments(const std::string& key, std::size_t size) {
    COROSCOPE_ARGS("get", key, size, -3, true, colour::green, point{4, 5}, "text", 0.5);
}

struct two_fields {
    char full[4];
    char next[4];
};

/// The last bytes of a page; the next page is not readable.
class page_end {
public:
    page_end() {
        REQUIRE(pages_ != MAP_FAILED);
        REQUIRE(mprotect(static_cast<char*>(pages_) + bytes_, bytes_, PROT_NONE) == 0);
        std::memset(pages_, 'x', bytes_);
    }
    page_end(const page_end&) = delete;
    page_end& operator=(const page_end&) = delete;
    ~page_end() { munmap(pages_, 2 * bytes_); }
    const char* last(std::size_t size) const {
        return static_cast<const char*>(pages_) + bytes_ - size;
    }

private:
    std::size_t bytes_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* pages_ =
        mmap(nullptr, 2 * bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

template <class T>
void in_template() {
    COROSCOPE("templated");
}

int evaluated = 0;
int count_evaluation() { return ++evaluated; }

}  // namespace

TEST_SUITE("macros") {
    TEST_CASE("a scope lasts until the end of its block and nests in the one around it") {
        recording session;
        outer_and_inner();
        const recorded found = session.stop();
        const auto& outer = found.event("outer");
        const auto& inner = found.event("inner");
        const auto& late = found.event("late");
        CHECK(&found.trace.events[inner.parent] == &outer);
        CHECK(&found.trace.events[late.parent] == &outer);
        CHECK(outer.parent == analysis::none);
        CHECK(outer.start_ns <= inner.start_ns);
        CHECK(inner.end_ns <= late.start_ns);
        CHECK(late.end_ns <= outer.end_ns);
        CHECK(outer.task == analysis::none);
        CHECK(outer.flags == 0);
    }

    TEST_CASE("a scope knows its function, file and line") {
        recording session;
        CHECK(add(1, 2) == 3);
        const recorded found = session.stop();
        const auto& site = found.trace.sites[found.event("add").site];
        CHECK(site.label == "add");
        CHECK(site.function.find("add") != std::string::npos);
        CHECK(site.file.find("test_macros.cpp") != std::string::npos);
        CHECK(site.line == 31);
    }

    TEST_CASE("arguments are captured as text only if the session asks for them") {
        recording with({.all_threads = true, .record_arguments = true});
        with_arguments("user:1", 42);
        const recorded asked = with.stop();
        CHECK(asked.arguments(asked.event("get")) == "user:1, 42, -3, true, 1, 4/5, text, 0.5");
        const auto& site = asked.trace.sites[asked.event("get").site];
        CHECK(site.arguments.rfind("key, size, -3, true", 0) == 0);

        recording without;
        with_arguments("user:1", 42);
        const recorded unasked = without.stop();
        CHECK(unasked.arguments(unasked.event("get")) == "");
    }

    TEST_CASE("arguments that do not fit are cut, and counted") {
        recording session({.all_threads = true, .record_arguments = true});
        with_arguments(std::string(5000, 'x'), 1);
        const recorded found = session.stop();
        CHECK(found.arguments(found.event("get")) == std::string(1024, 'x'));
        CHECK(found.trace.health.cut_texts == 1);
        recording another({.all_threads = true, .record_arguments = true});
        with_arguments("short", 1);
        CHECK(another.stop().trace.health.cut_texts == 0);
    }

    TEST_CASE(
        "text without a NUL ends with its array, and text behind a pointer ends at the limit") {
        const two_fields fields{{'f', 'u', 'l', 'l'}, {'n', 'e', 'x', 't'}};
        const char ended[8] = "end";
        const page_end page;
        recording session({.all_threads = true, .record_arguments = true});
        {
            COROSCOPE_ARGS("fields", fields.full, ended, static_cast<const char*>(ended));
            COROSCOPE_ARGS("pointer", page.last(1025));
            COROSCOPE_ARGS("behind others", std::string_view(page.last(1000), 1000), page.last(23));
        }
        const recorded found = session.stop();
        CHECK(found.arguments(found.event("fields")) == "full, end, end");
        CHECK(found.arguments(found.event("pointer")) == std::string(1024, 'x'));
        CHECK(found.arguments(found.event("behind others")) ==
              std::string(1000, 'x') + ", " + std::string(22, 'x'));
        CHECK(found.trace.health.cut_texts == 2);
    }

    TEST_CASE("an argument without a printable address is shown as unknown") {
        recording session({.all_threads = true, .record_arguments = true});
        volatile int device_register = 0;
        {
            COROSCOPE_ARGS("pointers", &with_arguments, &device_register, &point::x);
        }
        const recorded found = session.stop();
        CHECK(found.arguments(found.event("pointers")) == "?, ?, ?");
    }

    TEST_CASE("an empty text is shown as nothing, and a null pointer to text as null") {
        recording session({.all_threads = true, .record_arguments = true});
        {
            COROSCOPE_ARGS("nothing", std::string_view(), static_cast<const char*>(nullptr));
        }
        const recorded found = session.stop();
        CHECK(found.arguments(found.event("nothing")) == ", null");
    }

    TEST_CASE("the instances of a template are one place in the source") {
        recording session;
        in_template<int>();
        in_template<char>();
        in_template<int>();
        const recorded found = session.stop();
        const auto all = found.events("templated");
        REQUIRE(all.size() == 3);
        CHECK(all[0]->site == all[1]->site);
        CHECK(all[0]->site == all[2]->site);
    }

    TEST_CASE("without a session nothing is recorded") {
        outer_and_inner();
        recording session;
        const recorded found = session.stop();
        CHECK(found.trace.events.empty());
    }

    TEST_CASE("a category is compiled in by the list, and its name is recorded") {
        recording session;
        run_categories();
        const recorded found = session.stop();
        CHECK(found.count("in net") == 1);
        CHECK(found.trace.sites[found.event("in net").site].category == "net");
        CHECK(found.count("in db") == 0);
        CHECK(found.count("no category") == 0);
        CHECK(found.count("level 2") == 1);
        CHECK(found.count("level 3") == 0);
    }

    TEST_CASE("the last entry of a category list that matches decides") {
        using detail::category_enabled;
        CHECK(category_enabled("*", ""));
        CHECK(category_enabled("*", "net"));
        CHECK_FALSE(category_enabled("", "net"));
        CHECK(category_enabled("net,db", "db"));
        CHECK_FALSE(category_enabled("net,db", "d"));
        CHECK_FALSE(category_enabled("net,db", "dbx"));
        CHECK_FALSE(category_enabled("*,-cache", "cache"));
        CHECK(category_enabled("*,-cache", "cach"));
        CHECK(category_enabled("-cache,*", "cache"));
    }

    TEST_CASE("arguments of a scope that is compiled out are not evaluated") {
        evaluated = 0;
        COROSCOPE_ARGS("evaluates", count_evaluation());
        CHECK(evaluated == 1);  // as the arguments of any function
        CHECK(disabled_arguments_evaluated() == 0);
        recording session;
        CHECK(category_arguments_evaluated() == 0);
        CHECK(session.stop().trace.events.empty());
    }
}
