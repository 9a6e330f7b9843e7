"""Conversations and their messages."""

import uuid

from django.db import models
from django.utils import timezone

from apps.accounts.models import Team
from apps.chat.composer.models import Preferences as Preferences
from apps.chat.rail_models import Folder as Folder
from apps.chat.rail_models import PinnedApplication as PinnedApplication
from apps.chat.shares.models import Share as Share

LONGEST_TITLE = 80
"""Characters of a title that is made of a question."""


PLACE_HELP = "Where the person was: slug and title of the place, and a narrative."
SENDER_HELP = "What sent it in place of a person, as `apps.chat.senders` describes it."
# The columns have no default: SQLite then needs no copy of the table.


def title_of(question: str) -> str:
    """The question on one line, cut at a word."""
    text = " ".join(question.split())
    if len(text) <= LONGEST_TITLE:
        return text
    cut = text[: LONGEST_TITLE - 1]
    words = cut.rsplit(" ", 1)[0] if text[LONGEST_TITLE - 1] != " " else cut
    return f"{words.rstrip()}…"


class Conversations(models.QuerySet["Conversation"]):
    def kept(self) -> "Conversations":
        """Those that were not deleted; a deleted one stays for a moment, so that it can be restored."""
        return self.filter(deleted_at=None)

    def lasting(self) -> "Conversations":
        """Those that are kept, and not for a while only."""
        return self.kept().filter(temporary_until=None)


