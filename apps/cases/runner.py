"""Runs test cases for an operator: makes the attempts concurrently, and stores each result."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec
from channels.db import database_sync_to_async
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from apps.accounts.caller import Caller, bucket_of
from apps.agent.meter import NO_METER, Meter
from apps.cases.attempt_queue import admit_case, run_in_order, run_until_stopped
from apps.cases.attempts import FinishedAttempt, case_caller, try_case
from apps.cases.case_messages import read_messages
from apps.cases.expectations import expectation_problems, read_expectations
from apps.cases.models import Case, CaseResult, CaseRun, Cassette
from apps.cases.player import Mode, Player
from apps.cases.preparation import (
    CasePreparation,
    PlannedAttempt,
    chosen_cases,
    prepare_attempts,
)
from apps.cases.recording import Recording
from apps.cases.targets import LIVE, digest_of_document, resolve_target
from apps.catalog.models import Application
from apps.errors import ApplicationBroken, QuickAppError
from apps.insights.meter import SERVER, RunMeter
from apps.live.events import storable_value
from apps.live.hub import Hub
from apps.runs.workspaces import open_workspace
from apps.workspace.local.models import StoredFile

logger = logging.getLogger(__name__)

DOOR = "cases"
AT_ONCE = 4
"""A run makes at most this many attempts at a time."""
MOST_TIMES = 20
MOST_ATTEMPTS = 2_000
LONGEST_TEXT = 200_000

OnResult = Callable[[CaseResult], object]
"""A function that is called with each result, in the order of the test cases."""


class CaseRunRefused(QuickAppError):
    """The run of test cases cannot start as requested."""

    code = "case_run_refused"


@dataclass(frozen=True, slots=True)
class CaseRunRequest:
    target: str = LIVE
    mode: Mode = "replay"
    times: int = 1
    is_recording: bool = False
    is_approved: bool = False
    cases: Collection[int] | None = None
    """The IDs of the test cases, or None for all test cases of the application."""


def begin(application: Application, user: User | None, request: CaseRunRequest) -> CaseRun:
    """Store a new run of test cases. Raises `CaseRunRefused` if it cannot start as requested.

    Also raises `TargetUnknown` if the application's version does not exist, and `ApplicationBroken`
    if its manifest is invalid.
    """
    rows = chosen_cases(application, request.cases)
    count, in_all = len(rows), Case.objects.filter(application=application).count()
    if not count:
        raise CaseRunRefused("There are no test cases. Create one first.")
    for case in rows:  # The rules for expectations have become stricter since some were stored.
        if problems := expectation_problems(case.expectations):
            raise CaseRunRefused(f"The test case “{case.name}” cannot run: {problems[0]}")
    times = request.times if request.mode != "replay" else 1
    if not 1 <= times <= MOST_TIMES:
        raise CaseRunRefused(f"Unsupported number of attempts: {times}. Use 1 to {MOST_TIMES}.")
    if count * times > MOST_ATTEMPTS:
        raise CaseRunRefused(
            f"The run has {count * times:,} attempts; the limit is {MOST_ATTEMPTS:,}."
        )
    resolved = resolve_target(application, request.target)
    return CaseRun.objects.create(
        application=application,
        target=request.target,
        document_digest=digest_of_document(resolved.document),
        mode=request.mode,
        times=times,
        is_recording=request.is_recording and request.mode == "live",
        is_approved=request.is_approved and request.mode == "live",
        total=count * times,
        is_whole=count == in_all,
        started_by=user,
    )


async def carry_out(
    hub: Hub,
    run: CaseRun,
    cases: Collection[int] | None = None,
    on_result: OnResult = lambda result: None,
) -> CaseRun:
    """Make the attempts of the run that have no stored result, calling `on_result` with each
    result. Then store the run's outcome. A canceled run can be resumed.
    """
    keep = database_sync_to_async(finish)
    try:
        prepared: CasePreparation = await database_sync_to_async(prepare_attempts)(run, cases)
        work = run_in_order(attempts_of(run, prepared, meter_of(hub, run)), AT_ONCE, on_result)
        if not await run_until_stopped(work, partial(database_sync_to_async(is_stopped), run)):
            return run
    except QuickAppError as error:
        await keep(run, problem_text(error))
    except Exception:
        logger.exception("A run of test cases failed unexpectedly")
        await keep(run, "The run failed unexpectedly. See the server log.")
    else:
        await keep(run)
    return run


def problem_text(error: QuickAppError) -> str:
    if isinstance(error, ApplicationBroken):
        return "The application cannot be opened: " + "; ".join(error.problems)
    return str(error)


def meter_of(hub: Hub, run: CaseRun) -> Meter:
    """Return the meter that records the run's model calls as its operator's usage. A replay makes
    no calls.
    """
    if run.mode == CaseRun.Mode.REPLAY:
        return NO_METER
    bucket = SERVER if run.started_by_id is None else bucket_of(run.started_by_id)
    return RunMeter(hub.summaries.queue_call, DOOR, bucket, budgets=hub.budgets)


def attempts_of(
    run: CaseRun, prepared: CasePreparation, meter: Meter
) -> list[Callable[[], Coroutine[Any, Any, CaseResult]]]:
    return [partial(attempt, run, prepared, planned, meter) for planned in prepared.attempts]


async def attempt(
    run: CaseRun, prepared: CasePreparation, planned: PlannedAttempt, meter: Meter
) -> CaseResult:
    """Make an attempt, and store its result. Delete the files that the attempt wrote."""
    case = planned.case
    recording, cassette = prepared.recordings.get(case.pk, (Recording(), None))
    mode: Any = run.mode
    player = Player(mode, recording, prepared.mask, run.is_approved)
    caller = case_caller(run.started_by_id)
    messages, expectations = read_messages(case.messages), read_expectations(case.expectations)
    workspace = open_workspace(caller, prepared.application)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(database_sync_to_async(delete_files), caller.bucket)
        count = None
        if mode != "replay":
            counted = counted_caller(run, caller)
            count = await stack.enter_async_context(admit_case(counted, prepared.application))
        trial = await try_case(
            messages, expectations, prepared.application, workspace, player, caller, meter
        )
        if count is not None:
            count(trial.usage)
        keep = database_sync_to_async(store_result)
        result: CaseResult = await keep(run, planned, trial, cassette)
    return result


def counted_caller(run: CaseRun, caller: Caller) -> Caller:
    """Return the caller whose rate limits apply: the operator who started the run, or `caller` if a
    command started it.
    """
    if run.started_by_id is None:
        return caller
    return Caller(bucket_of(run.started_by_id), kind="user", user_id=run.started_by_id)


def delete_files(bucket: str) -> None:
    for file in StoredFile.objects.filter(bucket=bucket):
        file.delete()


def store_result(
    run: CaseRun, planned: PlannedAttempt, trial: FinishedAttempt, cassette: Cassette | None
) -> CaseResult:
    """Store the result of an attempt. If the run makes recordings, the recording of the first
    attempt replaces the test case's recording.
    """
    case, found, player = planned.case, trial.attempt, trial.player
    failures = list(trial.failures)
    with transaction.atomic():
        if run.is_recording and planned.number == 1:
            if player.new_recording.is_too_large:
                cassette = None
            else:
                new = player.new_recording.write()
                Cassette.objects.filter(case=case).delete()
                cassette = Cassette.objects.create(case=case, tape=new)
        result = CaseResult.objects.create(
            run=run,
            case=case,
            name=case.name,
            attempt=planned.number,
            place=planned.index,
            passed=not failures,
            failures=storable_value(msgspec.to_builtins(failures)),
            text=storable_value(player.mask.text(found.text)[:LONGEST_TEXT]),
            error=storable_value(player.mask.text(found.error)),
            tools=[
                {
                    "name": storable_value(call.name),
                    "arguments": player.mask.value(dict(call.arguments)),
                    "refused": call.name in player.refused,
                }
                for call in found.tools
            ],
            seconds=found.seconds,
            tokens=found.tokens,
            costs={name: str(cost) for name, cost in found.costs.items()},
            cassette=cassette,
        )
        CaseRun.objects.filter(pk=run.pk).update(seen_at=timezone.now())
    return result


def is_stopped(run: CaseRun) -> bool:
    """Return True if a user has stopped the run or its application was deleted."""
    run.refresh_from_db(fields=("state", "finished_at"))
    return bool(run.state == CaseRun.State.STOPPED)


def stop(run: CaseRun) -> bool:
    """Stop the run and its current attempts. Return False if it has already ended."""
    rows = CaseRun.objects.filter(pk=run.pk, state=CaseRun.State.RUNNING)
    return bool(rows.update(state=CaseRun.State.STOPPED, finished_at=timezone.now()))


def finish(run: CaseRun, problem: str = "") -> None:
    """Store the outcome of the run, unless it was stopped. `problem` is the reason why it failed as
    a whole, or "".
    """
    passed = not problem and not CaseResult.objects.filter(run=run, passed=False).exists()
    run.state = CaseRun.State.PASSED if passed else CaseRun.State.FAILED
    run.problem, run.finished_at = problem[:1000], timezone.now()
    values = {"state": run.state, "problem": run.problem, "finished_at": run.finished_at}
    CaseRun.objects.filter(pk=run.pk, state=CaseRun.State.RUNNING).update(**values)
    delete_old_runs(run.application)


def delete_old_runs(application: Application) -> None:
    """Delete all runs of the application's test cases except the newest `MOST_RUNS`."""
    rows = CaseRun.objects.filter(application=application).order_by("-pk")
    old = list(rows.values_list("pk", flat=True)[MOST_RUNS:])
    CaseRun.objects.filter(pk__in=old).delete()


MOST_RUNS = 200
"""At most this many runs of test cases are stored per application."""
