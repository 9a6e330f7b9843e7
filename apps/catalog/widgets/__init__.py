"""Widgets: applications on pages of other sites."""
