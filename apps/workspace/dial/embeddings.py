"""Embeddings of Core's deployments."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.workspace.dial.calls import Calls
from apps.workspace.dial.core import target

SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class DialEmbeddings:
    """A deployment as one caller asks it; `name` is its encoded id."""

    calls: Calls
    name: str
    headers: Mapping[str, str] = field(repr=False)

    async def ask(self, body: Mapping[str, Any]) -> bytes:
        """Raises `ServiceFailed`, also for a deployment that Core has not."""
        path = f"/openai/deployments/{self.name}/embeddings"
        place = target(path, {"api-version": self.calls.core.api_version})
        answer = await self.calls.send(
            "POST", place, headers=self.headers, seconds=SECONDS, json=body
        )
        return answer.body
