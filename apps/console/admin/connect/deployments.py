"""Defines the admin pages for deployments. Operators can set, remove and test API keys, but cannot
read them.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from asgiref.sync import async_to_sync
from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import URLPattern
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.catalog.content.installed import installed_content
from apps.catalog.credentials.review import (
    KEY_FIELDS,
    KEY_PERMISSION,
)
from apps.catalog.uses import ItemUser, deployment_uses
from apps.console.admin.connect.breakers import BreakersAdmin
from apps.console.admin.connect.capability_fields import (
    CAPABILITY_FIELDS,
    NOT_KNOWN,
    default_labels,
    details,
    summary,
)
from apps.console.admin.connect.deployment_form import DeploymentForm
from apps.console.admin.connect.fallbacks import named_by
from apps.console.admin.connect.prices import PriceInline
from apps.console.admin.list_cells import two_lines
from apps.console.admin.rows.dependents import bullet_list, dependent_lines
from apps.console.admin.rows.recorded import HISTORY_FIELDS
from apps.errors import ModelFailed
from apps.workspace.local.deployments.capabilities import capabilities_of
from apps.workspace.local.deployments.deployment import BUILT_IN_PROVIDERS, Deployment
from apps.workspace.local.deployments.found_deployments import read_row
from apps.workspace.local.deployments.probes import probe_deployment
from apps.workspace.local.deployments.service_models import (
    can_list,
    models_of_service,
    reported_columns,
)
from apps.workspace.local.secrets.field import UnreadableSecret
from apps.workspace.model_capabilities import CAPABILITIES
from apps.workspace.services.model_list import ListedModel
from apps.workspace.services.probe import ProbeResult

NEW_APPLICATION = "application"
"""With the query `?next=application`, saving a new deployment opens the "New application" page."""
UNREACHED = frozenset({"address", "name", "connection", "encryption", "time"})
"""If a connection test fails at one of these steps, it has not reached the service."""
KEY_INPUTS = ("new_api_key", "clear_api_key")
MOST_TESTED = 10
"""The bulk action tests at most this many deployments, because each test waits for a service."""


@admin.register(Deployment)
class DeploymentAdmin(BreakersAdmin):
    form = DeploymentForm
    list_display = (
        "named",
        "kind_shown",
        "service",
        "abilities",
        "key",
        "breaker",
        "is_enabled",
    )
    list_filter = ("is_enabled", "kind", "provider")
    search_fields = ("display_name", "deployment_id", "model_name", "base_url")
    search_help_text = "Name, ID, model or URL"
    actions = ("test_connection", *BreakersAdmin.actions)
    inlines = (PriceInline,)
    fieldsets = (
        ("Service", {"fields": ("provider", "base_url", *KEY_INPUTS, "model_name")}),
        ("Key", {"fields": KEY_FIELDS}),
        (
            "Name",
            {"fields": ("deployment_id", "display_name", "description", "kind", "is_enabled")},
        ),
        (
            "Capabilities",
            {
                "fields": CAPABILITY_FIELDS,
                "description": "The default comes from its features and attachment types, or from its name. "
                "Yes and No override it. Requests are never rejected because a capability is unknown.",
            },
        ),
        (
            "Requests",
            {"fields": ("features", "input_attachment_types", "parameters")},
        ),
        ("Fallbacks", {"fields": ("fallbacks",)}),
        HISTORY_FIELDS,
    )

    class Media:
        js = (forms.Script("console/connect/test-connection.js", type="module"),)

    def get_fieldsets(self, request: HttpRequest, obj: Deployment | None = None) -> Any:
        """Return the groups of fields. Users who may not change API keys see the state of the key
        instead of an input. The option to remove the key appears only if a key is stored.
        """
        hidden: set[str] = set()
        if not request.user.has_perm(KEY_PERMISSION):
            hidden = {"clear_api_key"} if obj is not None else {*KEY_INPUTS, *KEY_FIELDS}
        elif obj is None or not has_stored_key(obj):
            hidden = {"clear_api_key"}
        shown = {} if request.user.has_perm(KEY_PERMISSION) else {"new_api_key": "key"}
        groups = [
            (title, {**options, "fields": fields_shown(options["fields"], hidden, shown)})
            for title, options in super().get_fieldsets(request, obj)
        ]
        return [(title, options) for title, options in groups if options["fields"]]

    def get_readonly_fields(self, request: HttpRequest, obj: Deployment | None = None) -> Any:
        fields = super().get_readonly_fields(request, obj)
        may = request.user.has_perm(KEY_PERMISSION)
        return fields if may else (*fields, "key", *KEY_FIELDS)

    def form_attributes(self, request: HttpRequest, obj: Deployment | None) -> dict[str, Any]:
        attributes = super().form_attributes(request, obj)
        if request.user.has_perm(KEY_PERMISSION):
            return {**attributes, "may_change_keys": True}
        # An attribute with the value None removes the field with this name from the form.
        return {**attributes, **dict.fromkeys(self.form.secret_fields["api_key"])}

    def consequences(self, request: HttpRequest, rows: Iterable[Deployment]) -> list[SafeString]:
        rows, found = list(rows), deployment_uses(installed_content())
        relying = named_by(rows)
        used = [used_by(request, row, found.get(row.deployment_id, [])) for row in rows]
        left = [(row, users) for row in rows if (users := relying[row.deployment_id])]
        return used + [left_by(row, users) for row, users in left]

    @admin.display(description="deployment", ordering="display_name")
    def named(self, deployment: Deployment) -> SafeString | str:
        return two_lines(deployment.display_name, deployment.deployment_id)

    @admin.display(description="kind", ordering="kind")
    def kind_shown(self, deployment: Deployment) -> str:
        return deployment.get_kind_display().partition(":")[0]

    @admin.display(description="service", ordering="provider")
    def service(self, deployment: Deployment) -> SafeString | str:
        return two_lines(deployment.get_provider_display(), deployment.model_name)

    @admin.display(description="capabilities")
    def abilities(self, deployment: Deployment) -> SafeString | str:
        if deployment.kind != Deployment.Kind.CHAT:
            return ""
        can = capabilities_of(deployment)
        shown = format_html('<span title="{}">{}</span>', details(can), summary(can) or NOT_KNOWN)
        if summary(can):
            return shown
        test = f"{self.url('change', deployment.pk)}#test"
        return format_html('{} · <a href="{}">Test now</a>', shown, test)

    @admin.display(description="key")
    def key(self, deployment: Deployment) -> str:
        if deployment.provider in BUILT_IN_PROVIDERS:
            return "Not needed"
        if isinstance(deployment.api_key, UnreadableSecret):
            return "Unreadable"
        if has_stored_key(deployment):
            return "Stored"
        return deployment.api_key_env or "None"

    @admin.action(description="Test the connection", permissions=("change",))
    def test_connection(self, request: HttpRequest, deployments: QuerySet[Deployment]) -> None:
        for deployment in deployments[:MOST_TESTED]:
            result = try_connection(deployment)
            level = messages.SUCCESS if result.failed is None else messages.ERROR
            self.message_user(request, f"{deployment}: {result.text}", level)

    def response_post_save_add(self, request: HttpRequest, obj: Deployment) -> HttpResponse:
        if request.GET.get("next") == NEW_APPLICATION:
            return redirect("studio-new")
        answer: HttpResponse = super().response_post_save_add(request, obj)
        return answer

    def get_urls(self) -> list[URLPattern]:
        return [self.staff_path("test/", self.test_typed, "test"), *super().get_urls()]

    def test_typed(self, request: HttpRequest) -> JsonResponse:
        """Test the connection with the submitted form values, without saving them."""
        number = request.POST.get("test_pk", "")
        stored = self.get_object(request, number) if number else None
        if request.method != "POST" or not self.may_save(request, stored):
            raise PermissionDenied
        form_class = self.get_form(request, stored, change=stored is not None)
        form = form_class(request.POST, instance=stored)
        if form.is_valid():
            result = try_connection(form.instance)
            offered = listed_models(form.instance) if result.failed not in UNREACHED else []
            told = {"models": [model.id for model in offered]} if offered else {}
            told |= reported_capabilities(form.instance, offered)
            message = result.text
            if offered and result.failed == "model":
                message = f"The service has no model {form.instance.model_name!r}."
            return JsonResponse({"ok": result.failed is None, "message": message, **told})
        wrong = [
            f"{form.fields[name].label if name in form.fields else 'Form'}: {' '.join(errors)}"
            for name, errors in form.errors.items()
        ]
        return JsonResponse({"ok": False, "message": f"Not tested. {' '.join(wrong)}"})


def has_stored_key(deployment: Deployment) -> bool:
    return isinstance(deployment.api_key, UnreadableSecret) or bool(deployment.api_key)


def fields_shown(fields: Any, hidden: Set[str], shown: Mapping[str, str]) -> tuple[Any, ...]:
    """Return the fields of a group. Omit the `hidden` fields, and replace the fields in `shown`."""
    return tuple(shown.get(name, name) for name in fields if name not in hidden)


def listed_models(deployment: Deployment) -> list[ListedModel]:
    """Return the models that the service lists, or [] if it cannot list them or fails."""
    if deployment.kind != Deployment.Kind.CHAT or not can_list(deployment):
        return []
    try:
        return async_to_sync(models_of_service)(read_row(deployment))
    except ModelFailed:
        return []


def reported_capabilities(deployment: Deployment, listed: Sequence[ListedModel]) -> dict[str, Any]:
    """Return the capabilities of a chat model for the form's script: the defaults, and those that
    the service reports. Return {} for other kinds of models.
    """
    if deployment.kind != Deployment.Kind.CHAT:
        return {}
    name = deployment.model_name or deployment.deployment_id
    model = next((model for model in listed if model.id == name), None)
    columns = reported_columns(model, deployment.provider) if model is not None else {}
    told = {name: columns[name] for name in CAPABILITIES if columns.get(name) is not None}
    return {"known": default_labels(deployment), **({"told": told} if told else {})}


def try_connection(deployment: Deployment) -> ProbeResult:
    return async_to_sync(probe_deployment)(read_row(deployment))


def used_by(request: HttpRequest, deployment: Deployment, users: Sequence[ItemUser]) -> SafeString:
    if not users:
        return format_html("<p>No application or predefined item uses {}.</p>", deployment)
    words = "<p>These use {} and can no longer call it afterwards:</p>{}"
    return format_html(words, deployment, bullet_list(dependent_lines(request, users)))


def left_by(deployment: Deployment, users: Sequence[Deployment]) -> SafeString:
    words = "<p>These use {} as a fallback and continue without it:</p>{}"
    return format_html(words, deployment, bullet_list(map(str, users)))
