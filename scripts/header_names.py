# SPDX-License-Identifier: Apache-2.0
"""The functions that headers declare at namespace scope, and the calls of them that are not qualified.

This is not a C++ parser: it recognises the forms that .clang-format leaves in include/. In case of doubt it counts a
name as a call.
"""

import bisect
import collections
import re

TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'
                       |[A-Za-z_]\w*|\d[\w.']*|::|->|<=>|&&|\|\||[=!<>+*/|&^%-]=|\#\#|<<|\S""",
                   re.VERBOSE | re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)
DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)]*\))?(.*)", re.DOTALL)
IDENTIFIER = re.compile(r"[A-Za-z_]\w*$")

# Words that may precede parentheses and are no names of functions.
KEYWORDS = set("""alignas alignof auto bool break case catch char class co_await co_return co_yield const const_cast
constexpr consteval continue decltype default delete do double else enum explicit extern float for friend goto if inline
int long mutable namespace new noexcept operator private protected public register reinterpret_cast requires return
short signed sizeof static static_assert static_cast struct switch template this thread_local throw try typedef typeid
typename union unsigned using virtual void volatile while __asm__ __attribute__ __extension__ final override
concept constinit dynamic_cast __typeof__""".split())
# The keywords that end a type, so that a name behind one is declared.
TYPE_KEYWORDS = set("auto bool char const double float int long short signed unsigned void volatile".split())

INLINE_NAMESPACES = {"COROSCOPE_ABI"}
PROJECT = "coroscope"

Token = collections.namedtuple("Token", "text line")


class Scope:
    """A namespace, a class or code. `names`: the functions (code: the variables) that it declares."""

    def __init__(self, kind, name="", outer=None):
        self.kind, self.name, self.outer, self.names = kind, name, outer, set()

    def enclosing(self):
        scope = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def namespace(self):
        """The name in source code, without inline namespaces."""
        names = [scope.name for scope in self.enclosing() if scope.kind == "namespace" and scope.name]
        return "::".join(name for name in reversed(names) if name not in INLINE_NAMESPACES)


def tokens_of(text, first_line=1):
    starts = [match.end() for match in re.finditer("\n", text)]
    found = []
    for match in TOKEN.finditer(text):
        if not match[0].startswith(("//", "/*")):
            found.append(Token(match[0], first_line + bisect.bisect_right(starts, match.start())))
    return found


def split_directives(text):
    """The text without preprocessor directives, and (macro's name, first line, body) for each macro."""
    macros = []
    for match in DIRECTIVE.finditer(text):
        defined = DEFINE.match(match[0])
        if defined:
            line = text.count("\n", 0, match.start() + defined.start(3)) + 1
            macros.append((defined[1], line, defined[3].replace("\\\n", " \n")))
    plain = DIRECTIVE.sub(lambda match: "\n" * match[0].count("\n"), text)
    return plain, macros


def skip_brackets(tokens, at, opening, closing):
    """The index after the bracket that closes the one at `at`."""
    depth = 0
    for index in range(at, len(tokens)):
        text = tokens[index].text
        depth += (text == opening) - (text == closing)
        if depth == 0:
            return index + 1
        if opening == "<" and text in ";{}":
            break
        if opening == "<" and text == "(":  # comparisons in parentheses close nothing
            inner = skip_brackets(tokens, index, "(", ")")
            return skip_brackets_from(tokens, inner, depth)
    return at + 1


def skip_brackets_from(tokens, at, depth):
    """The same for angle brackets, of which `depth` are open."""
    index = at
    while index < len(tokens):
        text = tokens[index].text
        if text == "(":
            index = skip_brackets(tokens, index, "(", ")")
            continue
        depth += (text == "<") - (text == ">")
        index += 1
        if depth == 0:
            return index
        if text in ";{}":
            return index
    return index


def is_identifier(text):
    return IDENTIFIER.match(text) is not None and text not in KEYWORDS


def declared_function(head):
    """The index in `head` (a declaration up to its body or semicolon) of the function's name, or None."""
    index, typed = 0, False
    if head and head[0].text in {"using", "typedef", "static_assert", "namespace", "concept"}:
        return None
    while index < len(head):
        text = head[index].text
        following = head[index + 1].text if index + 1 < len(head) else ""
        if text in {"=", "concept", "operator"}:
            return None
        if text == "template" and following == "<":
            index = skip_brackets(head, index + 1, "<", ">")
        elif text == "[":
            index = skip_brackets(head, index, "[", "]")
        elif text in {"(", "{"}:
            index = skip_brackets(head, index, text, ")" if text == "(" else "}")
        elif text == "<":
            index = skip_brackets(head, index, "<", ">")
        elif text in {"requires", "noexcept", "explicit", "alignas", "decltype"} and following == "(":
            typed = typed or text == "decltype"
            index = skip_brackets(head, index + 1, "(", ")")
        elif is_identifier(text) and following == "(":
            if typed and head[index - 1].text != "::":
                return index
            if head[index - 1].text == "::" and typed:
                return None
            index += 1
        else:
            typed = typed or is_identifier(text) or text in TYPE_KEYWORDS
            index += 1
    return None


def opened_class(head, outer):
    """The scope of the class whose name and bases are `head`. Its own name in it is that of its constructors."""
    name, index = "", 0
    while index < len(head) and head[index].text not in {":", "final"}:
        if head[index].text in {"[", "<"}:
            index = skip_brackets(head, index, head[index].text, "]" if head[index].text == "[" else ">")
            continue
        name = head[index].text
        index += 1
    scope = Scope("class", name, outer)
    scope.names.add(name)
    return scope


