"""Defines the form for an MCP server. It never shows the stored environment variables."""

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from apps.console.admin.rows.lines_field import ArgumentsField
from apps.console.admin.rows.versioned_form import VersionedForm
from apps.console.admin.theme import LowTextarea, Switch
from apps.workspace.local.models import McpServer
from apps.workspace.local.secrets.field import UnreadableSecret

NO_VARIABLES = "No variables are stored."
UNREADABLE = (
    "Variables are stored, but none of this installation's SECRET_KEY and SALT_KEY values can "
    "decrypt them. Add the old value as a fallback, or enter all of them again."
)
HOW = "One NAME=value per line, or a JSON object. Your entry replaces all stored variables."


class SecretTextarea(LowTextarea):
    """A text area that never shows the typed text again, even if the form has errors."""

    def format_value(self, value: Any) -> str:
        return ""


class McpServerForm(VersionedForm[McpServer]):
    secret_fields = {"environment": ("new_environment", "clear_environment")}
    typed_and_removed = "Either enter variables or remove all of them."
    arguments = ArgumentsField(help_text="One per line, or a JSON list.")
    new_environment = forms.CharField(
        label="Environment",
        required=False,
        widget=SecretTextarea(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    clear_environment = forms.BooleanField(
        label="Remove all stored variables", required=False, widget=Switch
    )

    class Meta:
        model = McpServer
        fields = ()  # Set by the admin.

    def secret_state(self, stored: str) -> str:
        """Return the names of the stored variables, without their values."""
        return f"{self.variables_state(stored)} {HOW}"

    def variables_state(self, stored: str) -> str:
        if isinstance(stored, UnreadableSecret):
            return UNREADABLE
        try:
            names = sorted(self.instance.parsed_environment())
        except ValueError:
            return (
                "The stored variables are not a JSON object of strings. Enter all variables again."
            )
        return f"Stored: {', '.join(names)}." if names else NO_VARIABLES

    def clean_new_environment(self) -> str:
        typed: str = self.cleaned_data["new_environment"]
        return json.dumps(variables_of(typed)) if typed.strip() else ""


def variables_of(text: str) -> dict[str, str]:
    """Parse environment variables, one `NAME=value` per line or a JSON object. Raises
    `ValidationError`, whose message does not quote the text.
    """
    if text.lstrip().startswith("{"):
        try:
            return dict(json.loads(text))
        except (ValueError, RecursionError):
            raise ValidationError(
                "This begins like JSON, but is not valid JSON. Fix it, or write NAME=value."
            ) from None
    variables = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, sign, value = line.partition("=")
        if not line.strip():
            continue
        if not sign:
            raise ValidationError(f"Line {number} has no equals sign. Use NAME=value.")
        variables[name.strip()] = value.strip()
    return variables
