"""What operators edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models

if TYPE_CHECKING:
    from apps.manifest.reading import Review


def empty_manifest() -> dict[str, Any]:
    """The smallest manifest an operator can start from."""
    return {
        "orchestrator": {"deployment": {"deployment_id": "demo-model"}},
        "contexts": [],
        "tool_sets": [],
    }


class Application(models.Model):
    """An agent that people can talk to, described by its manifest."""

    slug = models.SlugField(unique=True, help_text="Its name in addresses and in the API.")
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    manifest = models.JSONField(default=empty_manifest)
    is_enabled = models.BooleanField("enabled", default=True)
    is_public = models.BooleanField(
        "public", default=False, help_text="May be used without signing in."
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="applications",
    )
    version = models.PositiveIntegerField(default=0, editable=False)
    imported_hash = models.CharField(max_length=64, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("title",)

    def __str__(self) -> str:
        return self.title

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.version += 1
        super().save(*args, **kwargs)

    def clean(self) -> None:
        errors = self.review().errors
        if errors:
            lines = [f"{problem.path}: {problem.message}" for problem in errors]
            raise ValidationError({"manifest": lines})

    def review(self) -> Review:
        """What is wrong with the manifest, and what is worth a warning."""
        from apps.manifest.reading import review

        return review(
            self.manifest,
            preview=settings.ENABLE_PREVIEW_FEATURES,
            default_deployment=settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
        )