def opened_scope(head, outer):
    """The kind of scope that begins with the brace behind `head`."""
    words = [token.text for token in head]
    if outer.kind == "code":
        is_class = words[:1] and words[0] in {"struct", "class", "union"} and "(" not in words
        return opened_class(head[1:], outer) if is_class else Scope("code", outer=outer)
    if "namespace" in words[:2]:
        return Scope("namespace", "".join(words[words.index("namespace") + 1:]), outer)
    if words[:1] == ["extern"] and len(words) == 2:
        return Scope("namespace", "", outer)
    index = 0
    while index < len(head):
        text = words[index]
        if text == "template" and index + 1 < len(head) and words[index + 1] == "<":
            index = skip_brackets(head, index + 1, "<", ">")
        elif text == "requires":
            index += 1
        elif text == "(":
            index = skip_brackets(head, index, "(", ")")
        elif text in {"class", "struct", "union", "enum"}:
            return opened_class(head[index + 1:], outer) if text != "enum" else Scope("code", outer=outer)
        elif text in {"=", "operator"} or (is_identifier(text) and words[index + 1:index + 2] == ["("]):
            return Scope("code", outer=outer)
        else:
            index += 1
    return Scope("code", outer=outer)


class Header:
    """The scopes of one header's tokens; `places` has each token with its scope."""

    def __init__(self, text):
        plain, self.macros = split_directives(text)
        self.tokens = tokens_of(plain)
        self.root = Scope("namespace")
        self.scopes = []
        self.declarations = set()  # the indices of the names that are declared
        self.functions = collections.defaultdict(set)  # by name, the namespaces that declare it
        self.classes = collections.defaultdict(set)  # the same
        self._read()

    def _read(self):
        scope, head_start, parentheses = self.root, 0, 0
        for index, token in enumerate(self.tokens):
            text = token.text
            self.scopes.append(scope)
            parentheses += (text in "([") - (text in ")]")
            if text == "{":
                head = self.tokens[head_start:index]
                self._declare(scope, head, head_start)
                inner = opened_scope(head, scope) if parentheses == 0 else Scope("code", outer=scope)
                if inner.kind == "class" and scope.kind == "namespace":
                    self.classes[inner.name].add(scope.namespace())
                inner.parentheses, parentheses = parentheses, 0
                inner.names |= variables_of(head) if inner.kind == "code" else set()
                scope, head_start = inner, index + 1
            elif text == "}":
                if scope.outer is None:
                    raise ValueError(f"line {token.line}: a brace too many")
                parentheses = scope.parentheses
                scope, head_start = scope.outer, index + 1
            elif text == ";" and parentheses == 0:
                self._declare(scope, self.tokens[head_start:index], head_start)
                head_start = index + 1
            elif text == ":" and self.tokens[index - 1].text in {"public", "private", "protected"}:
                head_start = index + 1
        if scope is not self.root:
            raise ValueError("a brace is not closed")

    def _declare(self, scope, head, head_start):
        if scope.kind == "code":
            scope.names |= variables_of(head)
            return
        found = declared_function(head)
        if found is None:
            return
        self.declarations.add(head_start + found)
        name = head[found].text
        scope.names.add(name)
        if scope.kind == "namespace" and scope.namespace().startswith(PROJECT):
            self.functions[name].add(scope.namespace())


def variables_of(head):
    """Names that are declared as variables or parameters: names between a type and a token that may follow a
    variable."""
    names = set()
    for before, name, after in zip(head, head[1:], head[2:] + [Token(";", 0)]):
        typed = is_identifier(before.text) or before.text in TYPE_KEYWORDS or before.text in {"&", "&&", "*", ">", "..."}
        ends = after.text in {"=", ",", ")", ";", "{", ":"} or (after.text == "(" and is_identifier(before.text))
        if typed and is_identifier(name.text) and ends:
            names.add(name.text)
    return names


def is_call(tokens, index):
    """Whether the name at `index` is called, and is neither a member nor qualified."""
    before = tokens[index - 1].text if index > 0 else ""
    if before in {"::", ".", "->"}:
        return False
    if is_identifier(before) or before in TYPE_KEYWORDS:
        return False
    after = index + 1
    if after < len(tokens) and tokens[after].text == "<":
        after = skip_brackets(tokens, after, "<", ">")
    return after < len(tokens) and tokens[after].text == "("


class Names:
    """The public headers (text by name), and the functions and classes that they declare, by name with their
    namespaces."""

    def __init__(self, headers):
        self.headers = {name: Header(text) for name, text in headers.items()}
        self.functions = self._all("functions")
        self.classes = self._all("classes")

    def _all(self, kind):
        found = collections.defaultdict(set)
        for header in self.headers.values():
            for name, namespaces in getattr(header, kind).items():
                found[name] |= namespaces
        return found

    def unqualified_calls(self, header_name):
        """Yields (line, name) for each call of a function for which argument-dependent lookup may find another
        function."""
        header = self.headers[header_name]
        for index, token in enumerate(header.tokens):
            name = token.text
            if name not in self.functions or index in header.declarations or not is_call(header.tokens, index):
                continue
            scope = header.scopes[index]
            if any(name in outer.names for outer in scope.enclosing() if outer.kind != "namespace"):
                continue  # a member or a variable, which ends the lookup
            if scope.namespace() not in self.classes.get(name, ()):  # else a conversion
                yield token.line, name

    def unqualified_in_macros(self, header_name):
        """(line, name, macro) of each name that a macro calls or uses and that does not begin in the global namespace.
        """
        for macro, line, body in self.headers[header_name].macros:
            tokens = tokens_of(body, line)
            for index, token in enumerate(tokens):
                before = tokens[index - 1].text if index > 0 else ""
                called = token.text in self.functions and is_call(tokens, index)
                if called or (token.text == PROJECT and before != "::"):
                    yield token.line, token.text, macro
