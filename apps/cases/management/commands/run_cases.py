from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async
from django.core.management.base import BaseCommand, CommandError

from apps import process_state
from apps.cases.junit import junit_xml
from apps.cases.models import CaseResult, CaseRun
from apps.cases.runner import (
    MOST_TIMES,
    CaseRunRequest,
    begin,
    carry_out,
    finish,
    problem_text,
)
from apps.catalog.models import Application
from apps.errors import QuickAppError
from apps.live.hub import HUB


class Command(BaseCommand):
    help = (
        "Run the test cases of an application, from their recordings unless --live is given. Fails "
        "(exit status 1) if a test case fails."
    )

    def create_parser(self, *names: str, **options: Any) -> Any:
        # Replace Django's own --version with the application's version.
        return super().create_parser(*names, **options, conflict_handler="resolve")

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the application")
        parser.add_argument(
            "--version",
            dest="target",
            default="live",
            help="live, draft or the number of a version",
        )
        parser.add_argument("--live", action="store_true", help="call models and tools")
        parser.add_argument(
            "--models",
            action="store_true",
            help="call models, but use the recorded results of tools",
        )
        parser.add_argument(
            "--times",
            type=int,
            default=1,
            help=f"the number of runs of each test case (up to {MOST_TIMES})",
        )
        parser.add_argument(
            "--record", action="store_true", help="record models and tools (with --live)"
        )
        parser.add_argument(
            "--approve", action="store_true", help="approve calls that need approval (with --live)"
        )
        parser.add_argument(
            "--case",
            action="append",
            default=[],
            help="run only the test case with this name; can be repeated",
        )
        parser.add_argument("--junit", type=Path, help="write the results as JUnit XML")

    def handle(self, *args: Any, slug: str, **options: Any) -> None:
        application = Application.objects.filter(slug=slug).first()
        if application is None:
            raise CommandError(f"Unknown application: {slug!r}.")
        request = self.request(application, options)
        try:
            run = begin(application, None, request)
        except QuickAppError as error:
            raise CommandError(problem_text(error)) from error
        async_to_sync(self.run_all)(run, request)
        run.refresh_from_db()
        results = list(run.results.all())
        if options["junit"] is not None:
            options["junit"].write_bytes(junit_xml(run, results))
        if run.problem:
            raise CommandError(run.problem)
        passed = sum(result.passed for result in results)
        self.stdout.write(f"{passed} of {len(results)} passed.")
        if run.state != CaseRun.State.PASSED:
            raise CommandError(f"{len(results) - passed} of {len(results)} attempts failed.")

    def request(self, application: Application, options: dict[str, Any]) -> CaseRunRequest:
        """Return the run request that the command's options describe. Raises `CommandError` if
        options are incompatible or a test case is unknown.
        """
        if options["record"] and not options["live"]:
            raise CommandError("--record requires --live. Add --live.")
        numbers = None
        if names := options["case"]:
            found = dict(application.cases.filter(name__in=names).values_list("name", "pk"))
            if missing := [name for name in names if name not in found]:
                raise CommandError(f"Unknown test case: {missing[0]!r}.")
            numbers = tuple(found.values())
        return CaseRunRequest(
            options["target"],
            "live" if options["live"] else "models" if options["models"] else "replay",
            options["times"],
            options["record"],
            options["approve"],
            numbers,
        )

    async def run_all(self, run: CaseRun, request: CaseRunRequest) -> None:
        try:
            await carry_out(HUB, run, request.cases, self.print_result)
        except BaseException:
            await database_sync_to_async(finish)(
                run, "The command that ran the test cases was stopped."
            )
            raise
        finally:
            await HUB.budgets.close()
            await HUB.summaries.close()
            await process_state.close_loop_objects()

    def print_result(self, result: CaseResult) -> None:
        mark = "passed" if result.passed else "FAILED"
        again = f" ({result.attempt} of {result.run.times})" if result.run.times > 1 else ""
        spent = f"{result.seconds:.1f} s, {result.tokens:,} tokens"
        self.stdout.write(f"{mark}  {result.name}{again}  [{spent}]")
        for failure in result.failures:
            self.stdout.write(f"        {failure['text']}")
