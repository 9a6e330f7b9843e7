"""Looks up public facts about models by name, even though services spell the names differently.

The facts in `known_models.json` come from the vendors' documentation. They omit everything that
depends on the service that runs the model.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from apps.workspace.model_capabilities import CAPABILITIES, UNKNOWN, ModelCapabilities

CATALOGUE = Path(__file__).with_name("known_models.json")
MOST_CHARACTERS = 200
"""Names with more characters than this are not looked up, because no model has such a long name."""

_region = re.compile(r"^(?:(?:us|us-gov|eu|apac|global|regional|jp|au|ca|sa|me)\.)?")
_vendor = re.compile(
    r"^(?:amazon|ai21|anthropic|cohere|deepseek|google|meta|minimax|mistral|mistralai|moonshotai|"
    r"nvidia|openai|qwen|xai|zai)\."
)
_ending = re.compile(
    r"(?:-(?:latest|preview|exp|\d{4}-\d{2}-\d{2}|\d{2}-\d{2}|\d{2}-\d{4}|\d{8}|\d{6}|\d{4}|00\d)"
    r"|-v\d+(?::\d+)*|[:@][\w.:-]+"
    r"|-(?:instruct|instant|versatile|turbo|chat|it|hf|maas|fp8|awq))$"
)
"""Matches a suffix of a model's name: a version, a date, a tag, or the format of the weights."""


@dataclass(frozen=True, slots=True)
class KnownModel:
    pattern: re.Pattern[str]
    can: ModelCapabilities


@cache
def read_catalogue() -> tuple[KnownModel, ...]:
    """Return the known models, in the order in which they are matched. The first model that matches
    a name is used.
    """
    entries = msgspec.json.decode(CATALOGUE.read_bytes())
    return tuple(
        KnownModel(
            re.compile("|".join(entry["names"])),
            ModelCapabilities(**{name: entry[name] for name in CAPABILITIES if name in entry}),
        )
        for entry in entries
    )


@lru_cache(maxsize=1000)
def known_model(name: str) -> ModelCapabilities:
    """Return the capabilities of a model, given its name at the service, such as `gpt-4o` or
    `us.anthropic.claude-sonnet-4-20250514-v1:0`.
    """
    for spelling in spellings(name):
        for known in read_catalogue():
            if known.pattern.fullmatch(spelling):
                return known.can
    return UNKNOWN


def spellings(name: str) -> Iterator[str]:
    """Yield the name without its vendor, and then with its suffixes removed one by one: versions,
    dates and tags.
    """
    if len(name) > MOST_CHARACTERS:
        return
    plain = name.lower().removeprefix("ft:").rpartition("/")[2]
    plain = _vendor.sub("", _region.sub("", plain))
    yield plain
    while (shorter := _ending.sub("", plain)) != plain:
        plain = shorter
        yield plain


@lru_cache(maxsize=1000)
def listed_window(name: str, base_url: str) -> int | None:
    """Return the context window of a model at the service with this URL, or None if it is not
    listed.

    The URL must belong to a known vendor, because other services may configure a different window.
    """
    if not is_public_name(urlsplit(base_url).hostname or ""):
        return None
    # Imported at first use, because the data takes a moment to load.
    from genai_prices.data_snapshot import get_snapshot

    for spelling in (name, *spellings(name)):
        try:
            _, found = get_snapshot().find_provider_model(spelling, None, None, base_url)
        except LookupError:
            continue
        return found.context_window
    return None


def is_public_name(host: str) -> bool:
    """Return True if the host may belong to a vendor. An IP address or a name without a dot belongs
    to a private network.
    """
    return "." in host and not host.rpartition(".")[2].isdigit()
