"""Notifications about ended runs: events to subscribers, and mail to users."""
