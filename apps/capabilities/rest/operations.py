"""One operation of a service: everything about it that is known before it is called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from apps.capabilities.rest.addresses import Address
from apps.capabilities.rest.parameters import Places
from apps.manifest.attachments import ResponseAsAttachment
from apps.manifest.authorizations import RestAuthorization
from apps.manifest.secrets import Credential


@dataclass(frozen=True, slots=True)
class Operation:
    """`name` is what the model calls it, `function` the operator's; limits in seconds, bytes.

    `headers` are those that all tools of the toolset send, by names in lower case;
    `credentials` are constants by the names of their parameters, which nothing else knows of.
    `forwarded` are the names of the caller's headers that go along, in lower case.
    """

    name: str
    function: str
    method: str
    address: Address
    places: Places
    authorization: RestAuthorization | None
    attachment: ResponseAsAttachment
    most_seconds: float
    most_bytes: int
    headers: Mapping[str, Credential] = field(default_factory=dict)
    credentials: Mapping[str, Credential] = field(default_factory=dict)
    forwarded: frozenset[str] = frozenset()
