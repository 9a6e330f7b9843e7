"""Which external URLs are fetched at all: the installation decides, an application narrows it.

Asked about every host before its name is looked up, again for each redirect.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from django.conf import settings

from apps.workspace.egress.clients import URL, InvalidURL

Wish = Literal["admin", "builder", "admin_allowlist", "builder_allowlist"]
"""The reason not to fetch: the installation's or the application's setting, or its list of hosts."""


@dataclass(frozen=True, slots=True)
class FetchPolicy:
    """An application's settings; None leaves it to the installation, () allows no host at all."""

    enabled: bool | None = None
    hosts: tuple[str, ...] | None = None

    def judge_switches(self) -> Wish | None:
        """The setting that switches fetching off; None when it is on."""
        if not settings.EXTERNAL_URL_FETCH_ENABLED:
            return "admin"
        return "builder" if self.enabled is False else None

    def judge(self, host: str) -> Wish | None:
        """The reason not to contact this host; None when it may be contacted."""
        if switched := self.judge_switches():
            return switched
        ours: list[str] = settings.EXTERNAL_URL_FETCH_HOST_ALLOWLIST
        if ours and not is_listed(host, ours):
            return "admin_allowlist"
        if self.hosts is not None and not is_listed(host, self.hosts):
            return "builder_allowlist"
        return None


def is_listed(host: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern is the host, or is `*.suffix` and something stands in front of `.suffix`.

    An IP address is on no list, however it is written.
    """
    name = plain(host)
    if not name or is_ip_literal(name):
        return False
    return any(matches(name, pattern.strip()) for pattern in patterns)


def matches(name: str, pattern: str) -> bool:
    if not pattern.startswith("*."):
        return name == plain(pattern)
    suffix = plain(pattern[2:])
    return bool(suffix) and name.endswith(f".{suffix}") and not name.startswith(".")


def plain(host: str) -> str:
    """A host name as it is looked up: lower case, ASCII, no final dot; "" for what is none."""
    try:
        name = URL(f"http://{host}/").raw_host.decode("ascii")
    except (InvalidURL, UnicodeError):
        return ""
    return name.lower().removesuffix(".")


def is_ip_literal(name: str) -> bool:
    """Name services read 2130706433, 0x7f.1 and 127.1 as addresses too."""
    last = name.rpartition(".")[2]
    return ":" in name or last.isdigit() or last.startswith("0x")
