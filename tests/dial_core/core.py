"""The state of one Core, and functions for tests."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.dial_core.channel import Channels
from tests.dial_core.configuration import SECTIONS, Configuration, Deployment, Kind, Settings
from tests.dial_core.faults import Faults
from tests.dial_core.keys import Caller, Keys, RequestKey
from tests.dial_core.models import Answer, Body, Model
from tests.dial_core.permissions import READ, permissions
from tests.dial_core.refusals import Refusal
from tests.dial_core.resources import Item, Storage
from tests.dial_core.toolsets import SignIns
from tests.dial_core.troubles import Trouble
from tests.dial_core.urls import bucket_of, canonical, is_resource, plain

KEY = "dial-demo-key"
"""The default project key."""
PATIENCE_SECONDS = 180.0
"""The timeout of a test's client, long enough for slow machines."""
TIMEOUTS = {"connect": 10.0, "read": 300.0, "write": 300.0, "pool": 300.0}
"""Timeouts in seconds, like those of Core's own client."""


@dataclass(frozen=True, slots=True)
class Hop:
    """A request that Core received or sent, with lower-case header names. `target` is the path with
    its query as sent."""

    method: str
    target: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    url: str = ""

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    def json(self) -> Any:
        return json.loads(self.content)

    def events(self) -> list[Any]:
        """Return the documents of a stream, without the last `[DONE]`."""
        lines = self.text.replace("\r\n", "\n").split("\n")
        values = [line.removeprefix("data:").strip() for line in lines if line.startswith("data:")]
        return [json.loads(value) for value in values if value != "[DONE]"]


