from django.apps import AppConfig
from django.conf import settings
from django.db.models.signals import post_delete


class NotesConfig(AppConfig):
    name = "apps.notes"
    verbose_name = "Notes"

    def ready(self) -> None:
        # Models can be imported only after all apps are registered.
        from apps.accounts.models import Team
        from apps.notes.spaces import delete_notes_of_user, delete_of_team

        post_delete.connect(
            delete_notes_of_user,
            sender=settings.AUTH_USER_MODEL,
            dispatch_uid="notes.delete_of_user",
        )
        post_delete.connect(delete_of_team, sender=Team, dispatch_uid="notes.delete_of_team")
