"""The form of a secret: its value can be replaced, never read."""

from collections.abc import Sequence
from typing import Any

from django import forms

from apps.console.admin.lines_field import LinesField
from apps.console.admin.theme import PasswordInput
from apps.console.admin.versioned_form import VersionedForm
from apps.workspace.local.models import Secret
from apps.workspace.local.secrets import UnreadableSecret
from apps.workspace.local.servers import is_among

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


class SecretForm(VersionedForm[Secret]):
    secret_fields = {"value": ("new_value",)}
    servers = LinesField(
        help_text="One in a line, such as api.example.com, *.example.com or "
        "http://localhost:8080; / is this server itself. Nothing else is sent the value, whatever "
        "a manifest says.",
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
        fields = ()  # the admin names them

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "new_value" in self.fields:
            self.fields["new_value"].required = self.instance._state.adding
        if "is_for_any_server" in self.fields and not self.may_send_anywhere:
            self.fields["is_for_any_server"].disabled = True

    def secret_state(self, stored: str) -> str:
        if self.instance._state.adding:
            return NEW
        return UNREADABLE if isinstance(stored, UnreadableSecret) else STORED

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        typed = self.cleaned_data.get("new_value")
        stored = self.instance
        servers = self.cleaned_data.get("servers", stored.servers)
        anywhere = self.cleaned_data.get("is_for_any_server", False)
        if not stored._state.adding and not typed and is_for_more(stored, servers, anywhere):
            self.add_error("new_value", TYPE_AGAIN)
        return cleaned


def is_for_more(stored: Secret, servers: Sequence[str], anywhere: bool) -> bool:
    """True if the edit lets the stored value go to servers that it could not go to before."""
    if stored.is_for_any_server:
        return False
    return anywhere or not all(is_covered(server, stored.servers) for server in servers)


def is_covered(server: str, servers: Sequence[str]) -> bool:
    written = server if "://" in server or server == "/" else f"https://{server}"
    return server in servers or written.lower() in servers or is_among(written, servers)
