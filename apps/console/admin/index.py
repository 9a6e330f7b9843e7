"""What the first page of the admin and its sidebar offer: only what the person may see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse

from apps.accounts.models import ApiKey
from apps.catalog.content.installed import installed
from apps.catalog.content.review import problems_by_item
from apps.catalog.models import Application
from apps.workspace.local.models import Deployment


def may_see(permission: str) -> Callable[[HttpRequest], bool]:
    def check(request: HttpRequest) -> bool:
        return request.user.has_perm(permission)

    return check


may_see_applications = may_see("catalog.view_application")
may_see_content = may_see("catalog.view_contentitem")
may_see_deployments = may_see("workspace.view_deployment")
may_see_secrets = may_see("workspace.view_secret")
may_see_keys = may_see("accounts.view_apikey")
may_see_operator_keys = may_see("catalog.view_operatorkey")
may_see_users = may_see("auth.view_user")
may_see_groups = may_see("auth.view_group")
may_see_shared_files = may_see("workspace.view_sharedfile")


def is_elsewhere(request: HttpRequest) -> bool:
    """Whether a page outside the admin is the one that is shown."""
    return False


def is_about_mcp_servers(request: HttpRequest) -> bool:
    """Whether it is one of their pages, of which that of the sessions stands by itself."""
    rows = reverse("admin:workspace_mcpserver_changelist")
    return request.path.startswith(rows) and request.path != f"{rows}sessions/"


def landmarks_script(request: HttpRequest) -> str:
    return static("console/landmarks.js")


def corrections_style(request: HttpRequest) -> str:
    return static("console/admin.css")


def overview(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add `cards` to what the first page shows."""
    cards = []
    if may_see_applications(request):
        cards.append(application_card())
    if may_see_content(request):
        cards.append(content_card())
    if may_see_deployments(request):
        cards.append(deployment_card())
    if may_see_keys(request):
        cards.append(key_card())
    cards += [
        card("Chat page", "chat", "/", "Talk to the applications as your users do."),
        card("API description", "api", reverse("api-docs"), "Edit the catalog from scripts."),
    ]
    return {**context, "cards": cards}


def card(title: str, icon: str, url: str, text: str) -> dict[str, str]:
    return {"title": title, "icon": icon, "url": url, "text": text}


def application_card() -> dict[str, str]:
    count, enabled = counts(Application.objects.filter(is_enabled=True), Application.objects.all())
    return card(
        "Applications",
        "forum",
        reverse("admin:catalog_application_changelist"),
        f"{count} in all, {enabled} enabled. What people talk to: model, prompt, tools.",
    )


def content_card() -> dict[str, str]:
    """What is broken is told here, before anybody asks an application that uses it."""
    content = installed()
    count = sum(map(len, content.items.values()))
    broken = len(problems_by_item(content))
    lost = len(content.missing) + len(content.problems)
    url = reverse("admin:catalog_contentitem_changelist")
    state = f"{broken} broken" if broken else "none broken"
    if lost:
        state += ", and a layer that cannot be read whole"
    elif broken:
        url += "?state=broken"
    text = f"{count} in all, {state}. Prompts, tools, toolsets and skills that manifests refer to."
    return card("Predefined content", "layers", url, text)


def deployment_card() -> dict[str, str]:
    count, enabled = counts(Deployment.objects.filter(is_enabled=True), Deployment.objects.all())
    return card(
        "Deployments",
        "network_node",
        reverse("admin:workspace_deployment_changelist"),
        f"{count} in all, {enabled} enabled. The models, where they are and their keys.",
    )


def key_card() -> dict[str, str]:
    count, usable = counts(ApiKey.objects.filter(revoked=False), ApiKey.objects.all())
    return card(
        "API keys",
        "key",
        reverse("admin:accounts_apikey_changelist"),
        f"{count} in all, {usable} not revoked. For programs that talk to applications.",
    )


def counts(some: Any, every: Any) -> tuple[int, int]:
    return every.count(), some.count()
