"""Applications without a row of ours: DIAL Core keeps them and hands their manifests over.

A manifest comes with each request; what it resolves to is kept for as long as the same document
comes again. Whoever has the document has been let in to the application already.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import Any

import msgspec

from apps.catalog.content.installed import installed_now
from apps.catalog.content.layers import Content
from apps.catalog.content.skills import installed_skills
from apps.catalog.resolve import ResolvedApplication, prepare_document

MOST_KEPT = 256

_kept: OrderedDict[tuple[str, bytes], tuple[Content, ResolvedApplication]] = OrderedDict()


async def resolve_document(name: str, title: str, document: Any) -> ResolvedApplication:
    """The application that a manifest makes. `document` is JSON, as it was decoded.

    Raises `ApplicationBroken`.
    """
    # A hash, so that no manifest with its secrets is kept twice.
    key = name, hashlib.sha256(msgspec.json.encode(document, order="deterministic")).digest()
    content = await installed_now()
    kept = _kept.get(key)
    if kept is not None and kept[0] is content:
        _kept.move_to_end(key)
        return kept[1]
    manifest, prepared = prepare_document(name, document, content, is_foreign=True)
    resolved = ResolvedApplication(
        id=0,
        slug=name,
        title=title,
        description="",
        is_public=False,
        version=0,
        manifest=manifest,
        prepared=prepared,
        skills=installed_skills(content),
    )
    _kept[key] = content, resolved
    while len(_kept) > MOST_KEPT:
        _kept.popitem(last=False)
    return resolved


def forget_documents() -> None:
    _kept.clear()
