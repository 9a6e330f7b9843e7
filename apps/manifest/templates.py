"""The templates in the arguments of hooks: what can be known of them before they are filled in.

`${expression}` in a text and the keys `$eval` and `$if` are checked here, names and paths
included; other operators bring names of their own and are checked when the hook fires.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from apps.manifest.expressions import (
    Constant,
    Expression,
    ExpressionInvalid,
    Index,
    Member,
    Name,
    Operation,
    Slice,
    operands,
    parse,
    parse_prefix,
)
from apps.manifest.problems import join

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
"""What is known of a value: its members, its items in a list of one, or nothing."""

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
    """What is wrong with a template, with its place inside, or "" if nothing can be seen."""
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
            expression, position = parse_prefix(text, position)
        except ExpressionInvalid as error:
            return str(error)
        if not text[position:].lstrip().startswith("}"):
            return "`${` is not closed by `}`"
        if problem := _lookup_problem(expression, roots):
            return problem
    return ""


def _expression_problem(text: object, roots: dict[str, Kind]) -> str:
    if not isinstance(text, str):
        return "an expression is a text"
    try:
        return _lookup_problem(parse(text), roots)
    except ExpressionInvalid as error:
        return str(error)


class _Unknown(Exception):
    """A name or a path that leads nowhere, or an operator that is not there."""


def _lookup_problem(expression: Expression, roots: dict[str, Kind]) -> str:
    try:
        _kind(expression, roots)
    except _Unknown as error:
        return str(error)
    return ""


def _kind(expression: Expression, roots: dict[str, Kind]) -> Kind:
    """What is known of the value of an expression. Raises `_Unknown`."""
    match expression:
        case Name(name):
            if name not in roots and name not in FUNCTIONS:
                raise _Unknown(f"there is no {name!r} here, only {_listed(roots)}")
            return roots.get(name)
        case Member(target, name):
            return _member(_kind(target, roots), name)
        case Index(target, index):
            return _item(_kind(target, roots), index, roots)
        case Slice(target, start, stop):
            _look_up((start, stop), roots)
            return _sliced(_kind(target, roots))
        case Operation("**", _):
            raise _Unknown("`**` is not available; small numbers make too large ones with it")
        case _:
            _look_up(operands(expression), roots)
            return None


def _look_up(expressions: tuple[Expression | None, ...], roots: dict[str, Kind]) -> None:
    for expression in expressions:
        if expression is not None:
            _kind(expression, roots)


def _item(target: Kind, index: Expression, roots: dict[str, Kind]) -> Kind:
    if isinstance(index, Constant) and isinstance(index.value, str):
        return _member(target, index.value)
    _kind(index, roots)
    if isinstance(target, list):
        item: Kind = target[0]
        return item
    return _sliced(target) if _is_no_name(index) else None


def _is_no_name(index: Expression) -> bool:
    """Whether it can be seen that the index is no text, which might name a member."""
    return isinstance(index, Constant) or (
        isinstance(index, Operation) and index.operator in {"-", "*", "/"}
    )


def _sliced(target: Kind) -> Kind:
    """A list or a text has parts by number; an object has none."""
    if isinstance(target, dict):
        raise _Unknown(f"this is no list and has no items by number; take one of {_listed(target)}")
    return target


def _member(target: Kind, name: str) -> Kind:
    if isinstance(target, list):
        raise _Unknown(f"a list has no {name!r}; take one of its items first")
    if isinstance(target, dict):
        if name not in target:
            raise _Unknown(f"there is no {name!r} here, only {_listed(target)}")
        member: Kind = target[name]
        return member
    return None


def _listed(names: dict[str, Kind]) -> str:
    return ", ".join(repr(name) for name in names)
