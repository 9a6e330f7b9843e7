"""Reads settings from environment variables. An invalid value prevents startup. The error names the
variable and the accepted values.
"""

import ipaddress
import os
import re
import secrets
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path
from typing import TypeVar

from django.core.exceptions import ImproperlyConfigured
from pydantic import TypeAdapter

from apps import environment_variables
from apps.environment_variables import WrongVariable, is_in_file
from apps.patterns import PatternRefused, compile_pattern

T = TypeVar("T")

WORDS = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}
TEXTS = TypeAdapter(list[str])
TEXTS_BY_NAME = TypeAdapter(dict[str, str])
LISTS_BY_NAME = TypeAdapter(dict[str, tuple[str, ...]])


class Exposure(Enum):
    """The part of a variable's value that a diagnostic report shows."""

    SHOWN = auto()
    CLEANSED = auto()
    """The value without passwords, or nothing if the variable's name suggests a credential."""
    HIDDEN = auto()


VARIABLES: dict[str, Exposure] = {}
"""Maps the variables that were read to the part of their value that a diagnostic report shows."""


def read_variable(name: str) -> str | None:
    """Return the value of a variable, or the content of the file that `NAME_FILE` refers to, or
    None if neither is set.

    Raises `ImproperlyConfigured` if both are set, or if the file cannot be read.
    """
    VARIABLES.setdefault(name, Exposure.CLEANSED)
    try:
        return environment_variables.read_variable(name)
    except WrongVariable as error:
        raise ImproperlyConfigured(str(error)) from None


def text(name: str, default: str = "") -> str:
    found = read_variable(name)
    return default if found is None else found


def confidential(name: str) -> str:
    """Read a text that may contain credentials anywhere. Diagnostic reports hide it."""
    VARIABLES[name] = Exposure.HIDDEN
    return text(name)


def harmless(name: str, default: T, parse: Callable[[str], T], accepted: str) -> T:
    """Parse a variable that never contains a credential. Diagnostic reports show it. For the
    arguments, see `parse_variable`.
    """
    VARIABLES[name] = Exposure.SHOWN
    return parse_variable(name, default, parse, accepted)


def parse_variable(name: str, default: T, parse: Callable[[str], T], accepted: str) -> T:
    """Parse a variable with `parse`, which raises `ValueError` for an invalid value. Return
    `default` if the variable is not set.

    Raises `ImproperlyConfigured`. The message contains the variable's name and `accepted`, a phrase
    that describes the accepted values.
    """
    raw = text(name)
    if not raw:
        return default
    try:
        return parse(raw)
    except ValueError as error:
        if is_in_file(name):  # The files contain secrets.
            raise ImproperlyConfigured(
                f"{name}_FILE contains no valid {name}; use {accepted}."
            ) from None
        raise ImproperlyConfigured(f"{name} is {raw!r}; use {accepted}.") from error


def require(condition: bool) -> None:
    """Raise ValueError unless the condition is true."""
    if not condition:
        raise ValueError


def boolean(name: str, default: bool) -> bool:
    def parse(raw: str) -> bool:
        require(raw.lower() in WORDS)
        return WORDS[raw.lower()]

    return harmless(name, default, parse, "true or false")


def integer(
    name: str, default: int, *, least: int, most: int | None = None, also: int | None = None
) -> int:
    """Read an integer from `least` to `most`, or equal to `also`."""

    def parse(raw: str) -> int:
        number = int(raw)
        require(number == also or (least <= number and (most is None or number <= most)))
        return number

    end = "up" if most is None else f"to {most}"
    alternative = "" if also is None else f", or {also}"
    return harmless(name, default, parse, f"a whole number from {least} {end}{alternative}")


def seconds(name: str, default: float, *, most: float, zero: bool = False) -> float:
    """Read a number of seconds up to `most`. The number must be above 0 or, if `zero` is True, at
    least 0.
    """

    def parse(raw: str) -> float:
        number = float(raw)
        require(0 < number <= most or (zero and number == 0))
        return number

    least = "from 0" if zero else "above 0"
    return harmless(name, default, parse, f"a number of seconds {least}, up to {most:g}")


def embeddings(name: str) -> str:
    """Read which model computes embeddings. Return the ID in `deployment:ID`, or "" for `minilm`,
    the default.
    """

    def parse(raw: str) -> str:
        kind, _, deployment = raw.partition(":")
        require(raw == "minilm" or (kind == "deployment" and deployment != ""))
        return deployment

    return parse_variable(name, "", parse, "minilm, or deployment: and the ID of a deployment")


def choice(name: str, default: str, accepted: Iterable[str]) -> str:
    options = {option.lower(): option for option in accepted}

    def parse(raw: str) -> str:
        require(raw.lower() in options)
        return options[raw.lower()]

    return harmless(name, default, parse, f"one of {', '.join(options.values())}")


def choices(name: str, accepted: Iterable[str]) -> tuple[str, ...]:
    """Read a comma-separated list of options, or `none` for no options. The default is all options."""
    options = tuple(accepted)

    def parse(raw: str) -> tuple[str, ...]:
        chosen = set(split(raw.lower()))
        require(chosen == {"none"} or chosen <= {*options})
        return tuple(option for option in options if option in chosen)

    return harmless(name, options, parse, f"none, or some of {', '.join(options)}")


def split(raw: str) -> list[str]:
    return [word.strip() for word in raw.split(",") if word.strip()]


