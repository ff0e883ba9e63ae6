#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/header_names.py: its declarations, and its calls that are not qualified."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import header_names  # noqa: E402

DECLARED = """
#define COROSCOPE_API __attribute__((visibility("default")))
namespace coroscope {
class word;
namespace detail {
COROSCOPE_API void plain(word& given) noexcept;
template <class T>
    requires(sizeof(T) > 1)
[[nodiscard]] constexpr std::remove_reference_t<T>&& moved(T&& from) noexcept {
    return static_cast<T&&>(from);
}
template <class T>
decltype(auto) with_results(T&& given) {
    return static_cast<T&&>(given);
}
auto trailing(int value) -> decltype(value + 1);
inline constexpr bool constant = sizeof(word*) > 1;
using alias = decltype(plain(*static_cast<word*>(nullptr)));
struct kind {
    kind();
    void member();
};
template <class T>
kind(T) -> kind;
}  // namespace detail
}  // namespace coroscope
void outside();
"""


def calls_in(body, header=DECLARED):
    """The names called without qualification in a function of namespace coroscope with the body `body`."""
    known = header_names.Names({"names.hpp": header, "calls.hpp": f"namespace coroscope {{\n{body}\n}}\n"})
    return [name for _, name in known.unqualified_calls("calls.hpp")]


class Declarations(unittest.TestCase):
    def test_functions_of_the_projects_namespaces_are_found(self):
        names = header_names.Names({"names.hpp": DECLARED})
        self.assertEqual(set(names.functions), {"plain", "moved", "with_results", "trailing"})
        self.assertEqual(names.functions["moved"], {"coroscope::detail"})


class Calls(unittest.TestCase):
    def test_a_call_without_a_namespace_is_found(self):
        for call in ("plain(x);", "return moved(x);", "use(moved(x).y);", "with_results<T>(x);", "!moved(x);",
                     "auto y = static_cast<int>(trailing(1));", "co_await moved(x);"):
            with self.subTest(call=call):
                self.assertEqual(len(calls_in(f"template <class T> void f(T x) {{ {call} }}")), 1)

    def test_a_call_in_a_type_or_a_default_or_a_constraint_is_found(self):
        for declaration in ("using x = decltype(moved(1));", "void f(int x = trailing(1));",
                            "template <class T> requires requires(T x) { plain(x); } void f(T);",
                            "struct s { s() : x_(moved(1)) {} int x_ = trailing(1); };"):
            with self.subTest(declaration=declaration):
                self.assertGreaterEqual(len(calls_in(declaration)), 1)

    def test_a_qualified_call_is_allowed(self):
        self.assertEqual(calls_in("void f() { detail::plain(x); coroscope::detail::moved(x); ::coroscope::detail::moved(x); }"),
                         [])

    def test_members_and_variables_are_no_calls_of_functions(self):
        self.assertEqual(calls_in("struct s { void moved(int); void f() { moved(1); x.plain(1); y->plain(1); } };"), [])
        self.assertEqual(calls_in("void f() { const auto moved = [] {}; moved(); word plain(1); }"), [])

    def test_a_member_of_another_class_does_not_excuse_a_call(self):
        self.assertEqual(calls_in("struct s { void moved(int); }; void f() { moved(1); }"), ["moved"])

    def test_comments_and_strings_are_no_calls(self):
        self.assertEqual(calls_in('void f() { /* moved(1) */ g("moved(1)"); }  // moved(1)'), [])


class Macros(unittest.TestCase):
    def found(self, macro):
        known = header_names.Names({"names.hpp": DECLARED, "macro.hpp": macro})
        return [name for _, name, _ in known.unqualified_in_macros("macro.hpp")]

    def test_a_macro_names_functions_from_the_global_namespace(self):
        self.assertEqual(self.found("#define X(y) \\\n    coroscope::detail::moved(y)\n"), ["coroscope"])
        self.assertEqual(self.found("#define X(y) moved(y)\n"), ["moved"])
        self.assertEqual(self.found("#define X(y) ::coroscope::detail::moved(y)\n"), [])


if __name__ == "__main__":
    unittest.main()
