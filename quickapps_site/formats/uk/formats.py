"""Defines the Ukrainian formats under the names that Django reads."""

DATE_FORMAT = "j E Y р."  # noqa: RUF001
DATETIME_FORMAT = "j E Y р., H:i"  # noqa: RUF001
