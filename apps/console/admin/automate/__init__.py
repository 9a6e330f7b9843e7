"""Registers the admin pages for schedules, webhooks and event subscriptions."""
