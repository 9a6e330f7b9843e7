"""Parses the parameters of operations. Both bindings have the same parameters.

Unknown fields are ignored, as in the JSON form of Protocol Buffers.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from apps.a2a.errors import InvalidParams
from apps.doors.bodies import shorten_text

LONGEST_ID = 200
MOST_PARTS = 100
MOST_LISTED = 100
DEEPEST_FIELD = 4
"""The nesting level down to which field names are converted. The deepest field is
`configuration.taskPushNotificationConfig.authentication.scheme`.
"""

S = TypeVar("S", bound=msgspec.Struct)


class Params(msgspec.Struct, frozen=True, rename="camel"):
    """The base class for the parameters of operations."""


class ClientPart(Params, frozen=True):
    """A part of a message, with exactly one of `text`, `raw` (base64), `url` and `data`."""

    text: str | None = None
    raw: str | None = None
    url: str | None = None
    data: Any = msgspec.UNSET
    media_type: str = ""
    filename: str = ""


class SentMessage(Params, frozen=True):
    message_id: str
    role: str
    parts: list[ClientPart]
    context_id: str = ""
    task_id: str = ""

    def check(self) -> None:
        """Raise `InvalidParams` if the message's role, ID or parts are invalid."""
        if self.role != "ROLE_USER":
            raise unknown_value("message.role", self.role, "ROLE_USER")
        if not self.message_id or len(self.message_id) > LONGEST_ID or "\0" in self.message_id:
            raise InvalidParams(f"message.messageId: use 1 to {LONGEST_ID} characters.")
        if not self.parts:
            raise InvalidParams("message.parts: send at least one part.")
        if len(self.parts) > MOST_PARTS:
            count = len(self.parts)
            raise InvalidParams(f"message.parts has {count} parts; the limit is {MOST_PARTS}.")


class Authentication(Params, frozen=True):
    scheme: str
    credentials: str = ""


class PushConfigParams(Params, frozen=True):
    """The parameters of push notifications."""

    url: str
    id: str = ""
    task_id: str = ""
    """The task's ID, or "" in a message that starts a task."""
    token: str = ""
    authentication: Authentication | None = None


class SendConfiguration(Params, frozen=True):
    accepted_output_modes: list[str] = []
    history_length: int | None = None
    return_immediately: bool = False
    task_push_notification_config: PushConfigParams | None = None


class SendParams(Params, frozen=True):
    message: SentMessage
    configuration: SendConfiguration = SendConfiguration()


class TaskParams(Params, frozen=True):
    id: str
    history_length: int | None = None


class ListParams(Params, frozen=True):
    context_id: str = ""
    status: str = ""
    page_size: int | None = None
    page_token: str = ""
    history_length: int | None = None
    status_timestamp_after: str = ""
    include_artifacts: bool = False


class ConfigParams(Params, frozen=True):
    task_id: str
    id: str


class ConfigListParams(Params, frozen=True):
    task_id: str
    page_size: int = 0
    page_token: str = ""


class NoParams(Params, frozen=True): ...


def read_params(kind: type[S], value: Any) -> S:
    """Convert JSON to parameters. Raises `InvalidParams` with the path of an invalid field."""
    try:
        return msgspec.convert({} if value is None else with_json_names(value), kind)
    except msgspec.ValidationError as error:
        raise InvalidParams(describe(error)) from error


def read_query(kind: type[S], query: Mapping[str, str]) -> S:
    """Convert a URL's query to parameters. Raises `InvalidParams` if one is invalid."""
    try:
        return msgspec.convert(with_json_names(query), kind, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidParams(describe(error)) from error


def with_json_names(value: Any, levels: int = DEEPEST_FIELD) -> Any:
    """Convert names such as `task_id` to `taskId`, except within `data`. Clients may send either
    form, as with Protocol Buffers.
    """
    if not levels:
        return value
    if isinstance(value, list):
        return [with_json_names(one, levels - 1) for one in value]
    if not isinstance(value, Mapping):
        return value
    return {
        json_name(name): one if name == "data" else with_json_names(one, levels - 1)
        for name, one in value.items()
    }


def json_name(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def describe(error: msgspec.ValidationError) -> str:
    problem, _, place = str(error).partition(" - at `$")
    path = place.rstrip("`").lstrip(".")
    return f"{path}: {shorten_text(problem)}." if path else f"{shorten_text(problem)}."


def unknown_value(field: str, value: str, *choices: str) -> InvalidParams:
    return InvalidParams(f"Unknown {field}: {shorten_text(value)!r}. Use {', '.join(choices)}.")


def check_history_length(length: int | None) -> None:
    if length is not None and length < 0:
        raise InvalidParams(f"historyLength is {length}; use 0 or more.")
