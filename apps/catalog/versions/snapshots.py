"""The predefined content that a version was published with, kept by hashes and built again."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from apps.catalog.content.folders import FOLDERS
from apps.catalog.content.items import Item, ItemKind, item_of
from apps.catalog.content.layers import MOST_CONTENTS, Content, Rows
from apps.catalog.versions.models import ContentSnapshot, ContentText
from apps.manifest.skill_files import SKILL_FILE

LAYER = "published"
"""The layer of items that were published with a version."""
PINNED: tuple[ItemKind, ...] = ("prompt", "tool", "toolset", "skill", "agent")
"""Kinds that reach an application by publishing. Places belong to the installation."""

_built: OrderedDict[str, Content] = OrderedDict()


def forget() -> None:
    _built.clear()


def files_of(item: Item) -> dict[str, str]:
    """The texts beside the SKILL.md of a skill, {} for other items."""
    if item.kind != "skill" or not isinstance(item.value, Mapping):
        return {}
    return {path: text for path, text in item.value.items() if path != SKILL_FILE}


def digest_of(item: Item) -> str:
    parts = [item.kind, item.name, item.text, files_of(item)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def pinned_items(content: Content) -> dict[str, Item]:
    """The items of `content` that are pinned, by their digests."""
    found = (item for kind in PINNED for item in content.items[kind].values())
    return {digest_of(item): item for item in found}


def digest_of_snapshot(digests: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()


@lru_cache(maxsize=4)
def fingerprint(content: Content) -> str:
    """The digest of the snapshot that `content` would make. Cached, because content never changes."""
    return digest_of_snapshot(pinned_items(content))


def keep_snapshot(content: Content) -> ContentSnapshot:
    """The row of what is in force in `content`, written if it is new."""
    digest = fingerprint(content)
    known = ContentSnapshot.objects.filter(pk=digest).first()
    if known is not None:
        return known
    items = pinned_items(content)
    texts = [
        ContentText(digest=key, kind=one.kind, name=one.name, text=one.text, files=files_of(one))
        for key, one in items.items()
    ]
    ContentText.objects.bulk_create(texts, ignore_conflicts=True)
    snapshot = ContentSnapshot(digest=digest, items=sorted(items))
    ContentSnapshot.objects.bulk_create([snapshot], ignore_conflicts=True)
    return snapshot


def content_of(snapshot: str | None, installed: Content) -> Content:
    """The content of a snapshot; what is `installed` for None and for one that equals it.

    Two queries for one that was not built lately.
    """
    if snapshot is None or snapshot == fingerprint(installed):
        return installed
    found = _built.pop(snapshot, None) or build(snapshot, installed)
    _built[snapshot] = found  # as the newest; other threads may drop it again
    while len(_built) > MOST_CONTENTS:
        _built.popitem(last=False)
    return found


def build(snapshot: str, installed: Content) -> Content:
    digests = ContentSnapshot.objects.values_list("items", flat=True).get(pk=snapshot)
    stacks: dict[ItemKind, dict[str, tuple[Item, ...]]] = {kind: {} for kind in FOLDERS}
    for row in ContentText.objects.filter(pk__in=digests).order_by("kind", "name"):
        kind: Any = row.kind
        place = f"{LAYER}: {row.kind}/{row.name}"
        item = item_of(kind, row.name, LAYER, place, row.text, row.files)
        stacks[kind][row.name] = (item,)
    return Content((), stacks, installed.configuration, (), (), {}, Rows())
