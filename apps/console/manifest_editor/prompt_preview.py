"""Previews the prompt of an edited manifest as a stream of server-sent events.

The events `issues` and `layer` report the steps that compose the prompt. The event `request`
contains the model request with the whole prompt. If the preview fails, the last event is `problem`.
"""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict
from functools import partial
from typing import Any, cast
from uuid import uuid4

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, StreamingHttpResponse
from django.views.decorators.http import require_POST

from apps.accounts.caller import Caller, caller_in
from apps.agent.context.token_estimates import text_tokens
from apps.agent.streams import stream
from apps.catalog.content.installed import installed_content
from apps.catalog.credentials.masking import restore_credentials
from apps.catalog.models import Application
from apps.catalog.resolved_application import ResolvedApplication, prepare_application
from apps.catalog.review.manifests import review_text
from apps.console.operator_rights import CHANGE, editable_applications, may
from apps.console.studio.working_copy import draft_sources
from apps.errors import QuickAppError
from apps.integers import read_integer
from apps.live.history.request_view import RequestPart, RequestView, view_of
from apps.live.history.sent_requests import split_request
from apps.live.sent_request_rows import SentRequestRow
from apps.manifest.aliases import with_own_names
from apps.manifest.json_text import parse_json
from apps.manifest.markdown.chat_place import ChatPlace
from apps.runs.preview import (
    AssemblyStep,
    IssuesFound,
    LayerComposed,
    RequestAssembled,
    assemble,
)

LONGEST_QUESTION = 10_000
SAMPLE = "Hello"


class Unpreviewable(Exception):
    """The manifest has errors, so its prompt cannot be previewed."""


@require_POST
def preview_request(request: HttpRequest) -> StreamingHttpResponse:
    """Stream the preview. Raises `PermissionDenied` if the user may not change applications."""
    # The preview requests the tools from servers, so it requires the same permission as testing a
    # toolset.
    if not may(request, CHANGE):
        raise PermissionDenied
    try:
        application, place = read_draft(request)
    except (Unpreviewable, QuickAppError) as error:
        events = only(event("problem", {"text": str(error)}))
    else:
        caller = caller_in(request.user.pk)
        question = request.POST.get("question", "").strip()[:LONGEST_QUESTION] or SAMPLE
        events = steps(application, question, place, caller)
    answer = StreamingHttpResponse(events, content_type="text/event-stream")
    answer["Cache-Control"] = "no-store"
    return answer


def read_draft(request: HttpRequest) -> tuple[ResolvedApplication, ChatPlace | None]:
    """Prepare the application with the edited manifest. Return it with the selected chat place, or
    None. A chat place adds instructions for the part of a product from which users chat.

    Raises `Unpreviewable` if the manifest has errors, `ApplicationBroken` if references cannot be
    resolved, and `PlaceNotFound` if the chat place does not exist.
    """
    typed, row = request.POST.get("manifest", ""), request.GET.get("row", "")
    stored = editable_applications(request).filter(pk=read_integer(row) or 0).first()
    sources = [] if stored is None else draft_sources(stored)
    errors = [one for one in review_text(typed, sources=sources) if one.severity == "error"]
    if errors:
        raise Unpreviewable(f"{errors[0].path}: {errors[0].message}.")
    document = with_own_names(restore_credentials(parse_json(typed), sources).document)
    title = request.POST.get("title", "")
    slug = request.POST.get("slug", "") or "draft"
    draft = Application(slug=slug, title=title, manifest=document)
    application = prepare_application(draft, installed_content())
    return application, application.place(request.POST.get("place", "").strip())


async def only(text: str) -> AsyncGenerator[str, None]:
    yield text


async def steps(
    application: ResolvedApplication, question: str, place: ChatPlace | None, caller: Caller
) -> AsyncGenerator[str, None]:
    # The bridge forwards any emitted object, not only run events.
    work: Any = partial(assemble, application, question, place, caller)
    try:
        async with aclosing(stream(work)) as batches:
            async for batch in batches:
                for step in batch:
                    yield encode_step(application, cast(AssemblyStep, step))
    except QuickAppError as error:
        yield event("problem", {"text": str(error)})


def encode_step(application: ResolvedApplication, step: AssemblyStep) -> str:
    match step:
        case IssuesFound(text):
            return event("issues", {"text": text})
        case LayerComposed(layer, source, text):
            return event("layer", asdict(RequestPart(layer, source, text, text_tokens(text))))
        case RequestAssembled(deployment, None):
            text = f"{deployment} is an application with a prompt of its own."
            return event("problem", {"text": text})
        case RequestAssembled():
            return event("request", written_view(view_of_draft(application, step)))


def view_of_draft(application: ResolvedApplication, step: RequestAssembled) -> RequestView:
    members, parts = split_request(uuid4(), step.body or b"{}")
    row = SentRequestRow(
        application=application.slug,
        model=step.deployment,
        members=members,
        prompt=[[span.layer, span.source, span.length] for span in step.prompt],
    )
    return view_of(row, {digest: part for (_, digest), part in parts.items()})


def written_view(view: RequestView) -> dict[str, Any]:
    """Convert the view of a model request to JSON. `flat` is the whole system prompt as text."""
    written = {name: list(map(asdict, getattr(view, name))) for name in ("messages", "tools")}
    flat = "\n\n".join(part.text for part in view.prompt)
    rest = {"flat": flat, "parameters": view.parameters, "tokens": view.tokens}
    return {"model": view.model, **rest, **written}


def event(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
