"""Stores the settings that users change on the settings page."""

from functools import partial
from typing import Any

from django.conf import settings
from django.db import models
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_lazy

LONGEST_INSTRUCTIONS = 4000
"""The maximum number of characters of a user's custom instructions."""

RETENTION_DAYS = (
    *((None, gettext_lazy("Never")), (30, gettext_lazy("After 30 days"))),
    *((90, gettext_lazy("After 90 days")), (365, gettext_lazy("After a year"))),
)


CACHE_ATTRIBUTE = "kept_preferences"
"""The attribute in which a request caches the preferences of its user."""


def languages() -> list[tuple[str, str]]:
    return [("", gettext("Browser default")), *settings.LANGUAGES]


class Preferences(models.Model):
    """A user's page settings, and their custom instructions for every model.

    For a user without a row, the defaults and the settings in their browser apply.
    """

    class SendKey(models.TextChoices):
        ENTER = "enter", gettext_lazy("Enter")
        CTRL_ENTER = "ctrl-enter", gettext_lazy("Ctrl + Enter")

    class Theme(models.TextChoices):
        SYSTEM = "system", gettext_lazy("System default")
        LIGHT = "light", gettext_lazy("Light")
        DARK = "dark", gettext_lazy("Dark")
        CONTRAST = "contrast", gettext_lazy("High contrast")

    class Density(models.TextChoices):
        COMFORTABLE = "comfortable", gettext_lazy("Comfortable")
        COMPACT = "compact", gettext_lazy("Compact")

    class TextSize(models.TextChoices):
        NORMAL = "normal", gettext_lazy("Normal")
        LARGE = "large", gettext_lazy("Large")
        LARGEST = "largest", gettext_lazy("Very large")

    class Width(models.TextChoices):
        NORMAL = "normal", gettext_lazy("Normal")
        WIDE = "wide", gettext_lazy("Wide")

    class Tour(models.TextChoices):
        """The state of the administrators' tour on the home page of a new installation."""

        OPEN = "", "open"
        WITH_DEMO = "demo", "without another model"
        ENDED = "ended", "ended"

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="preferences"
    )
    language = models.CharField(
        gettext_lazy("language"), max_length=10, choices=languages, blank=True
    )
    theme = models.CharField(
        gettext_lazy("theme"), max_length=10, choices=Theme, default=Theme.SYSTEM
    )
    density = models.CharField(
        gettext_lazy("density"), max_length=12, choices=Density, default=Density.COMFORTABLE
    )
    text_size = models.CharField(
        gettext_lazy("text size"), max_length=10, choices=TextSize, default=TextSize.NORMAL
    )
    # The database also has the default, because processes of the previous version write rows
    # without it.
    width = models.CharField(
        gettext_lazy("conversation width"),
        max_length=10,
        choices=Width,
        default=Width.NORMAL,
        db_default=Width.NORMAL,
    )
    send_key = models.CharField(max_length=12, choices=SendKey, default=SendKey.ENTER)
    has_shortcuts = models.BooleanField(default=True)
    has_voice = models.BooleanField(default=False)
    has_spoken_answers = models.BooleanField(default=True)
    uses_instructions = models.BooleanField(default=True)
    instructions = models.TextField(max_length=LONGEST_INSTRUCTIONS, blank=True)
    retention_days = models.PositiveSmallIntegerField(
        choices=RETENTION_DAYS,
        null=True,
        blank=True,
        help_text=(
            "After this many days of inactivity, a conversation is permanently deleted. "
            "Empty for never."
        ),
    )
    tour = models.CharField(
        max_length=10,
        choices=Tour,
        default=Tour.OPEN,
        db_default=Tour.OPEN,
        blank=True,
        editable=False,
    )

    class Meta:
        # The table keeps its name, because processes of the previous version use it during an
        # upgrade.
        db_table = "chat_preferences"
        default_permissions = ()
        verbose_name_plural = "preferences"

    def __str__(self) -> str:
        return f"preferences of {self.user_id}"


def preferences_of(user: int) -> Preferences | None:
    """Return a user's settings, or None if the user has changed none."""
    return Preferences.objects.filter(user=user).first()


def preferences_of_request(request: HttpRequest) -> Preferences | None:
    """Return the settings of the request's user, or None if the user is signed out or has none.
    Queries the database once per request.
    """
    cached = vars(request)
    if CACHE_ATTRIBUTE not in cached:
        user = getattr(request, "user", None)
        cached[CACHE_ATTRIBUTE] = (
            None if user is None or user.pk is None else preferences_of(user.pk)
        )
    found: Preferences | None = cached[CACHE_ATTRIBUTE]
    return found


def preferences(request: HttpRequest) -> dict[str, Any]:
    """Context processor that adds the page's `data-…` attributes for the user's settings."""
    return {"preferences": partial(attributes_of, request)}


def attributes_of(request: HttpRequest) -> dict[str, str]:
    """Map the names of the page's `data-…` attributes to their values, for styles and scripts.
    Return {} if the browser's own settings apply.
    """
    kept = preferences_of_request(request)
    if kept is None:
        return {}
    return {
        "kept": "yes",
        "theme": kept.theme,
        "density": kept.density,
        "text-size": kept.text_size,
        "width": kept.width,
        "send-key": kept.send_key,
        "shortcuts": "on" if kept.has_shortcuts else "off",
        "voice": "on" if kept.has_voice else "off",
        "spoken": "on" if kept.has_spoken_answers else "off",
    }


async def own_instructions(user: int) -> str:
    """Return the user's custom instructions, or "" if there are none or they are turned off."""
    rows = Preferences.objects.filter(user=user, uses_instructions=True)
    return await rows.values_list("instructions", flat=True).afirst() or ""
