"""Callers: project keys, users, and the keys that Core creates for one request."""

from __future__ import annotations

import secrets
import string
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.dial_core.refusals import Refusal
from tests.dial_core.urls import bucket_named, canonical

ALPHABET = string.digits + string.ascii_letters + "-_"
LENGTH = 32
UNKNOWN = "Unknown api key"


@dataclass(frozen=True, slots=True)
class Identity:
    """A user, or the project of a key, whose rights and limits apply."""

    name: str
    roles: tuple[str, ...]
    is_user: bool = False

    @property
    def bucket(self) -> str:
        return bucket_named(f"{'Users' if self.is_user else 'Keys'}/{self.name}/")


@dataclass(slots=True)
class RequestKey:
    """A key that is valid from just before Core calls a deployment until that answer ends. `grants`
    are the permissions of the key by resource, with a slash after folders; `given` is what its
    holder granted for its own calls, by receiver."""

    value: str
    deployment: str
    initiator: Identity
    trace_id: str
    path: tuple[str, ...]
    grants: dict[str, set[str]] = field(default_factory=dict)
    given: dict[str, dict[str, set[str]]] = field(default_factory=dict)

    def grant(self, url: str, permissions: Iterable[str]) -> None:
        self.grants.setdefault(url, set()).update(permissions)

    @property
    def bucket(self) -> str:
        """Return the application's own bucket."""
        return bucket_named(f"Keys/{self.deployment}/")

    @property
    def appdata(self) -> str:
        return f"{self.initiator.bucket}/appdata/{canonical(self.deployment)}"


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller. `key` is set if a deployment calls on behalf of the identity."""

    identity: Identity
    key: RequestKey | None = None

    @property
    def bucket(self) -> str:
        return self.identity.bucket if self.key is None else self.key.bucket


class Keys:
    """`live` are the valid per-request keys, `past` all keys so far, in order. `dead` are the
    values of the expired ones."""

    def __init__(self) -> None:
        self.projects: dict[str, Identity] = {}
        self.user_roles: dict[str, tuple[str, ...]] = {}
        self.live: dict[str, RequestKey] = {}
        self.past: list[RequestKey] = []
        self.dead: set[str] = set()
        self.ended = threading.Condition()

    def add_project(self, key: str, fields: Mapping[str, Any]) -> None:
        roles = fields.get("roles") or [fields.get("role", "default")]
        self.projects[key] = Identity(str(fields.get("project", key)), tuple(roles))

    def user(self, token: str) -> Identity:
        """Return the user of that name for any token, or `dev-user` if the token cannot be a name."""
        name = token if token.replace("-", "").replace("_", "").isalnum() else "dev-user"
        return Identity(name, self.user_roles.get(name, ("default",)), is_user=True)

    def caller(self, headers: Mapping[str, str]) -> Caller:
        """Return the caller. Raises `Refusal` according to the rules for two credentials."""
        key = headers.get("api-key", "")
        scheme, _, token = headers.get("authorization", "").partition(" ")
        bearer = token.strip() if scheme.lower() == "bearer" else ""
        if not key and not bearer:
            raise Refusal(401, "At least API-KEY or Authorization must be set")
        if key and bearer and key != bearer:
            caller = self.holder(key)
            if caller is None:
                raise Refusal(401, UNKNOWN)
            if caller.key is None:
                raise Refusal(400, "Provided API key is not per request key")
            return caller
        caller = self.holder(bearer or key)
        if caller is None and bearer:
            return Caller(self.user(bearer))
        if caller is None:
            raise Refusal(401, UNKNOWN)
        return caller

    def holder(self, key: str) -> Caller | None:
        if key in self.live:
            return Caller(self.live[key].initiator, self.live[key])
        if key in self.projects:
            return Caller(self.projects[key])
        return None

    @contextmanager
    def minted(self, deployment: str, caller: Caller, trace_id: str) -> Iterator[RequestKey]:
        """Yield a new key that is valid within the block, unless it is expired early."""
        value = "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
        path = caller.key.path if caller.key is not None else ()
        key = RequestKey(value, deployment, caller.identity, trace_id, (*path, deployment))
        if caller.key is not None:
            for url, permissions in caller.key.given.get(deployment, {}).items():
                key.grant(url, permissions)
        self.live[value] = key
        self.past.append(key)
        try:
            yield key
        finally:
            self.end(value)

    def end(self, value: str) -> None:
        with self.ended:
            self.live.pop(value, None)
            self.dead.add(value)
            self.ended.notify_all()

    def expire(self, value: str) -> None:
        """Expire a key. Raises `KeyError` for an invalid one."""
        if value not in self.live:
            raise KeyError(value)
        self.end(value)

    def wait_until_none_lives(self, seconds: float) -> bool:
        """Wait. Return False if a key is still valid."""
        with self.ended:
            return self.ended.wait_for(lambda: not self.live, seconds)
