"""One operation of a service: everything about it that is known before it is called."""

from __future__ import annotations

from dataclasses import dataclass

from apps.capabilities.rest.addresses import Address
from apps.capabilities.rest.parameters import Places
from apps.manifest.attachments import ResponseAsAttachment
from apps.manifest.authorizations import RestAuthorization


@dataclass(frozen=True, slots=True)
class Operation:
    """`name` is what the model calls it, `function` the operator's; limits in seconds, bytes.

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
    forwarded: frozenset[str] = frozenset()
