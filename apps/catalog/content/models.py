"""Stores the predefined content that operators edit in the admin. It overrides all directories."""

import re
from typing import Any, cast

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Count, Max, Sum

from apps.catalog.content.items import DATABASE, ItemKind, LayerItem, item_of
from apps.catalog.content.layers import ContentRows, RowStamp
from apps.manifest.json_text import unstorable
from apps.manifest.markdown.skill_files import bundle_files
from apps.workspace.versions import VersionedRow

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?")


class ContentItem(VersionedRow):
    """A predefined item in the database. For a skill, `files` maps the paths of all files except
    SKILL.md to their texts.
    """

    class Kind(models.TextChoices):
        PROMPT = "prompt"
        TOOL = "tool"
        TOOLSET = "toolset"
        SKILL = "skill"
        PLACE = "place"
        AGENT = "agent"

    kind = models.CharField(max_length=20, choices=Kind)
    name = models.CharField(
        max_length=100,
        validators=[
            RegexValidator(
                re.compile(rf"^(?:{NAME.pattern})\Z"),
                "Use only letters, digits, hyphens, underscores and dots.",
            )
        ],
        help_text=(
            "The name used in manifests. This item overrides the item of the same kind and name "
            "from a directory."
        ),
    )
    text = models.TextField(
        help_text=(
            "Markdown for a prompt, place, agent or SKILL.md; a JSON object for a tool or toolset."
        )
    )
    files = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        app_label = "catalog"
        verbose_name = "predefined item"
        verbose_name_plural = "predefined content"
        ordering = ("kind", "name")
        constraints = [
            models.UniqueConstraint(
                fields=("kind", "name"),
                name="catalog_content_item_kind_name",
                violation_error_message="An item of this kind and name already exists.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    @property
    def item(self) -> LayerItem:
        location = f"{DATABASE}: {self.kind}/{self.name}"
        kind = cast(ItemKind, self.kind)
        return item_of(kind, self.name, DATABASE, location, self.text, self.files)

    def clean(self) -> None:
        unstorable_text = next((message for _, message in unstorable(self.text)), "")
        if self.text and (problem := unstorable_text or self.item.problem):
            raise ValidationError({"text": problem})
        if problem := files_problem(self.kind, self.files):
            raise ValidationError({"files": problem})


def files_problem(kind: str, files: Any) -> str:
    """Return why an item of this kind cannot have these files, or "" if it can."""
    if not isinstance(files, dict) or not all(isinstance(text, str) for text in files.values()):
        return "Enter an object with paths as keys and texts as values."
    if files and kind != "skill":
        return "Only skills have files."
    if found := next(unstorable(files), None):
        return f"{found[0]}: {found[1]}"
    return "; ".join(map(str, bundle_files(files).problems))


def row_stamp() -> RowStamp:
    """Return a value that changes whenever a predefined item in the database changes. Runs one
    query.

    Versions only increase, and IDs are never reused.
    """
    found = ContentItem.objects.aggregate(
        count=Count("pk"), versions=Sum("version", default=0), newest=Max("pk", default=0)
    )
    return found["count"], found["versions"], found["newest"]


def read_rows(before: ContentRows | None = None) -> ContentRows:
    """Return the predefined items in the database, or `before` itself if nothing has changed. Read
    only changed rows.
    """
    stamp = row_stamp()  # Read before the rows, so that the next call finds later changes.
    if before is not None and before.stamp == stamp:
        return before
    known = before.by_id if before is not None else {}
    versions = dict(ContentItem.objects.values_list("pk", "version")) if stamp[0] else {}
    kept = {pk: known[pk] for pk, v in versions.items() if pk in known and known[pk][0] == v}
    changed = versions.keys() - kept.keys()
    rows = ContentItem.objects.filter(pk__in=changed) if kept else ContentItem.objects.all()
    fresh = {row.pk: (row.version, row.item) for row in rows.iterator()} if changed else {}
    return ContentRows({**kept, **fresh}, stamp)
