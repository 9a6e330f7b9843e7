"""Lists everything that a draft can refer to, such as deployments, prompts, skills and files."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from apps.accounts.caller import bucket_of
from apps.catalog.application_uploads import offered_files
from apps.catalog.content.installed import installed_content
from apps.catalog.content.items import ItemKind
from apps.catalog.content.layers import Content
from apps.catalog.content.prompts import installed_prompts, prompt_of
from apps.catalog.content.skills import installed_skills
from apps.catalog.content.titles import title_of
from apps.catalog.models import Application
from apps.console.admin.connect.capability_fields import details, summary
from apps.console.operator_rights import visible_applications
from apps.console.studio.registered_servers import ADD as REGISTER
from apps.console.studio.registered_servers import registered_servers
from apps.console.studio.uploads import ADD
from apps.workspace.local.deployments.capabilities import capabilities_of
from apps.workspace.local.deployments.deployment import Deployment
from apps.workspace.local.files.paths import write_path
from apps.workspace.local.models import PUBLIC, McpServer, Secret, StoredFile

MOST_FILES = 500


def choices_for(request: HttpRequest, application: Application) -> dict[str, Any]:
    """Return the names that the draft can refer to, by kind. All editors may see them, because the
    manifest's JSON schema and error messages contain them too.
    """
    content = installed_content()
    may = request.user.has_perm
    return {
        "deployments": list(deployments()),
        "applications": list(other_applications(request, application)),
        "prompts": [
            {"name": name, "title": title_of(content.items["prompt"][name]), "text": text}
            for name, text in sorted(installed_prompts(content).items())
        ],
        "skills": [
            {"name": skill.document.name, "description": skill.document.description}
            for skill in installed_skills(content)
        ],
        "agents": names(content, "agent"),
        "places": names(content, "place"),
        "toolsets": names(content, "toolset"),
        "tools": names(content, "tool"),
        "files": list(islice(files(request, application), MOST_FILES)),
        "secrets": list(Secret.objects.order_by("name").values_list("name", flat=True)),
        "servers": list(McpServer.objects.order_by("name").values("name", "command")),
        "registered": registered_servers(),
        "add": {
            name: reverse(f"admin:{address}_add")
            for name, address, permission in ADDED
            if may(permission)
        }
        | ({"address": reverse("register-server")} if may(REGISTER) else {}),
    }


ADDED = (
    ("deployment", "workspace_deployment", "workspace.add_deployment"),
    ("secret", "workspace_secret", "workspace.add_secret"),
    ("file", "workspace_sharedfile", ADD),
    ("server", "workspace_mcpserver", "workspace.add_mcpserver"),
    ("content", "catalog_contentitem", "catalog.add_contentitem"),
)


def deployments() -> Iterator[dict[str, Any]]:
    for row in Deployment.objects.order_by("deployment_id"):
        can = capabilities_of(row)
        is_chat = row.kind == Deployment.Kind.CHAT
        yield {
            "id": row.deployment_id,
            "name": str(row),
            "kind": row.kind,
            "is_enabled": row.is_enabled,
            "can": summary(can) if is_chat else "",
            "details": details(can) if is_chat else "",
            "window": can.context_window,
            "fallbacks": row.fallbacks,
            "prompt": prompt_of(row.deployment_id),
            "url": reverse("admin:workspace_deployment_change", args=[row.pk]),
        }


def other_applications(request: HttpRequest, application: Application) -> Iterator[dict[str, str]]:
    rows = (
        visible_applications(request)
        .exclude(pk=application.pk)
        .filter(is_enabled=True)
        .order_by("title")
    )
    for slug, title in rows.values_list("slug", "title"):
        yield {"id": slug, "name": title}


def names(content: Content, kind: ItemKind) -> list[str]:
    return sorted(content.items[kind])


def files(request: HttpRequest, application: Application) -> Iterator[dict[str, str]]:
    """Yield the files that contexts can refer to: first the files for everybody, then the user's
    own files.
    """
    for name in offered_files(application).order_by("name").values_list("name", flat=True):
        yield {"path": write_path(PUBLIC, name), "of": "everybody"}
    bucket = bucket_of(request.user.pk)
    own = StoredFile.objects.filter(bucket=bucket).order_by("name")
    for name in own.values_list("name", flat=True):
        yield {"path": write_path(bucket, name), "of": "you"}
