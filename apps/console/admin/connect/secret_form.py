"""Defines the form for a secret. Operators can replace its value, but cannot read it."""

from collections.abc import Sequence
from typing import Any

from django import forms

from apps.console.admin.rows.lines_field import LinesField
from apps.console.admin.rows.versioned_form import VersionedForm
from apps.console.admin.theme import PasswordInput
from apps.workspace.local.models import Secret
from apps.workspace.local.secrets.field import UnreadableSecret
from apps.workspace.local.secrets.servers import is_among

MOST_CHARACTERS = 10_000
NEW = "It is encrypted and never shown again."
STORED = "A value is stored. Enter another one to rotate it; all following requests use it."
UNREADABLE = (
    "A value is stored, but none of this installation's SECRET_KEY and SALT_KEY values can decrypt it. "
    "Add the old key as a fallback, or enter the value again."
)
IN_VAULT = "A path in Vault is stored. Enter another one to replace it."
NO_VAULT = (
    "A path in Vault gives access to its content. You need the permission to allow secrets to be "
    "sent to any server."
)
TYPE_VALUE_OR_PATH = "Enter the value again. It must be a string or a path in Vault."
TYPE_AGAIN = (
    "The value was stored for other servers. Enter it again, or restore the previous servers."
)


class SecretForm(VersionedForm[Secret]):
    secret_fields = {"value": ("new_value",)}
    servers = LinesField(
        help_text=(
            "One per line, such as api.example.com, *.example.com or "
            "http://localhost:8080. Enter / for this server itself. The value is never sent to "
            "other servers, even if a manifest refers to the secret in a request to them."
        ),
    )
    new_value = forms.CharField(
        label="Value",
        required=False,
        max_length=MOST_CHARACTERS,
        widget=PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    may_send_anywhere = False

    class Meta:
        model = Secret
        fields = ()  # Set by the admin.

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "new_value" in self.fields:
            self.fields["new_value"].required = self.instance._state.adding
        if "is_for_any_server" in self.fields and not self.may_send_anywhere:
            self.fields["is_for_any_server"].disabled = True

    def secret_state(self, stored: str) -> str:
        if self.instance._state.adding:
            return NEW
        if isinstance(stored, UnreadableSecret):
            return UNREADABLE
        return IN_VAULT if self.instance.is_in_vault else STORED

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        typed = self.cleaned_data.get("new_value")
        stored = self.instance
        servers = self.cleaned_data.get("servers", stored.servers)
        anywhere = self.cleaned_data.get("is_for_any_server", False)
        if not stored._state.adding and not typed and is_for_more(stored, servers, anywhere):
            self.add_error("new_value", TYPE_AGAIN)
        if "is_in_vault" in self.changed_data and not typed:
            self.add_error("new_value", TYPE_VALUE_OR_PATH)
        if self.cleaned_data.get("is_in_vault") and typed and not self.may_send_anywhere:
            self.add_error("is_in_vault", NO_VAULT)
        return cleaned


def is_for_more(stored: Secret, servers: Sequence[str], anywhere: bool) -> bool:
    """Return True if the new settings allow additional servers to receive the secret's stored
    value.
    """
    if stored.is_for_any_server:
        return False
    return anywhere or not all(is_covered(server, stored.servers) for server in servers)


def is_covered(server: str, servers: Sequence[str]) -> bool:
    written = server if "://" in server or server == "/" else f"https://{server}"
    return server in servers or written.lower() in servers or is_among(written, servers)
