"""Checks of the expressions in templates: syntax, names and paths."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from jsone import AST
from jsone.parser import Parser
from jsone.render import tokenizer
from jsone.shared import JSONTemplateError

MOST_TOKENS = 150
"""Tokens in one expression."""
MOST_CHARACTERS = 4_000
"""Characters in one expression inside of a text, which the library copies for each token."""
LONGEST_QUOTE = 120
"""Characters of an expression in a message."""

FUNCTIONS = frozenset(
    {
        "min", "max", "sqrt", "ceil", "floor", "abs", "lowercase", "uppercase", "number", "str",
        "strip", "rstrip", "lstrip", "join", "split", "len", "range", "typeof", "defined",
        "fromNow",
    }
)  # fmt: skip

Kind = dict[str, "Kind"] | list["Kind"] | None
"""All that is known of a value: its members, its items in a list of one, or nothing."""

Names = dict[str, Kind]


class ExpressionInvalid(Exception):
    """No expression, a name or a path that leads nowhere, or an operator that is not available."""


class _BoundedTokens:
    """The tokenizer of the library, for as many tokens as an expression may have."""

    def generate_tokens(self, text: str) -> Iterator[Any]:
        tokens = tokenizer.generate_tokens(text)
        yield from islice(tokens, MOST_TOKENS)
        if next(tokens, None) is not None:
            raise ExpressionInvalid("the expression is too long")


def check(text: str, roots: Names) -> Any:
    """The token behind the expression that a text begins with; None at the end of the text.

    Raises `ExpressionInvalid`.
    """
    try:
        parser = Parser(text, _BoundedTokens())
        _kind(parser.parse(), roots)
    except RecursionError:
        raise ExpressionInvalid("the expression is too long") from None
    except JSONTemplateError as error:
        raise ExpressionInvalid(error.args[0][:LONGEST_QUOTE]) from None
    except (AttributeError, StopIteration):  # so the parser fails at some ends of the text
        raise ExpressionInvalid("the expression is not complete") from None
    return parser.current_token


def _kind(node: Any, roots: Names) -> Kind:
    """The kind of the value of an expression. Raises `ExpressionInvalid`."""
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
            raise ExpressionInvalid(
                "`**` is not available; small numbers make too large ones with it"
            )
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


def _root(name: str, roots: Names) -> Kind:
    if name not in roots and name not in FUNCTIONS:
        raise ExpressionInvalid(f"there is no {name[:LONGEST_QUOTE]!r} here, only {_listed(roots)}")
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
    # A number or a sum names no member; what a name or a call comes to cannot be seen.
    is_number = type(index) is AST.Primitive or index.token.kind in {"-", "*", "/"}
    return _sliced(target) if is_number else None


def _sliced(target: Kind) -> Kind:
    """A list or a text has parts by number; an object has none."""
    if isinstance(target, dict):
        raise ExpressionInvalid(
            f"this is no list and has no items by number; take one of {_listed(target)}"
        )
    return target


def _member(target: Kind, name: str) -> Kind:
    if isinstance(target, list):
        raise ExpressionInvalid(f"a list has no {name!r}; take one of its items first")
    if isinstance(target, dict):
        if name not in target:
            raise ExpressionInvalid(f"there is no {name!r} here, only {_listed(target)}")
        return target[name]
    return None


def _listed(names: Names) -> str:
    return ", ".join(repr(name) for name in names)
