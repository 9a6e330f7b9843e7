"""The admin of what begins by itself, and of who is told of it."""

from apps.triggers.admin import deliveries, schedules, subscriptions, webhooks  # noqa: F401 - each registers its rows