class Core:
    """`requests` are those that Core received and `sent` those that it sent, both in order. `late`
    are the requests with an expired key. `clients` belong to the server's own loop and are used in
    turn."""

    clients: Iterator[httpx.AsyncClient]

    def __init__(self, document: Mapping[str, Any] | None = None) -> None:
        self.url = ""
        self.configuration = Configuration()
        self.settings = Settings()
        self.keys = Keys()
        self.storage = Storage()
        self.sign_ins = SignIns()
        self.channels = Channels()
        self.models: dict[str, Model] = {}
        self.faults: dict[str, Faults] = {}
        self.troubles: dict[str, Trouble] = {}
        self.requests: list[Hop] = []
        self.sent: list[Hop] = []
        self.late: list[Hop] = []
        self.timeouts = dict(TIMEOUTS)
        self.read(document or {"keys": {KEY: {"project": "Demo", "roles": ["default"]}}})

    def read(self, document: Mapping[str, Any]) -> None:
        """Read a configuration of Core, in which models may have a script and faults. Raises
        `KeyError` for an application whose type is not registered."""
        self.configuration.read(document)
        for key, fields in document.get("keys", {}).items():
            self.keys.add_project(key, fields)
        for name, value in document.get("settings", {}).items():
            setattr(self.settings, name, value)
        for section in SECTIONS:
            for name, fields in document.get(section, {}).items():
                if "script" in fields:
                    self.models[name] = Model(**fields["script"])
                if "faults" in fields:
                    self.faults[name] = Faults(**fields["faults"])

    # Setup for tests.

    def add_model(
        self,
        id: str,
        answers: Sequence[Answer] | Callable[[Body], Answer] | None = None,
        **fields: Any,
    ) -> Model:
        """Add a scripted model, or one that echoes. `fields` are those of the configuration."""
        is_made = callable(answers)
        model = Model(
            "echo" if answers is None else "script",
            list(answers) if answers is not None and not callable(answers) else [],
            make=answers if is_made else None,  # type: ignore[arg-type]
        )
        self.configuration.add(self.configuration.deployment(id, "model", fields))
        self.models[id] = model
        return model

    def add_application(
        self,
        id: str,
        endpoint: str | None,
        properties: Mapping[str, Any] | None = None,
        schema_id: str | None = None,
        **fields: Any,
    ) -> Deployment:
        """Add an application. If its type is not registered, create one with this endpoint. Every
        property is then server-side, like the main part of a manifest."""
        if schema_id is not None:
            fields |= {"applicationTypeSchemaId": schema_id, "applicationProperties": properties}
            if schema_id not in self.configuration.schemas:
                self.add_schema(schema_id, endpoint, properties or {})
        elif endpoint is not None:
            fields["endpoint"] = endpoint
        deployment = self.configuration.deployment(id, "application", fields)
        if is_resource(id):
            document = {"displayName": id.split("/")[-1], **fields}
            self.put(id, json.dumps(document).encode(), "application/json")
        else:
            self.configuration.add(deployment)
        return deployment

    def add_schema(
        self, id: str, endpoint: str | None, properties: Mapping[str, Any], /, **fields: Any
    ) -> None:
        """Add a type of applications with these properties, all server-side. `fields` are more keys
        of it, such as `dial:…`."""
        declared = {
            name: {"dial:meta": {"dial:propertyKind": "server", "dial:propertyOrder": number}}
            for number, name in enumerate(properties, 1)
        }
        self.configuration.schemas[id] = {
            "$id": id,
            "dial:applicationTypeDisplayName": id.rsplit("/", 1)[-1],
            "dial:applicationTypeCompletionEndpoint": endpoint,
            "dial:appendApplicationPropertiesHeader": False,
            "properties": declared,
            **fields,
        }

    def put(self, url: str, content: bytes, content_type: str = "text/plain") -> Item:
        """Store a resource without a permission check."""
        return self.storage.put(canonical(url), content, content_type)

    def add_toolset(self, id: str, endpoint: str, **fields: Any) -> Deployment:
        """Add a toolset for an MCP server, with `fields` such as `allowedTools`, `authSettings`."""
        fields = {"endpoint": endpoint, **fields}
        deployment = self.configuration.deployment(id, "toolset", fields)
        if is_resource(id):
            self.put(id, json.dumps(fields).encode(), "application/json")
        else:
            self.configuration.add(deployment)
        return deployment

    def add_skill(self, url: str, files: Mapping[str, bytes]) -> None:
        """Add a skill's files by their paths within it."""
        for path, content in files.items():
            self.put(f"{url}/files/{path}", content, "text/markdown")

    def sign_in(self, user: str, toolset: str, credential: str = "token-test") -> None:
        """Sign in as that user, or as the project of a key, by name."""
        self.sign_ins.credentials[user, self.deployment_id(toolset)] = credential

    def sign_out(self, user: str, toolset: str) -> None:
        self.sign_ins.credentials.pop((user, self.deployment_id(toolset)), None)

    def open_channel(self, user: str = "Demo") -> str:
        """Return the id of a channel of that user, or of the project of a key."""
        return self.channels.add(user)

    @contextmanager
    def request_key(self, application: str, *, key: str = KEY) -> Iterator[RequestKey]:
        """Yield a per-request key as that deployment gets it for a call with a key. Raises
        `KeyError` for an invalid key."""
        caller = self.keys.holder(key)
        if caller is None:
            raise KeyError(key)
        with self.keys.minted(application, caller, secrets.token_hex(16)) as minted:
            yield minted

    def expire(self, key: str) -> None:
        """Expire a per-request key before its request ends. Raises `KeyError`."""
        self.keys.expire(key)

    async def call_application(
        self,
        id: str,
        body: Mapping[str, Any],
        *,
        key: str = KEY,
        stream: bool = True,
        **headers: str,
    ) -> Reply:
        """Call a deployment like a client of Core, and wait for the end."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with httpx.AsyncClient(
            base_url=self.url, timeout=PATIENCE_SECONDS, verify=False
        ) as client:
            response = await client.post(
                f"/openai/deployments/{canonical(id)}/chat/completions",
                json={**body, "stream": stream},
                headers={"Api-Key": key, **named},
            )
        return Reply(response.status_code, response.headers, response.content)

    # Used by the handlers.

    def deployment_id(self, path: str) -> str:
        """Return the deployment's id here, from a path that was encoded once."""
        return canonical(path) if is_resource(path) else plain(path)

    def find(self, id: str) -> Deployment | None:
        configured = self.configuration.deployments.get(id)
        return configured if configured is not None else self.custom(canonical(id))

    def custom(self, url: str) -> Deployment | None:
        """Return an application or a toolset that a user stored."""
        item = self.storage.items.get(url)
        if item is None or not url.startswith(("applications/", "toolsets/")):
            return None
        kind: Kind = "application" if url.startswith("applications/") else "toolset"
        stamps = {"createdAt": item.created // 1000, "updatedAt": item.updated // 1000}
        fields = {**json.loads(item.content), **stamps, "author": item.author}
        return self.configuration.deployment(url, kind, fields)

    def accessible(self, caller: Caller, id: str, kind: Kind | None = None) -> Deployment:
        """Return a deployment that the caller may see. Raises `Refusal`."""
        found = self.find(id)
        if found is None or kind not in (None, found.kind):
            raise Refusal(404, f"{(kind or 'deployment').capitalize()} is not found: {id}")
        if not self.may_use(caller, found):
            raise Refusal(403, f"Forbidden deployment: {id}")
        return found

    def callable(self, caller: Caller, id: str) -> Deployment:
        """Return a deployment for a completion. Raises `Refusal`."""
        found = self.accessible(caller, id)
        if found.kind == "toolset":
            raise Refusal(404, f"Deployment is not found: {id}")
        features = found.fields.get("features") or {}
        if caller.key is not None and not features.get("accessibleByPerRequestKey", True):
            raise Refusal(403, f"Deployment {id} is not accessible by per-request keys")
        return found

    def may_use(self, caller: Caller, deployment: Deployment) -> bool:
        if deployment.is_custom:
            is_itself = caller.key is not None and caller.key.deployment == deployment.id
            return is_itself or READ in permissions(caller, deployment.id)
        roles = deployment.fields.get("userRoles")
        return not roles or bool({*roles} & {*caller.identity.roles})

    def visible(self, caller: Caller) -> list[Deployment]:
        found = list(self.configuration.deployments.values())
        if self.settings.shows_custom_applications:
            customs = [self.custom(url) for url in sorted(self.storage.items)]
            mine = {caller.identity.bucket, "public"}
            found += [one for one in customs if one is not None and bucket_of(one.id) in mine]
        return [one for one in found if self.may_use(caller, one)]

    def note_asked(self, hop: Hop) -> None:
        self.requests.append(hop)
        if hop.headers.get("api-key") in self.keys.dead:
            self.late.append(hop)

    def note_sent(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> None:
        parts = urlsplit(url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        self.sent.append(Hop(method, target, dict(headers), body, url))
