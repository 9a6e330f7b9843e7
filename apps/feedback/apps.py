from django.apps import AppConfig
from django.conf import settings
from django.db.models.signals import post_delete


class FeedbackConfig(AppConfig):
    name = "apps.feedback"
    verbose_name = "Feedback"

    def ready(self) -> None:
        from apps.feedback.ratings import delete_of_user

        post_delete.connect(
            delete_of_user, sender=settings.AUTH_USER_MODEL, dispatch_uid="feedback.delete_of_user"
        )
