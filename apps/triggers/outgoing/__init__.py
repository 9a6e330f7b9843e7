"""Notifications about ended runs: events to subscribers, and email to users."""
