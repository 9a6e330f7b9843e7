"""Parses Redis URLs, which refer to a single server, the master of a Sentinel set, or a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit


class RedisKind(StrEnum):
    SERVER = "server"
    SENTINEL = "sentinel"
    CLUSTER = "cluster"


SCHEMES = {
    "redis": (RedisKind.SERVER, False),
    "rediss": (RedisKind.SERVER, True),
    "redis+sentinel": (RedisKind.SENTINEL, False),
    "rediss+sentinel": (RedisKind.SENTINEL, True),
    "redis+cluster": (RedisKind.CLUSTER, False),
    "rediss+cluster": (RedisKind.CLUSTER, True),
}
"""Maps each URL scheme to the kind of Redis, and to True if connections use TLS."""
PORTS = {RedisKind.SERVER: 6379, RedisKind.SENTINEL: 26379, RedisKind.CLUSTER: 6379}
FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
TLS_PARAMETERS = (*FILES, "ssl_check_hostname")
SENTINEL_PARAMETERS = ("sentinel_username", "sentinel_password")
BOOLEANS = {"true": True, "false": False}
FORMS = (
    "redis://host:6379/0, redis+sentinel://host:26379,host/master/0 or redis+cluster://host,host"
)


class WrongAddress(ValueError):
    """Raised if a Redis URL is invalid. The message completes a sentence that begins with the
    setting's name. It contains no credentials.
    """


@dataclass(frozen=True, slots=True)
class RedisAddress:
    """A parsed Redis URL."""

    kind: RedisKind
    nodes: tuple[tuple[str, int], ...]
    """The host and port of the server, of the Sentinels, or of some nodes of the cluster."""
    username: str = field(repr=False)
    password: str = field(repr=False)
    database: int
    master: str
    is_encrypted: bool
    parameters: Mapping[str, str] = field(repr=False)

    @property
    def tls(self) -> dict[str, str | bool]:
        """Return the TLS options under the Redis client's names."""
        found = {name: self.parameters[name] for name in FILES if name in self.parameters}
        return {
            **found,
            "ssl_check_hostname": BOOLEANS[self.parameters.get("ssl_check_hostname", "true")],
        }


def parse(raw: str) -> RedisAddress:
    """Parse a Redis URL. Raises `WrongAddress` if it is invalid."""
    try:
        parts = urlsplit(raw)
        kind, is_encrypted = SCHEMES[parts.scheme]
        credentials, _, hosts = parts.netloc.rpartition("@")
        nodes = tuple(node_of(host, PORTS[kind]) for host in hosts.split(","))
        master, database = path_of(kind, parts.path)
        if parts.fragment or (kind is RedisKind.SERVER and len(nodes) > 1):
            raise ValueError
    except (KeyError, ValueError):
        raise WrongAddress(f"cannot be parsed; use {FORMS}, with rediss for TLS.") from None
    username, _, password = credentials.partition(":")
    return RedisAddress(
        kind=kind,
        nodes=nodes,
        username=unquote(username),
        password=unquote(password),
        database=database,
        master=master,
        is_encrypted=is_encrypted,
        parameters=parameters_of(parts.query, kind, is_encrypted),
    )


def node_of(host: str, port: int) -> tuple[str, int]:
    """Return the host and port of a node. `port` is the default. Raises `ValueError` if they are
    invalid.
    """
    parts = urlsplit(f"//{host}")
    if not parts.hostname:
        raise ValueError(host)
    return parts.hostname, port if parts.port is None else parts.port


def path_of(kind: RedisKind, path: str) -> tuple[str, int]:
    """Parse the path of a Redis URL into the name of the Sentinel master, or "", and the number of
    the database. Raises `ValueError` if the path does not match the kind of Redis.
    """
    words = [unquote(word) for word in path.strip("/").split("/") if word]
    master = words.pop(0) if kind is RedisKind.SENTINEL and words else ""
    database = int(words.pop(0)) if words else 0
    is_complete = bool(master) == (kind is RedisKind.SENTINEL)
    if words or database < 0 or not is_complete or (database and kind is RedisKind.CLUSTER):
        raise ValueError(path)
    return master, database


def parameters_of(query: str, kind: RedisKind, is_encrypted: bool) -> dict[str, str]:
    """Return the query parameters of a Redis URL. Raises `WrongAddress` if one is unknown or
    invalid.
    """
    known = (
        *(TLS_PARAMETERS if is_encrypted else ()),
        *(SENTINEL_PARAMETERS if kind is RedisKind.SENTINEL else ()),
    )
    given = dict(parse_qsl(query, keep_blank_values=True))
    if unknown := [name for name in given if name not in known]:
        choices = f"the parameters of this URL are {', '.join(known)}" if known else ""
        raise WrongAddress(
            f"has the unknown parameter {unknown[0]!r}; "
            f"{choices or 'only rediss and redis+sentinel URLs have parameters'}."
        )
    for name in FILES:
        if name in given and not Path(given[name]).is_file():
            raise WrongAddress(
                f"has the parameter {name}, but the file {given[name]!r} does not exist."
            )
    if given.get("ssl_check_hostname", "true") not in BOOLEANS:
        raise WrongAddress("has the parameter ssl_check_hostname, which must be true or false.")
    return given