class Conversation(models.Model):
    """`owner` is the bucket of a caller; every query by a visitor is filtered by it.

    A conversation outlives its application: the `former_…` fields are then the primary key, slug
    and title of the deleted row.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    application = models.ForeignKey(
        "catalog.Application", on_delete=models.SET_NULL, null=True, related_name="conversations"
    )
    former_application = models.BigIntegerField(null=True, editable=False)
    former_slug = models.CharField(max_length=50, blank=True, editable=False)
    former_title = models.CharField(max_length=200, blank=True, editable=False)
    owner = models.CharField(max_length=100)
    title = models.CharField(max_length=200)
    is_unread = models.BooleanField(
        "unread", default=False, help_text="An answer ended since its owner last looked."
    )
    has_memory = models.BooleanField(
        "memory", default=True, help_text="Its answers may use what is remembered of its owner."
    )
    team = models.ForeignKey(
        Team, on_delete=models.SET_NULL, null=True, editable=False, related_name="conversations"
    )
    pinned_version = models.PositiveIntegerField(
        null=True,
        editable=False,
        help_text="The number of the version that goes on answering; empty: the one that is live.",
    )
    # Nullable, because a column with a default would make SQLite copy the table.
    reasoning_effort = models.CharField(  # noqa: DJ001
        max_length=20,
        null=True,
        editable=False,
        help_text="How much the model shall think, as the person chose; empty: as it is set up.",
    )
    deployment = models.CharField(  # noqa: DJ001
        max_length=100,
        null=True,
        editable=False,
        help_text="The model that answers, as the person chose; empty: the application's own.",
    )
    visibility = models.CharField(  # noqa: DJ001
        max_length=20,
        choices=Team.Visibility,
        null=True,
        editable=False,
        help_text="Who may read it beside its author: as the team was set when it began.",
    )
    folder = models.ForeignKey(
        Folder, on_delete=models.SET_NULL, null=True, editable=False, related_name="conversations"
    )
    pinned_at = models.DateTimeField(null=True, editable=False)
    archived_at = models.DateTimeField(null=True, editable=False)
    deleted_at = models.DateTimeField(
        null=True, editable=False, help_text="Hidden since then, and soon erased."
    )
    temporary_until = models.DateTimeField(
        null=True, editable=False, help_text="Erased then; empty: it is kept."
    )
    imported_from = models.CharField(  # noqa: DJ001
        max_length=20, null=True, editable=False, help_text="The program that it comes from."
    )
    imported_id = models.CharField(  # noqa: DJ001
        max_length=200, null=True, editable=False, help_text="Its id there."
    )
    arranged_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="When its owner last renamed, pinned, moved, archived, deleted or restored it.",
    )
    handed_over_at = models.DateTimeField(
        null=True, editable=False, help_text="When it last went on with another application."
    )
    # Without a constraint in the database: it would look for the conversations of each deleted message.
    leaf = models.ForeignKey(
        "Message",
        on_delete=models.DO_NOTHING,
        null=True,
        editable=False,
        db_constraint=False,
        db_index=False,
        related_name="+",
        help_text="The end of the path that is shown; empty: the newest message.",
    )
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    objects = Conversations.as_manager()

    class Meta:
        ordering = ("-updated_at",)
        constraints = (
            models.UniqueConstraint(
                fields=("owner", "imported_from", "imported_id"),
                condition=models.Q(imported_id__isnull=False),
                name="a_conversation_is_imported_once",
            ),
        )
        indexes = (
            models.Index(
                fields=("temporary_until",),
                condition=models.Q(temporary_until__isnull=False),
                name="conversation_temporary",
            ),
            models.Index(fields=("owner", "-updated_at", "-id"), name="conversation_by_time"),
            models.Index(
                fields=("owner", "arranged_at"),
                condition=models.Q(arranged_at__isnull=False),
                name="conversation_arranged",
            ),
            models.Index(
                fields=("owner", "pinned_at"),
                condition=models.Q(pinned_at__isnull=False),
                name="conversation_pinned",
            ),
            models.Index(
                fields=("deleted_at",),
                condition=models.Q(deleted_at__isnull=False),
                name="conversation_deleted",
            ),
            models.Index(
                fields=("owner", "application", "-updated_at"), name="conversation_of_owner"
            ),
            models.Index(
                fields=("former_application",),
                condition=models.Q(former_application__isnull=False),
                name="conversation_of_deleted",
            ),
        )

    def __str__(self) -> str:
        # The admin prints this, so the title, which repeats a visitor's words, is left out.
        return f"conversation {self.pk}"

    @property
    def application_slug(self) -> str:
        """Of an application that was deleted, its former one."""
        return self.former_slug if self.application is None else self.application.slug

    @property
    def application_title(self) -> str:
        """Of an application that was deleted, its former one."""
        return self.former_title if self.application is None else self.application.title


class QueuedMessage(models.Model):
    """A message that is asked when the answers before it are over.

    `id` becomes that of its run; `request` is the client's. `is_held`: only its owner sends it on.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="queued")
    request = models.UUIDField()
    position = models.IntegerField()
    text = models.TextField(blank=True)
    attachments = models.JSONField(default=list, blank=True)
    caller = models.JSONField(default=dict)
    place = models.JSONField(null=True, blank=True, help_text=PLACE_HELP)
    sender = models.JSONField(null=True, blank=True, help_text=SENDER_HELP)
    is_held = models.BooleanField(default=False)
    problem = models.TextField(blank=True, help_text="Why it could not be asked.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("position", "created_at")
        constraints = (
            models.UniqueConstraint(
                fields=("conversation", "request"), name="a_message_is_queued_once"
            ),
        )

    def __str__(self) -> str:
        return f"queued {self.pk}"


class Messages(models.QuerySet["Message"]):
    def said(self) -> "Messages":
        """Questions and answers, without summaries of them."""
        return self.exclude(role=Message.Role.SUMMARY)


class Message(models.Model):
    """A question, or the answer that a run gave, as it is shown and as the next run reads it.

    The messages of a conversation are a tree, which `apps.chat.branches` reads: `parent` is the previous
    message. A question that begins another branch at the root is its own parent. Without a parent, a
    message follows the one that was stored before it, as in copies of shared conversations.
    A summary stands for all messages up to its `parent`. `run` of a question is the one that answered it
    last. The database indexes its `text`. Before changing this table, see `apps.chat.search_index`.
    """

    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"
        SUMMARY = "summary"

    uuid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="messages"
    )
    run = models.ForeignKey("runs.Run", on_delete=models.SET_NULL, null=True)
    # Messages go with their conversation, all at once: nothing has to be read to delete them.
    parent = models.ForeignKey(
        "self", on_delete=models.DO_NOTHING, null=True, blank=True, related_name="followers"
    )
    role = models.CharField(max_length=10, choices=Role)
    text = models.TextField(blank=True)
    attachments = models.JSONField(default=list, blank=True)
    state = models.JSONField(default=dict, blank=True)
    usage = models.JSONField(default=dict, blank=True)
    place = models.JSONField(null=True, blank=True, help_text=PLACE_HELP)
    sender = models.JSONField(null=True, blank=True, help_text=SENDER_HELP)
    finish_reason = models.CharField(max_length=50, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = Messages.as_manager()

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.role}: {self.uuid}"
