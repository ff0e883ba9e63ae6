// SPDX-License-Identifier: Apache-2.0

// Titles of functions, from the signatures of g++ 12 and of clang 16 and 19.

#include "lib/runtime/writer/function_title.hpp"

#include <cstddef>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace {

using coroscope::runtime::function_title;

struct spelling {
    std::string_view gcc;
    std::string_view clang;
    std::string_view title;
};

constexpr spelling spellings[] = {
    {"void app::Foo::run() const", "void app::Foo::run() const", "app::Foo::run"},
    {"static void app::Foo::st()", "static void app::Foo::st()", "app::Foo::st"},
    {"app::Foo::Foo()", "app::Foo::Foo()", "app::Foo::Foo"},
    {"app::Foo::~Foo()", "app::Foo::~Foo()", "app::Foo::~Foo"},
    {"void app::{anonymous}::load(int)", "void app::(anonymous namespace)::load(int)", "app::load"},
    {"void app::{anonymous}::f()::L::m()", "void app::(anonymous namespace)::f()::L::m()",
     "app::f::L::m"},
    {"void main(int, char**)::<unnamed struct>::u()",
     "void main(int, char **)::(anonymous struct)::u()", "main::{unnamed}::u"},
    // operators
    {"void app::Foo::operator()()", "void app::Foo::operator()()", "app::Foo::operator()"},
    {"bool app::Foo::operator<(const app::Foo&) const",
     "bool app::Foo::operator<(const Foo &) const", "app::Foo::operator<"},
    {"auto app::Foo::operator<=>(const app::Foo&) const",
     "auto app::Foo::operator<=>(const Foo &) const", "app::Foo::operator<=>"},
    {"app::Foo* app::Foo::operator->()", "Foo *app::Foo::operator->()", "app::Foo::operator->"},
    {"int app::Foo::operator[](int)", "int app::Foo::operator[](int)", "app::Foo::operator[]"},
    {"static void* app::Foo::operator new(size_t)", "static void *app::Foo::operator new(size_t)",
     "app::Foo::operator new"},
    {"app::Foo::operator int()", "int app::Foo::operator int()", "app::Foo::operator int"},
    {"app::Foo::operator T*() [with T = float]", "T *app::Foo::operator float *() [T = float]",
     "app::Foo::operator float*"},
    // results that are pointers to functions and arrays
    {"void (* app::X<T>::getter())(int) [with T = char]",
     "void (*app::X<char>::getter() [T = char])(int)", "app::X<char>::getter"},
    {"int (* app::f(T, U))(int) [with T = int; U = char]",
     "int (*app::f(T, U) [T = int, U = char])(int)", "app::f<int, char>"},
    {"int (* app::arr())[3] [with T = int]", "int (*app::arr() [T = int])[3]", "app::arr<int>"},
    // results that depend on the template's parameters
    {"decltype ((t + 1)) app::dt(T) [with T = int; decltype ((t + 1)) = int]",
     "<dependent type> app::dt(T) [T = int]", "app::dt<int>"},
    {"std::enable_if_t<(sizeof (T) > 2), int> app::en(T) [with T = int; std::enable_if_t<(sizeof "
     "(T) "
     "> 2), int> = int]",
     "std::enable_if_t<(sizeof(T) > 2), int> app::en(T) [T = int]", "app::en<int>"},
    // types of one meaning and two spellings
    {"void app::f(T) [with T = long int]", "void app::f(T) [T = long]", "app::f<long>"},
    {"void app::f(T) [with T = long long unsigned int]", "void app::f(T) [T = unsigned long long]",
     "app::f<unsigned long long>"},
    {"void app::f(T) [with T = short unsigned int]", "void app::f(T) [T = unsigned short]",
     "app::f<unsigned short>"},
    {"void app::f(T) [with T = app::long int_like]", "void app::f(T) [T = app::long int_like]",
     "app::f<app::long int_like>"},
    {"void app::f(A ...) [with A = {std::__cxx11::basic_string<char, std::char_traits<char>, "
     "std::allocator<char> >, long int}]",
     "void app::f(A...) [A = <std::basic_string<char>, long>]", "app::f<std::string, long>"},
    // templates
    {"void app::f() [with T = int]", "void app::f() [T = int]", "app::f<int>"},
    {"void app::f() [with T = std::__cxx11::basic_string<char>]",
     "void app::f() [T = std::basic_string<char>]", "app::f<std::string>"},
    {"void app::f() [with T = std::map<std::__cxx11::basic_string<char>, std::vector<int> >]",
     "void app::f() [T = std::map<std::basic_string<char>, std::vector<int>>]",
     "app::f<std::map<std::string, std::vector<int>>>"},
    {"void app::Box<T>::put(U) [with U = double; T = int]",
     "void app::Box<int>::put(U) [T = int, U = double]", "app::Box<int>::put<double>"},
    {"void app::Box<T>::In::f() [with T = int]", "void app::Box<int>::In::f() [T = int]",
     "app::Box<int>::In::f"},
    {"static app::Box<T>::task app::Box<T>::go() [with bool T = false; task = app::task<int>]",
     "static task app::Box<false>::go() [T = false]", "app::Box<false>::go"},
    {"void app::var(A ...) [with int N = 3; A = {}]", "void app::var(A...) [N = 3, A = <>]",
     "app::var<3>"},
    {"void app::var(A ...) [with int N = 4; A = {int, double}]",
     "void app::var(A...) [N = 4, A = <int, double>]", "app::var<4, int, double>"},
    {"void app::ch() [with char C = '>']", "void app::ch() [C = '>']", "app::ch<'>'>"},
    {"void app::ch() [with char C = ';']", "void app::ch() [C = ';']", "app::ch<';'>"},
    {"void app::f(std::string) [with T = int [3]; std::string = std::__cxx11::basic_string<char>]",
     "void app::f(std::string) [T = int[3]]", "app::f<int[3]>"},
    {"void app::f() [with T = void (*)(int)]", "void app::f() [T = void (*)(int)]",
     "app::f<void(*)(int)>"},
    {"auto app::ab(auto:11) [with auto:11 = int]", "auto app::ab(auto) [x:auto = int]",
     "app::ab<int>"},
    // results
    {"void (* app::fp(int))(int)", "void (*app::fp(int))(int)", "app::fp"},
    {"decltype(auto) app::da()", "decltype(auto) app::da()", "app::da"},
    {"std::map<int, std::vector<int> > app::mp(std::function<void(int)>)",
     "std::map<int, std::vector<int>> app::mp(std::function<void (int)>)", "app::mp"},
    // lambdas
    {"main(int, char**)::<lambda()>",
     "auto main(int, char **)::(anonymous class)::operator()() const", "main::{lambda:7}"},
    {"main(int, char**)::<lambda(int, const std::string&)> mutable",
     "auto main(int, char **)::(anonymous class)::operator()(int, const std::string &)",
     "main::{lambda:7}"},
    {"main(int, char**)::<lambda(auto:12)> [with auto:12 = int]",
     "auto main(int, char **)::(anonymous class)::operator()(auto) const [x:auto = int]",
     "main::{lambda:7}<int>"},
    {"main(int, char**)::<lambda(auto:12)>::<lambda()>",
     "auto main(int, char **)::(anonymous class)::operator()(int)::(anonymous class)::operator()() "
     "const",
     "main::{lambda}::{lambda:7}"},
    {"<lambda()>", "auto (anonymous class)::operator()() const", "{lambda:7}"},
};

