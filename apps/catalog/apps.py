from django.apps import AppConfig
from django.db.models.signals import pre_delete

from apps.admin_pages import AdminPage
from apps.chores import Chore, Interval


class CatalogConfig(AppConfig):
    name = "apps.catalog"
    verbose_name = "Catalog"
    admin_pages = (
        AdminPage(
            "Build",
            20,
            "Predefined content",
            "layers",
            "catalog.contentitem",
            "Prompts, tools, toolsets and skills that manifests refer to by name.",
        ),
        AdminPage(
            "Build",
            21,
            "Shared prompts",
            "",
            "catalog.savedprompt",
            "Prompts that users of the chat page share with a team.",
            below="Predefined content",
        ),
        AdminPage(
            "Govern",
            70,
            "System messages",
            "megaphone",
            "catalog.systemmessage",
            "Messages at the top of the chat page, such as an announced maintenance.",
        ),
        AdminPage(
            "Govern",
            51,
            "Operator keys",
            "",
            "catalog.operatorkey",
            "Keys for scripts that use the admin API as the user who created them.",
            below="API keys",
        ),
    )
    chores = (
        Chore(
            "Link uploads of the previous version",
            "apps.catalog.application_uploads.adopt_uploads",
            Interval.TEN_MINUTES,
        ),
        Chore("Delete changes", "apps.catalog.history.models.delete_old", days="AUDIT_DAYS"),
    )

    def ready(self) -> None:
        # Models can be imported only after all apps are registered.
        from apps.catalog import checks  # noqa: F401 - its functions register themselves
        from apps.catalog.application_uploads import erase_uploads
        from apps.catalog.history import change_recorder

        change_recorder.connect_declared()
        change_recorder.connect_accounts()
        pre_delete.connect(
            erase_uploads, sender="catalog.Application", dispatch_uid="catalog.erase_uploads"
        )
