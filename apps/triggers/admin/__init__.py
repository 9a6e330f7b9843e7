"""The admin of what begins by itself, and of who is told of it."""

from apps.triggers.admin import deliveries, subscriptions, webhooks  # noqa: F401 - each registers its rows
