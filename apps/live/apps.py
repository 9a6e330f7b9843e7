from django.apps import AppConfig

from apps.admin_pages import AdminPage
from apps.chores import Chore, Interval


class LiveConfig(AppConfig):
    name = "apps.live"
    label = (
        "runs"  # Tables and migrations of existing installations have this label in their names.
    )
    verbose_name = "Runs"
    admin_pages = (
        AdminPage(
            "Watch",
            20,
            "Runs",
            "activity",
            "runs.runsummary",
            "Each answer that an application gave in the chat, through the API or on a schedule, with its calls, tokens, cost and outcome.",
        ),
        AdminPage(
            "Watch",
            21,
            "Runs in progress",
            "",
            "runs.run",
            "Runs that are running, queued, or waiting for a user.",
            below="Runs",
        ),
    )
    chores = (
        Chore(
            "Aggregate usage",
            "apps.live.history.run_rows.sum_up_usage",
            Interval.FIVE_MINUTES,
        ),
        Chore("End runs of dead processes", "apps.live.history.run_rows.end_abandoned"),
        Chore("Delete run rows", "apps.live.history.run_rows.delete_old", days="RUN_ROWS_DAYS"),
        Chore(
            "Delete model requests",
            "apps.live.history.sent_requests.delete_old",
            days="RUN_ROWS_DAYS",
        ),
        Chore("Compact runs after 30 days", "apps.live.history.compaction.compact_old"),
        Chore("Delete expired answered calls", "apps.live.interactions.delete_answered_calls"),
        Chore(
            "Delete unfinished tool accounts", "apps.live.interactions.delete_unfinished_accounts"
        ),
        Chore(
            "Index attached files",
            "apps.live.process.indexing.index",
            Interval.MINUTE,
            is_async=True,
        ),
    )

    def ready(self) -> None:
        # Models can be imported only after all applications are registered.
        from apps.catalog.history import change_recorder
        from apps.live.process import indexing
        from apps.workspace.local.corpora import corpus

        change_recorder.changed.connect(indexing.note_change)
        corpus.work_added.connect(indexing.enqueue_indexing)
