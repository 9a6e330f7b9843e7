"""The expressions inside JSON-e templates, read into a tree.

Reading checks the syntax only; nothing is looked up or computed here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any


class ExpressionInvalid(Exception):
    """Text that is no expression; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Name:
    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    value: Any


@dataclass(frozen=True, slots=True)
class Member:
    """`target.name`"""

    target: Expression
    name: str


@dataclass(frozen=True, slots=True)
class Index:
    """`target[index]`"""

    target: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Slice:
    """`target[start:stop]`; None is an end that was left out."""

    target: Expression
    start: Expression | None
    stop: Expression | None


@dataclass(frozen=True, slots=True)
class Operation:
    """A unary or binary operator, or a call, whose first operand is then the function."""

    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ObjectOf:
    members: tuple[tuple[str, Expression], ...]


Expression = Name | Constant | Member | Index | Slice | Operation | ListOf | ObjectOf

CALL = "()"

_token = re.compile(
    r"""\s*(?:(?P<number>\d+(?:\.\d+)?)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<string>'[^']*'|"[^"]*")
    |(?P<sign>\*\*|\|\||&&|[=!<>]=|[-+*/<>!()\[\]{}.,:]))""",
    re.VERBOSE | re.ASCII,
)

_BINDING = {
    **dict.fromkeys(("||",), 1),
    **dict.fromkeys(("&&",), 2),
    **dict.fromkeys(("in",), 3),
    **dict.fromkeys(("==", "!="), 4),
    **dict.fromkeys(("<", ">", "<=", ">="), 5),
    **dict.fromkeys(("+", "-"), 6),
    **dict.fromkeys(("*", "/"), 7),
    **dict.fromkeys(("**",), 8),
}
_CONSTANTS = {"true": True, "false": False, "null": None}
_MOST_TOKENS = 150
"""Tokens in one expression. Even the deepest tree of so many can be walked by recursion."""


def parse(text: str) -> Expression:
    """Read a text that is one expression. Raises `ExpressionInvalid`."""
    expression, end = parse_prefix(text, 0)
    if rest := text[end:].strip():
        raise ExpressionInvalid(f"{rest[:20]!r} is left over after the expression")
    return expression


def parse_prefix(text: str, start: int) -> tuple[Expression, int]:
    """Read the expression that begins at `start`; also return where it ends.

    Raises `ExpressionInvalid`.
    """
    reader = _Reader(text, start)
    return reader.expression(0), reader.position


def operands(expression: Expression) -> tuple[Expression, ...]:
    """The expressions that an expression is made of."""
    match expression:
        case Member(target, _):
            return (target,)
        case Index(target, index):
            return (target, index)
        case Slice(target, start, stop):
            return tuple(part for part in (target, start, stop) if part is not None)
        case Operation(_, parts) | ListOf(parts):
            return parts
        case ObjectOf(members):
            return tuple(value for _, value in members)
        case Name() | Constant():
            return ()


class _Reader:
    """Reads by precedence: an operand, then operators that bind tighter than the caller's."""

    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.position = position
        self.tokens = 0

    def expression(self, binding: int) -> Expression:
        left = self.postfix(self.operand())
        while (power := _BINDING.get(self.peek()[1], 0)) > binding:
            operator = self.take()[1]
            # Powers group from the right, everything else from the left.
            right = self.expression(power - 1 if operator == "**" else power)
            left = Operation(operator, (left, right))
        return left

    def operand(self) -> Expression:
        kind, token = self.take()
        match kind:
            case "number":
                return Constant(float(token) if "." in token else int(token))
            case "string":
                return Constant(token[1:-1])
            case "name" if token in _CONSTANTS:
                return Constant(_CONSTANTS[token])
            case "name" if token not in _BINDING:
                return Name(token)
            case _:
                return self.bracketed(token)

    def bracketed(self, token: str) -> Expression:
        match token:
            case "(":
                inner = self.expression(0)
                self.expect(")")
                return inner
            case "[":
                return ListOf(self.expressions("]"))
            case "{":
                return self.object()
            case "+" | "-" | "!":
                return Operation(token, (self.expression(max(_BINDING.values())),))
            case _:
                raise ExpressionInvalid(f"{token!r} stands where a value is expected")

    def postfix(self, target: Expression) -> Expression:
        while True:
            match self.peek()[1]:
                case ".":
                    self.take()
                    target = Member(target, self.name())
                case "[":
                    self.take()
                    target = self.subscript(target)
                case "(":
                    self.take()
                    target = Operation(CALL, (target, *self.expressions(")")))
                case _:
                    return target

    def subscript(self, target: Expression) -> Expression:
        start = None if self.peek()[1] == ":" else self.expression(0)
        if start is not None and self.peek()[1] != ":":
            self.expect("]")
            return Index(target, start)
        self.expect(":")
        stop = None if self.peek()[1] == "]" else self.expression(0)
        self.expect("]")
        return Slice(target, start, stop)

    def expressions(self, end: str) -> tuple[Expression, ...]:
        found: list[Expression] = []
        while self.peek()[1] != end:
            if found:
                self.expect(",")
            found.append(self.expression(0))
        self.take()
        return tuple(found)

    def object(self) -> Expression:
        members: list[tuple[str, Expression]] = []
        while self.peek()[1] != "}":
            if members:
                self.expect(",")
            kind, token = self.take()
            if kind not in {"name", "string"}:
                raise ExpressionInvalid(f"{token!r} stands where a key is expected")
            self.expect(":")
            key = token if kind == "name" else token[1:-1]
            members.append((key, self.expression(0)))
        self.take()
        return ObjectOf(tuple(members))

    def name(self) -> str:
        kind, token = self.take()
        if kind != "name":
            raise ExpressionInvalid(f"{token!r} stands where a name is expected")
        return token

    def expect(self, sign: str) -> None:
        token = self.take()[1]
        if token != sign:
            found = f"found {token!r}" if token else "the text ends"
            raise ExpressionInvalid(f"expected {sign!r}, but {found}")

    def peek(self) -> tuple[str, str]:
        match = _token.match(self.text, self.position)
        return (match.lastgroup or "", match[match.lastgroup or 0]) if match else ("", "")

    def take(self) -> tuple[str, str]:
        self.tokens += 1
        if self.tokens > _MOST_TOKENS:
            raise ExpressionInvalid("the expression is too long")
        match = _token.match(self.text, self.position)
        if match is None:
            rest = self.text[self.position :].strip()
            raise ExpressionInvalid(f"{rest[0]!r} is no part of an expression" if rest else _END)
        self.position = match.end()
        return match.lastgroup or "", match[match.lastgroup or 0]


_END = "the expression is not complete"
