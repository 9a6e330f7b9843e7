from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate


class ConsoleConfig(AppConfig):
    name = "apps.console"
    verbose_name = "Console"

    def ready(self) -> None:
        from apps.console.installation_roles import keep_groups

        # After the last app with tables the permissions of all are there.
        *_, last = (one for one in apps.get_app_configs() if one.models_module is not None)
        post_migrate.connect(keep_groups, sender=last, dispatch_uid="console.installation_roles")
