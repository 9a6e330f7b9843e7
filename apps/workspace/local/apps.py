from django.apps import AppConfig
from django.conf import settings
from django.db.models.signals import post_delete, post_migrate

from apps.admin_pages import AdminPage
from apps.chores import Chore, Interval


class LocalWorkspaceConfig(AppConfig):
    name = "apps.workspace.local"
    label = "workspace"
    verbose_name = "Models and files"
    admin_pages = (
        AdminPage(
            "Build",
            30,
            "Deployments",
            "cpu",
            "workspace.deployment",
            "The models that applications use, with their addresses and keys.",
        ),
        AdminPage(
            "Build",
            42,
            "MCP tool descriptions",
            "",
            "workspace.tooldescription",
            "Changed descriptions from MCP servers. Models get them after you accept them.",
            below="MCP servers",
        ),
        AdminPage(
            "Build",
            50,
            "Secrets",
            "lock",
            "workspace.secret",
            "Credentials of tools, stored encrypted under names that manifests refer to.",
        ),
        AdminPage(
            "Build",
            60,
            "Shared files",
            "folder",
            "workspace.sharedfile",
            "Files that every application can use as contexts.",
        ),
    )
    chores = (
        Chore(
            "Delete old merges of memories",
            "apps.workspace.local.memories.remembered.delete_old_merges",
        ),
        Chore(
            "Delete unlisted tool descriptions",
            "apps.workspace.local.tools.description_pins.delete_unused",
        ),
        Chore(
            "Delete unused files of the storage",
            "apps.workspace.local.files.leftovers.delete_leftovers",
            Interval.DAY,
        ),
    )

    def ready(self) -> None:
        # Models can be imported only after all apps are registered.
        from apps.accounts.models import ApiKey
        from apps.workspace.local.memories.remembered import (
            delete_memories_of_key,
            delete_memories_of_user,
        )
        from apps.workspace.local.tools.tool_accounts import delete_accounts_of_user
        from apps.workspace.local.vector_tables import prepare_tables

        post_delete.connect(
            delete_memories_of_user,
            sender=settings.AUTH_USER_MODEL,
            dispatch_uid="workspace.delete_memories",
        )
        post_delete.connect(
            delete_memories_of_key, sender=ApiKey, dispatch_uid="workspace.delete_memories_of_key"
        )
        post_delete.connect(
            delete_accounts_of_user,
            sender=settings.AUTH_USER_MODEL,
            dispatch_uid="workspace.delete_tool_accounts",
        )
        post_migrate.connect(prepare_tables, sender=self, dispatch_uid="workspace.prepare_tables")
