"""Read one setting from the environment, or stop the start with its name and what it accepts."""

import ipaddress
import json
import os
import re
import secrets
import shlex
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from apps.patterns import PatternRefused, compile_pattern

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


def integer(
    name: str, default: int, *, least: int, most: int | None = None, also: int | None = None
) -> int:
    """A whole number from `least` to `most`, or `also`."""

    def parse(raw: str) -> int:
        number = int(raw)
        if (number < least or (most is not None and number > most)) and number != also:
            raise ValueError(raw)
        return number

    end = "up" if most is None else f"to {most}"
    alternative = "" if also is None else f", or {also}"
    return parsed(name, default, parse, f"a whole number from {least} {end}{alternative}")


def seconds(name: str, default: float, *, most: float, zero: bool = False) -> float:
    """Seconds: above 0, at most `most`; 0 too where `zero` says that it means never."""

    def parse(raw: str) -> float:
        number = float(raw)
        if not (0 < number <= most or (zero and number == 0)):
            raise ValueError(raw)
        return number

    least = "from 0" if zero else "above 0"
    return parsed(name, default, parse, f"a number of seconds {least}, at most {most:g}")


def embeddings(name: str) -> str:
    """The id in `deployment:ID`; "" for `minilm`, which is the default."""

    def parse(raw: str) -> str:
        kind, _, deployment = raw.partition(":")
        if raw != "minilm" and not (kind == "deployment" and deployment):
            raise ValueError(raw)
        return deployment

    return parsed(name, "", parse, "minilm, or deployment: and the id of a deployment")


def choice(name: str, default: str, accepted: Iterable[str]) -> str:
    options = tuple(accepted)

    def parse(raw: str) -> str:
        for option in options:
            if raw.lower() == option.lower():
                return option
        raise ValueError(raw)

    return parsed(name, default, parse, f"one of {', '.join(options)}")


def choices(name: str, accepted: Iterable[str]) -> tuple[str, ...]:
    """A comma-separated list of some of the options; all by default, `none` for no one."""
    options = tuple(accepted)

    def parse(raw: str) -> tuple[str, ...]:
        chosen = {word.strip().lower() for word in raw.split(",")} - {""}
        if chosen == {"none"}:
            return ()
        if chosen - set(options):
            raise ValueError(raw)
        return tuple(option for option in options if option in chosen)

    return parsed(name, options, parse, f"none, or some of {', '.join(options)}")


def words(name: str, default: Iterable[str] = ()) -> list[str]:
    """A comma-separated list; blanks are skipped."""
    raw = os.environ.get(name)
    if raw is None:
        return list(default)
    return [word.strip() for word in raw.split(",") if word.strip()]


def networks(name: str) -> list[str]:
    """A comma-separated list of addresses and networks."""

    def parse(raw: str) -> list[str]:
        found = [word.strip() for word in raw.split(",") if word.strip()]
        for word in found:
            ipaddress.ip_network(word)
        return found

    return parsed(name, [], parse, "addresses and networks such as 10.0.0.5, 10.1.0.0/16")


def paths(name: str, *, deprecated: str = "") -> list[str]:
    """A JSON list of directories; blanks are skipped. An older variable may name a single one."""

    def parse(raw: str) -> list[str]:
        found = json.loads(raw)
        if not isinstance(found, list) or not all(isinstance(path, str) for path in found):
            raise ValueError(raw)
        return [path.strip() for path in found if path.strip()]

    older = [text(deprecated)] if deprecated and text(deprecated) else []
    if not older:
        return parsed(name, [], parse, 'a JSON list of directories, such as ["/etc/content"]')
    if text(name):
        warnings.warn(f"{deprecated} is ignored, because {name} is set.", stacklevel=2)
        return paths(name)
    warnings.warn(f"{deprecated} is deprecated; write {name} instead.", stacklevel=2)
    return older


def command(name: str) -> list[str]:
    """A program and its arguments, as a shell parts them."""
    return parsed(name, [], shlex.split, "a command, in which quotation marks are closed")


def texts(name: str) -> list[str]:
    """A JSON list of texts."""
    return parsed(name, [], json_texts, 'a JSON list of texts, such as ["docs_reader"]')


