"""The model's code as it is fed to the sandbox: its last expression becomes text in there.

A value crosses into this process as Python objects, as many as the code likes to make. Text of a
bounded length is all that ever crosses.
"""

import ast

MOST_RESULT_CHARACTERS = 20_000
TAIL = f"\nf'{{_!r:.{MOST_RESULT_CHARACTERS + 1}}}' if _ is not None else ''"
NO_VALUE = "\nNone"


def with_text_result(code: str) -> str:
    """`code` with its trailing expression kept in `_` and written out, if it has one.

    Line numbers stay. What this Python cannot read is left to the sandbox, without a value.
    """
    last = trailing_expression(code)
    if last is None:
        return code + NO_VALUE
    lines = code.encode().split(b"\n")
    row, column = last.lineno - 1, last.col_offset
    end_row, end_column = (last.end_lineno or last.lineno) - 1, last.end_col_offset
    head = b"\n".join([*lines[:row], lines[row][:column]])
    if row == end_row:
        body = lines[row][column:end_column]
    else:
        inner = lines[row + 1 : end_row]
        body = b"\n".join([lines[row][column:], *inner, lines[end_row][:end_column]])
    return b"".join([head, b"_ = (", body, b")"]).decode() + TAIL


def trailing_expression(code: str) -> ast.expr | None:
    """None also for code that splits into lines elsewhere than at newlines."""
    if "\r" in code or "\f" in code or "\0" in code:
        return None
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        tree = compile(code, "<input>", "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None
    assert isinstance(tree, ast.Module)  # noqa: S101 - what the flag asks for
    if not tree.body or not isinstance(tree.body[-1], ast.Expr):
        return None
    return tree.body[-1].value
