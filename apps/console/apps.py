from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ConsoleConfig(AppConfig):
    name = "apps.console"
    verbose_name = "Console"

    def ready(self) -> None:
        from apps.console.installation_roles import keep_groups

        # The last of our apps: the permissions of all others are there by then.
        post_migrate.connect(keep_groups, sender=self, dispatch_uid="console.installation_roles")
