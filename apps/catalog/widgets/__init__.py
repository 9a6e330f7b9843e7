"""Stores the settings of widgets, which show applications on other sites."""
