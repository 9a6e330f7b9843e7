"""Defines the form for deployments. Operators can set and remove API keys, but cannot read them."""

from typing import Any

from django import forms

from apps.catalog.credentials.review import STAYS_THERE, TYPE_AGAIN, has_moved, may_keep_key
from apps.console.admin.connect.capability_fields import show_defaults
from apps.console.admin.connect.fallbacks import FallbacksField
from apps.console.admin.rows.versioned_form import VersionedForm
from apps.console.admin.theme import PasswordInput, Switch
from apps.workspace.local.deployments.deployment import Deployment
from apps.workspace.local.deployments.service_models import free_id
from apps.workspace.local.secrets.field import UnreadableSecret

NO_KEY = "Leave empty if the service needs no key."
STORED = "A key is stored. Enter another one to replace it."
UNREADABLE = (
    "A key is stored, but none of this installation's SECRET_KEY and SALT_KEY values can decrypt it. "
    "Add the old value as a fallback, or enter the key again."
)
DERIVED = {
    "deployment_id": "The ID that manifests use in orchestrator.deployment.deployment_id. "
    "Leave empty to derive it from the model name.",
    "display_name": "Leave empty to use the model name.",
}
"""The help texts of the fields that are derived from the model name."""


class DeploymentForm(VersionedForm[Deployment]):
    secret_fields = {"api_key": ("new_api_key", "clear_api_key")}
    typed_and_removed = "Either enter a new key or remove the stored one."
    new_api_key = forms.CharField(
        label="API key",
        required=False,
        widget=PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    clear_api_key = forms.BooleanField(label="Remove the stored key", required=False, widget=Switch)
    may_change_keys = False
    fallbacks = FallbacksField(help_text=Deployment._meta.get_field("fallbacks").help_text)

    class Meta:
        model = Deployment
        fields = ()  # Set by the admin.
        labels = {"deployment_id": "Deployment ID", "base_url": "Base URL"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in DERIVED.keys() & self.fields.keys():
            self.fields[name].required = False
            self.fields[name].help_text = DERIVED[name]
        if isinstance(field := self.fields.get("fallbacks"), FallbacksField):
            field.offer(self.instance)
        show_defaults(self, self.instance)

    def secret_state(self, stored: str) -> str:
        if isinstance(stored, UnreadableSecret):
            return UNREADABLE
        return STORED if stored else NO_KEY

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        self.derive_names()
        is_kept = not any(self.cleaned_data.get(name) for name in self.secret_fields["api_key"])
        provider, address = (self.cleaned_data.get(name, "") for name in ("provider", "base_url"))
        if not self.may_change_keys:
            if has_moved(self.instance, provider, address):
                self.add_error("base_url", STAYS_THERE)
        elif is_kept and not may_keep_key(self.instance, provider, address):
            self.add_error("new_api_key", TYPE_AGAIN)
        return cleaned

    def derive_names(self) -> None:
        """If the ID or the display name is empty, derive it from the model name."""
        typed, model = self.cleaned_data, self.cleaned_data.get("model_name", "")
        if typed.get("deployment_id") == "":
            if not model:
                self.add_error("deployment_id", "Enter an ID, or a model name to derive it from.")
                return
            taken = Deployment.objects.exclude(pk=self.instance.pk)
            typed["deployment_id"] = free_id(model, taken.values_list("deployment_id", flat=True))
        if typed.get("display_name") == "":
            typed["display_name"] = model or typed.get("deployment_id", "")
