from django.apps import AppConfig

from apps.admin_pages import AdminPage
from apps.chores import Chore, Interval


class InsightsConfig(AppConfig):
    name = "apps.insights"
    verbose_name = "Insights"
    admin_pages = (
        AdminPage(
            "Watch",
            40,
            "Usage",
            "chart-column",
            "insights.usagesum",
        ),
        AdminPage(
            "Watch",
            50,
            "Errors",
            "circle-alert",
            "insights.usagesum",
            url="admin:insights_usagesum_errors",
        ),
        AdminPage(
            "Build",
            31,
            "Prices",
            "",
            "insights.price",
            "Prices per token that replace the list prices of a deployment.",
            below="Deployments",
        ),
        AdminPage(
            "Govern",
            40,
            "Budgets",
            "wallet",
            "insights.budget",
            "Limits of tokens or money for users, teams, keys and applications.",
        ),
    )
    chores = (
        Chore(
            "Delete rows of calls",
            "apps.insights.rollups.delete_old",
            Interval.TEN_MINUTES,
            days="USAGE_DAYS",
        ),
        Chore(
            "Release expired budget reservations",
            "apps.insights.budgets.reservations.release_all_lapsed",
            Interval.TEN_MINUTES,
        ),
        Chore(
            "Delete budget windows",
            "apps.insights.rollups.delete_old_windows",
            Interval.TEN_MINUTES,
            days="USAGE_DAYS",
        ),
    )
    recorded_kinds = (
        "apps.insights.prices.PRICE_KIND",
        "apps.insights.budgets.models.BUDGET_KIND",
    )