def json_texts(raw: str) -> list[str]:
    """Raises ValueError."""
    found = json.loads(raw)
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise ValueError(raw)
    return found


def patterns(name: str, default: Iterable[str] = ()) -> list[str]:
    """A JSON list of regular expressions."""

    def parse(raw: str) -> list[str]:
        found = json_texts(raw)
        for pattern in found:
            try:
                compile_pattern(pattern)
            except PatternRefused as error:
                raise ValueError(pattern) from error
        return found

    example = '["\\"tool\\":\\"desk_close"]'
    accepted = f"a JSON list of regular expressions, such as {example}"
    return parsed(name, list(default), parse, accepted)


def mapping(name: str, *, besides: Iterable[str] = ()) -> dict[str, str]:
    """A JSON object of texts by names of variables, without those that have a meaning already."""
    taken = frozenset(besides)

    def parse(raw: str) -> dict[str, str]:
        found = json.loads(raw)
        if not isinstance(found, dict) or not all(isinstance(v, str) for v in found.values()):
            raise ValueError(raw)
        if not all(key.isidentifier() and key not in taken for key in found):
            raise ValueError(raw)
        return found

    but = f" other than {', '.join(sorted(taken))}" if taken else ""
    return parsed(name, {}, parse, f"a JSON object of texts by names{but}")


def groups(name: str) -> dict[str, tuple[str, ...]]:
    """A JSON object of lists of texts, in which no text stands twice."""

    def parse(raw: str) -> dict[str, tuple[str, ...]]:
        found = json.loads(raw)
        if not isinstance(found, dict) or not all(isinstance(v, list) for v in found.values()):
            raise ValueError(raw)
        members = [member for group in found.values() for member in group]
        if not all(isinstance(member, str) for member in members):
            raise ValueError(raw)
        if twice := sorted({member for member in members if members.count(member) > 1}):
            raise ImproperlyConfigured(f"{name} has {', '.join(twice)} more than once.")
        return {key: tuple(group) for key, group in found.items()}

    accepted = 'a JSON object of lists, such as {"gpt_prompt": ["gpt-4o"]}'
    return parsed(name, {}, parse, accepted)


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


ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:[0-9]+)?", re.IGNORECASE)
PATTERN = re.compile(r"https?://(\*\.)?[a-z0-9.-]+(:([0-9]+|\*))?", re.IGNORECASE)


def origins(name: str, *, patterns: bool = False, everybody: bool = False) -> list[str]:
    """A comma-separated list of origins.

    With `patterns`, stars may stand for subdomains and ports; with `everybody`, a star alone for
    every origin.
    """
    form = PATTERN if patterns else ORIGIN

    def parse(raw: str) -> list[str]:
        if everybody and raw == "*":
            return [raw]
        found = [word.strip().rstrip("/") for word in raw.split(",") if word.strip()]
        if not all(map(form.fullmatch, found)):
            raise ValueError(raw)
        return found

    alike = " or https://*.example.org" if patterns else ", or * for all" if everybody else ""
    return parsed(name, [], parse, f"origins such as https://chat.example.org{alike}")


@dataclass(frozen=True, slots=True)
class Mail:
    """How mail is sent: by a server, into files of a folder, or to the console."""

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
    """The mail server of an address such as `smtp+tls://user:password@host`; None without one."""

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
    try:
        return parsed(name, None, parse, accepted)
    except ImproperlyConfigured:
        # Without its value, in which there may be a password.
        raise ImproperlyConfigured(f"{name} cannot be read; write {accepted}.") from None


def database(name: str, default: str) -> dict[str, Any]:
    """Django's settings of one database. Raises `ImproperlyConfigured`."""
    address = url(name, default, ("sqlite", "postgres", "postgresql"))
    found: dict[str, Any] = dict(environ.Env.db_url_config(address))
    if found["ENGINE"].endswith("sqlite3"):
        found["ENGINE"] = "quickapps_site.sqlite"
        found["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        }
    else:
        # Under ASGI a kept connection belongs to a thread that may never come back; a pool does not.
        found["ENGINE"] = "quickapps_site.postgresql"
        found["OPTIONS"] = {
            "pool": {"min_size": 1, "max_size": 10, "timeout": 10, "reconnect_timeout": 2}
        }
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
