from django.apps import AppConfig
from django.conf import settings
from django.db.models.signals import post_delete, pre_delete

from apps.chores import Chore, Interval


class ChatConfig(AppConfig):
    name = "apps.chat"
    verbose_name = "Chat"
    chores = (
        Chore("Erase expired shares", "apps.chat.shares.links.erase_expired", Interval.TEN_MINUTES),
        Chore("Delete used identities of widgets", "apps.chat.widget.identities.delete_expired"),
    )

    def ready(self) -> None:
        # Models can be imported only after all apps are registered.
        from apps.chat.account import deletion

        pre_delete.connect(
            deletion.report_deletion,
            sender=settings.AUTH_USER_MODEL,
            dispatch_uid="chat.report_deletion",
        )
        post_delete.connect(
            deletion.erase_belongings,
            sender=settings.AUTH_USER_MODEL,
            dispatch_uid="chat.erase_belongings",
        )