def words(name: str, default: Iterable[str] = ()) -> list[str]:
    """Read a comma-separated list of words, without empty ones."""
    found = read_variable(name)
    return list(default) if found is None else split(found)


def networks(name: str) -> list[str]:
    """Read a comma-separated list of IP addresses and networks."""

    def parse(raw: str) -> list[str]:
        for word in split(raw):
            ipaddress.ip_network(word)
        return split(raw)

    return harmless(name, [], parse, "addresses and networks such as 10.0.0.5, 10.1.0.0/16")


def paths(name: str, *, deprecated: str = "") -> list[str]:
    """Read a JSON list of directories, without empty ones. The deprecated variable, if set, may
    contain a single directory.
    """
    if deprecated and (older := text(deprecated)):
        if not text(name):
            warnings.warn(f"{deprecated} is deprecated; use {name} instead.", stacklevel=2)
            return [older]
        warnings.warn(f"{deprecated} is ignored, because {name} is set.", stacklevel=2)
    accepted = 'a JSON list of directories, such as ["/etc/content"]'
    found: list[str] = parse_variable(name, [], TEXTS.validate_json, accepted)
    return [path.strip() for path in found if path.strip()]


def texts(name: str) -> list[str]:
    """Read a JSON list of strings."""
    accepted = 'a JSON list of strings, such as ["docs_reader"]'
    return parse_variable(name, [], TEXTS.validate_json, accepted)


def patterns(name: str, default: Iterable[str] = ()) -> list[str]:
    """Read a JSON list of regular expressions."""

    def parse(raw: str) -> list[str]:
        found = TEXTS.validate_json(raw)
        for pattern in found:
            try:
                compile_pattern(pattern)
            except PatternRefused as error:
                raise ValueError(pattern) from error
        return found

    example = '["\\"tool\\":\\"desk_close"]'
    accepted = f"a JSON list of regular expressions, such as {example}"
    return parse_variable(name, list(default), parse, accepted)


def mapping(name: str, *, besides: Iterable[str]) -> dict[str, str]:
    """Read a JSON object that maps names to texts. Names must be identifiers, and not in `besides`."""
    VARIABLES[name] = Exposure.HIDDEN
    taken = sorted(besides)

    def parse(raw: str) -> dict[str, str]:
        found = TEXTS_BY_NAME.validate_json(raw)
        require(all(key.isidentifier() and key not in taken for key in found))
        return found

    accepted = f"a JSON object with strings as values, and names other than {', '.join(taken)}"
    return parse_variable(name, {}, parse, accepted)


def groups(name: str) -> dict[str, tuple[str, ...]]:
    """Read a JSON object that maps names to lists of strings. Each string may occur only once."""
    accepted = 'a JSON object of lists, such as {"gpt_prompt": ["gpt-4o"]}'
    found: dict[str, tuple[str, ...]] = parse_variable(
        name, {}, LISTS_BY_NAME.validate_json, accepted
    )
    members = [member for group in found.values() for member in group]
    if twice := sorted({member for member in members if members.count(member) > 1}):
        raise ImproperlyConfigured(
            f"{name} has {', '.join(twice)} more than once; remove the duplicates."
        )
    return found


def url(name: str, default: str, schemes: Iterable[str]) -> str:
    beginnings = tuple(f"{scheme}://" for scheme in schemes)

    def parse(raw: str) -> str:
        require(raw.startswith(beginnings))
        return raw

    read_address = parse_concealed if "@" in text(name) else parse_variable
    accepted = f"a URL that begins with {' or '.join(beginnings)}"
    return read_address(name, default, parse, accepted)


ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:[0-9]+)?", re.IGNORECASE)
PATTERN = re.compile(r"https?://(\*\.)?[a-z0-9.-]+(:([0-9]+|\*))?", re.IGNORECASE)


def origins(name: str, *, patterns: bool = False, everybody: bool = False) -> list[str]:
    """Read a comma-separated list of origins.

    With `patterns`, stars may replace subdomains and ports. With `everybody`, a single star means
    every origin.
    """
    form = PATTERN if patterns else ORIGIN

    def parse(raw: str) -> list[str]:
        if everybody and raw == "*":
            return [raw]
        found = [word.rstrip("/") for word in split(raw)]
        require(all(map(form.fullmatch, found)))
        return found

    alike = " or https://*.example.org" if patterns else ", or * for all" if everybody else ""
    return parse_variable(name, [], parse, f"origins such as https://chat.example.org{alike}")


def parse_concealed(name: str, default: T, parse: Callable[[str], T], accepted: str) -> T:
    """Parse a variable that may contain a password. Error messages do not repeat its value. For the
    arguments, see `parse_variable`.
    """
    try:
        return parse_variable(name, default, parse, accepted)
    except ImproperlyConfigured:
        raise ImproperlyConfigured(f"{name} cannot be parsed; use {accepted}.") from None


def secret(name: str, file: Path) -> str:
    """Return the secret in a variable or, if it is not set, the secret in `file`.

    If the file does not exist, create it with a random secret that only its owner can read.
    """
    if given := confidential(name):
        return given
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        # If several processes start at once, all use the secret of the first process, and none
        # reads an incomplete secret.
        new = file.with_name(f"{file.name}.{os.getpid()}")
        with open(
            new, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)
        ) as written:
            written.write(secrets.token_urlsafe(50))
        with suppress(FileExistsError):
            file.hardlink_to(new)
        new.unlink()
    return file.read_text(encoding="utf-8").strip()
