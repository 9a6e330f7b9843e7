"""Addresses at which nothing is: told in JSON, whatever Django's settings say."""

from __future__ import annotations

from apps.gateway.door import GatewayConsumer
from apps.gateway.errors import error_body
from apps.gateway.texts import shortened
from apps.runs.failures import fault

DIRECTORY = "Chat completions are at /v1/chat/completions, and what there is to ask at /v1/models."
NO_EMBEDDINGS = "There are no embeddings yet, only chat completions."
NO_BASE_URL = "The client's base_url has to end in /v1: completions are at /v1/chat/completions."


class NowhereConsumer(GatewayConsumer):
    """404 to every method. `advice` says where to go instead."""

    def __init__(self, advice: str = DIRECTORY) -> None:
        super().__init__()
        self.advice = advice

    async def handle(self) -> None:
        text = f"There is nothing at {shortened(self.scope['path'])!a}. {self.advice}"
        await self.send_json(404, error_body(fault(404, text, text, "unknown_url"), 404))
