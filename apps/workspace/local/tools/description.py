"""Defines the database model for tool descriptions from MCP servers."""

from django.db import models
from django.utils import timezone

LONGEST_TOOL = 200


class ToolDescription(models.Model):
    """A tool description from an MCP server, and whether models may see it.

    A listing is the set of descriptions that a server returns. An operator's decision about a
    description applies to all listings.
    """

    class State(models.TextChoices):
        ACCEPTED = "accepted"
        CHANGED = "changed", "to review"
        WITHHELD = "withheld"

    server_key = models.CharField(max_length=64, editable=False)
    server = models.CharField(max_length=500)
    listing = models.CharField("listed for", max_length=100, blank=True)
    """The bucket of the caller who received the listing, or "" if all callers receive the same one."""
    tool = models.CharField(max_length=LONGEST_TOOL)
    digest = models.CharField(max_length=64, editable=False)
    text = models.TextField()
    state = models.CharField(max_length=10, choices=State)
    is_first = models.BooleanField(default=False, editable=False)
    """True for the original description of a tool in a listing. Others are changes to it."""
    seen_at = models.DateTimeField("first seen", default=timezone.now)
    listed_at = models.DateTimeField("last listed", default=timezone.now, editable=False)
    """The last day on which the listing was requested."""
    decided_at = models.DateTimeField("decided", null=True, blank=True)

    class Meta:
        ordering = ("-seen_at", "-pk")
        verbose_name = "MCP tool description"
        constraints = (
            models.UniqueConstraint(
                fields=("server_key", "listing", "tool", "digest"), name="one_row_of_a_description"
            ),
            models.UniqueConstraint(
                fields=("server_key", "listing", "tool"),
                condition=models.Q(is_first=True),
                name="one_first_description_of_a_tool",
            ),
            models.UniqueConstraint(
                fields=("server_key", "listing", "tool"),
                condition=models.Q(state="changed"),
                name="one_description_to_look_at",
            ),
        )

    def __str__(self) -> str:
        return f"{self.tool} of {self.server}"
