"""Checks the templates in hook arguments before a hook runs.

The checks cover `${expression}` in strings, and the keys `$eval` and `$if`. Templates with other
operators, such as `$map`, can define variables, so they are only checked when the hook runs.
"""

from collections.abc import Iterator
from typing import Any

from apps.manifest.expressions import (
    MOST_CHARACTERS,
    ExpressionInvalid,
    Kind,
    Names,
    check_expression,
)
from apps.manifest.problems import join_path

OPERATORS = frozenset(
    {
        "$eval", "$if", "$flatten", "$flattenDeep", "$fromNow", "$json", "$let", "$map", "$reduce",
        "$find", "$match", "$switch", "$merge", "$mergeDeep", "$reverse", "$sort",
    }
)  # fmt: skip

_CALL_OF_A_TOOL: Kind = {"id": None, "name": None, "arguments": None}
_MESSAGE: Kind = {
    "role": None,
    "content": None,
    "tool_calls": [_CALL_OF_A_TOOL],
    "tool_call_id": None,
}
_AT_THE_START: Names = {
    "event": None,
    "messages": [_MESSAGE],
    "last_user_message": _MESSAGE,
    "last_assistant_message": _MESSAGE,
}
ROOTS: dict[str, Names] = {
    "on_request_start": _AT_THE_START,
    "on_user_message": _AT_THE_START,
    "on_tool_result": _AT_THE_START
    | {"tool_name": None, "tool_arguments": None, "tool_result": None, "has_failed": None},
    "on_status": _AT_THE_START | {"status": None},
    "on_completion": _AT_THE_START | {"iteration_count": None, "total_tool_calls": None},
}
"""Maps each event to the names that its hooks' templates can use."""


def is_templated(value: object) -> bool:
    """Return True if the value contains a template."""
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
    """Return the first mistake in a template for a hook on this event, with its path, or ""."""
    return next(_problems(template, ROOTS[event], ""), "")


def _problems(template: object, roots: Names, path: str) -> Iterator[str]:
    if isinstance(template, str):
        yield from _problem_at(path, _text_problem(template, roots))
    elif isinstance(template, list):
        for index, item in enumerate(template):
            yield from _problems(item, roots, join_path(path, index))
    elif isinstance(template, dict):
        yield from _object_problems(template, roots, path)


def _object_problems(template: dict[str, Any], roots: Names, path: str) -> Iterator[str]:
    operators = [key for key in template if key.startswith("$") and not key.startswith("$$")]
    unknown = [key for key in operators if key not in OPERATORS and not key.startswith("${")]
    if unknown:
        yield from _problem_at(
            join_path(path, unknown[0]), "there is no such operator; write `$$` for a `$`"
        )
    for operator in ("$eval", "$if"):
        if operator in template:
            problem = _expression_problem(template[operator], roots)
            yield from _problem_at(join_path(path, operator), problem)
    if any(key in OPERATORS and key not in {"$eval", "$if"} for key in operators):
        return
    for key, item in template.items():
        yield from _problem_at(path, _text_problem(key, roots))
        if key not in {"$eval", "$if"}:
            yield from _problems(item, roots, join_path(path, key))


def _problem_at(path: str, problem: str) -> Iterator[str]:
    if problem:
        yield f"{path}: {problem}" if path else problem


def _text_problem(text: str, roots: Names) -> str:
    position = 0
    while (start := text.find("${", position)) >= 0:
        position = start + 2
        if start and text[start - 1] == "$":
            continue
        try:
            end = check_expression(text[position : position + MOST_CHARACTERS], roots)
        except ExpressionInvalid as error:
            return str(error)
        if end is None or end.kind != "}":
            return "`${` is not closed by `}`"
        position += end.end
    return ""


def _expression_problem(text: object, roots: Names) -> str:
    if not isinstance(text, str):
        return "an expression must be a string"
    try:
        rest = check_expression(text, roots)
    except ExpressionInvalid as error:
        return str(error)
    return f"unexpected {text[rest.start :].strip()[:20]!r} after the expression" if rest else ""
