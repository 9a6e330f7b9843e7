"""Converts test cases to documents and back: the YAML in `cases/*.yaml`, or JSON with the same
keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from apps.cases.case_messages import message_problems
from apps.cases.expectations import expectation_problems
from apps.cases.models import Case
from apps.catalog.models import Application

FIELDS = frozenset({"name", "messages", "expect", "from_real_run"})


class CaseDocumentInvalid(ValueError):
    """The document is not a valid test case. `problems` lists the errors with their paths."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def case_as_document(case: Case) -> dict[str, Any]:
    """Convert the test case to a document with a stable order of keys and without empty fields."""
    document: dict[str, Any] = {"name": case.name, "messages": case.messages}
    if case.expectations:
        document["expect"] = case.expectations
    if case.is_from_real_run:
        document["from_real_run"] = True
    return document


def case_from_document(application: Application, document: Mapping[str, Any]) -> Case:
    """Return the unsaved test case that a document describes: a new one, or the application's
    existing one with the same name. Raises `CaseDocumentInvalid` if the document is invalid.
    """
    if not isinstance(document, Mapping):
        raise CaseDocumentInvalid(
            (("A test case must be an object with name, messages and expect."),)
        )
    if unknown := sorted(map(str, document.keys() - FIELDS)):
        known = ", ".join(sorted(FIELDS))
        raise CaseDocumentInvalid(tuple(f"{one}: unknown key; use {known}" for one in unknown))
    name = document.get("name")
    if not isinstance(name, str) or not name.strip():
        raise CaseDocumentInvalid(("name: required; enter a text",))
    name = name.strip()
    case = Case.objects.filter(application=application, name=name).first()
    case = case or Case(application=application, name=name)
    case.messages = document.get("messages")
    case.expectations = document.get("expect") or []
    case.is_from_real_run = bool(document.get("from_real_run", False))
    if problems := tuple(case_problems(case)):
        raise CaseDocumentInvalid(problems)
    return case


def case_problems(case: Case) -> Iterator[str]:
    if len(case.name) > 200:
        yield "name: too long; the limit is 200 characters"
    yield from message_problems(case.messages)
    for problem in expectation_problems(case.expectations):
        yield problem.replace("expectations", "expect", 1)


def case_documents(application: Application, with_real_runs: bool) -> Iterable[dict[str, Any]]:
    """Return the application's test cases as documents, sorted by name. Test cases that were
    created from real runs are included only if `with_real_runs` is True.
    """
    rows = Case.objects.filter(application=application).order_by("name")
    if not with_real_runs:
        rows = rows.filter(is_from_real_run=False)
    return [case_as_document(case) for case in rows]


def save_case(application: Application, document: Mapping[str, Any], overwrite: bool) -> None:
    """Save the test case that a document describes. Without `overwrite`, an existing test case does
    not change.

    Raises `CaseDocumentInvalid` if the document is invalid.
    """
    case = case_from_document(application, document)
    if overwrite or case._state.adding:
        case.save()
