from django.apps import AppConfig
from django.conf import settings
from django.db.models.signals import post_delete


class NotesConfig(AppConfig):
    name = "apps.notes"
    verbose_name = "Notes"

    def ready(self) -> None:
        from apps.accounts.models import Team
        from apps.notes.deletion import delete_of_team, delete_of_user

        post_delete.connect(
            delete_of_user, sender=settings.AUTH_USER_MODEL, dispatch_uid="notes.delete_of_user"
        )
        post_delete.connect(delete_of_team, sender=Team, dispatch_uid="notes.delete_of_team")
