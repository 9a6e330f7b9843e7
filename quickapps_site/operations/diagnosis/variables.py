"""Collects the diagnostic report's section on environment variables, without credentials."""

import json
import os
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from django.conf import settings
from django.views.debug import SafeExceptionReporterFilter

from apps.environment_variables import is_in_file
from quickapps_site.environment import VARIABLES, Exposure, read_variable, split

HIDDEN = "[hidden]"
USER_INFO = re.compile(r"(?<=://)[^\s\"',]*@")
PARAMETER = re.compile(r"([?&][\w.-]+=)[^&\s\"',#]*")
SHORTEST_SECRET = 6
"""Credentials of at least this many characters are hidden in the whole report. Shorter ones may
also be ordinary words.
"""


def set_variables() -> dict[str, str]:
    """Return the settings in environment variables, with the part of each value that the report may
    show.
    """
    return {name: show_variable(name) for name in sorted(VARIABLES) if is_set(name)}


def is_set(name: str) -> bool:
    return is_in_file(name) or bool(os.environ.get(name, "").strip())


def show_variable(name: str) -> str:
    return HIDDEN if is_hidden(name) else hide_passwords(read_variable(name) or "")


def is_hidden(name: str) -> bool:
    match VARIABLES[name]:
        case Exposure.SHOWN:
            return False
        case Exposure.HIDDEN:
            return True
        case Exposure.CLEANSED:
            # Orchestrators provide secrets as files.
            names = SafeExceptionReporterFilter.hidden_settings
            return is_in_file(name) or names.search(name) is not None


def hide_passwords(text: str) -> str:
    """Hide usernames and passwords in URLs, and the values of URL parameters."""
    return PARAMETER.sub(rf"\1{HIDDEN}", USER_INFO.sub(f"{HIDDEN}@", text))


def credentials() -> Iterator[str]:
    """Yield the credentials in the settings. The whole report hides them, because error messages
    may repeat them.
    """
    for name in VARIABLES:
        if is_set(name) and is_hidden(name):
            value = read_variable(name) or ""
            yield value
            yield from split(value)
    yield settings.SECRET_KEY
    yield getattr(settings, "EMAIL_HOST_PASSWORD", "")
    yield settings.DATABASES["default"].get("PASSWORD") or ""
    yield urlsplit(settings.REDIS_URL).password or ""


def hide_credentials(document: str) -> str:
    """Hide the settings' credentials in the report's JSON."""
    for one in sorted(set(credentials()), key=len, reverse=True):
        if len(one) >= SHORTEST_SECRET:
            document = document.replace(json.dumps(one)[1:-1], HIDDEN)
    return document
