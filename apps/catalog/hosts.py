"""Hosts in a manifest that no name service can look up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from apps.manifest.problems import Problem, join
from apps.workspace.egress.urls import NO_HOST, has_usable_host

ADDRESSES = frozenset({"base_url", "method_url", "token_url", "url"})
"""Fields whose text is an address; one without a scheme is on this server or no address."""


def host_problems(manifest: Any) -> Iterator[Problem]:
    """One for each address, wherever it stands in the document."""
    waiting = [("", manifest)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, list):
            waiting += [(join(path, index), item) for index, item in enumerate(value)]
        if not isinstance(value, dict):
            continue
        for key, item in value.items():
            if key not in ADDRESSES or not isinstance(item, str):
                waiting.append((join(path, key), item))
            elif item.startswith(("http://", "https://")) and not has_usable_host(item):
                yield Problem(join(path, key), NO_HOST)
