"""Reads the URLs of services from the environment. No error message contains a URL's password."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import psycopg
from django.core.exceptions import ImproperlyConfigured
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Conninfo

from apps import redis_address
from apps.workspace.local.files.bucket_address import ACCEPTED, parse_bucket_address
from quickapps_site.environment import parse_concealed, text, url


def redis(name: str) -> str:
    """Read the URL of Redis; the default is "". Raises `ImproperlyConfigured` if it is invalid."""
    raw = text(name)
    try:
        if raw:
            redis_address.parse(raw)
    except redis_address.WrongAddress as error:
        raise ImproperlyConfigured(f"{name} {error}") from None
    return raw


def bucket(name: str) -> str:
    """Read the URL of a bucket; the default is "". Raises `ImproperlyConfigured` if it is invalid."""

    def parse(raw: str) -> str:
        parse_bucket_address(raw)
        return raw

    return parse_concealed(name, "", parse, ACCEPTED)


@dataclass(frozen=True, slots=True)
class Mail:
    """Settings for sending email to a mail server, to files in a folder, or to the console."""

    backend: str
    folder: str = ""
    host: str = ""
    port: int = 25
    user: str = ""
    password: str = ""
    is_upgraded: bool = False
    is_encrypted: bool = False


MAIL_PORTS = {"smtp": 25, "smtp+tls": 587, "smtp+ssl": 465}


def mail(name: str) -> Mail | None:
    """Read the settings for email from a URL such as `smtp+tls://user:password@host`. The default
    is None.
    """

    def parse(raw: str) -> Mail:
        parts = urlsplit(raw)
        if raw == "console:":
            return Mail("django.core.mail.backends.console.EmailBackend")
        if parts.scheme == "file" and parts.path and not parts.netloc:
            return Mail("django.core.mail.backends.filebased.EmailBackend", unquote(parts.path))
        if parts.scheme not in MAIL_PORTS or not parts.hostname:
            raise ValueError(raw)
        return Mail(
            "django.core.mail.backends.smtp.EmailBackend",
            host=parts.hostname,
            port=parts.port or MAIL_PORTS[parts.scheme],
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
            is_upgraded=parts.scheme == "smtp+tls",
            is_encrypted=parts.scheme == "smtp+ssl",
        )

    accepted = "smtp://, smtp+tls:// or smtp+ssl:// and a host, file:///folder, or console:"
    return parse_concealed(name, None, parse, accepted)


def database(name: str, default: str) -> dict[str, Any]:
    """Read Django's settings for a database from its URL. Raises `ImproperlyConfigured` if it is
    invalid.
    """
    address = url(name, default, ("sqlite", "postgres", "postgresql"))
    if not address.startswith("sqlite:"):
        refuse_unknown_parameters(name, without_pooling(address))
        accepted = "postgres://user:password@host:port/name"
        return parse_concealed(name, {}, postgresql, accepted)
    return {
        "ENGINE": "quickapps_site.sqlite",
        "NAME": unquote(urlsplit(address).path[1:]) or ":memory:",
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    }


_pooling = re.compile(r"(?<=[?&])pgbouncer=true(&|$)")


def without_pooling(address: str) -> str:
    """Return a database URL without `pgbouncer=true`, which libpq does not support.

    The parameter means that connections go through PgBouncer in transaction mode, so each
    transaction can use a different session.
    """
    return _pooling.sub("", address).rstrip("?&")


def refuse_unknown_parameters(name: str, address: str) -> None:
    """Raise `ImproperlyConfigured` if a database URL has a parameter that libpq does not support."""
    known = {option.keyword.decode() for option in Conninfo.get_defaults()} | {"ssl"}
    given = parse_qsl(urlsplit(address).query, keep_blank_values=True)
    if unknown := [parameter for parameter, _ in given if parameter not in known]:
        raise ImproperlyConfigured(
            f"{name} has the parameter {unknown[0]!r}, which libpq does not support; "
            "use parameters such as sslmode=require, in lower case."
        )


def postgresql(address: str) -> dict[str, Any]:
    """Return Django's settings for a PostgreSQL URL, which may have any libpq parameter and
    `pgbouncer=true`. Raises `ValueError` if it is invalid.
    """
    try:
        found = conninfo_to_dict(without_pooling(address))
    except psycopg.Error as error:
        raise ValueError from error
    # Under ASGI, a persistent connection belongs to a thread that may never be used again. A pool
    # has no such connections.
    pool = {"min_size": 1, "max_size": 10, "timeout": 10, "reconnect_timeout": 2}
    return {
        "ENGINE": "quickapps_site.postgresql",
        "NAME": found.pop("dbname", ""),
        "USER": found.pop("user", ""),
        "PASSWORD": found.pop("password", ""),
        "HOST": found.pop("host", ""),
        "PORT": found.pop("port", ""),
        "OPTIONS": {**found, "pool": pool},
        "DISABLE_SERVER_SIDE_CURSORS": without_pooling(address) != address,
    }
