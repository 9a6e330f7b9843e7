"""One snippet in one worker; everything here happens in a thread of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from django.conf import settings
from pydantic_monty import (
    CollectStreams,
    MontyCrashedError,
    MontyError,
    MontyRuntimeError,
    MontySession,
    MontySyntaxError,
)

from apps.capabilities.interpreter.engines import Execution
from apps.capabilities.interpreter.sandbox.folder import HOME, Folder
from apps.capabilities.interpreter.sandbox.snippets import MOST_RESULT_CHARACTERS, with_text_result

MOST_OUTPUT_BYTES = 100_000
"""Of everything printed in one call: more than a model reads with care."""
MOST_ERROR_CHARACTERS = 4_000

OUT_OF_MEMORY = ("MemoryError: memory limit exceeded", "MemoryError: the worker exceeded")
"""How the interpreter's own words begin; the code may raise such errors too."""

ROLLED_BACK = "Variables are as they were before this call."


@dataclass(frozen=True, slots=True)
class SandboxOutcome:
    """`state` is None when the call left none; `files` are those that the code made, `removed` those
    that it was given and deleted.
    """

    execution: Execution
    state: bytes | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    is_state_lost: bool = False
    removed: tuple[str, ...] = ()


def execute(
    session: MontySession, code: str, files: Mapping[str, bytes], before: bytes | None
) -> SandboxOutcome:
    """Run the code in the state that an earlier call left. Raises nothing for what the code does."""
    is_lost = False
    if before is not None:
        try:
            session.load_session(before)
        except MontyCrashedError as error:
            return SandboxOutcome(failure(stopped(error)), is_state_lost=True)
        except MontyError:
            is_lost = True
    return replace(run(session, code, files), is_state_lost=is_lost)


def run(session: MontySession, code: str, files: Mapping[str, bytes]) -> SandboxOutcome:
    folder = Folder(files)
    output = CollectStreams(MOST_OUTPUT_BYTES)
    stderr = ""
    result = ""
    try:
        value = session.feed_run(with_text_result(code), print_callback=output, os=folder, cwd=HOME)
        result = value if isinstance(value, str) else ""
    except MontyCrashedError as error:
        failed = failure(stopped(error), printed(output, "stdout"))
        return SandboxOutcome(failed, notes=(ROLLED_BACK,))
    except MontyRuntimeError as error:
        if reason := limit_reached(error):
            return SandboxOutcome(failure(reason, printed(output, "stdout")), notes=(ROLLED_BACK,))
        stderr = error.display()
    except MontySyntaxError as error:
        stderr = error.display()
    except MontyError as error:
        stderr = str(error)
    execution = Execution(
        "FAILURE" if stderr else "SUCCESS",
        result=cut(result, MOST_RESULT_CHARACTERS),
        stdout=printed(output, "stdout"),
        stderr=printed(output, "stderr") + end_of(stderr, MOST_ERROR_CHARACTERS),
    )
    return SandboxOutcome(execution, dumped(session), folder.made(), removed=folder.removed())


def limit_reached(error: MontyRuntimeError) -> str:
    """The sentence about a limit that stopped the code; "" for errors of its own."""
    text = error.display("type-msg")
    if text.startswith("TimeoutError: feed time limit exceeded"):
        return (
            f"TimeoutError: the code was stopped after "
            f"{settings.PY_INTERPRETER_SANDBOX_SECONDS:g} seconds. Do less in one call."
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
        f"MemoryError: the code was stopped because it needed more than "
        f"{settings.PY_INTERPRETER_SANDBOX_MEMORY_MB} MB. Work on less at once."
    )


def stopped(error: MontyCrashedError) -> str:
    if "memory" in str(error).lower():
        return memory_exceeded()
    return (
        "The interpreter was stopped: the code took more time or memory than a call has. "
        "Do less in one call."
    )


def failure(reason: str, stdout: str = "") -> Execution:
    return Execution("FAILURE", stdout=stdout, stderr=reason)


def printed(output: CollectStreams, stream: str) -> str:
    return "".join(text for name, text in output.output if name == stream)


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… (cut)"


def end_of(text: str, most: int) -> str:
    return text if len(text) <= most else f"(cut) …{text[-most:]}"


def dumped(session: MontySession) -> bytes | None:
    """None when the heap does not fit into the worker's own memory a second time."""
    try:
        return session.dump()
    except (MontyError, RuntimeError):
        return None
