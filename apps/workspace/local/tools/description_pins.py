"""Pins the descriptions of MCP tools when they are first seen. If a description changes, the tool
is withheld until an operator accepts the change.

Models treat descriptions as instructions. A server could otherwise change a description later to
make models do things that no operator has approved.
"""

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.workspace.local.tools.description import LONGEST_TOOL, ToolDescription

logger = logging.getLogger(__name__)

MOST_TEXT = 200_000
"""Stored descriptions are truncated to this many characters. Their digests cover the whole text."""

DAY = timedelta(days=1)
UNUSED = timedelta(days=365)
"""The time after which an unused listing is deleted. Its descriptions are pinned again at the next
use.
"""

ACCEPTED, CHANGED, WITHHELD = ToolDescription.State


@dataclass(frozen=True, slots=True)
class DescriptionSource:
    """The MCP server and the listing that a description comes from. `ToolDescription` has the same
    fields.
    """

    server_key: str
    server: str
    listing: str = ""


@dataclass(frozen=True, slots=True)
class DescribedTool:
    """A tool with its name on the server, its text for models, and the digest of this text."""

    tool: str
    digest: str
    text: str


def withheld_of(source: DescriptionSource, tools: Sequence[DescribedTool]) -> dict[str, str]:
    """Pin the descriptions of new tools. Then map the names of withheld tools to the states of
    their descriptions.
    """
    record_use(source)
    names = {stored_name(one.tool): one for one in tools}
    pinned, states = read_states(source)
    if new := [name for name in names if name not in pinned]:
        # If two processes run at the same time, one of them pins first; the other's listing may be
        # a change.
        rows = [new_row(source, name, names[name], states, is_first=True) for name in new]
        ToolDescription.objects.bulk_create(rows, ignore_conflicts=True)
        _, states = read_states(source)
    found = {name: states.get((name, one.digest), "") for name, one in names.items()}
    if changed := [name for name, state in found.items() if not state]:
        store_changes(source, {name: names[name] for name in changed})
    return {
        names[name].tool: state or CHANGED for name, state in found.items() if state != ACCEPTED
    }


def record_use(source: DescriptionSource) -> None:
    """At most once a day, record that a run uses this server's listing."""
    now = timezone.now()
    rows = ToolDescription.objects.filter(server_key=source.server_key, listing=source.listing)
    older = rows.filter(listed_at__lt=now - DAY)
    if older.exists():  # Check first: a write would lock SQLite, and is rarely needed.
        older.update(listed_at=now)


def delete_unused() -> int:
    """Delete the descriptions of unused listings, unless an operator has accepted or withheld them.
    Return the number of deleted descriptions.
    """
    old = ToolDescription.objects.filter(listed_at__lt=timezone.now() - UNUSED)
    return old.filter(decided_at=None).delete()[0]


def read_states(source: DescriptionSource) -> tuple[set[str], dict[tuple[str, str], str]]:
    """Return the names of the tools that are pinned in the listing, and the state of each
    description by tool and digest.
    """
    rows = ToolDescription.objects.filter(
        Q(listing=source.listing) | Q(decided_at__isnull=False), server_key=source.server_key
    )
    found = list(rows.values_list("tool", "digest", "state", "listing"))
    pinned = {tool for tool, _, _, listing in found if listing == source.listing}
    return pinned, {(tool, digest): state for tool, digest, state, _ in found}


def new_row(
    source: DescriptionSource,
    name: str,
    described: DescribedTool,
    states: Mapping[tuple[str, str], str],
    *,
    is_first: bool = False,
) -> ToolDescription:
    otherwise = ACCEPTED if is_first else CHANGED
    return ToolDescription(
        server_key=source.server_key,
        server=source.server[:500],
        listing=source.listing,
        tool=name,
        digest=described.digest,
        text=printable(described.text)[:MOST_TEXT],
        state=states.get((name, described.digest), otherwise),
        is_first=is_first,
    )


def store_changes(source: DescriptionSource, changed: Mapping[str, DescribedTool]) -> None:
    """Store the newest change to each tool's description, for an operator to review.

    An earlier change that is still awaiting review is deleted, so that an operator accepts exactly
    the text that they reviewed.
    """
    rows = ToolDescription.objects.filter(server_key=source.server_key, listing=source.listing)
    older = rows.filter(tool__in=changed, state=CHANGED)
    with transaction.atomic():
        older.exclude(digest__in={one.digest for one in changed.values()}).delete()
        new = [new_row(source, name, one, {}) for name, one in changed.items()]
        ToolDescription.objects.bulk_create(new, ignore_conflicts=True)
    for name in changed:
        logger.warning(
            "The description of the tool %s of the MCP server %s has changed; the tool is withheld "
            "until an operator accepts it",
            name,
            source.server,
        )


def decide_descriptions(rows: Iterable[ToolDescription], state: str) -> None:
    """Accept or withhold descriptions, in every listing that contains them."""
    now = timezone.now()
    for row in rows:
        same_text(row).update(state=state, decided_at=now)


def same_text(row: ToolDescription) -> QuerySet[ToolDescription]:
    return ToolDescription.objects.filter(
        server_key=row.server_key, tool=row.tool, digest=row.digest
    )


def accepted_before(row: ToolDescription) -> ToolDescription | None:
    """Return the last accepted description of the row's tool in its listing, other than the row's
    own, or None.
    """
    rows = ToolDescription.objects.filter(
        server_key=row.server_key, listing=row.listing, tool=row.tool, state=ACCEPTED
    )
    return rows.exclude(digest=row.digest).order_by("-decided_at", "-pk").first()


def stored_name(tool: str) -> str:
    """Return the name of a tool as it is stored in rows: as JSON if it has unprintable characters,
    and shortened with a hash if it is too long.
    """
    name = tool if tool.isprintable() and not tool.startswith('"') else json.dumps(tool)
    if len(name) <= LONGEST_TOOL:
        return name
    return f"{name[: LONGEST_TOOL - 65]}#{hashlib.sha256(name.encode()).hexdigest()}"


def original_name(stored: str) -> str:
    """Return a tool's name on its server. `stored` is the name as it is stored in rows."""
    try:
        return str(json.loads(stored)) if stored.startswith('"') else stored
    except ValueError:
        return stored


def printable(text: str) -> str:
    """Return the text with unprintable characters, except line breaks, replaced by their codes."""
    return "\n".join(
        line if line.isprintable() else "".join(map(visible, line)) for line in text.split("\n")
    )


def visible(character: str) -> str:
    return character if character.isprintable() else f"\\u{{{ord(character):x}}}"
