"""Defines the database model of users' feedback on answers."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy

LONGEST_COMMENT = 2_000
LONGEST_NOTE = 2_000


class Feedback(models.Model):
    """A user's feedback on one answer, for the operators of the application."""

    class Rating(models.TextChoices):
        UP = "up", "good"
        DOWN = "down", "bad"

    class Reason(models.TextChoices):
        WRONG = "wrong", gettext_lazy("Incorrect")
        INCOMPLETE = "incomplete", gettext_lazy("Incomplete")
        NOT_ASKED = "not_asked", gettext_lazy("Not what I asked for")
        SLOW = "slow", gettext_lazy("Too slow")
        UNSAFE = "unsafe", gettext_lazy("Unsafe")
        OTHER = "other", gettext_lazy("Something else")

    class State(models.TextChoices):
        NEW = "new", "new"
        IN_WORK = "in_work", "in progress"
        DONE = "done", "done"

    message = models.UUIDField(editable=False)
    """The ID of the answer."""
    conversation = models.UUIDField(null=True, editable=False, db_index=True)
    run = models.UUIDField(null=True, editable=False)
    application = models.ForeignKey(
        "catalog.Application", on_delete=models.CASCADE, related_name="feedback", editable=False
    )
    application_version = models.PositiveIntegerField("version", null=True, editable=False)
    bucket = models.CharField("person", max_length=100, editable=False)
    """The user's bucket."""
    rating = models.CharField(max_length=4, choices=Rating)
    reason = models.CharField(max_length=10, choices=Reason, blank=True)
    comment = models.TextField(max_length=LONGEST_COMMENT, blank=True)
    shares_transcript = models.BooleanField("attached conversation", default=False)
    transcript = models.JSONField(null=True, blank=True, editable=False)
    """A copy of the question and the answer, stored only while the user shares it. Deleting the
    conversation also deletes the copy.
    """
    state = models.CharField(max_length=7, choices=State, default=State.NEW)
    note = models.TextField(
        max_length=LONGEST_NOTE,
        blank=True,
        help_text="A note for operators, which is never shown to the user.",
    )
    created_at = models.DateTimeField("from", default=timezone.now, editable=False)
    updated_at = models.DateTimeField("changed", auto_now=True)

    class Meta:
        verbose_name = "feedback entry"
        verbose_name_plural = "feedback entries"
        ordering = ("-created_at", "-pk")
        constraints = (
            models.UniqueConstraint(fields=("message", "bucket"), name="one_feedback_of_a_person"),
        )
        indexes = (
            models.Index(fields=("created_at",), name="feedback_by_age"),
            models.Index(fields=("bucket",), name="feedback_by_person"),
            models.Index(
                fields=("application",),
                condition=models.Q(state="new", rating="down"),
                name="feedback_that_is_new_and_bad",
            ),
        )

    def __str__(self) -> str:
        # The admin shows this text, which must not repeat the user's comment.
        return f"Feedback on {self.application}"

    def clean(self) -> None:
        if self.reason and self.rating == self.Rating.UP:
            raise ValidationError({"reason": "A reason can be given only for a bad answer."})

    @property
    def visible_fields(self) -> dict[str, Any]:
        """Return the fields that the user who gave the feedback can see."""
        return {
            "rating": self.rating,
            "reason": self.reason,
            "comment": self.comment,
            "shares_transcript": self.shares_transcript,
        }
