"""Stores the requests of API clients that send the whole conversation, so that other processes can
resume their runs.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import msgspec
from django.db import models

from apps.agent.messages import ModelMessage
from apps.agent.tools import ToolSpec
from apps.catalog.resolved_application import ResolvedApplication
from apps.live.events import storable_value
from apps.live.models import Run
from apps.old_rows import delete
from apps.runs.requests import RunRequest


class RequestDocument(msgspec.Struct, frozen=True):
    """The stored form of a `RunRequest`, with the fields that a client sets."""

    messages: tuple[ModelMessage, ...]
    external: dict[str, ToolSpec] = {}
    tool_choice: Any = None
    response_format: Any = None
    parameters: dict[str, Any] = {}
    instructions: str = ""
    textual_results: tuple[str, ...] = ()
    requires_client_tool: bool = False
    form_answer: Any = None
    place: str = ""
    """The slug of the chat place."""

    @classmethod
    def of(cls, request: RunRequest) -> Self:
        return cls(
            request.messages,
            # The specs are copied without their cached values, which cannot be stored.
            {name: replace(spec) for name, spec in request.external.items()},
            request.tool_choice,
            request.response_format,
            dict(request.parameters),
            request.instructions,
            tuple(request.textual_results),
            request.requires_client_tool,
            request.form_answer,
            "" if request.place is None else request.place.slug,
        )


class ClientRequest(models.Model):
    """The request of an API client that sent the whole conversation. The run reads it instead of
    the stored messages.
    """

    run = models.OneToOneField(
        Run, on_delete=models.CASCADE, primary_key=True, related_name="client_request"
    )
    document = models.JSONField()

    class Meta:
        db_table = "chat_clientrequest"

    def __str__(self) -> str:
        return f"request of {self.run_id}"


def store_request(run: Run, request: RunRequest) -> None:
    document = storable_value(msgspec.to_builtins(RequestDocument.of(request)))
    ClientRequest.objects.create(run=run, document=document)


def read_request(run: Run, application: ResolvedApplication) -> RunRequest | None:
    """Return the client's request that started the run, or None if the run was started in another
    way.
    """
    row = ClientRequest.objects.filter(run=run).first()
    if row is None:
        return None
    written = msgspec.convert(row.document, RequestDocument)
    fields: Mapping[str, Any] = msgspec.structs.asdict(written)
    return RunRequest(**{**fields, "place": application.predefined.places.get(written.place)})


def delete_answered() -> int:
    return delete(ClientRequest.objects.exclude(run__status__in=Run.OPEN))
