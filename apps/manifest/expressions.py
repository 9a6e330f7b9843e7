"""Checks the expressions in hook templates: their syntax, names and paths."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from jsone import AST
from jsone.parser import Parser
from jsone.render import tokenizer
from jsone.shared import JSONTemplateError

MOST_TOKENS = 150
"""The maximum number of tokens in an expression."""
MOST_CHARACTERS = 4_000
"""The maximum number of characters in an expression within a string. The limit is low because the
JSON-e library copies the text for each token.
"""
LONGEST_QUOTE = 120
"""The length in characters to which error messages truncate a name or an error from the JSON-e
library.
"""

FUNCTIONS = frozenset(
    {
        "min", "max", "sqrt", "ceil", "floor", "abs", "lowercase", "uppercase", "number", "str",
        "strip", "rstrip", "lstrip", "join", "split", "len", "range", "typeof", "defined",
        "fromNow",
    }
)  # fmt: skip

Kind = dict[str, "Kind"] | list["Kind"] | None
"""The known structure of a value: its members by name, a list with the structure of its items, or
None if nothing is known.
"""

Names = dict[str, Kind]


class ExpressionInvalid(Exception):
    """Raised for a syntax error, an unknown name or path, or an unsupported operator."""


class _BoundedTokens:
    """The tokenizer of the JSON-e library, with a limit on the number of tokens."""

    def generate_tokens(self, text: str) -> Iterator[Any]:
        tokens = tokenizer.generate_tokens(text)
        yield from islice(tokens, MOST_TOKENS)
        if next(tokens, None) is not None:
            raise ExpressionInvalid("the expression is too long or nested too deeply")


def check_expression(text: str, roots: Names) -> Any:
    """Parse the expression at the start of a text. Return the token after the expression, or None
    if the text ends there.

    Raises `ExpressionInvalid` if the expression is invalid or uses a name or path that is not in
    `roots`.
    """
    try:
        parser = Parser(text, _BoundedTokens())
        _kind(parser.parse(), roots)
    except RecursionError:
        raise ExpressionInvalid("the expression is too long or nested too deeply") from None
    except JSONTemplateError as error:
        raise ExpressionInvalid(error.args[0][:LONGEST_QUOTE]) from None
    except (AttributeError, StopIteration):  # Raised at the end of some texts.
        raise ExpressionInvalid("the expression is not complete") from None
    return parser.current_token


def _kind(node: Any, roots: Names) -> Kind:
    """Return the known structure of an expression's value. Raises `ExpressionInvalid`."""
    match node:
        case None:
            raise ExpressionInvalid("a value is missing")
        case AST.ContextValue():
            return _root(node.token.value, roots)
        case AST.ValueAccess():
            return _part(node, roots)
        case AST.BinOp() if node.token.kind == ".":
            return _member(_kind(node.left, roots), node.right.token.value)
        case AST.BinOp() if node.token.kind == "**":
            raise ExpressionInvalid("`**` is not supported, because its results can be too large")
    for operand in _operands(node):
        _kind(operand, roots)
    return None


def _operands(node: Any) -> Iterator[Any]:
    """Yield the operands of an expression. A missing operand is None."""
    for value in vars(node).values():
        parts = [*value.values()] if isinstance(value, dict) else value
        parts = parts if isinstance(parts, list) else [parts]
        if parts != [None] or not isinstance(node, AST.List):  # An empty list has `[None]`.
            yield from (part for part in parts if part is None or isinstance(part, AST.ASTNode))


def _root(name: str, roots: Names) -> Kind:
    if name not in roots and name not in FUNCTIONS:
        raise ExpressionInvalid(f"unknown name {name[:LONGEST_QUOTE]!r}; use {_listed(roots)}")
    return roots.get(name)


def _part(node: Any, roots: Names) -> Kind:
    target, index = _kind(node.arr, roots), node.left
    for bound in (index, node.right):
        if bound is not None:
            _kind(bound, roots)
    if node.isInterval:
        return _sliced(target)
    if index.token.kind == "string":
        return _member(target, index.token.value[1:-1])
    if isinstance(target, list):
        return target[0]
    # A number or a sum has no members; the result of a name or a call is unknown.
    is_number = type(index) is AST.Primitive or index.token.kind in {"-", "*", "/"}
    return _sliced(target) if is_number else None


def _sliced(target: Kind) -> Kind:
    """Return the known structure of an item or slice of a value. Raises `ExpressionInvalid` for an
    object, which has neither.
    """
    if isinstance(target, dict):
        raise ExpressionInvalid(
            f"this is not a list, so it has no numbered items; use {_listed(target)}"
        )
    return target


def _member(target: Kind, name: str) -> Kind:
    if isinstance(target, list):
        raise ExpressionInvalid(f"a list has no {name!r}; select one of its items first")
    if isinstance(target, dict):
        if name not in target:
            raise ExpressionInvalid(f"unknown name {name!r}; use {_listed(target)}")
        return target[name]
    return None


def _listed(names: Names) -> str:
    return ", ".join(repr(name) for name in names)
