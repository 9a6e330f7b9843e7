"""`POST …/embeddings`: vectors of texts, by the deployments of kind embedding."""

import asyncio
import base64
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from apps.accounts.caller import Caller
from apps.agent.events import ModelUsage
from apps.doors.admission import visit
from apps.doors.applications import hidden
from apps.doors.quotes import shortened
from apps.doors.rate_headers import headers_of
from apps.errors import DeploymentNotFound, EmbedderNotFound, ModelFailed, ServiceFailed
from apps.gateway.base import GatewayConsumer, answer_of
from apps.gateway.embeddings_requests import EmbeddingsRequest, read
from apps.gateway.openai_dialect import ignored_header
from apps.gateway.refusals import invalid
from apps.insights.meter import Keep, RunMeter
from apps.live.hub import HUB
from apps.live.rates import admit, rates_of, spend
from apps.live.run_summary import RunSummary
from apps.workspace.embeddings.built_in import DIMENSION, BuiltInEmbedder
from apps.workspace.embeddings.metered import MeteredEmbedder
from apps.workspace.embeddings.port import Embedder, Embeddings
from apps.workspace.embeddings.service import ServiceEmbedder
from apps.workspace.local.models import Deployment
from apps.workspace.local.workspace import LocalWorkspace


class EmbeddingsConsumer(GatewayConsumer):
    methods = ("POST",)

    def __init__(self, keep: Keep) -> None:
        super().__init__()
        self.keep = keep

    async def answer(self) -> None:
        caller = (await visit(self.scope, self.while_connected)).caller
        asked, ignored = read(await self.read_body(settings.GATEWAY_MAX_BODY_BYTES))
        name = self.slug or asked.model or ""
        rates = rates_of(caller, None)
        headers = headers_of(await admit(rates))
        embedder = await find_embedder(name, caller, asked.dimensions)
        meter = RunMeter(
            self.keep,
            RunSummary.Door.GATEWAY,
            caller.bucket,
            budgets=HUB.budgets,
            team=caller.team,
        )
        embedder = MeteredEmbedder(embedder, name, meter)
        with HUB.places.taken(caller.bucket, name):
            async with HUB.places.among_processes(caller.bucket, name):
                found = await self.while_connected(embed(embedder, asked))
        spend(rates, [ModelUsage(name, found.prompt_tokens, 0)])
        if asked.dimensions not in (None, found.vectors.shape[1]):
            raise invalid("dimensions", f"The model's vectors have {found.vectors.shape[1]}.")
        body = await asyncio.to_thread(answer_body, found, name, asked.encoding_format)
        is_other = self.slug and asked.model not in (None, name)
        await self.send_json(
            200,
            body,
            (*headers, *ignored_header(ignored | ({"model"} if is_other else set()))),
        )

    async def send_error(self, error: Exception) -> None:
        status, body, headers = answer_of(error)
        # OpenAI's clients show the message and nothing else.
        body["error"]["message"] = body["error"]["display_message"]
        await self.send_json(status, body, headers)


def offered(caller: Caller) -> QuerySet[Deployment]:
    """The deployments whose embeddings the caller may ask for, by id.

    They belong to no application, so keys that are limited to some, and visitors, have none.
    """
    is_admitted = caller.kind in ("user", "key") and caller.scope is None
    rows = Deployment.objects.filter(kind=Deployment.Kind.EMBEDDING, is_enabled=True)
    return rows.order_by("deployment_id") if is_admitted else rows.none()


async def find_embedder(name: str, caller: Caller, dimensions: int | None) -> Embedder:
    """Raises `EmbedderNotFound`, `NotAuthenticated` for visitors, `BadRequest` for `dimensions`."""
    if caller.kind == "visitor":
        raise hidden(name, caller)
    if not await offered(caller).filter(deployment_id=name).aexists():
        raise EmbedderNotFound(shortened(name))
    try:
        embedder = await LocalWorkspace(caller).embedder(name)
    except DeploymentNotFound as error:
        raise EmbedderNotFound(shortened(name)) from error
    if dimensions is not None:
        if isinstance(embedder, BuiltInEmbedder) and dimensions != DIMENSION:
            raise invalid("dimensions", f"The model's vectors have {DIMENSION}.")
        if isinstance(embedder, ServiceEmbedder):
            return replace(embedder, parameters={**embedder.parameters, "dimensions": dimensions})
    return embedder


async def embed(embedder: Embedder, asked: EmbeddingsRequest) -> Embeddings:
    """Raises `ModelFailed`."""
    try:
        return await embedder.embed(asked.texts)
    except ServiceFailed as failure:
        reason = "stream" if failure.reason == "answer" else failure.reason
        seconds = getattr(failure, "retry_after", None)
        raise ModelFailed(
            str(failure), status=failure.status, reason=reason, retry_after=seconds
        ) from failure


def answer_body(found: Embeddings, name: str, encoding: str | None) -> dict[str, Any]:
    rows = found.vectors.astype("<f4")
    vectors: list[Any] = (
        [base64.b64encode(row.tobytes()).decode() for row in rows]
        if encoding == "base64"
        else rows.tolist()
    )
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": index, "embedding": vector}
            for index, vector in enumerate(vectors)
        ],
        "model": name,
        "usage": {"prompt_tokens": found.prompt_tokens, "total_tokens": found.prompt_tokens},
    }
