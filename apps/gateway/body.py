"""A run as one JSON completion: what a client would have put together from the chunks."""

import time
from collections.abc import Iterable, Mapping
from typing import Any

from apps.agent.events import Event, Finished, StateSaved, TextDelta
from apps.gateway.deltas import Delta, DeltaWriter, joined, merge
from apps.gateway.wire import new_id, statistics_to_dict, usage_to_dict


class Completion:
    """Gathers the events of a run. `for_core` as in `DeltaWriter`."""

    def __init__(self, *, for_core: bool = False) -> None:
        self.deltas = DeltaWriter(for_core=for_core)
        self.merged: Delta = {}
        self.state: Mapping[str, Any] = {}
        self.logprobs: dict[str, list[Any]] = {}
        """What is told of the tokens of the text, by its kind (`content`, `refusal`)."""
        self.finished = Finished()

    def feed(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, StateSaved):
                self.state = event.state
            elif isinstance(event, Finished):
                self.finished = event
            elif (delta := self.deltas.write(event)) is not None:
                merge(self.merged, delta)
            if isinstance(event, TextDelta) and event.logprobs:
                self.add_logprobs(event.logprobs)

    def add_logprobs(self, logprobs: Mapping[str, Any]) -> None:
        for kind, tokens in logprobs.items():
            known = self.logprobs.setdefault(kind, [])
            known += tokens if isinstance(tokens, list) else ()

    def to_dict(self, model: str) -> dict[str, Any]:
        usage, reason = self.finished.usage, self.finished.reason
        choice = {"index": 0, "finish_reason": reason, "message": self.message()}
        if self.logprobs:
            choice["logprobs"] = {kind: known or None for kind, known in self.logprobs.items()}
        written: dict[str, Any] = {
            "id": new_id(),
            "object": "chat.completion",
            "created": int(time.time()),
            "model": model,
            "choices": [choice],
            "usage": usage_to_dict(usage),
        }
        statistics = statistics_to_dict(usage, self.finished.discarded)
        return written if statistics is None else {**written, "statistics": statistics}

    def message(self) -> dict[str, Any]:
        written = joined(self.merged)
        text = written.pop("content", None) or ""
        has_none = not text and ("tool_calls" in written or "refusal" in written)
        if self.state:
            written["custom_content"] = {
                **written.get("custom_content", {}),
                "state": dict(self.state),
            }
        return {"role": "assistant", "content": None if has_none else text, **written}
