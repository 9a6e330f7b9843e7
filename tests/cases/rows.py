"""Initial test cases."""

from __future__ import annotations

from typing import Any

from apps.cases.models import Case
from apps.catalog.models import Application

ASKED = [{"role": "user", "text": "Say hello."}]


def make_case(application: Application, name: str, *expectations: Any, **fields: Any) -> Case:
    fields = {"messages": ASKED, **fields}
    case = Case(application=application, name=name, expectations=list(expectations), **fields)
    case.full_clean()
    case.save()
    return case
