"""Defines the database models of notes: their current content, all versions, and search data.

The database indexes titles and texts. Before you change the table of `Note`, read
`apps.notes.word_index`.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy

from apps.datetime_fields import BoundedDateTimeField
from apps.notes.limits import LONGEST_KEY, LONGEST_TITLE


class Note(models.Model):
    """A note with its current content. Its newest version contains the same content."""

    owner = models.CharField(max_length=100)
    """The owner of the workspace, such as `user-7` or `team-3`."""
    title = models.CharField(max_length=LONGEST_TITLE)
    key = models.CharField(max_length=LONGEST_KEY)
    """The title, normalized for comparisons (see `title_key`). It is unique in the workspace."""
    text = models.TextField(blank=True)
    tags = models.JSONField(default=list)
    fields = models.JSONField(default=dict)
    number = models.PositiveIntegerField(default=1)
    """The number of the newest version."""
    is_by_agent = models.BooleanField(default=False)
    is_untrusted = models.BooleanField(default=False)
    created_at = BoundedDateTimeField()
    modified_at = BoundedDateTimeField()
    deleted_at = models.DateTimeField(null=True, blank=True)
    """The time at which the note was deleted, or None. A deleted note can be restored unless its
    title is in use again.
    """

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("owner", "key"),
                condition=Q(deleted_at=None),
                name="one_note_of_a_title",
            ),
        )
        indexes = (models.Index(fields=("owner", "-modified_at"), name="notes_by_change"),)

    def __str__(self) -> str:
        return (
            f"note {self.pk}"  # The text never contains the title, because it may appear in a log.
        )


class NoteVersion(models.Model):
    """An immutable version of a note, with its author."""

    class Action(models.TextChoices):
        CREATED = "created", gettext_lazy("Created")
        CHANGED = "changed", gettext_lazy("Changed")
        RENAMED = "renamed", gettext_lazy("Renamed")
        RELINKED = "relinked", gettext_lazy("Links updated")
        RESTORED = "restored", gettext_lazy("Restored")
        DELETED = "deleted", gettext_lazy("Deleted")
        IMPORTED = "imported", gettext_lazy("Imported")

    note = models.ForeignKey(Note, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    title = models.CharField(max_length=LONGEST_TITLE)
    text = models.TextField(blank=True)
    tags = models.JSONField(default=list)
    fields = models.JSONField(default=dict)
    action = models.CharField(max_length=20, choices=Action.choices)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    """The user who wrote the version, or on whose behalf an agent wrote it."""
    is_by_agent = models.BooleanField(default=False)
    is_untrusted = models.BooleanField(default=False)
    """True if the agent had read content from third parties."""
    application = models.CharField(max_length=200, blank=True)
    """The agent's slug, or "" if it is unknown or a user wrote the version."""
    conversation = models.CharField(max_length=36, blank=True)
    """The ID of the agent's conversation, or "" if it is unknown."""
    at = BoundedDateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("note", "number"), name="one_version_of_a_number"),
        )

    def __str__(self) -> str:
        return f"version {self.number} of note {self.note_id}"


class NoteTag(models.Model):
    """A tag on a note that is not deleted. `key` is the tag, normalized for comparisons."""

    note = models.ForeignKey(Note, on_delete=models.CASCADE, related_name="tag_rows")
    key = models.CharField(max_length=LONGEST_KEY, db_index=True)
    name = models.CharField(max_length=LONGEST_TITLE)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("note", "key"), name="one_tag_of_a_note"),)

    def __str__(self) -> str:
        return f"tag of note {self.note_id}"


class NoteLink(models.Model):
    """A link in the text of a note that is not deleted."""

    note = models.ForeignKey(Note, on_delete=models.CASCADE, related_name="link_rows")
    key = models.CharField(max_length=LONGEST_KEY, db_index=True)
    """The key of the linked title, even if no note has this title."""

    class Meta:
        constraints = (models.UniqueConstraint(fields=("note", "key"), name="one_link_of_a_note"),)

    def __str__(self) -> str:
        return f"link of note {self.note_id}"


class NoteVector(models.Model):
    """The embedding of a note's version `number` by the embedding model `model`, as 32-bit floats."""

    note = models.OneToOneField(Note, on_delete=models.CASCADE, related_name="vector_row")
    number = models.PositiveIntegerField()
    model = models.CharField(max_length=300)
    vector = models.BinaryField()
    unknown_share = models.FloatField(default=0.0)

    def __str__(self) -> str:
        return f"vector of note {self.note_id}"
