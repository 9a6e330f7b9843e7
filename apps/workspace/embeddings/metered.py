"""An embedder whose calls are reported to a meter."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from apps.agent.events import ModelUsage
from apps.agent.messages import Message
from apps.agent.meter import Meter, ModelCallReport, error_kind, service_message
from apps.agent.model import ModelRequest
from apps.workspace.embeddings.port import Embedder, Embeddings


def metered(embedder: Embedder, deployment_id: str | None, meter: Meter) -> Embedder:
    """None for the installation's default; the model that comes with the server costs nothing."""
    name = deployment_id or settings.EMBEDDINGS_DEPLOYMENT
    return MeteredEmbedder(embedder, name, meter) if name else embedder


@dataclass(frozen=True, slots=True)
class MeteredEmbedder:
    """`deployment_id` is the deployment that makes the vectors."""

    embedder: Embedder
    deployment_id: str
    meter: Meter

    @property
    def model(self) -> str:
        return self.embedder.model

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Raises `ServiceFailed`, `BudgetSpent`."""
        messages = [Message("user", text) for text in texts]
        reservation = await self.meter.admit(self.deployment_id, ModelRequest(messages))
        started, error, said = time.monotonic(), "", ""
        usage: tuple[ModelUsage, ...] = ()
        try:
            found = await self.embedder.embed(texts)
            if found.prompt_tokens:  # 0 where the service does not report it
                usage = (ModelUsage(self.deployment_id, found.prompt_tokens, 0),)
        except BaseException as failure:
            error, said = error_kind(failure), service_message(failure)
            raise
        finally:
            seconds = time.monotonic() - started
            self.meter.model_called(
                ModelCallReport(
                    self.deployment_id,
                    seconds,
                    usage,
                    error=error,
                    reservation=reservation,
                    said=said,
                )
            )
        return found
