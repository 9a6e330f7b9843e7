"""Who is asking: everything a run may know about the person or program behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["visitor", "user", "key"]


@dataclass(frozen=True, slots=True)
class Caller:
    """On whose behalf a run acts.

    `bucket` names the owner of files and conversations (`user-7`, `key-ab12cd34`,
    `session-…`); it is an identifier, never a credential. Credentials stay out of `repr`.
    """

    bucket: str
    kind: Kind = "visitor"
    user_id: int | None = None
    scope: frozenset[int] | None = None
    """The applications, by id, that a key is limited to; None means no limit."""
    locale: str = "en"
    client_channel: str = ""
    bearer: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers of the request that may be passed on (`X-…`), in their original spelling."""
