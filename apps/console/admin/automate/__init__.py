"""Registers the admin pages for schedules and webhooks, which start runs, and for subscriptions to
events.
"""
