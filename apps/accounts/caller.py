"""The caller: what a run may know about the person or program behind it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["visitor", "user", "key", "dial"]
"""`dial`: DIAL Core confirmed the caller, and made `api_key` for this one request."""

Surface = Literal["", "page"]
"""What the person has in front of them: the whole page, whose scripts can be asked to do something."""


@dataclass(frozen=True, slots=True)
class Caller:
    """On whose behalf a run acts.

    `bucket` names the owner of files and conversations (`user-7`, `key-ab12cd34`,
    `session-…`); it is an identifier, never a credential. Credentials stay out of `repr`.
    """

    bucket: str
    folder: str = field(default="", kw_only=True)
    """Where in the bucket files are made: `conversations/{id}/`; "" for the bucket itself."""
    kind: Kind = "visitor"
    user_id: int | None = None
    key_user_id: int | None = None
    """The person of a key; None for a key of the installation."""
    is_own_key: bool = False
    """True for a key that its user created, and for each key of a service account."""
    team: int | None = None
    """The id of the team in which the caller works; None: for themselves."""
    scope: frozenset[int] | None = None
    """The ids of the applications that a key is limited to; None: no limit."""
    version: int | None = None
    """The number of the only version of its application that a key may use; None: no such limit."""
    end_user: str = ""
    """Whom a program with a key asks for, as its request names them; "" if it does not."""
    is_remembered: bool = True
    """False: this conversation uses no memory of its person, and leaves none."""
    locale: str = "en"
    timezone: str = ""
    """The IANA name of the user's time zone, "" if it is not known."""
    requests_per_minute: int | None = None
    """The caller's own limits; None: as the installation says, 0: none."""
    tokens_per_minute: int | None = None
    surface: Surface = ""
    address: str = ""
    """The network address that the request came from, "" where nobody asks for it."""
    client_channel: str = ""
    appdata: str = ""
    """`{bucket}/appdata/{application}`, as Core answered its key: whose bucket the application
    writes to, and the application that the key was made for. "" where Core was not asked."""
    bearer: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers of the request that may be passed on (`X-…`), in their original spelling."""
    trace: Mapping[str, str] = field(default_factory=dict)
    """`traceparent` and `tracestate` of the request, as far as it has them."""

    @property
    def principal(self) -> int | None:
        """The id of the account whose rights the caller has; visitors, and keys of the
        installation, have none."""
        return self.key_user_id if self.user_id is None else self.user_id

    @property
    def person(self) -> int | None:
        """The id of the account whose notes, schedules and team the caller sees. As `principal`, but
        none for a key that somebody else made: it may use applications, and reads nothing of its
        person."""
        return self.principal if self.user_id is not None or self.is_own_key else None
