"""Validates the origins of sites that may show a widget, for the policy `frame-ancestors`."""

import re
from collections.abc import Sequence

from django.core.exceptions import ValidationError

MOST_ORIGINS = 20
LONGEST_ORIGIN = 260
_label = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
# An IPv6 address is not a valid source in a content security policy.
_form = re.compile(rf"(https?)://({_label}(?:\.{_label})*)(?::([1-9][0-9]{{0,4}}))?", re.ASCII)
_DEFAULT_PORTS = {"https": "443", "http": "80"}
HIGHEST_PORT = 65_535


def read_origins(written: object) -> list[str]:
    """Convert the origins to the form that browsers send, and remove duplicates. Raises
    `ValidationError` if an origin is invalid.
    """
    if not isinstance(written, Sequence) or isinstance(written, str):
        raise ValidationError("origins: send a list of strings.")
    if len(written) > MOST_ORIGINS:
        raise ValidationError(
            f"The widget has {len(written)} origins; the limit is {MOST_ORIGINS}."
        )
    return list(dict.fromkeys(map(read_origin, written)))


def read_origin(written: object) -> str:
    """Convert an origin to the form that browsers send. Raises `ValidationError` if it is invalid."""
    text = written.strip().lower().removesuffix("/") if isinstance(written, str) else ""
    found = _form.fullmatch(text) if len(text) <= LONGEST_ORIGIN else None
    if found is None or int(found[3] or 1) > HIGHEST_PORT:
        shown = ascii(written)[:100] if isinstance(written, str) else type(written).__name__
        raise ValidationError(
            f"Invalid origin: {shown}. Use a scheme, a host and an optional port, without a path "
            "and without wildcards, such as https://www.example.com."
        )
    scheme, host, port = found.groups()
    is_default = port is None or port == _DEFAULT_PORTS[scheme]
    return f"{scheme}://{host}" if is_default else f"{scheme}://{host}:{port}"
