"""Embeddings of Core's deployments."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.errors import DeploymentNotFound
from apps.workspace.dial.calls import Calls
from apps.workspace.dial.core import target
from apps.workspace.dial.failures import CoreRefused

SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class DialEmbeddings:
    """A deployment as one caller asks it; `name` is its encoded id."""

    calls: Calls
    name: str
    headers: Mapping[str, str] = field(repr=False)

    async def ask(self, body: Mapping[str, Any]) -> bytes:
        """Raises `ServiceFailed`, and `DeploymentNotFound`: Core is not asked for it before."""
        path = f"/openai/deployments/{self.name}/embeddings"
        place = target(path, {"api-version": self.calls.core.api_version})
        try:
            answer = await self.calls.send(
                "POST", place, headers=self.headers, seconds=SECONDS, json=body
            )
        except CoreRefused as refused:
            if refused.status == 404:
                raise DeploymentNotFound(self.name) from refused
            raise
        return answer.body
