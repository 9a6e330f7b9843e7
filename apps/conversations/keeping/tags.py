"""Adds, removes and lists the tags of conversations."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext

from apps.accounts.caller import Caller
from apps.conversations.conversation_tags import LONGEST_TAG, ConversationTag
from apps.conversations.models import Conversation
from apps.errors import Conflict, Refused

MOST_TAGS = 10
"""The maximum number of tags per conversation."""
MOST_OWN_TAGS = 200
"""The maximum number of different tags per user."""
ADD, REMOVE = "add_tags", "remove_tags"
FIELDS = frozenset({ADD, REMOVE})


@dataclass(frozen=True, slots=True)
class TagChanges:
    added: Sequence[str] = ()
    removed: Sequence[str] = ()


def read_tag_changes(form: Mapping[str, str]) -> TagChanges:
    """Parse `add_tags` and `remove_tags`, which are comma-separated lists. Raises `Refused` if a
    tag is too long.
    """
    added, removed = (names_in(form.get(field, "")) for field in (ADD, REMOVE))
    if any(len(name) > LONGEST_TAG for name in added):
        raise Refused(
            "bad_request",
            gettext("A tag can have at most {limit} characters.").format(limit=LONGEST_TAG),
        )
    return TagChanges(added, removed)


def names_in(written: str) -> list[str]:
    return list(dict.fromkeys(filter(None, map(clean_tag, written.split(",")))))


def clean_tag(written: str) -> str:
    """Return a tag without extra white space and without a leading `#`."""
    return " ".join(written.replace("\0", "").split()).lstrip("#").strip()


def change_tags(caller: Caller, conversations: Collection[UUID], changes: TagChanges) -> None:
    """Change the tags of the caller's conversations. The conversations' rows must already be locked
    in the current transaction.

    If the caller already uses a new tag with different capitalization, the existing spelling is
    used. Raises `Conflict` if there would be too many tags.
    """
    rows = ConversationTag.objects.filter(conversation__in=conversations)
    if changes.removed:
        rows.filter(name__in=changes.removed).delete()
    if not changes.added:
        return
    added, before = spell(caller, changes.added), tags_of(conversations)
    new = [
        (conversation, name)
        for conversation in conversations
        for name in added
        if name not in before.get(conversation, ())
    ]
    for conversation in conversations:
        if len({*before.get(conversation, ()), *added}) > MOST_TAGS:
            raise Conflict(
                "too_many",
                gettext("A conversation can have at most {limit} tags.").format(limit=MOST_TAGS),
            )
    ConversationTag.objects.bulk_create(
        (ConversationTag(conversation_id=conversation, name=name) for conversation, name in new),
        ignore_conflicts=True,
    )


def spell(caller: Caller, names: Iterable[str]) -> list[str]:
    """Return the tags in the spelling that the caller already uses. Raises `Conflict` if the caller
    would have too many different tags.
    """
    mine = Conversation.objects.filter(owner=caller.bucket)
    known = {name.casefold(): name for name in used_tags(mine)}
    spelled = list(dict.fromkeys(known.setdefault(name.casefold(), name) for name in names))
    if len(known) > MOST_OWN_TAGS:
        raise Conflict(
            "too_many",
            gettext("You have {limit} tags, which is the limit. Remove one first.").format(
                limit=MOST_OWN_TAGS
            ),
        )
    return spelled


def used_tags(mine: QuerySet[Conversation]) -> list[str]:
    """Return the distinct tags of the conversations, sorted."""
    rows = ConversationTag.objects.filter(conversation__in=mine.order_by().values("pk"))
    names = rows.order_by("name").values_list("name", flat=True).distinct()[:MOST_OWN_TAGS]
    return sorted(names, key=sort_key)


def tags_of(conversations: Collection[UUID]) -> dict[UUID, list[str]]:
    """Return the sorted tags of each conversation, by the conversation's ID. Conversations without
    tags are omitted.
    """
    found: defaultdict[UUID, list[str]] = defaultdict(list)
    rows = ConversationTag.objects.filter(conversation__in=conversations)
    for conversation, name in rows.values_list("conversation", "name"):
        found[conversation].append(name)
    return {conversation: sorted(names, key=sort_key) for conversation, names in found.items()}


def add_known_tags(conversation: Conversation, names: Iterable[str]) -> None:
    """Add tags to a conversation that has just been imported or copied. Tags that are too long,
    contain a comma or exceed the limit are omitted.
    """
    cleaned = dict.fromkeys(map(clean_tag, names))
    kept = [name for name in cleaned if name and len(name) <= LONGEST_TAG and "," not in name]
    ConversationTag.objects.bulk_create(
        ConversationTag(conversation=conversation, name=name) for name in kept[:MOST_TAGS]
    )


def sort_key(name: str) -> tuple[str, str]:
    return name.casefold(), name
