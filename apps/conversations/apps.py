from django.apps import AppConfig
from django.db.models.signals import post_delete, post_save, pre_delete, pre_save

from apps.chores import Chore, Interval


class ConversationsConfig(AppConfig):
    name = "apps.conversations"
    verbose_name = "Conversations"
    chores = (
        Chore(
            "Erase deleted conversations",
            "apps.conversations.keeping.arrangement.erase_deleted",
            Interval.TEN_MINUTES,
        ),
        Chore(
            "Erase temporary conversations",
            "apps.conversations.keeping.arrangement.erase_temporary",
            Interval.TEN_MINUTES,
        ),
        Chore(
            "Erase inactive conversations",
            "apps.conversations.keeping.retention.erase_untouched",
        ),
        Chore("Delete files of unsent questions", "apps.conversations.files.unsent.delete"),
        Chore(
            "Delete answered client requests",
            "apps.conversations.client_requests.delete_answered",
        ),
    )

    def ready(self) -> None:
        # Models can be imported only after all applications are registered.
        from apps.catalog.actions import publish
        from apps.catalog.models import Application
        from apps.conversations.keeping import deletion
        from apps.conversations.models import Conversation
        from apps.conversations.pinned_versions import pin_version

        publish.conversation_pinners.connect(pin_version)
        post_delete.connect(
            deletion.delete_belongings,
            sender=Conversation,
            dispatch_uid="conversations.delete_belongings",
        )
        pre_delete.connect(
            deletion.store_former_name,
            sender=Application,
            dispatch_uid="conversations.store_former_name",
        )
        pre_save.connect(
            deletion.follow_slug, sender=Application, dispatch_uid="conversations.follow_slug"
        )
        post_save.connect(
            deletion.reconnect, sender=Application, dispatch_uid="conversations.reconnect"
        )
