"""Defines the database models for programs (OAuth clients) and their users' connections."""

from typing import Any, ClassVar, Literal, cast

from allauth.idp.oidc.models import Client
from django.conf import settings
from django.db import models

from apps.accounts.oauth.resources import LONGEST_SLUG, document_host

CONNECTED = "connected"
"""The key in a program's `data` that is set once a user has connected the program."""
BLOCKED = "blocked"
"""The key in a program's `data` that is set while the program is blocked by an operator."""
REGISTERED_ITSELF, DESCRIBED = "dcr", "cimd"
"""The keys in the `data` of programs that registered themselves, and of programs that a metadata
document describes. An operator registered all other programs.
"""

Source = Literal["operator", "document", "registration"]


class Program(Client):  # type: ignore[misc]  # allauth is not typed
    """An OAuth client. An operator or the program itself registers it, or its metadata document
    describes it.
    """

    pk: str
    name: str
    data: dict[str, Any] | None
    objects: ClassVar[models.Manager["Program"]] = models.Manager()

    class Meta:
        proxy = True
        ordering = ("name", "pk")
        verbose_name = "program"
        verbose_name_plural = "programs"

    def __str__(self) -> str:
        return f"{self.name} ({self.pk})"

    def flag(self, name: str) -> bool:
        return bool((self.data or {}).get(name))

    def set_flag(self, name: str, *, on: bool) -> None:
        others = {key: value for key, value in (self.data or {}).items() if key != name}
        self.data = {**others, name: True} if on else others

    @property
    def is_blocked(self) -> bool:
        return self.flag(BLOCKED)

    @property
    def is_confidential(self) -> bool:
        return cast(bool, self.type == Client.Type.CONFIDENTIAL)

    @property
    def source(self) -> Source:
        if self.host or self.flag(DESCRIBED):
            return "document"
        return "registration" if self.flag(REGISTERED_ITSELF) else "operator"

    @property
    def host(self) -> str:
        """Return the host of the program's metadata document, or "" if it has none."""
        return document_host(self.pk)


class ProgramConnection(models.Model):
    """A user's permission for a program to act for them in one team or the personal space, and to
    use one application or all applications. The permission ends when the user leaves the team.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="program_connections"
    )
    program = models.ForeignKey(Program, on_delete=models.CASCADE, related_name="connections")
    team = models.ForeignKey(
        "accounts.Team",
        on_delete=models.CASCADE,
        null=True,
        related_name="program_connections",
        help_text="The team that the program works in. Empty for the personal space.",
    )
    slug = models.CharField(
        "application",
        max_length=LONGEST_SLUG,
        blank=True,
        help_text="The application that the program can use. Empty for all of the user's applications.",
    )
    connected_at = models.DateTimeField("since", auto_now_add=True)
    last_used_at = models.DateTimeField("last used", null=True, editable=False)

    class Meta:
        ordering = ("-connected_at", "-pk")
        verbose_name = "connected program"
        verbose_name_plural = "connected programs"
        constraints = (
            models.UniqueConstraint(
                fields=("user", "program", "slug"), name="program_connection_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.program} of {self.user}"
