"""Defines the admin pages for prompts that operators share with all users or with a team."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.catalog.models import SavedPrompt
from apps.console.admin.theme import Admin


@admin.register(SavedPrompt)
class SavedPromptAdmin(Admin[SavedPrompt]):
    fields = ("name", "title", "text", "team")
    list_display = ("name", "title", "team", "changed_at")
    list_filter = ("team",)
    list_select_related = ("team__group",)
    search_fields = ("name", "title")
    search_help_text = "Name or title"

    def get_queryset(self, request: HttpRequest) -> QuerySet[SavedPrompt]:
        """Omit the private prompts of users."""
        rows: QuerySet[SavedPrompt] = super().get_queryset(request)
        return rows.filter(user=None)
