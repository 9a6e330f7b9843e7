"""Stores the push notification settings for tasks."""

from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from django.conf import settings

from apps.a2a.encoding import Json
from apps.a2a.errors import InvalidParams, ProtocolError
from apps.a2a.models import LONGEST_URL, PushConfig
from apps.a2a.requests import LONGEST_ID, PushConfigParams
from apps.doors.bodies import shorten_text
from apps.errors import EgressRefused
from apps.live.events import storable_value
from apps.live.models import Run
from apps.workspace.egress.guard import Trust, check_written_host
from apps.workspace.egress.urls import has_usable_host

MOST_CONFIGS = 20
LONGEST_SECRET = 4_000
SCHEMES = ("http", "https")


class ConfigNotFound(ProtocolError):
    rpc_code, code = -32001, "TASK_NOT_FOUND"
    http_status, status_name = 404, "NOT_FOUND"
    text = "The task has no push notification configuration with this id."


def save_config(run: Run, sent: PushConfigParams) -> PushConfig:
    """Create or replace a configuration. Raises `InvalidParams` if the configuration is invalid, or
    if the task already has the maximum number of configurations.
    """
    check_config(sent)
    name = sent.id or str(uuid4())
    others = PushConfig.objects.filter(run=run).exclude(name=name)
    if others.count() >= MOST_CONFIGS:
        text = f"The task has {MOST_CONFIGS} configurations, which is the limit. Delete one first."
        raise InvalidParams(text)
    given = sent.authentication
    fields = {
        "url": sent.url,
        "token": sent.token,
        "scheme": "" if given is None else given.scheme,
        "credentials": "" if given is None else given.credentials,
    }
    row, _ = PushConfig.objects.update_or_create(run=run, name=name, defaults=fields)
    return row


def check_config(sent: PushConfigParams) -> None:
    """Raise `InvalidParams` if a field in the configuration is invalid."""
    given = sent.authentication
    secrets = [sent.token, *(() if given is None else (given.scheme, given.credentials))]
    if any(not text.isprintable() or not text.isascii() for text in secrets):
        raise InvalidParams("token and authentication: use printable ASCII characters.")
    if any(len(text) > LONGEST_SECRET for text in secrets):
        raise InvalidParams(
            f"token and authentication: too long; the limit is {LONGEST_SECRET} characters."
        )
    if given is not None and not (0 < len(given.scheme) <= 50 and " " not in given.scheme):
        raise InvalidParams("authentication.scheme: use a word such as Bearer.")
    if len(sent.id) > LONGEST_ID or storable_value(sent.id) != sent.id:
        raise InvalidParams(f"id: use up to {LONGEST_ID} characters, without NUL.")
    check_url(sent.url)


def check_url(url: str) -> None:
    """Raise `InvalidParams` if this is not an HTTP URL or its host is blocked."""
    host = ""
    try:
        parts = urlsplit(url)
        if parts.scheme in SCHEMES and parts.port != 0:
            host = parts.hostname or ""
    except ValueError:
        pass  # Reported below.
    is_writable = len(url) <= LONGEST_URL and url.isprintable() and " " not in url
    if not host or not is_writable or not has_usable_host(url):
        shown = shorten_text(url)
        raise InvalidParams(
            f"url: {shown!r} is not an HTTP URL, or is longer than {LONGEST_URL} characters."
        )
    try:
        check_written_host(trust_of(url), host)
    except EgressRefused as error:
        raise InvalidParams(f"url: {error}") from error


def trust_of(url: str) -> Trust:
    """Return the trust level for the host of a push URL. A client chose the URL, so private hosts
    must be listed in `A2A_PUSH_PRIVATE_HOSTS`.
    """
    hosts: list[str] = settings.A2A_PUSH_PRIVATE_HOSTS
    return Trust.OPERATOR if urlsplit(url).hostname in hosts else Trust.GUARDED


def find_config(run: Run, name: str) -> PushConfig:
    """Return the task's configuration with this ID. Raises `ConfigNotFound` if there is none."""
    row = PushConfig.objects.filter(run=run, name=storable_value(name)).first()
    if row is None:
        raise ConfigNotFound
    return row


def describe_config(row: PushConfig) -> Json:
    config: dict[str, Any] = {"id": row.name, "taskId": str(row.run_id), "url": row.url}
    if row.token:
        config["token"] = row.token
    if row.scheme:
        config["authentication"] = {"scheme": row.scheme, "credentials": row.credentials}
    return config


def list_configs(run: Run) -> Json:
    rows = PushConfig.objects.filter(run=run).order_by("pk")
    return {"configs": [describe_config(row) for row in rows], "nextPageToken": ""}
