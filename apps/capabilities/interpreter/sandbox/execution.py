"""Runs code in a worker process of the sandbox, and collects its output."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pydantic_monty import (
    CollectStreams,
    MontyCrashedError,
    MontyError,
    MontyRuntimeError,
    MontySession,
    MontySyntaxError,
)

from apps.capabilities.interpreter.engines import Execution
from apps.capabilities.interpreter.sandbox import workers
from apps.capabilities.interpreter.sandbox.folder import HOME, SandboxFolder

MOST_OUTPUT_BYTES = 100_000
"""The code may print up to this many bytes. A model cannot use more."""
MOST_ERROR_CHARACTERS = 4_000

OUT_OF_MEMORY = ("MemoryError: memory limit exceeded", "MemoryError: the worker exceeded")
"""Prefixes of the interpreter's messages about memory limits. The code itself can raise errors with
these messages too.
"""

ROLLED_BACK = "Variables are as they were before this call."
MOST_RESULT_CHARACTERS = 20_000
TAIL = f"\nf'{{_!r:.{MOST_RESULT_CHARACTERS + 1}}}' if _ is not None else ''"
NO_VALUE = "\nNone"


@dataclass(frozen=True, slots=True)
class SandboxOutcome:
    """The result of running code."""

    execution: Execution
    state: bytes | None = None
    """The session's state, or None if there is none to store."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """The files that the code created or changed."""
    notes: tuple[str, ...] = ()
    is_state_lost: bool = False
    """True if the earlier state could not be loaded."""
    removed: tuple[str, ...] = ()
    """The input files that the code deleted."""


def execute_code(
    session: MontySession, code: str, files: Mapping[str, bytes], before: bytes | None
) -> SandboxOutcome:
    """Run the code with the state of an earlier call. Its errors are part of the outcome."""
    is_lost = False
    if before is not None:
        try:
            session.load_session(before)
        except MontyCrashedError as error:
            return SandboxOutcome(failure(stop_text(error)), is_state_lost=True)
        except MontyError:
            is_lost = True
    return replace(run(session, code, files), is_state_lost=is_lost)


def run(session: MontySession, code: str, files: Mapping[str, bytes]) -> SandboxOutcome:
    folder = SandboxFolder(files)
    output = CollectStreams(MOST_OUTPUT_BYTES)
    stderr = ""
    result = ""
    try:
        value = session.feed_run(with_text_result(code), print_callback=output, os=folder, cwd=HOME)
        result = value if isinstance(value, str) else ""
    except MontyCrashedError as error:
        failed = failure(stop_text(error), printed_text(output, "stdout"))
        return SandboxOutcome(failed, notes=(ROLLED_BACK,))
    except MontyRuntimeError as error:
        if reason := limit_reached(error):
            return SandboxOutcome(
                failure(reason, printed_text(output, "stdout")), notes=(ROLLED_BACK,)
            )
        stderr = error.display()
    except MontySyntaxError as error:
        stderr = error.display()
    except MontyError as error:
        stderr = str(error)
    execution = Execution(
        "FAILURE" if stderr else "SUCCESS",
        result=cut(result, MOST_RESULT_CHARACTERS),
        stdout=printed_text(output, "stdout"),
        stderr=printed_text(output, "stderr") + end_of(stderr, MOST_ERROR_CHARACTERS),
    )
    return SandboxOutcome(
        execution, dump_session(session), folder.changed_files(), removed=folder.removed_files()
    )


def limit_reached(error: MontyRuntimeError) -> str:
    """Return a sentence about the exceeded limit, or "" for errors in the code itself."""
    text = error.display("type-msg")
    if text.startswith("TimeoutError: feed time limit exceeded"):
        return (
            f"TimeoutError: the code was stopped after {workers.CODE_SECONDS:g} seconds. "
            "Do less in one call."
        )
    if not text.startswith(OUT_OF_MEMORY):
        return ""
    if text.endswith(f"> {MOST_OUTPUT_BYTES} bytes"):
        return (
            f"The code was stopped because it printed more than {MOST_OUTPUT_BYTES} bytes. "
            "Print a summary, or write to a file."
        )
    return memory_exceeded()


def memory_exceeded() -> str:
    return (
        f"MemoryError: the code was stopped because it needed more than {workers.MEMORY_MB} MB. "
        "Work on less at once."
    )


def stop_text(error: MontyCrashedError) -> str:
    if "memory" in str(error).lower():
        return memory_exceeded()
    return (
        "The interpreter was stopped: the code took more time or memory than a call has. "
        "Do less in one call."
    )


def failure(reason: str, stdout: str = "") -> Execution:
    return Execution("FAILURE", stdout=stdout, stderr=reason)


def printed_text(output: CollectStreams, stream: str) -> str:
    return "".join(text for name, text in output.output if name == stream)


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… (cut)"


def end_of(text: str, most: int) -> str:
    return text if len(text) <= most else f"(cut) …{text[-most:]}"


def dump_session(session: MontySession) -> bytes | None:
    """Return the session's state, or None if the worker's memory cannot hold a copy of it."""
    try:
        return session.dump()
    except (MontyError, RuntimeError):
        return None


def with_text_result(code: str) -> str:
    """Make the code convert the value of its last expression to text of limited length.

    The value itself could consist of any number of Python objects, which this process would have to
    load. Line numbers do not change. Code that cannot be parsed is returned without a value.
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
    """Return the last expression of the code, or None. Code with unusual line breaks is not parsed,
    because line numbers would differ.
    """
    if "\r" in code or "\f" in code or "\0" in code:
        return None
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        tree = compile(code, "<input>", "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None
    assert isinstance(tree, ast.Module)  # noqa: S101 - guaranteed by the flag
    if not tree.body or not isinstance(tree.body[-1], ast.Expr):
        return None
    return tree.body[-1].value
