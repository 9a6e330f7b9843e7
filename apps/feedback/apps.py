from django.apps import AppConfig
from django.conf import settings
from django.db.models.signals import post_delete

from apps.admin_pages import AdminPage


class FeedbackConfig(AppConfig):
    name = "apps.feedback"
    verbose_name = "Feedback"
    admin_pages = (
        AdminPage(
            "Watch",
            30,
            "Feedback",
            "thumbs-up",
            "feedback.feedback",
            "Ratings that users give to answers, with their comments.",
        ),
    )

    def ready(self) -> None:
        # Models can be imported only after all apps are registered.
        from apps.feedback.ratings import delete_feedback_of_user, forget_conversation

        post_delete.connect(
            delete_feedback_of_user,
            sender=settings.AUTH_USER_MODEL,
            dispatch_uid="feedback.delete_of_user",
        )
        post_delete.connect(
            forget_conversation,
            sender="conversations.Conversation",
            dispatch_uid="feedback.forget_conversation",
        )
