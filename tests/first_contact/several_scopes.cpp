// SPDX-License-Identifier: Apache-2.0

// Several scopes on one line, in macros, in templates and in lambdas.
// usage: several_scopes FILE      records them there

#include <coroscope/coroscope.hpp>

#define LABEL "label of a macro"
// clang-format off
#define TWO_SCOPES(label) COROSCOPE(label); COROSCOPE("second of a macro")

namespace {

void on_one_line() { COROSCOPE("first"); COROSCOPE("second"); COROSCOPE_FUNCTION(); COROSCOPE_ARGS("third", 1); COROSCOPE_CAT("db", 1, "fourth"); COROSCOPE_REQUEST("fifth"); COROSCOPE_REQUEST("sixth"); COROSCOPE_VALUE("seventh", 1); COROSCOPE_VALUE("eighth", 2); }

void in_macros() { TWO_SCOPES("first of a macro"); TWO_SCOPES(LABEL); COROSCOPE("joined" " label"); COROSCOPE(R"(raw label)"); }

template <class T>
T in_template(T value) { COROSCOPE("template"); COROSCOPE("template again"); const auto inner = [](T given) { COROSCOPE("lambda"); COROSCOPE("lambda again"); return given; }; return inner(value); }

coroscope::task<int> in_coroutine() { COROSCOPE("coroutine"); COROSCOPE("coroutine again"); co_return 3; }
// clang-format on

}  // namespace

int main(int count, char** words) {
    if (count != 2) return 2;
    const coroscope::profile session({.output = words[1], .all_threads = true});
    on_one_line();
    in_macros();
    in_template(1);
    in_template(2.0);
    return coroscope::sync_wait(in_coroutine()) == 3 ? 0 : 1;
}
