"""Checks of the templates in the arguments of hooks, before they are filled in.

`${expression}` in a text and the keys `$eval` and `$if` are checked here, names and paths
included; other operators bring names of their own and are checked when the hook fires.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from jsone import AST
from jsone.parser import Parser
from jsone.render import tokenizer
from jsone.shared import JSONTemplateError

from apps.manifest.problems import join

MOST_TOKENS = 150
"""Tokens in one expression."""
MOST_CHARACTERS = 4_000
"""Characters in one expression inside of a text, which the library copies for each token."""
LONGEST_QUOTE = 120
"""Characters of an expression in a message."""

OPERATORS = frozenset(
    {
        "$eval", "$if", "$flatten", "$flattenDeep", "$fromNow", "$json", "$let", "$map", "$reduce",
        "$find", "$match", "$switch", "$merge", "$mergeDeep", "$reverse", "$sort",
    }
)  # fmt: skip

FUNCTIONS = frozenset(
    {
        "min", "max", "sqrt", "ceil", "floor", "abs", "lowercase", "uppercase", "number", "str",
        "strip", "rstrip", "lstrip", "join", "split", "len", "range", "typeof", "defined",
        "fromNow",
    }
)  # fmt: skip

Kind = dict[str, Any] | list[Any] | None
"""All that is known of a value: its members, its items in a list of one, or nothing."""

_CALL_OF_A_TOOL: Kind = {"id": None, "name": None, "arguments": None}
_MESSAGE: Kind = {
    "role": None,
    "content": None,
    "tool_calls": [_CALL_OF_A_TOOL],
    "tool_call_id": None,
}
_AT_THE_START: dict[str, Kind] = {
    "event": None,
    "messages": [_MESSAGE],
    "last_user_message": _MESSAGE,
    "last_assistant_message": _MESSAGE,
}
ROOTS: dict[str, dict[str, Kind]] = {
    "on_request_start": _AT_THE_START,
    "on_completion": _AT_THE_START | {"iteration_count": None, "total_tool_calls": None},
}
"""Event → the names that its templates may use."""


def is_templated(value: object) -> bool:
    """Whether a value changes when it is filled in."""
    if isinstance(value, str):
        return "${" in value.replace("$${", "")
    if isinstance(value, dict):
        return any(
            (key.startswith("$") and not key.startswith("$$"))
            or is_templated(key)
            or is_templated(item)
            for key, item in value.items()
        )
    return isinstance(value, list) and any(is_templated(item) for item in value)


def first_problem(template: object, event: str) -> str:
    """The first mistake in a template, with its place inside, or "" if none can be seen."""
    return next(_problems(template, ROOTS[event], ""), "")


def _problems(template: object, roots: dict[str, Kind], path: str) -> Iterator[str]:
    if isinstance(template, str):
        yield from _told(path, _text_problem(template, roots))
    elif isinstance(template, list):
        for index, item in enumerate(template):
            yield from _problems(item, roots, join(path, index))
    elif isinstance(template, dict):
        yield from _object_problems(template, roots, path)


def _object_problems(template: dict[str, Any], roots: dict[str, Kind], path: str) -> Iterator[str]:
    operators = [key for key in template if key.startswith("$") and not key.startswith("$$")]
    unknown = [key for key in operators if key not in OPERATORS and not key.startswith("${")]
    if unknown:
        yield from _told(join(path, unknown[0]), "there is no such operator; write `$$` for a `$`")
    for operator in ("$eval", "$if"):
        if operator in template:
            problem = _expression_problem(template[operator], roots)
            yield from _told(join(path, operator), problem)
    if any(key in OPERATORS and key not in {"$eval", "$if"} for key in operators):
        return
    for key, item in template.items():
        yield from _told(path, _text_problem(key, roots))
        if key not in {"$eval", "$if"}:
            yield from _problems(item, roots, join(path, key))


def _told(path: str, problem: str) -> Iterator[str]:
    if problem:
        yield f"{path}: {problem}" if path else problem


def _text_problem(text: str, roots: dict[str, Kind]) -> str:
    position = 0
    while (start := text.find("${", position)) >= 0:
        position = start + 2
        if start and text[start - 1] == "$":
            continue
        try:
            end = _check(text[position : position + MOST_CHARACTERS], roots)
        except _Invalid as error:
            return str(error)
        if end is None or end.kind != "}":
            return "`${` is not closed by `}`"
        position += end.end
    return ""


def _expression_problem(text: object, roots: dict[str, Kind]) -> str:
    if not isinstance(text, str):
        return "an expression is a text"
    try:
        rest = _check(text, roots)
    except _Invalid as error:
        return str(error)
    return f"{text[rest.start :].strip()[:20]!r} is left over after the expression" if rest else ""


class _Invalid(Exception):
    """No expression, a name or a path that leads nowhere, or an operator that is not available."""


class _BoundedTokens:
    """The tokenizer of the library, for as many tokens as an expression may have."""

    def generate_tokens(self, text: str) -> Iterator[Any]:
        tokens = tokenizer.generate_tokens(text)
        yield from islice(tokens, MOST_TOKENS)
        if next(tokens, None) is not None:
            raise _Invalid("the expression is too long")


def _check(text: str, roots: dict[str, Kind]) -> Any:
    """The token behind the expression that a text begins with; None at the end of the text.

    Raises `_Invalid`.
    """
    try:
        parser = Parser(text, _BoundedTokens())
        _kind(parser.parse(), roots)
    except RecursionError:
        raise _Invalid("the expression is too long") from None
    except JSONTemplateError as error:
        raise _Invalid(error.args[0][:LONGEST_QUOTE]) from None
    except (AttributeError, StopIteration):  # so the parser fails at some ends of the text
        raise _Invalid("the expression is not complete") from None
    return parser.current_token


def _kind(node: Any, roots: dict[str, Kind]) -> Kind:
    """The kind of the value of an expression. Raises `_Invalid`."""
    match node:
        case None:
            raise _Invalid("a value is missing")
        case AST.ContextValue():
            return _root(node.token.value, roots)
        case AST.ValueAccess():
            return _part(node, roots)
        case AST.BinOp() if node.token.kind == ".":
            return _member(_kind(node.left, roots), node.right.token.value)
        case AST.BinOp() if node.token.kind == "**":
            raise _Invalid("`**` is not available; small numbers make too large ones with it")
    for operand in _operands(node):
        _kind(operand, roots)
    return None


def _operands(node: Any) -> Iterator[Any]:
    """The expressions that an expression is made of; None for one that is missing."""
    for value in vars(node).values():
        parts = [*value.values()] if isinstance(value, dict) else value
        parts = parts if isinstance(parts, list) else [parts]
        if parts != [None] or not isinstance(node, AST.List):  # an empty list has that
            yield from (part for part in parts if part is None or isinstance(part, AST.ASTNode))


def _root(name: str, roots: dict[str, Kind]) -> Kind:
    if name not in roots and name not in FUNCTIONS:
        raise _Invalid(f"there is no {name[:LONGEST_QUOTE]!r} here, only {_listed(roots)}")
    return roots.get(name)


def _part(node: Any, roots: dict[str, Kind]) -> Kind:
    target, index = _kind(node.arr, roots), node.left
    for bound in (index, node.right):
        if bound is not None:
            _kind(bound, roots)
    if node.isInterval:
        return _sliced(target)
    if index.token.kind == "string":
        return _member(target, index.token.value[1:-1])
    if isinstance(target, list):
        item: Kind = target[0]
        return item
    # A number or a sum names no member; what a name or a call comes to cannot be seen.
    is_number = type(index) is AST.Primitive or index.token.kind in {"-", "*", "/"}
    return _sliced(target) if is_number else None


def _sliced(target: Kind) -> Kind:
    """A list or a text has parts by number; an object has none."""
    if isinstance(target, dict):
        raise _Invalid(f"this is no list and has no items by number; take one of {_listed(target)}")
    return target


def _member(target: Kind, name: str) -> Kind:
    if isinstance(target, list):
        raise _Invalid(f"a list has no {name!r}; take one of its items first")
    if isinstance(target, dict):
        if name not in target:
            raise _Invalid(f"there is no {name!r} here, only {_listed(target)}")
        member: Kind = target[name]
        return member
    return None


def _listed(names: dict[str, Kind]) -> str:
    return ", ".join(repr(name) for name in names)