TEST_CASE("a function's title has its classes and template arguments, by g++ as by clang") {
    static function_title titles;
    for (const spelling& each : spellings) {
        CHECK(titles.make(each.gcc, 7) == each.title);
        CHECK(titles.make(each.clang, 7) == each.title);
    }
}

TEST_CASE("the title of the function into which g++ puts a coroutine's body is the title of the "
          "coroutine") {
    static function_title titles;
    CHECK(titles.make("void all(all()::_Z3allv.Frame*)", 0) == "all");
    CHECK(titles.make("void app::tmpl(tmpl<int>()::_ZN3app4tmplIiEEN4taskIvEEv.Frame*)", 0) ==
          "app::tmpl<int>");
    CHECK(titles.make("void app::S::tm(app::S::tm<double>(double)::_ZN3app1S2tmIdEE.Frame*)", 0) ==
          "app::S::tm<double>");
    CHECK(titles.make("void all(all()::_Z3allv.Frame*)::<lambda(auto:20)>::operator()"
                      "(all(all()::_Z3allv.Frame*)::<lambda(auto:20)>::_ZZ3allvENKUlT_E0_.Frame*)",
                      0) == "all::{lambda}");
    CHECK(titles.make("void app::f(T) [with T = all(all()::_Z3allv.Frame*)::<lambda()>]", 0) ==
          "app::f<all()::{lambda}>");
}

TEST_CASE(
    "a signature that is cut anywhere has a title that is no longer than itself and has one line") {
    static function_title titles;
    for (const spelling& each : spellings) {
        for (const std::string_view whole : {each.gcc, each.clang}) {
            for (std::size_t size = 1; size <= whole.size(); ++size)
                CHECK(titles.make(whole.substr(0, size), 7).size() <= size + 16);
        }
    }
    CHECK(titles.make("", 7).empty());
    CHECK(titles.make(std::string(10'000, '<'), 7).size() <= coroscope::trace::payload_limit);
    CHECK(titles.make("f" + std::string(10'000, '('), 7).size() <= coroscope::trace::payload_limit);
}

}  // namespace
