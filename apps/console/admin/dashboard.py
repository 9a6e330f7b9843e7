"""The first page of the admin and the callbacks of its sidebar."""

from typing import Any

from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse

from apps.accounts.models import ApiKey
from apps.catalog.content.installed import installed
from apps.catalog.content.review import problems_by_item
from apps.catalog.models import Application
from apps.console.admin.home import blocks
from apps.console.admin.needs import Counts, RowCount, count_rows
from apps.console.operated import may_view_applications
from apps.console.studio.first_steps import first_steps
from apps.workspace.local.models import Deployment


def is_mcp_server_page(request: HttpRequest) -> bool:
    """The page of their sessions lies below theirs, and has an entry of its own in the sidebar."""
    rows = reverse("admin:workspace_mcpserver_changelist")
    return request.path.startswith(rows) and request.path != f"{rows}sessions/"


def overview(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add `steps` of a new installation, `blocks` of how it goes, and `cards` for the pages that the
    person may see.
    """
    counts = count_rows(request)
    may = request.user.has_perm
    cards = []
    if may_view_applications(request):
        about = "{} in all, {} enabled. What people talk to: model, prompt, tools."
        cards.append(row_card(counts, "applications", Application, "forum", about))
    if may("catalog.view_contentitem"):
        cards.append(content_card())
    if may("workspace.view_deployment"):
        about = "{} in all, {} enabled. The models, where they are and their keys."
        cards.append(row_card(counts, "deployments", Deployment, "network_node", about))
    if may("accounts.view_apikey"):
        about = "{} in all, {} not revoked. For programs that talk to applications."
        cards.append(row_card(counts, "keys", ApiKey, "key", about))
    cards += [
        card("Chat page", "chat", "/", "Talk to the applications as your users do."),
        card("API description", "api", reverse("api-docs"), "Edit the catalog from scripts."),
    ]
    more = {"blocks": blocks(request, counts), "cards": cards, "steps": first_steps(request)}
    return {**context, **more}


def card(title: str, icon: str, url: str, text: str) -> dict[str, str]:
    return {"title": title, "icon": icon, "url": url, "text": text}


def row_card(
    counts: Counts, name: str, model: type[Model], icon: str, about: str
) -> dict[str, str]:
    """`about` has places for the number of rows, and of those in use."""
    meta, count = model._meta, counts.get(name, RowCount())
    url = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")
    title = "API keys" if name == "keys" else name.capitalize()
    return card(title, icon, url, about.format(count.all, count.used))


def content_card() -> dict[str, str]:
    content = installed()
    count = sum(map(len, content.items.values()))
    broken = len(problems_by_item(content))
    url = reverse("admin:catalog_contentitem_changelist")
    state = f"{broken} broken" if broken else "none broken"
    if content.missing or content.problems:
        state += ", and a layer that cannot be read whole"
    elif broken:
        url += "?state=broken"
    text = f"{count} in all, {state}. Prompts, tools, toolsets and skills that manifests refer to."
    return card("Predefined content", "layers", url, text)
