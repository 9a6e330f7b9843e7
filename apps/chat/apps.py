from django.apps import AppConfig
from django.db.models.signals import post_delete, post_save, pre_delete, pre_save


class ChatConfig(AppConfig):
    name = "apps.chat"
    verbose_name = "Conversations"

    def ready(self) -> None:
        from django.contrib.auth import get_user_model

        from apps.catalog.models import Application
        from apps.catalog.versions import publication
        from apps.chat import account_deletion, deletion
        from apps.chat.models import Conversation
        from apps.chat.pinned_versions import keep_version

        if keep_version not in publication.keepers:
            publication.keepers.append(keep_version)
        post_delete.connect(
            deletion.delete_belongings, sender=Conversation, dispatch_uid="chat.delete_belongings"
        )
        pre_delete.connect(
            deletion.keep_former_name, sender=Application, dispatch_uid="chat.keep_former_name"
        )
        pre_save.connect(deletion.follow_slug, sender=Application, dispatch_uid="chat.follow_slug")
        post_save.connect(deletion.reconnect, sender=Application, dispatch_uid="chat.reconnect")
        post_delete.connect(
            account_deletion.erase_belongings,
            sender=get_user_model(),
            dispatch_uid="chat.erase_belongings",
        )
