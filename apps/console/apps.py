from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate

from apps.admin_pages import AdminPage
from apps.console.installation_roles import keep_groups
from apps.console.permission_names import rename_permissions


class ConsoleConfig(AppConfig):
    name = "apps.console"
    verbose_name = "Console"
    admin_pages = (
        AdminPage(
            "Watch",
            10,
            "Home",
            "house",
            url="admin:index",
            permission="apps.console.menu.is_staff",
        ),
        AdminPage(
            "Watch",
            41,
            "Latency",
            "",
            below="Usage",
            url="ai-latency",
            permission="apps.console.latency.is_offered",
        ),
        AdminPage(
            "Govern",
            71,
            "Maintenance",
            "",
            below="System messages",
            url="read-only",
            permission="apps.console.admin.govern.system_messages.may_switch",
        ),
        AdminPage(
            "Build",
            10,
            "Applications",
            "layout-grid",
            "catalog.application",
            "The agents that users talk to: a model, its instructions and its tools.",
            permission="apps.console.operator_rights.may_view_applications",
        ),
        AdminPage(
            "Build",
            40,
            "MCP servers",
            "plug",
            "workspace.mcpserver",
            "Programs on this machine whose tools applications can use.",
            permission="apps.console.admin.connect.mcp_sessions.may_administer",
        ),
        AdminPage(
            "Build",
            41,
            "MCP sessions",
            "",
            below="MCP servers",
            url="admin:workspace_mcpserver_sessions",
            permission="apps.console.admin.connect.mcp_sessions.may_administer",
        ),
    )

    def ready(self) -> None:
        # All permissions exist once the last app that has tables is migrated.
        *_, last = (one for one in apps.get_app_configs() if one.models_module is not None)
        post_migrate.connect(keep_groups, sender=last, dispatch_uid="console.installation_roles")
        post_migrate.connect(
            rename_permissions, sender=last, dispatch_uid="console.permission_names"
        )
