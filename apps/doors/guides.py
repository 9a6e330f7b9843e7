"""Defines the API guides in the studio and the docs, with URLs and code snippets for clients."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.conf import settings
from django.utils.module_loading import import_string

ORIGIN, SLUG, TITLE = "{origin}", "{slug}", "{title}"
"""The placeholders in URLs and texts. All other braces are literal."""
KEY = "QUICKAPPS_KEY"
"""The environment variable from which snippets read the API key."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A code snippet in a guide."""

    title: str
    language: str
    """One of sh, python, javascript, toml and json."""
    text: str


@dataclass(frozen=True, slots=True)
class Trial:
    """A POST request that an operator can send to try an API in the studio. `MESSAGE` in `body` is
    replaced by the operator's message.
    """

    MESSAGE = "{message}"

    address: str
    body: str
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class DoorGuide:
    """The guide to an API."""

    id: str
    title: str
    summary: str
    address: str
    docs: str
    """The file name of the API's page in the docs."""
    snippets: tuple[Snippet, ...]
    trial: Trial | None = None
    """A request that operators can send to try the API, or None if this takes more than one
    request.
    """

    def fill(self, origin: str, slug: str, title: str) -> "DoorGuide":
        """Return the guide with its placeholders replaced."""

        quoted = json.dumps(title, ensure_ascii=False)[1:-1]  # Titles occur only within JSON.

        def filled(text: str) -> str:
            return text.replace(ORIGIN, origin).replace(SLUG, slug).replace(TITLE, quoted)

        return replace(
            self,
            summary=filled(self.summary),
            address=filled(self.address),
            snippets=tuple(replace(one, text=filled(one.text)) for one in self.snippets),
            trial=self.trial
            and replace(
                self.trial, address=filled(self.trial.address), body=filled(self.trial.body)
            ),
        )


def load_guides() -> Sequence[DoorGuide]:
    return [import_string(path) for path in settings.DOOR_GUIDES]
