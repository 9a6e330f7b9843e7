"""How files are loaded in a run: how large, how long, from where."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.conf import settings

from apps.manifest.manifest import Manifest
from apps.workspace.egress.fetch_policy import FetchPolicy


@dataclass(frozen=True, slots=True)
class Rules:
    """`limit` is the bytes of one file, `seconds` the time to load it.

    Relative paths are in `folder`, which is below the home of the caller's files: "" or a path
    that ends with a slash.
    """

    limit: int
    seconds: float
    policy: FetchPolicy = field(default_factory=FetchPolicy)
    folder: str = ""


def installation_rules() -> Rules:
    return Rules(
        int(settings.DEFAULT_FILE_LOADING_SIZE_LIMIT), float(settings.DEFAULT_TOOL_TIMEOUT_SECONDS)
    )


def rules_of(manifest: Manifest) -> Rules:
    """The installation's, as an application changes them."""
    usual, features = installation_rules(), manifest.features
    seconds = manifest.tool_defaults.timeout_seconds or usual.seconds
    if features is None:
        return Rules(usual.limit, seconds)
    wished, kept = features.external_url_fetch, features.dial_files
    return Rules(
        features.file_loading.size_limit or usual.limit,
        seconds,
        FetchPolicy(wished.enabled, wished.host_allowlist),
        kept.agent_home_dir if kept is not None else "",
    )
