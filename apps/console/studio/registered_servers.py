"""Registers remote MCP servers for all applications, as predefined toolsets."""

import json
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from apps.catalog.content.installed import installed_content
from apps.catalog.content.models import ContentItem
from apps.console.admin.connect.mcp_uses import PROGRAM
from apps.console.admin.theme import TEXT_INPUT, AdminForm, PasswordInput, Select
from apps.console.api.content import save_row
from apps.console.api.problems import RowInvalid
from apps.manifest.names import localize_text
from apps.workspace.egress.urls import AddressInvalid, read_url
from apps.workspace.local.models import Secret

ADD = "catalog.add_contentitem"
KIND = ContentItem.Kind.TOOLSET
AUTHORIZATIONS = (
    ("", "No credentials"),
    ("bearer", "Bearer token"),
    ("api_key", "API key in a header"),
    ("basic", "Username and password"),
    ("oauth", "Each user signs in (OAuth)"),
)
CREDENTIALS = {"bearer": "token", "api_key": "key", "basic": "password"}
LOGINS = {"api_key": ("name", "header"), "basic": ("username", "username")}
"""The attribute and the form field that an authorization requires in addition to the credential."""
CHOICES = {
    "authorization": {
        kind: (*LOGINS.get(kind, ())[1:], "secret", "credential") for kind in CREDENTIALS
    }
}
"""The fields that the form shows only for certain authorizations."""
NO_CREDENTIAL = "Choose a secret, or enter the credential."
NAME_IN_USE = "A predefined toolset with this name already exists."


def text_input(**attributes: str) -> forms.TextInput:
    return forms.TextInput({"class": TEXT_INPUT, **attributes})


class RegisteredServerForm(forms.Form):
    name = forms.CharField(
        max_length=100,
        label="Name",
        widget=text_input(),
        help_text="Applications refer to the server by this name.",
    )
    description = forms.CharField(
        max_length=300, required=False, label="Description", widget=text_input()
    )
    url = forms.CharField(
        max_length=2000,
        label="URL",
        widget=text_input(placeholder="https://mcp.example.com/mcp"),
    )
    protocol = forms.ChoiceField(
        choices=(("streamable_http", "Streamable HTTP"), ("sse", "SSE (older servers)")),
        widget=Select,
    )
    authorization = forms.ChoiceField(
        choices=AUTHORIZATIONS, required=False, label="Authorization", widget=Select
    )
    username = forms.CharField(
        max_length=200,
        required=False,
        label="Username",
        widget=text_input(autocomplete="off", spellcheck="false"),
    )
    header = forms.CharField(
        max_length=200,
        required=False,
        label="Header",
        widget=text_input(placeholder="X-API-Key", spellcheck="false"),
        help_text="The name of the request header that contains the key.",
    )
    secret = forms.ModelChoiceField(
        Secret.objects.order_by("name"),
        required=False,
        to_field_name="name",
        label="Secret",
        empty_label="Choose a secret",
        widget=Select,
    )
    credential = forms.CharField(
        max_length=10_000,
        required=False,
        label="Or a new credential",
        widget=PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="Stored as a secret that is sent only to this server.",
    )

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name in installed_content().items["toolset"]:
            raise forms.ValidationError(NAME_IN_USE)
        return name

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        try:
            read_url(url)
        except AddressInvalid as error:
            raise forms.ValidationError(str(error)) from error
        return url

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        kind = cleaned.get("authorization", "")
        if kind in CREDENTIALS and not (cleaned.get("secret") or cleaned.get("credential")):
            self.add_error("credential", NO_CREDENTIAL)
        _, field = LOGINS.get(kind, ("", ""))
        if field and not cleaned.get(field):
            self.add_error(field, "This field is required.")
        return cleaned

    @property
    def toolset(self) -> dict[str, Any]:
        """The predefined toolset that a valid form describes, as JSON."""
        typed = self.cleaned_data
        info = {name: typed[name] for name in ("url", "protocol")}
        if typed["authorization"]:
            info["authorization"] = self.written_authorization()
        described = {"description": typed["description"]} if typed["description"] else {}
        name = {"type": "mcp", "name": typed["name"]}
        return {**name, **described, "mcp_server_info": info}

    def written_authorization(self) -> dict[str, Any]:
        typed = self.cleaned_data
        kind, secret = typed["authorization"], typed["secret"]
        found = {"type": kind}
        if kind in LOGINS:
            name, field = LOGINS[kind]
            found[name] = typed[field]
        if kind in CREDENTIALS:
            found[CREDENTIALS[kind]] = {"$secret": secret.name} if secret else typed["credential"]
        return found

    def add_errors(self, refused: RowInvalid) -> None:
        """Add each error to the form field to which it belongs."""
        for one in refused.problems:
            place = one.message.partition(": ")[0] if one.path == "text" else one.path
            fields = ("authorization", "url", "protocol", "name")
            self.add_error(next((field for field in fields if field in place), None), one.message)


@require_http_methods(["GET", "HEAD", "POST"])
def register(request: HttpRequest) -> HttpResponse:
    """Register an MCP server. Raises `PermissionDenied` if the user may not add predefined
    content.
    """
    if not request.user.has_perm(ADD):
        raise PermissionDenied
    form = RegisteredServerForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        name, text = form.cleaned_data["name"], json.dumps(form.toolset, indent=2)
        try:
            save_row(ContentItem(), {"kind": KIND, "name": name, "text": text}, request.user)
        except RowInvalid as refused:
            form.add_errors(refused)
        else:
            said = f"{name} is registered. Add it to applications in the studio, under Tools."
            messages.success(request, said)
            return redirect("admin:catalog_contentitem_item", KIND, name)
    rows: Any = admin.site.get_model_admin(ContentItem)
    title = "Register an MCP server by URL"
    shown = AdminForm(form, [(None, {"fields": tuple(form.fields)})], {}, (), rows)
    context = {"form": form, "adminform": shown, "choices": CHOICES}
    answer: HttpResponse = rows.page(request, "admin/mcp/register.html", title, context)
    return answer


def registered_servers() -> list[dict[str, str]]:
    """Return the names and titles of the predefined toolsets with a remote MCP server."""
    return [
        {"template": name, "title": localize_text(toolset.get("name") or "") or name}
        for name in sorted(installed_content().items["toolset"])
        if (toolset := registered_toolset(name)) is not None
    ]


def server_of_template(name: str) -> Any:
    """Return the `mcp_server_info` of the registered server with this name, or None."""
    toolset = registered_toolset(name)
    return None if toolset is None else toolset["mcp_server_info"]


def registered_toolset(name: str) -> dict[str, Any] | None:
    item = installed_content().items["toolset"].get(name)
    value = item.value if item is not None and not item.problem else None
    info = value.get("mcp_server_info") if isinstance(value, dict) else None
    if not isinstance(value, dict) or value.get("type") != "mcp" or not isinstance(info, dict):
        return None
    return None if info.get("protocol") == PROGRAM else value
