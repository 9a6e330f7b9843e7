"""Shows circuit breakers in the list of deployments, and adds an action that closes them."""

from datetime import timedelta
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.formats import time_format

from apps.console.admin.connect.service_models import ServiceModelsAdmin
from apps.workspace.local.deployments.fallback_rules import unfit_reason
from apps.workspace.local.deployments.fallbacks import breaker_store, key_of_row
from apps.workspace.local.models import Deployment


class BreakersAdmin(ServiceModelsAdmin):
    actions: tuple[str, ...] = ("close_breakers",)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        listed = super().get_changelist_instance(request)
        seconds = async_to_sync(open_seconds)()
        for row in listed.result_list:
            row.open_seconds = seconds.get(key_of_row(row.pk, row.version))
        return listed

    @admin.display(description="breaker")
    def breaker(self, deployment: Deployment) -> str:
        seconds = getattr(deployment, "open_seconds", None)
        if seconds is None:
            return "None" if unfit_reason(deployment) else "Closed"
        if not seconds:
            return "Open; the next call tests it"
        until = timezone.localtime(timezone.now() + timedelta(seconds=seconds))
        return f"Open until {time_format(until, 'H:i:s')}"

    @admin.action(
        description="Close the circuit breakers of selected deployments", permissions=("change",)
    )
    def close_breakers(self, request: HttpRequest, deployments: QuerySet[Deployment]) -> None:
        async_to_sync(close)([key_of_row(row.pk, row.version) for row in deployments])
        names = ", ".join(map(str, deployments))
        told = f"Circuit breakers closed: {names}."
        self.message_user(request, told, messages.SUCCESS)


async def open_seconds() -> dict[str, float]:
    return await breaker_store().open_seconds()


async def close(keys: list[str]) -> None:
    for key in keys:
        await breaker_store().close(key)
