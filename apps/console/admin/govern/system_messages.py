"""Defines the admin pages for messages that all users see on the chat page."""

from typing import Any

from asgiref.sync import async_to_sync
from django.contrib import admin
from django.db import transaction
from django.http import HttpRequest

from apps.catalog.models import SystemMessage
from apps.console.admin.theme import Admin
from apps.live.journal.notifications import EVERYBODY, announce_growth


@admin.register(SystemMessage)
class SystemMessageAdmin(Admin[SystemMessage]):
    list_display = ("text", "level", "until", "created_at")
    list_filter = ("level",)

    def save_model(self, request: HttpRequest, obj: SystemMessage, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        transaction.on_commit(lambda: async_to_sync(announce_growth)(EVERYBODY))
