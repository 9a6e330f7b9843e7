"""Defines an embedder that reports its calls to a meter."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from apps.agent.events import ModelUsage
from apps.agent.messages import ModelMessage
from apps.agent.meter import Meter, ModelCallReport, error_kind, service_message
from apps.agent.model import ModelRequest
from apps.workspace.embeddings.port import Embedder, Embeddings


def meter_embedder(embedder: Embedder, deployment_id: str | None, meter: Meter) -> Embedder:
    """Return an embedder that reports its calls to the meter. `deployment_id` is None for the
    installation's default. The built-in model is not metered, because it costs nothing.
    """
    name = deployment_id or settings.EMBEDDINGS_DEPLOYMENT
    return MeteredEmbedder(embedder, name, meter) if name else embedder


@dataclass(frozen=True, slots=True)
class MeteredEmbedder:
    embedder: Embedder
    deployment_id: str
    """The deployment that computes the vectors."""
    meter: Meter

    @property
    def model(self) -> str:
        return self.embedder.model

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Embed texts, and report the tokens and the time to the meter. Raises `ServiceFailed`, and
        `BudgetSpent` if a budget does not allow the call.
        """
        messages = [ModelMessage("user", text) for text in texts]
        reservation = await self.meter.admit(self.deployment_id, ModelRequest(messages))
        started, error, said = time.monotonic(), "", ""
        usage: tuple[ModelUsage, ...] = ()
        try:
            found = await self.embedder.embed(texts)
            if found.prompt_tokens:  # 0 if the service does not report it.
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
