"""Collects the sections of the diagnostic report. Each has its own thread and a time limit."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connections

from quickapps_site.operations.diagnosis.variables import hide_passwords

NO_DATABASE = "Not read, because the database does not respond."


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A section of the diagnostic report. `read` returns its content, which must be convertible to
    JSON. If it takes longer than `seconds`, the section contains an error instead.
    """

    title: str
    read: Callable[[], Any]
    seconds: float = 10.0
    needs_database: bool = False


class Reading:
    """A daemon thread that reads a section of the diagnostic report, so that the process can end
    without waiting for it.
    """

    def __init__(self, section: ReportSection) -> None:
        self.section = section
        self.found: Any = {"error": f"No result within {section.seconds:g} seconds."}
        self.thread = threading.Thread(target=self.run, name=section.title, daemon=True)

    def run(self) -> None:
        try:
            self.found = self.section.read()
        except Exception as error:  # noqa: BLE001 - the report says what failed
            self.found = failure_of(error)
        finally:
            connections.close_all()

    def result(self) -> Any:
        self.thread.start()
        self.thread.join(self.section.seconds)
        return self.found


def failure_of(error: Exception) -> dict[str, str]:
    # PostgreSQL repeats statements and values in the lines after the first.
    text, *_ = f"{type(error).__name__}: {error}".splitlines()
    return {"error": hide_passwords(text)}


def has_failed(found: Any) -> bool:
    return isinstance(found, dict) and found.keys() == {"error"}


def read_sections(sections: Sequence[ReportSection]) -> dict[str, Any]:
    """Read the sections one after the other, so that none affects the measurements of another.
    Return their content by title.

    If the section `database` fails, the other sections that need the database are skipped.
    """
    report: dict[str, Any] = {}
    seconds = {}
    for section in sections:
        if section.needs_database and has_failed(report.get("database")):
            report[section.title] = {"error": NO_DATABASE}
            continue
        began = time.monotonic()
        report[section.title] = Reading(section).result()
        seconds[section.title] = round(time.monotonic() - began, 2)
    return {**report, "seconds": seconds}
