"""Stores legal holds, either on all of a user's data or on one conversation. Held data cannot be
deleted until the hold is lifted.

If the owner deletes a held conversation, or its retention period ends, it is hidden but remains in
the database. Other deletions of held data are rejected.
"""

from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Exists, ExpressionWrapper, F, OuterRef, Q, Value
from django.db.models.functions import Concat
from django.utils import timezone
from django.utils.translation import gettext

from apps.accounts.caller import personal_bucket


class LegalHolds(models.QuerySet["LegalHold"]):
    def active(self) -> "LegalHolds":
        return self.filter(lifted_at=None)

    def over(self, bucket: str, conversation: UUID | None = None) -> "LegalHolds":
        """Return the active holds on the data of a bucket's owner. With `conversation`, include
        holds on this conversation alone.
        """
        of_owner = Q(owner=personal_bucket(bucket), conversation=None)
        covered = of_owner if conversation is None else of_owner | Q(conversation=conversation)
        return self.active().filter(covered)


class LegalHold(models.Model):
    """A legal hold. A lifted hold remains stored, with its reason and the user who placed it."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="legal_holds",
        help_text="The user whose data is retained.",
    )
    """Prevents the database from deleting the account. None after the hold is lifted."""
    owner = models.CharField("held data of", max_length=100, editable=False)
    """The bucket of the user whose data is held."""
    conversation = models.UUIDField(
        null=True,
        blank=True,
        help_text="The ID of a conversation to retain, instead of all of a user's data.",
    )
    reason = models.TextField(
        max_length=2000,
        help_text="The reason for the hold, such as a case number. The user cannot see it.",
    )
    placed_by = models.CharField(max_length=100, editable=False)
    placed_at = models.DateTimeField(default=timezone.now, editable=False)
    lifted_by = models.CharField(max_length=100, blank=True, editable=False)
    lifted_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = LegalHolds.as_manager()

    class Meta:
        verbose_name = "legal hold"
        ordering = ("-placed_at", "-pk")
        constraints = (
            models.UniqueConstraint(
                fields=("owner",),
                condition=Q(lifted_at=None, conversation=None),
                name="one_active_hold_of_a_user",
            ),
            models.UniqueConstraint(
                fields=("conversation",),
                condition=Q(lifted_at=None, conversation__isnull=False),
                name="one_active_hold_of_a_conversation",
            ),
        )

    def __str__(self) -> str:
        return f"legal hold {self.pk}"


def is_held(bucket: str, conversation: UUID | None = None) -> bool:
    return LegalHold.objects.over(bucket, conversation).exists()


def holds(owner: str = "", conversation: str = "") -> Q:
    """Return a filter for rows under a legal hold. `owner` and `conversation` are the columns with
    a row's bucket and conversation ID, or "".
    """
    covered = Q(pk__in=())
    found = LegalHold.objects.active()
    if owner:
        column = ExpressionWrapper(OuterRef(owner), models.CharField())
        in_teams = Concat(F("owner"), Value("-team-"))
        found = found.alias(bucket=column, in_teams=in_teams)
        named = Q(bucket=F("owner")) | Q(bucket__startswith=F("in_teams"))
        covered |= named & Q(conversation=None)
    if conversation:
        covered |= Q(conversation=OuterRef(conversation))
    return Q(Exists(found.filter(covered)))


def refusal() -> str:
    """Return the message for a user who cannot delete data because of a legal hold."""
    return gettext(
        "This can’t be deleted now, because your data must be retained for legal reasons. "
        "Contact an administrator."
    )
