"""Serves `POST …/embeddings`, which converts texts to vectors."""

import asyncio
import base64
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import msgspec
from django.conf import settings
from django.db.models import QuerySet
from msgspec import Meta

from apps.accounts.caller import Caller
from apps.agent.events import ModelUsage
from apps.doors.admission import hidden_error, visit
from apps.doors.answer_headers import rate_headers
from apps.doors.bodies import decode_body, invalid, shorten_text
from apps.doors.client_parameters import ignored_header
from apps.doors.run_slots import hold_caller_slot
from apps.errors import (
    ApplicationNotFound,
    DeploymentNotFound,
    ModelFailed,
    ServiceFailed,
    gettext_noop,
)
from apps.gateway.base import GatewayConsumer, openai_error_body
from apps.insights.meter import Keep, RunMeter
from apps.live.doors import GATEWAY
from apps.live.hub import HUB
from apps.live.limits.quotas import admit_request, rates_of, spend
from apps.runs.failures import RunFailure
from apps.workspace.embeddings.built_in import BuiltInEmbedder
from apps.workspace.embeddings.metered import MeteredEmbedder
from apps.workspace.embeddings.minilm import DIMENSION
from apps.workspace.embeddings.port import Embedder, Embeddings
from apps.workspace.embeddings.service import ServiceEmbedder
from apps.workspace.local.models import Deployment
from apps.workspace.local.workspace import LocalWorkspace

MOST_TEXTS = 2_048
MOST_CHARACTERS = 1_000_000
"""The maximum number of characters in all texts of a request, about the length of a long book. The
built-in model takes minutes for this much text.
"""
USED = frozenset({"input", "model", "encoding_format", "dimensions"})


class EmbedderNotFound(ApplicationNotFound):
    text = gettext_noop("There is no embeddings deployment named {name} that you may use.")


class EmbeddingsRequest(msgspec.Struct):
    input: Any
    model: str | None = None
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: Annotated[int, Meta(ge=1)] | None = None
    custom_input: Any = None

    @property
    def texts(self) -> list[Any]:
        """Return the request's `input` as a list. Its items are not guaranteed to be texts until
        `check_texts` has run.
        """
        return [self.input] if isinstance(self.input, str) else list(self.input)


_decode = msgspec.json.Decoder(EmbeddingsRequest).decode
_decode_names = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def read_embeddings_request(body: bytes) -> tuple[EmbeddingsRequest, frozenset[str]]:
    """Parse a request. Return it with the names of the parameters that are ignored. Raises
    `BadRequest` if it is invalid.
    """
    request = decode_body(body, _decode)
    names = decode_body(body, _decode_names).keys()
    if request.custom_input is not None:
        raise invalid("custom_input", "Only texts can be embedded. Send them as 'input'.")
    check_texts(request)
    return request, frozenset(names - USED)


def check_texts(request: EmbeddingsRequest) -> None:
    """Raise `BadRequest` unless the input is a text or a list of texts. No text may be empty or too
    long.
    """
    if not isinstance(request.input, str | list):
        raise invalid("input", "Send a string or an array of strings.")
    if not 0 < len(request.texts) <= MOST_TEXTS:
        raise invalid("input", f"Send 1 to {MOST_TEXTS} texts.")
    for index, text in enumerate(request.texts):
        path = "input" if isinstance(request.input, str) else f"input.{index}"
        if isinstance(text, int | list):
            raise invalid(path, "Tokens are not supported. Send text.")
        if not isinstance(text, str):
            raise invalid(path, "Send a string.")
        if not text.strip():
            raise invalid(path, "The text is empty. Send some text.")
    check_size(request.texts)


def check_size(texts: Sequence[str]) -> None:
    """Raise `BadRequest` if the texts exceed `MOST_CHARACTERS` in total."""
    if sum(map(len, texts)) > MOST_CHARACTERS:
        raise invalid(
            "input",
            f"The texts are too long; the limit is {MOST_CHARACTERS:,} characters per request.",
        )


class EmbeddingsConsumer(GatewayConsumer):
    methods = ("POST",)

    def __init__(self, keep: Keep) -> None:
        super().__init__()
        self.keep = keep

    async def answer(self) -> None:
        caller = (await visit(self.scope, self.while_connected)).caller
        request, ignored = read_embeddings_request(
            await self.read_body(settings.GATEWAY_MAX_BODY_BYTES)
        )
        name = self.slug or request.model or ""
        if not name:
            raise invalid("model", "Send the ID of an embedding deployment.")
        rates = rates_of(caller, None)
        headers = rate_headers(await admit_request(rates))
        embedder = await find_embedder(name, caller, request.dimensions)
        meter = RunMeter(self.keep, GATEWAY, caller.bucket, budgets=HUB.budgets, team=caller.team)
        embedder = MeteredEmbedder(embedder, name, meter)
        async with hold_caller_slot(HUB.slots, caller, name):
            found = await self.while_connected(embed(embedder, request))
        spend(rates, [ModelUsage(name, found.prompt_tokens, 0)])
        if request.dimensions not in (None, found.vectors.shape[1]):
            raise invalid(
                "dimensions",
                f"The model's vectors have {found.vectors.shape[1]} dimensions. Leave 'dimensions' out.",
            )
        body = await asyncio.to_thread(answer_body, found, name, request.encoding_format)
        if self.slug and request.model not in (None, name):
            ignored |= {"model"}
        if ignored:
            headers = (*headers, *ignored_header(ignored))
        await self.send_json(200, body, headers)

    def error_body(self, found: RunFailure) -> dict[str, Any]:
        return openai_error_body(found)


def offered_deployments(caller: Caller) -> QuerySet[Deployment]:
    """Return the embedding deployments that the caller can use, sorted by ID.

    Visitors can use none, and neither can keys that are limited to some applications, because a
    deployment belongs to no application.
    """
    is_admitted = caller.kind in ("user", "key") and caller.limits.scope is None
    rows = Deployment.objects.filter(kind=Deployment.Kind.EMBEDDING, is_enabled=True)
    return rows.order_by("deployment_id") if is_admitted else rows.none()


async def find_embedder(name: str, caller: Caller, dimensions: int | None) -> Embedder:
    """Return the embedder for the deployment `name`.

    Raises `EmbedderNotFound` if the caller cannot use it, `NotAuthenticated` if the caller has no
    key, or `BadRequest` if the model cannot return vectors with this number of `dimensions`.
    """
    if caller.kind == "visitor":
        raise hidden_error(name, caller)
    if not await offered_deployments(caller).filter(deployment_id=name).aexists():
        raise EmbedderNotFound(shorten_text(name))
    try:
        embedder = await LocalWorkspace(caller).embedder(name)
    except DeploymentNotFound as error:
        raise EmbedderNotFound(shorten_text(name)) from error
    if dimensions is not None:
        if isinstance(embedder, BuiltInEmbedder) and dimensions != DIMENSION:
            raise invalid(
                "dimensions",
                f"The model's vectors have {DIMENSION} dimensions. Leave 'dimensions' out.",
            )
        if isinstance(embedder, ServiceEmbedder):
            return replace(embedder, parameters={**embedder.parameters, "dimensions": dimensions})
    return embedder


async def embed(embedder: Embedder, request: EmbeddingsRequest) -> Embeddings:
    """Return the vectors for the texts. Raises `ModelFailed` if the model's service fails."""
    try:
        return await embedder.embed(request.texts)
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
