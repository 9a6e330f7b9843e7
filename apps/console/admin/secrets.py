"""Secrets: a value that can be replaced, never read, its servers, and the manifests that name it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.catalog.content.installed import installed
from apps.catalog.uses import User, secret_uses
from apps.console.admin.dependents import dependent_lines, link_to
from apps.console.admin.recorded import RecordedAdmin
from apps.console.admin.theme import LowTextarea, PasswordInput
from apps.console.admin.versioned_form import VersionedForm
from apps.workspace.local.models import Secret
from apps.workspace.local.secrets import UnreadableSecret
from apps.workspace.local.servers import is_among

ANYWHERE = "workspace.send_secret_anywhere"
MOST_CHARACTERS = 10_000
NEW = "It is encrypted, and nobody is shown it again."
STORED = "A value is stored. Type another one to rotate it: the next request of anybody uses it."
UNREADABLE = (
    "A value is stored, but none of this installation's SECRET_KEY and SALT_KEY values fits it. "
    "Bring the old key back as a fallback, or type the value again."
)
TYPE_AGAIN = (
    "The value was stored for other servers. Type it again, or leave the servers as they were."
)


class ServersField(forms.CharField):
    """A list of texts, one in each line."""

    widget = LowTextarea

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(str, value)) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value) or ""
        return [line.strip() for line in text.splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(data) != (initial or []))


class SecretForm(VersionedForm[Secret]):
    secret_fields = {"value": ("new_value",)}
    servers = ServersField(
        required=False,
        help_text="One in a line, such as api.example.com, *.example.com or "
        "http://localhost:8080; / is this server itself. Nothing else is sent the value, whatever "
        "a manifest says.",
    )
    new_value = forms.CharField(
        label="Value",
        required=False,
        strip=True,
        max_length=MOST_CHARACTERS,
        widget=PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    may_send_anywhere = False

    class Meta:
        model = Secret
        fields = ()  # the admin names them

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "new_value" in self.fields:
            self.fields["new_value"].help_text = value_state(self.instance)
            self.fields["new_value"].required = self.instance._state.adding
        anywhere = self.fields.get("is_for_any_server")
        if anywhere is not None and not self.may_send_anywhere:
            anywhere.disabled = True

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        typed = self.cleaned_data.get("new_value")
        if not self.instance._state.adding and not typed and self.is_for_more():
            self.add_error("new_value", TYPE_AGAIN)
        return cleaned

    def is_for_more(self) -> bool:
        """True if the edit lets the stored value go to servers that it could not go to before."""
        stored = self.instance
        if stored.is_for_any_server:
            return False
        wanted = self.cleaned_data.get("servers", stored.servers)
        anywhere = self.cleaned_data.get("is_for_any_server", False)
        return anywhere or not all(is_covered(server, stored.servers) for server in wanted)


def is_covered(server: str, servers: Sequence[str]) -> bool:
    written = server if "://" in server or server == "/" else f"https://{server}"
    return server in servers or written.lower() in servers or is_among(written, servers)


def value_state(secret: Secret) -> str:
    if secret._state.adding:
        return NEW
    return UNREADABLE if isinstance(secret.value, UnreadableSecret) else STORED


@admin.register(Secret)
class SecretAdmin(RecordedAdmin[Secret]):
    form = SecretForm
    list_display = ("name", "sent_to", "uses", "state", "rotated_at", "changed_by")
    list_select_related = ("changed_by",)
    fixed_fields = ("name",)
    search_fields = ("name", "description")
    search_help_text = "Name or description"
    readonly_fields = (
        "used_by",
        "version",
        "rotated_at",
        "created_by",
        "created_at",
        "changed_by",
        "updated_at",
    )
    fieldsets = (
        (None, {"fields": ("name", "description", "new_value")}),
        ("Where it may be sent", {"fields": ("servers", "is_for_any_server")}),
        ("Used by", {"fields": ("used_by",)}),
        ("History", {"fields": readonly_fields[1:], "classes": ("collapse",)}),
    )

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
            count = len({(user.kind, user.name) for user in uses_of(obj)})
            who = "nobody" if not count else f"{count} of the applications and items listed below"
            self.message_user(request, f"The new value is in force; it is used by {who}.")

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        listed = super().get_changelist_instance(request)
        found = secret_uses(installed())  # once for all rows
        for row in listed.result_list:
            row.users = found.get(row.name, [])
        return listed

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        to_delete, counts, lacking, protected = super().get_deleted_objects(objs, request)
        found = secret_uses(installed())
        users = [user for row in objs for user in found.get(row.name, ())]
        # Manifests that name a deleted secret would stop working.
        return to_delete, counts, lacking, [*protected, *dependent_lines(request, users)]

    @admin.display(description="used by")
    def uses(self, secret: Secret) -> int:
        return len({(user.kind, user.name) for user in getattr(secret, "users", ())})

    @admin.display(description="named in")
    def used_by(self, secret: Secret) -> SafeString | str:
        users = uses_of(secret)
        if not users:
            return "Nobody names it."
        lines = format_html_join("", "<li>{}</li>", ((link_to(user),) for user in users))
        return format_html("<ul>{}</ul>", lines)

    @admin.display(description="sent to")
    def sent_to(self, secret: Secret) -> str:
        return "any server" if secret.is_for_any_server else ", ".join(secret.servers)

    @admin.display(description="state")
    def state(self, secret: Secret) -> str:
        return "unreadable" if isinstance(secret.value, UnreadableSecret) else "stored"


def uses_of(secret: Secret) -> list[User]:
    return secret_uses(installed()).get(secret.name, [])
