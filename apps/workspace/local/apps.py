from django.apps import AppConfig
from django.conf import settings
from django.db.models.signals import post_delete, post_migrate


class LocalWorkspaceConfig(AppConfig):
    name = "apps.workspace.local"
    label = "workspace"
    verbose_name = "Models and files"

    def ready(self) -> None:
        from apps.accounts.models import ApiKey
        from apps.workspace.local.pgvector import prepare_tables
        from apps.workspace.local.remembered import delete_memories_of_key, delete_memories_of_user
        from apps.workspace.local.tool_accounts import delete_of_user

        post_delete.connect(
            delete_memories_of_user,
            sender=settings.AUTH_USER_MODEL,
            dispatch_uid="workspace.delete_memories",
        )
        post_delete.connect(
            delete_memories_of_key, sender=ApiKey, dispatch_uid="workspace.delete_memories_of_key"
        )
        post_delete.connect(
            delete_of_user,
            sender=settings.AUTH_USER_MODEL,
            dispatch_uid="workspace.delete_tool_accounts",
        )
        post_migrate.connect(prepare_tables, sender=self, dispatch_uid="workspace.prepare_tables")
