from django.apps import AppConfig

from apps.admin_pages import AdminPage
from apps.chores import Chore, Interval


class TriggersConfig(AppConfig):
    name = "apps.triggers"
    verbose_name = "Triggers"
    admin_pages = (
        AdminPage(
            "Automate",
            20,
            "Webhooks",
            "webhook",
            "triggers.webhook",
            "URLs that other services call to start an application.",
        ),
        AdminPage(
            "Automate",
            21,
            "Subscriptions",
            "",
            "triggers.subscription",
            "URLs that are called when a run ends, fails or waits.",
            below="Webhooks",
        ),
        AdminPage(
            "Automate",
            22,
            "Deliveries",
            "",
            "triggers.delivery",
            "Each call of a subscriber, with its attempts and the last response.",
            below="Webhooks",
        ),
    )
    chores = (
        Chore(
            "Delete old webhook messages and deliveries", "apps.triggers.old_deliveries.delete_old"
        ),
        Chore(
            "Enqueue overdue deliveries",
            "apps.triggers.outgoing.attempts.enqueue_overdue",
            Interval.TEN_MINUTES,
        ),
        Chore(
            "Send due schedules",
            "apps.triggers.schedules.clock.sweep",
            Interval.MINUTE,
            is_async=True,
        ),
    )
    recorded_kinds = (
        "apps.triggers.models.WEBHOOK_KIND",
        "apps.triggers.models.SUBSCRIPTION_KIND",
    )

    def ready(self) -> None:
        # Models can be imported only after all apps are registered.
        from apps.live.listeners import run_listeners
        from apps.schedules import user_schedules
        from apps.triggers.outgoing import deliveries, mail
        from apps.triggers.schedules import clock

        run_listeners.connect(deliveries.note_runs)
        run_listeners.connect(mail.note_runs)
        user_schedules.planned.connect(clock.note_planned)
