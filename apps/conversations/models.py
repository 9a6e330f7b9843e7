"""The database models of conversations, folders and messages. Their table names begin with `chat_`,
because processes of the previous version still use these names during an upgrade.
"""

import uuid

from django.db import models
from django.utils import timezone

from apps.accounts.models import Team
from apps.conversations.client_requests import ClientRequest as ClientRequest
from apps.conversations.conversation_tags import ConversationTag as ConversationTag

LONGEST_TITLE = 80
"""The maximum number of characters in a title that is derived from a question."""


PLACE_HELP = "The page that the user was on: its slug, its title and a narrative."
SENDER_HELP = (
    "The program that sent the message instead of a user. See `apps.conversations.senders`."
)
# No column has a default, because SQLite would copy the table to add it.


def question_title(question: str) -> str:
    """Return the question as a title: on one line, and truncated at the end of a word."""
    text = " ".join(question.split())
    if len(text) <= LONGEST_TITLE:
        return text
    cut = text[: LONGEST_TITLE - 1]
    words = cut.rsplit(" ", 1)[0] if text[LONGEST_TITLE - 1] != " " else cut
    return f"{words.rstrip()}…"


class Folder(models.Model):
    """A folder in which a user organizes conversations. If the folder is deleted, its conversations
    remain.
    """

    owner = models.CharField(max_length=100)
    name = models.CharField(max_length=100)
    position = models.IntegerField()
    is_collapsed = models.BooleanField(default=False)
    # Nullable, because SQLite would copy the table to add a column with a default.
    instructions = models.TextField(  # noqa: DJ001
        null=True,
        editable=False,
        help_text="Instructions that are sent to the model in all conversations of the folder.",
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "chat_folder"
        ordering = ("position", "pk")
        indexes = (models.Index(fields=("owner", "position"), name="folder_of_owner"),)

    def __str__(self) -> str:
        return f"folder {self.pk}"


class Conversations(models.QuerySet["Conversation"]):
    def undeleted(self) -> "Conversations":
        """Return the conversations that are not marked as deleted. Deleted conversations remain for
        a short time, so that they can be restored.
        """
        return self.filter(deleted_at=None)

    def lasting(self) -> "Conversations":
        """Return the conversations that are neither deleted nor temporary."""
        return self.undeleted().filter(temporary_until=None)


class Conversation(models.Model):
    """A conversation. `owner` is the caller's bucket, and every query for a caller filters by it.

    If its application is deleted, the conversation remains. The columns `former_…` then contain the
    application's primary key, slug and title.
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
        "unread",
        default=False,
        help_text=("True if an answer ended after the owner last viewed the conversation."),
    )
    has_memory = models.BooleanField(
        "memory", default=True, help_text="True if answers can use the owner's memory."
    )
    team = models.ForeignKey(
        Team, on_delete=models.SET_NULL, null=True, editable=False, related_name="conversations"
    )
    pinned_version = models.PositiveIntegerField(
        null=True,
        editable=False,
        help_text="The number of the pinned version; empty for the live version.",
    )
    # Nullable, because SQLite would copy the table to add a column with a default.
    reasoning_effort = models.CharField(  # noqa: DJ001
        max_length=20,
        null=True,
        editable=False,
        help_text="The thinking effort that the user chose; empty for the default.",
    )
    deployment = models.CharField(  # noqa: DJ001
        max_length=100,
        null=True,
        editable=False,
        help_text="The model that the user chose; empty for the application's own.",
    )
    tool_switches = models.JSONField(
        null=True,
        editable=False,
        help_text="The toolsets that the user turned on or off, by name; empty for the defaults.",
    )
    visibility = models.CharField(  # noqa: DJ001
        max_length=20,
        choices=Team.Visibility,
        null=True,
        editable=False,
        help_text="The other users who can read the conversation, as set in the team when the conversation began.",
    )
    folder = models.ForeignKey(
        Folder, on_delete=models.SET_NULL, null=True, editable=False, related_name="conversations"
    )
    pinned_at = models.DateTimeField(null=True, editable=False)
    archived_at = models.DateTimeField(null=True, editable=False)
    deleted_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text=(
            "The time at which the owner deleted the conversation. It is permanently deleted soon afterwards."
        ),
    )
    temporary_until = models.DateTimeField(
        null=True,
        editable=False,
        help_text="The time at which the conversation is permanently deleted; empty for never.",
    )
    imported_from = models.CharField(  # noqa: DJ001
        max_length=20,
        null=True,
        editable=False,
        help_text=("The program that the conversation was imported from."),
    )
    imported_id = models.CharField(  # noqa: DJ001
        max_length=200,
        null=True,
        editable=False,
        help_text="The ID of the conversation in the program that it was imported from.",
    )
    arranged_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text=(
            "The time at which the owner last renamed, pinned, moved, archived, deleted or restored the conversation."
        ),
    )
    handed_over_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="The time at which the conversation was last continued in another application.",
    )
    # There is no constraint, because the database would otherwise search for conversations whenever
    # it deletes a message.
    leaf = models.ForeignKey(
        "Message",
        on_delete=models.DO_NOTHING,
        null=True,
        editable=False,
        db_constraint=False,
        db_index=False,
        related_name="+",
        help_text="The last message of the displayed branch; if empty, the newest message.",
    )
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    objects = Conversations.as_manager()

    class Meta:
        db_table = "chat_conversation"
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
        # The admin shows this text, so it omits the title, which repeats the user's words.
        return f"conversation {self.pk}"

    @property
    def application_slug(self) -> str:
        """Return the application's slug, or its last known slug if it was deleted."""
        return self.former_slug if self.application is None else self.application.slug

    @property
    def application_title(self) -> str:
        """Return the application's title, or its last known title if it was deleted."""
        return self.former_title if self.application is None else self.application.title


class QueuedMessage(models.Model):
    """A message that is sent when earlier answers in the conversation have ended."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    """The message's ID. The run that answers the message gets the same ID."""
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="queued")
    request = models.UUIDField()
    """The request ID that the client sent with the message."""
    position = models.IntegerField()
    text = models.TextField(blank=True)
    attachments = models.JSONField(default=list, blank=True)
    caller = models.JSONField(default=dict)
    place = models.JSONField(null=True, blank=True, help_text=PLACE_HELP)
    sender = models.JSONField(null=True, blank=True, help_text=SENDER_HELP)
    is_held = models.BooleanField(default=False)
    """True if the message is paused until the user resumes the queue."""
    problem = models.TextField(
        blank=True, help_text="The reason why the message could not be sent."
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "chat_queuedmessage"
        ordering = ("position", "created_at")
        constraints = (
            models.UniqueConstraint(
                fields=("conversation", "request"), name="a_message_is_queued_once"
            ),
        )

    def __str__(self) -> str:
        return f"queued {self.pk}"


class Messages(models.QuerySet["Message"]):
    def without_summaries(self) -> "Messages":
        """Return the questions and answers, without summaries."""
        return self.exclude(role=Message.Role.SUMMARY)


class Message(models.Model):
    """A question, an answer or a summary. The messages of a conversation form a tree; see
    `apps.conversations.branches`. Before changing this table, see
    `apps.conversations.search_index`.
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
    """The run that wrote the answer, or the last run that answered the question."""
    # Messages are deleted with their conversation in one statement, without being read.
    parent = models.ForeignKey(
        "self", on_delete=models.DO_NOTHING, null=True, blank=True, related_name="followers"
    )
    """The previous message. None means the message that was stored before this one. A first
    question on another branch is its own parent. A summary replaces the messages up to its parent.
    """
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
        db_table = "chat_message"
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.role}: {self.uuid}"
