"""How a person wishes the pages to look and to work."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext, gettext_lazy

LONGEST_INSTRUCTIONS = 4000
"""Characters of what a person tells every model."""

RETENTION_DAYS = (
    *((None, gettext_lazy("Never")), (30, gettext_lazy("After 30 days"))),
    *((90, gettext_lazy("After 90 days")), (365, gettext_lazy("After a year"))),
)


def languages() -> list[tuple[str, str]]:
    return [("", gettext("As the browser says")), *settings.LANGUAGES]


class Preferences(models.Model):
    """How a person wishes the pages to look and to work, and what they tell every model.

    A person without a row has the defaults, and what their browser keeps.
    """

    class SendKey(models.TextChoices):
        ENTER = "enter", gettext_lazy("Enter")
        CTRL_ENTER = "ctrl-enter", gettext_lazy("Ctrl + Enter")

    class Theme(models.TextChoices):
        SYSTEM = "system", gettext_lazy("As the system")
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
        help_text="After how many untouched days a conversation is erased; empty: never.",
    )

    class Meta:
        default_permissions = ()
        verbose_name_plural = "preferences"

    def __str__(self) -> str:
        return f"preferences of {self.user_id}"
