"""A task in the hands of a helper: its run, within a turn and a time, and what fails in it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from apps.agent.ledger import within
from apps.capabilities.registry import Delegation, Opening
from apps.capabilities.subagents.relay import Relay
from apps.capabilities.subagents.turns import turn
from apps.capabilities.wrappers.texts import ERROR_CHARACTERS, shortened
from apps.errors import ModelFailed, QuickAppError, ToolError, ToolTimedOut

HEADING = "> #### Response:\n"
NO_ANSWER = "The helper ended without an answer. Try again, or do without it."


@dataclass(frozen=True, slots=True)
class HelperCall:
    """A call of `tool` that hands a task to a helper; `seconds` is the helper's time."""

    tool: str
    seconds: float
    relay: Relay

    async def answer(self, opening: Opening, delegation: Delegation) -> str | None:
        """The text that the helper ends with; None if it waits for a person.

        Time is counted from when its turn has come. Raises `ToolError`, `ToolTimedOut`.
        """
        invocation = self.relay.invocation
        async with turn():
            invocation.stage.write(HEADING)
            with errors_for_model(self.tool, self.seconds):
                async with asyncio.timeout(self.seconds):
                    ledger = within(invocation.ledger, invocation.key)
                    text = await opening.delegate(delegation, self.relay, ledger)
                if text == "":
                    raise ToolError(NO_ANSWER)
                return text


@contextmanager
def errors_for_model(tool: str, seconds: float) -> Iterator[None]:
    """Turn errors of a helper into `ToolError` and `ToolTimedOut`."""
    try:
        yield
    except ToolError:
        raise
    except TimeoutError as error:
        raise ToolTimedOut(tool, seconds) from error
    except QuickAppError as error:
        text = error.display if isinstance(error, ModelFailed) and error.display else str(error)
        raise ToolError(f"{tool}: {shortened(text, ERROR_CHARACTERS)}") from error
