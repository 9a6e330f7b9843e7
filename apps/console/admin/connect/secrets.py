"""Defines the admin pages for secrets. A secret that a manifest uses cannot be deleted."""

from collections.abc import Iterable
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString

from apps.catalog.content.installed import installed_content
from apps.catalog.uses import ItemUser, secret_uses
from apps.console.admin.connect.secret_form import SecretForm
from apps.console.admin.list_cells import account_cell, account_link
from apps.console.admin.rows.dependents import bullet_list, dependent_lines
from apps.console.admin.rows.recorded import RecordedAdmin
from apps.workspace.local.models import Secret
from apps.workspace.local.secrets.field import UnreadableSecret
from apps.workspace.local.secrets.stored_secrets import problem_in_vault

ANYWHERE = "workspace.send_secret_anywhere"


@admin.register(Secret)
class SecretAdmin(RecordedAdmin[Secret]):
    form = SecretForm
    list_display = ("name", "sent_to", "uses", "state", "rotated_at", "changer")
    list_select_related = ("changed_by",)
    fixed_fields = ("name",)
    search_fields = ("name", "description")
    search_help_text = "Name or description"
    readonly_fields = (
        "state",
        "used_by",
        "version",
        "rotated_at",
        "creator",
        "created_at",
        "editor",
        "updated_at",
    )
    fieldsets = (
        (None, {"fields": ("name", "description", "new_value", "is_in_vault", "state")}),
        ("Servers", {"fields": ("servers", "is_for_any_server")}),
        ("Used by", {"fields": ("used_by",)}),
        ("History", {"fields": readonly_fields[2:], "classes": ("collapse",)}),
    )

    def get_fieldsets(self, request: HttpRequest, obj: Secret | None = None) -> Any:
        """Omit the state, uses and history from the form for a new secret."""
        groups = super().get_fieldsets(request, obj)
        if obj is not None:
            return groups
        _, options = groups[0]
        shown = tuple(name for name in options["fields"] if name != "state")
        return [(None, {"fields": shown}), groups[1]]

    def form_attributes(self, request: HttpRequest, obj: Secret | None) -> dict[str, Any]:
        may = request.user.has_perm(ANYWHERE)
        return {**super().form_attributes(request, obj), "may_send_anywhere": may}

    def save_model(self, request: HttpRequest, obj: Secret, form: Any, change: bool) -> None:
        obj.changed_by_id = request.user.pk
        if "new_value" in form.changed_data:
            obj.rotated_at = timezone.now()
        if not change:
            obj.created_by_id = request.user.pk
        super().save_model(request, obj, form, change)
        if change and "new_value" in form.changed_data:
            count = number_of(uses_of(obj))
            who = "nobody" if not count else f"{count} of the applications and items listed below"
            self.message_user(request, f"The new value is active. It is used by {who}.")

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        listed = super().get_changelist_instance(request)
        found = secret_uses(installed_content())  # Once for all rows.
        for row in listed.result_list:
            row.users = found.get(row.name, [])
        return listed

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Secret | None:
        row: Any = super().get_object(request, object_id, from_field)
        if row is not None:
            row.lines = dependent_lines(request, uses_of(row))
            row.problem = async_to_sync(problem_in_vault)(row) if row.is_in_vault else ""
        found: Secret | None = row
        return found

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        to_delete, counts, lacking, protected = super().get_deleted_objects(objs, request)
        found = secret_uses(installed_content())
        users = [user for row in objs for user in found.get(row.name, ())]
        # Manifests that name a deleted secret would stop working.
        return to_delete, counts, lacking, [*protected, *dependent_lines(request, users)]

    @admin.display(description="changed by", ordering="changed_by__username")
    def changer(self, secret: Secret) -> str:
        return account_cell(secret.changed_by)

    @admin.display(description="changed by")
    def editor(self, secret: Secret) -> str:
        return account_link(secret.changed_by)

    @admin.display(description="created by")
    def creator(self, secret: Secret) -> str:
        return account_link(secret.created_by)

    @admin.display(description="used by")
    def uses(self, secret: Secret) -> int:
        return number_of(getattr(secret, "users", ()))

    @admin.display(description="referenced in")
    def used_by(self, secret: Secret) -> SafeString | str:
        lines = getattr(secret, "lines", ())
        return bullet_list(lines) if lines else "No application or item uses it."

    @admin.display(description="sent to")
    def sent_to(self, secret: Secret) -> str:
        return "Any server" if secret.is_for_any_server else ", ".join(secret.servers)

    @admin.display(description="state")
    def state(self, secret: Secret) -> str:
        if isinstance(secret.value, UnreadableSecret):
            return "Unreadable"
        if not secret.is_in_vault:
            return "Stored"
        return getattr(secret, "problem", "") or "In Vault"


def uses_of(secret: Secret) -> list[ItemUser]:
    return secret_uses(installed_content()).get(secret.name, [])


def number_of(users: Iterable[ItemUser]) -> int:
    """Count the distinct applications and predefined items in `users`, which has one entry per
    use.
    """
    return len({(user.kind, user.name) for user in users})
