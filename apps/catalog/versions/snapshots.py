"""Stores the predefined content of each published version. Identical items are stored once."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from apps.catalog.content.folders import FOLDERS
from apps.catalog.content.items import ItemKind, LayerItem, item_of
from apps.catalog.content.layers import MOST_CONTENTS, Content, ContentRows
from apps.catalog.models import Application, ContentSnapshot, ContentText
from apps.manifest.markdown.skill_files import SKILL_FILE

LAYER = "published"
"""The layer of predefined items that come from a snapshot."""
PINNED: tuple[ItemKind, ...] = ("prompt", "tool", "toolset", "skill", "agent")
"""The kinds of items that a version uses as they were when it was published. Chat places always
come from the installed content.
"""

_built: OrderedDict[str, Content] = OrderedDict()


def forget_snapshots() -> None:
    _built.clear()


def skill_texts(item: LayerItem) -> dict[str, str]:
    """Return a skill's files, except SKILL.md, by path, or {} for any other predefined item."""
    if item.kind != "skill" or not isinstance(item.value, Mapping):
        return {}
    return {path: text for path, text in item.value.items() if path != SKILL_FILE}


def item_digest(item: LayerItem) -> str:
    parts = [item.kind, item.name, item.text, skill_texts(item)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def pinned_items(content: Content) -> dict[str, LayerItem]:
    """Return the items of `content` that belong in a snapshot, by hash."""
    found = (item for kind in PINNED for item in content.items[kind].values())
    return {item_digest(item): item for item in found}


def digest_of_snapshot(digests: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()


@lru_cache(maxsize=4)
def fingerprint(content: Content) -> str:
    """Return the hash of a snapshot of `content`, cached for each immutable `Content` object."""
    return digest_of_snapshot(pinned_items(content))


def keep_snapshot(content: Content) -> ContentSnapshot:
    """Store a snapshot of `content` unless one already exists, and return it."""
    digest = fingerprint(content)
    known = ContentSnapshot.objects.filter(pk=digest).first()
    if known is not None:
        return known
    items = pinned_items(content)
    texts = [
        ContentText(digest=key, kind=one.kind, name=one.name, text=one.text, files=skill_texts(one))
        for key, one in items.items()
    ]
    ContentText.objects.bulk_create(texts, ignore_conflicts=True)
    snapshot = ContentSnapshot(digest=digest, items=sorted(items))
    ContentSnapshot.objects.bulk_create([snapshot], ignore_conflicts=True)
    return snapshot


def snapshot_content(snapshot: str | None, installed: Content) -> Content:
    """Return the predefined content of a snapshot, or `installed` if the snapshot is None or has
    the same content.

    Runs two queries if the snapshot is not cached.
    """
    if snapshot is None or snapshot == fingerprint(installed):
        return installed
    found = _built.pop(snapshot, None) or build(snapshot, installed)
    # The entry is moved to the end. Other threads may evict it in the meantime.
    _built[snapshot] = found
    while len(_built) > MOST_CONTENTS:
        _built.popitem(last=False)
    return found


def content_of_version(row: Application, number: int, installed: Content) -> Content:
    """Return the predefined content of a version, or `installed` if there is no such version."""
    versions = row.versions.filter(number=number)
    return snapshot_content(versions.values_list("snapshot", flat=True).first(), installed)


def build(snapshot: str, installed: Content) -> Content:
    digests = ContentSnapshot.objects.values_list("items", flat=True).get(pk=snapshot)
    stacks: dict[ItemKind, dict[str, tuple[LayerItem, ...]]] = {kind: {} for kind in FOLDERS}
    for row in ContentText.objects.filter(pk__in=digests).order_by("kind", "name"):
        kind: Any = row.kind
        location = f"{LAYER}: {row.kind}/{row.name}"
        item = item_of(kind, row.name, LAYER, location, row.text, row.files)
        stacks[kind][row.name] = (item,)
    return Content((), stacks, installed.configuration, (), (), {}, ContentRows())
