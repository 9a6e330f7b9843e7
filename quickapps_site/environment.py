"""Read one setting from the environment, or stop the start with its name and what it accepts."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import environ
from django.core.exceptions import ImproperlyConfigured

T = TypeVar("T")

TRUE = {"true", "1", "yes", "on"}
FALSE = {"false", "0", "no", "off", ""}


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, default).strip()


def parsed(name: str, default: T, parse: Callable[[str], T], accepted: str) -> T:
    """`parse` raises ValueError for what it does not accept. Raises `ImproperlyConfigured`."""
    raw = os.environ.get(name, "").strip()
    if not raw:
        return default
    try:
        return parse(raw)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} is {raw!r}; write {accepted}.") from error


def boolean(name: str, default: bool) -> bool:
    def parse(raw: str) -> bool:
        if raw.lower() in TRUE:
            return True
        if raw.lower() in FALSE:
            return False
        raise ValueError(raw)

    return parsed(name, default, parse, "true or false")


def integer(name: str, default: int, *, least: int, also: int | None = None) -> int:
    """A whole number of at least `least`, or `also`."""

    def parse(raw: str) -> int:
        number = int(raw)
        if number < least and number != also:
            raise ValueError(raw)
        return number

    alternative = "" if also is None else f", or {also}"
    return parsed(name, default, parse, f"a whole number from {least} up{alternative}")


def seconds(name: str, default: float, *, most: float) -> float:
    """Seconds: above 0, at most `most`."""

    def parse(raw: str) -> float:
        number = float(raw)
        if not 0 < number <= most:
            raise ValueError(raw)
        return number

    return parsed(name, default, parse, f"a number of seconds above 0, at most {most:g}")


def choice(name: str, default: str, accepted: Iterable[str]) -> str:
    options = tuple(accepted)

    def parse(raw: str) -> str:
        for option in options:
            if raw.lower() == option.lower():
                return option
        raise ValueError(raw)

    return parsed(name, default, parse, f"one of {', '.join(options)}")


def words(name: str, default: Iterable[str] = ()) -> list[str]:
    """A comma-separated list; blanks are skipped."""
    raw = os.environ.get(name)
    if raw is None:
        return list(default)
    return [word.strip() for word in raw.split(",") if word.strip()]


def url(name: str, default: str, schemes: Iterable[str]) -> str:
    options = tuple(schemes)

    def parse(raw: str) -> str:
        if raw.split("://", 1)[0] not in options or "://" not in raw:
            raise ValueError(raw)
        return raw

    return parsed(
        name,
        default,
        parse,
        "an address that begins with " + " or ".join(f"{scheme}://" for scheme in options),
    )


def database(name: str, default: str) -> dict[str, Any]:
    """Django's settings of one database. Raises `ImproperlyConfigured`."""
    address = url(name, default, ("sqlite", "postgres", "postgresql"))
    found: dict[str, Any] = dict(environ.Env.db_url_config(address))
    if found["ENGINE"].endswith("sqlite3"):
        found["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        }
    else:
        # Under ASGI a kept connection belongs to a thread that may never come back; a pool does not.
        found["OPTIONS"] = {"pool": {"min_size": 1, "max_size": 10, "timeout": 10}}
    found["CONN_MAX_AGE"] = 0
    return found


def secret(name: str, file: Path) -> str:
    """The secret of that name; without one, a random one that is kept in `file` for its owner."""
    given = text(name)
    if given:
        return given
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        # Two processes may start at once: the one that creates the file decides.
        try:
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            pass
        else:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(secrets.token_urlsafe(50))
    return file.read_text(encoding="utf-8").strip()
