"""Stores the prompts that users insert into a message by typing "/" and a name."""

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy

from apps.accounts.caller import Caller
from apps.accounts.models import Team

LONGEST_NAME = 50
LONGEST_TITLE = 100
LONGEST_TEXT = 20_000
MOST_OF_A_PERSON = 500
MOST_OFFERED = 500

check_name = RegexValidator(
    r"^[a-z0-9]+(-[a-z0-9]+)*\Z",
    gettext_lazy(
        "Use lowercase letters, digits, and single hyphens between them, such as weekly-report."
    ),
)


class SavedPrompt(models.Model):
    """A prompt that belongs to a user or a team. A prompt that belongs to neither is offered to all
    users.
    """

    name = models.CharField(
        gettext_lazy("name"),
        max_length=LONGEST_NAME,
        validators=[check_name],
        help_text=gettext_lazy("The command to type after “/”, such as weekly-report."),
    )
    title = models.CharField(gettext_lazy("title"), max_length=LONGEST_TITLE)
    text = models.TextField(
        gettext_lazy("text"),
        max_length=LONGEST_TEXT,
        help_text=gettext_lazy(
            "Text in double braces, such as {{topic}}, becomes a field to fill in."
        ),
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        editable=False,
        related_name="saved_prompts",
    )
    team = models.ForeignKey(
        Team,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="saved_prompts",
        help_text="Offered to members of this team. Leave empty to offer it to all users.",
    )
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = "shared prompt"
        ordering = ("name", "pk")
        constraints = (
            models.UniqueConstraint(
                fields=("user", "name"), name="a_person_has_a_prompt_of_a_name_once"
            ),
            models.CheckConstraint(
                condition=Q(user=None) | Q(team=None), name="a_saved_prompt_has_one_owner"
            ),
        )

    def __str__(self) -> str:
        return f"/{self.name}"


def own_prompts(user: int | None) -> QuerySet[SavedPrompt]:
    """Return the prompts of the user with this ID, or no prompts for None."""
    if user is None:
        return SavedPrompt.objects.none()
    return SavedPrompt.objects.filter(user=user)


def offered_prompts(caller: Caller) -> QuerySet[SavedPrompt]:
    """Return the prompts that a caller can insert: the caller's own, those of the caller's current
    team, and those for all users.
    """
    offered = Q(user=None, team=None)
    if caller.team is not None:
        offered |= Q(team=caller.team)
    if caller.user_id is not None:
        offered |= Q(user=caller.user_id)
    return SavedPrompt.objects.filter(offered)
