"""Defines the forms for users and their passwords."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib.auth.password_validation import MinimumLengthValidator
from django.utils.html import format_html

from apps.accounts.permissions import is_last_superuser
from apps.console.admin import theme

LAST_SUPERUSER = (
    "{username} is the only active superuser. Make another user a superuser first: without one, "
    "nobody could administer this installation."
)
LABELS = {
    "is_staff": "Staff",
    "is_superuser": "Superuser",
    "user_permissions": "More permissions",
    "last_login": "Last sign-in",
    "date_joined": "Created",
    "usable_password": "Sign-in with a password",
    "password2": "Confirm password",
}
HELP_TEXTS = {
    "username": "Up to 150 letters, digits and the characters @ . + - _",
    "is_active": "Turn this off to close the account. Its data is kept.",
    "is_staff": "Can open the admin.",
    "is_superuser": "Has all permissions.",
    "groups": "Users have the permissions of their groups.",
    "user_permissions": "In addition to the permissions of the groups.",
    "usable_password": "Without a password, the user can sign in only through single sign-on.",
    "password1": (
        f"At least {MinimumLengthValidator().min_length} characters, and not only digits. Common "
        "passwords and passwords similar to the username or email address are rejected."
    ),
    "password2": "",
}
ALLOWED = {"true": "Allowed", "false": "Not allowed"}
LINKED = '{} <a href="../password/">{}</a>'


def set_texts(fields: Mapping[str, forms.Field]) -> None:
    """Replace Django's labels and help texts of these form fields."""
    for name in LABELS.keys() & fields.keys():
        fields[name].label = LABELS[name]
    for name in HELP_TEXTS.keys() & fields.keys():
        fields[name].help_text = HELP_TEXTS[name]


class UserForm(theme.UserChangeForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_texts(self.fields)
        if self.instance.has_usable_password():
            stored, link = "Passwords are stored only as hashes.", "Set a new password"
        else:
            stored, link = "The user has no password.", "Set a password"
        self.fields["password"].help_text = format_html(LINKED, stored, link)

    def clean(self) -> dict[str, Any]:
        """Refuse a change that leaves the installation without an active superuser."""
        cleaned: dict[str, Any] = super().clean()
        stays = all(
            cleaned.get(name, getattr(self.instance, name))
            for name in ("is_active", "is_superuser")
        )
        if not stays and is_last_superuser([self.instance.pk], locks=True):
            name = "is_superuser" if cleaned.get("is_active") else "is_active"
            self.add_error(name, LAST_SUPERUSER.format(username=self.instance.username))
        return cleaned


class NewUserForm(theme.UserCreationForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_texts(self.fields)
        self.fields["usable_password"].choices = ALLOWED


class PasswordForm(theme.AdminPasswordChangeForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_texts(self.fields)
        self.fields["password1"].label = "New password"
