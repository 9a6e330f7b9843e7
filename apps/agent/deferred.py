"""Stages of tool calls that stay open until the model has answered the results."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType

from apps.agent.messages import Message
from apps.agent.stages import Stage


class DeferredStages:
    """Those of one run. An exception that ends the run closes them as failed."""

    def __init__(self) -> None:
        self.closing: ExitStack | None = None
        self.open: dict[str, Stage] = {}

    def keep(self, stage: Stage, block: AbstractContextManager[object]) -> None:
        """Leave the block of the stage later."""
        if self.closing is None:  # few runs have any
            self.closing = ExitStack()
        self.closing.push(block)
        self.open[stage.id] = stage

    def tell(self, before: Sequence[Message], after: Sequence[Message]) -> None:
        """The messages were rewritten: a stage goes on with what its result says now."""
        earlier = {message.tool_call_id: message.text for message in before}
        for message in after:
            stage = self.open.get(message.tool_call_id or "")
            if stage is not None and message.text != earlier.get(message.tool_call_id):
                stage.write(f"\n\n{message.text}\n")

    def close(self) -> None:
        if self.closing is not None:
            self.closing.close()
        self.open.clear()

    def __enter__(self) -> DeferredStages:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return None if self.closing is None else self.closing.__exit__(kind, error, trace)
