"""Stores the parts of an application that are not in its row: the text from which it was imported,
and its own skills.
"""

from pathlib import Path

from django.conf import settings
from django.db import models


class ApplicationSource(models.Model):
    """The text of the `application.yaml` from which an application was imported. Exports preserve
    its comments.
    """

    application = models.OneToOneField(
        "catalog.Application", on_delete=models.CASCADE, related_name="source", primary_key=True
    )
    text = models.TextField()
    directory = models.CharField(max_length=1000, blank=True, default="")
    """The managed directory that contains the application, or "" if an operator imported it."""
    digest = models.CharField(max_length=64, blank=True, default="")
    """A hash of the application's files when they were last loaded from the managed directory."""

    class Meta:
        app_label = "catalog"

    def __str__(self) -> str:
        return f"application.yaml of {self.application_id}"


class ApplicationSkill(models.Model):
    """A skill of a single application. `text` is its SKILL.md, and `files` maps the paths of its
    other files to their texts.
    """

    application = models.ForeignKey(
        "catalog.Application", on_delete=models.CASCADE, related_name="skills"
    )
    name = models.CharField(max_length=64)
    text = models.TextField()
    files = models.JSONField(default=dict, blank=True)

    class Meta:
        app_label = "catalog"
        ordering = ("name",)
        constraints = [
            models.UniqueConstraint(
                fields=("application", "name"), name="catalog_application_skill_name"
            )
        ]

    def __str__(self) -> str:
        return self.name


def managed_directory_of(number: int | None) -> str:
    """Return the managed directory of the application with this ID, or "" if it is not managed."""
    if number is None or not settings.CONTENT_PATHS:
        return ""
    rows = ApplicationSource.objects.filter(
        application=number, directory__in=[str(Path(path)) for path in settings.CONTENT_PATHS]
    )
    return rows.values_list("directory", flat=True).first() or ""


def managed_refusal(number: int | None) -> str:
    """Return why operators cannot edit the application with this ID, or "" if they can."""
    directory = managed_directory_of(number)
    if not directory:
        return ""
    return (
        f"This application is managed by files in {directory}. Change it there, or duplicate "
        "it and edit the copy."
    )
