"""The site, which writes each database statement of Django and Procrastinate to a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, cast

import psycopg
from django.db.backends.utils import CursorWrapper

from tests.sites import quick_site

STATEMENTS = "statements.log"


def count_statements() -> None:
    """Call this before the first statement. The file is in `DATA_DIR`."""
    path = Path(os.environ["DATA_DIR"]) / STATEMENTS
    of_django, of_procrastinate = cast("Any", CursorWrapper), cast("Any", psycopg.AsyncCursor)
    execute, execute_async = of_django._execute, of_procrastinate.execute

    def note(sql: Any) -> None:
        with path.open("a") as file:
            file.write(f"{' '.join(str(sql).split())}\n")

    def noted(self: CursorWrapper, sql: str, *arguments: Any) -> Any:
        note(sql)
        return execute(self, sql, *arguments)

    def noted_async(self: Any, sql: Any, *arguments: Any, **options: Any) -> Any:
        if sql:  # an empty query checks a connection
            note(sql)
        return execute_async(self, sql, *arguments, **options)

    of_django._execute = noted
    of_procrastinate.execute = noted_async


if __name__ == "__main__":
    count_statements()
    sys.exit(quick_site.main(sys.argv[1:]))
