"""Defines the rules for fetching external URLs: the installation's rules, which an application may
restrict further.

Every host, including the host of each redirect, is checked before its name is resolved.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from django.conf import settings

from apps.workspace.egress.clients import URL, InvalidURL
from apps.workspace.egress.guard import Trust

Barrier = Literal["admin", "builder", "admin_allowlist", "builder_allowlist"]
"""The setting or host list that forbids a fetch: the installation's (`admin`) or the application's
(`builder`).
"""
BARRIERS: dict[Barrier, str] = {
    "admin": "External URL fetching is disabled by operator policy (EXTERNAL_URL_FETCH_ENABLED).",
    "builder": (
        "External URL fetching is disabled by this app (features.external_url_fetch.enabled=false)."
    ),
    "admin_allowlist": (
        "External URL host is not in the operator allowlist (EXTERNAL_URL_FETCH_HOST_ALLOWLIST)."
    ),
    "builder_allowlist": (
        "External URL host is not in this app's allowlist "
        "(features.external_url_fetch.host_allowlist)."
    ),
}


@dataclass(frozen=True, slots=True)
class FetchPolicy:
    """The fetch settings of an application. None means the installation's setting; () allows no
    hosts.
    """

    enabled: bool | None = None
    hosts: tuple[str, ...] | None = None

    @property
    def trust(self) -> Trust:
        return Trust.GUARDED

    def find_disabling_setting(self) -> Barrier | None:
        """Return the setting that disables fetching, or None if fetching is enabled."""
        if not settings.EXTERNAL_URL_FETCH_ENABLED:
            return "admin"
        return "builder" if self.enabled is False else None

    def find_barrier(self, host: str) -> Barrier | None:
        """Return the rule that forbids requests to this host, or None if they are allowed."""
        if switched := self.find_disabling_setting():
            return switched
        ours: list[str] = settings.EXTERNAL_URL_FETCH_HOST_ALLOWLIST
        if ours and not is_listed(host, ours):
            return "admin_allowlist"
        if self.hosts is not None and not is_listed(host, self.hosts):
            return "builder_allowlist"
        return None


@dataclass(frozen=True, slots=True)
class ServicePolicy(FetchPolicy):
    """The policy for URLs that an operator's service returned. No list of hosts applies to these
    URLs.
    """

    def find_disabling_setting(self) -> None:
        return None

    def find_barrier(self, host: str) -> None:
        return None


@dataclass(frozen=True, slots=True)
class OperatorPolicy(ServicePolicy):
    """The policy for URLs that an operator sets. Files may be read from any URL that a manifest may
    use.
    """

    @property
    def trust(self) -> Trust:
        return Trust.OPERATOR


def is_listed(host: str, patterns: Iterable[str]) -> bool:
    """Return True if the host equals a pattern, or is a subdomain that a pattern of the form
    `*.suffix` matches. IP addresses never match.
    """
    name = ascii_host(host)
    if not name or is_ip_literal(name):
        return False
    return any(matches(name, pattern.strip()) for pattern in patterns)


def matches(name: str, pattern: str) -> bool:
    if not pattern.startswith("*."):
        return name == ascii_host(pattern)
    suffix = ascii_host(pattern[2:])
    return bool(suffix) and name.endswith(f".{suffix}") and not name.startswith(".")


def ascii_host(host: str) -> str:
    """Return a host name in the form that DNS requires (lower case, ASCII, no final dot), or "" if
    it is invalid.
    """
    try:
        name = URL(f"http://{host}/").raw_host.decode("ascii")
    except (InvalidURL, UnicodeError):
        return ""
    return name.lower().removesuffix(".")


def is_ip_literal(name: str) -> bool:
    # Resolvers also accept 2130706433, 0x7f.1 and 127.1 as addresses.
    last = name.rpartition(".")[2]
    return ":" in name or last.isdigit() or last.startswith("0x")
