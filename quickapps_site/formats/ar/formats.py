"""Defines the Arabic formats under the names that Django reads."""

DATE_FORMAT = "j F Y"
DATETIME_FORMAT = "j F Y، H:i"
TIME_FORMAT = "H:i"
