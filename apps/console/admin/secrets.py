"""Secrets: a value that goes in and never comes out, the servers it is for, and who names it."""

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
from apps.console.admin.history import RecordedAdmin
from apps.console.admin.theme import LowTextarea, PasswordInput
from apps.console.admin.uses import linked, shown
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


class Servers(forms.CharField):
    """A list of texts as lines."""

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
    servers = Servers(
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
        """Whether the stored value could then be sent to where it could not before."""
        stored = self.instance
        if stored.is_for_any_server:
            return False
        wanted = self.cleaned_data.get("servers", stored.servers)
        anywhere = self.cleaned_data.get("is_for_any_server", False)
        return anywhere or not all(is_covered(server, stored.servers) for server in wanted)

    def _post_clean(self) -> None:
        """Set the value before the model's own checks, which run here."""
        if typed := self.cleaned_data.get("new_value"):
            self.instance.value = typed
            self.instance.rotated_at = timezone.now()
        super()._post_clean()  # type: ignore[misc]

    def _update_errors(self, errors: Any) -> None:
        """The model speaks of a field that the form has under another name."""
        if "value" in getattr(errors, "error_dict", {}):
            errors.error_dict["new_value"] = errors.error_dict.pop("value")
        super()._update_errors(errors)  # type: ignore[misc]


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
        (
            "History",
            {"fields": readonly_fields[1:], "classes": ("collapse",)},
        ),
    )

    def get_fieldsets(self, request: HttpRequest, obj: Secret | None = None) -> Any:
        fieldsets = super().get_fieldsets(request, obj)
        return fieldsets if obj else fieldsets[:-2]

    def get_readonly_fields(self, request: HttpRequest, obj: Secret | None = None) -> Any:
        """Under another name it would be another secret, which nobody names."""
        return (*self.readonly_fields, "name") if obj is not None else self.readonly_fields

    def get_form(
        self, request: HttpRequest, obj: Secret | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        form = super().get_form(request, obj, change=change, **kwargs)
        may = request.user.has_perm(ANYWHERE)
        return type(form.__name__, (form,), {"may_send_anywhere": may})

    def save_model(self, request: HttpRequest, obj: Secret, form: Any, change: bool) -> None:
        obj.changed_by_id = request.user.pk
        if not change:
            obj.created_by_id = request.user.pk
        super().save_model(request, obj, form, change)
        if change and "new_value" in form.changed_data:
            count = len({(user.kind, user.name) for user in uses_of(obj)})
            who = "nobody" if not count else f"{count} of the applications and items listed below"
            self.message_user(request, f"The new value is in force; it is used by {who}.")

    # --- Who names it ------------------------------------------------------------------------

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Every row with its users, who are asked for once."""
        listed = super().get_changelist_instance(request)
        found = secret_uses(installed())
        for row in listed.result_list:
            row.users = found.get(row.name, [])
        return listed

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """What is used cannot be deleted: those who name it would stop working."""
        to_delete, counts, lacking, protected = super().get_deleted_objects(objs, request)
        found = secret_uses(installed())
        used = shown(request, [user for row in objs for user in found.get(row.name, ())])
        return to_delete, counts, lacking, [*protected, *used]

    @admin.display(description="used by")
    def uses(self, secret: Secret) -> int:
        return len({(user.kind, user.name) for user in getattr(secret, "users", ())})

    @admin.display(description="named in")
    def used_by(self, secret: Secret) -> SafeString | str:
        users = uses_of(secret)
        if not users:
            return "Nobody names it."
        return format_html("<ul>{}</ul>", format_html_join("", "<li>{}</li>", map(item, users)))

    @admin.display(description="sent to")
    def sent_to(self, secret: Secret) -> str:
        return "any server" if secret.is_for_any_server else ", ".join(secret.servers)

    @admin.display(description="state")
    def state(self, secret: Secret) -> str:
        return "unreadable" if isinstance(secret.value, UnreadableSecret) else "stored"


def uses_of(secret: Secret) -> list[User]:
    return secret_uses(installed()).get(secret.name, [])


def item(user: User) -> tuple[SafeString]:
    return (linked(user),)
