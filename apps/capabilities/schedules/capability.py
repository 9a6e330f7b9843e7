"""An alarm of the conversation, and schedules of the person: what the model can do with them."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

from channels.db import database_sync_to_async
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.utils import timezone

from apps.agent.events import TextDelta
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import NOTHING, Capability, Contribution, Open, Opening
from apps.capabilities.schedules.task_arguments import (
    ARGUMENTS,
    REPEAT,
    WAKE_AT,
    fields_of,
    listed,
    read_id,
    read_moment,
    repeat_seconds,
)
from apps.capabilities.wrappers.approval_rules import approval_rules
from apps.capabilities.wrappers.internal import (
    IN_TITLE,
    internal_tool,
    parameters,
    plain_result,
    show_result,
    text_parameter,
)
from apps.errors import InvalidParameter, ToolError
from apps.manifest.manifest import Manifest
from apps.manifest.parameters import Parameter, SimpleParameter
from apps.schedules.desk import Desk
from apps.schedules.models import Schedule

ALARM = "alarm-clock"
SET_ALARM = (
    "Ends your turn and wakes you in this conversation at a time, with a message to yourself. Use it "
    "for reminders, and to look again later. A conversation has one alarm: another one takes its "
    "place. A time that has passed wakes you at once."
)
REMINDER = "The alarm rings."
ALARM_PARAMETERS = parameters(
    {
        WAKE_AT: text_parameter(
            "When, such as 2026-11-24T17:30:00+01:00; without an offset by the person's clock.",
            display=IN_TITLE,
        ),
        "reminderMessage": text_parameter("What you want to be told then."),
        REPEAT: SimpleParameter(
            type="number", description="Wake again after each so many minutes, at least 1."
        ),
    },
    WAKE_AT,
)
ABOUT: dict[str, Parameter] = {
    "kind": text_parameter(
        "How it repeats: in intervals, at a time, or by a cron expression.",
        enum=("interval", "at", "cron"),
    ),
    "message": text_parameter("What you will be asked each time, with all that you need to know."),
    "name": text_parameter("A short name for the person.", display=IN_TITLE),
    "intervalSeconds": SimpleParameter(
        type="integer", description="For interval: at least 60 seconds."
    ),
    WAKE_AT: text_parameter(
        "For at: when, such as 2026-11-24T17:30:00+01:00; without an offset by the zone's clock."
    ),
    REPEAT: SimpleParameter(
        type="number", description="For at: repeat after each so many minutes, at least 1."
    ),
    "cronExpression": text_parameter("For cron: five fields, such as 0 9 * * MON-FRI."),
    "timezone": text_parameter("By whose clocks, such as Europe/Berlin; else the person's."),
    "activeHoursStart": text_parameter("Run only from this hour on, such as 22:00."),
    "activeHoursEnd": text_parameter("Until this hour; it may be on the next day."),
    "budgetTokens": SimpleParameter(
        type="integer", description="How many tokens one run may use; else the usual number."
    ),
    "version": SimpleParameter(
        type="integer",
        description="The number of the version of you that answers; 0: whichever is live. A new "
        "task has the version of this conversation unless it is written.",
    ),
}
TASK_ID: Parameter = text_parameter("The taskId, as list-schedules shows it.")
ADD = (
    "Schedules a task: at its times you are asked the message in a new conversation of the person. "
    "The person has to approve it."
)
LIST = "Lists the person's schedules and alarms with you, with their next and last times."
UPDATE = "Changes a schedule. What is left out stays as it is. The person has to approve it."
REMOVE = "Removes a schedule or an alarm."
HEARTBEAT = (
    "Wakes you in this conversation in regular intervals, until it is switched off. What is left out "
    "stays as it is. The person has to approve it."
)
BEAT = "Look whether something is to be done."
BEAT_SECONDS = 3600
BEAT_NAMES = ("intervalSeconds", "message", "timezone", "activeHoursStart", "activeHoursEnd")
BEAT_PARAMETERS = parameters(
    {
        "enabled": SimpleParameter(
            type="boolean", description="False: wake no more. True unless it is written."
        ),
        **{name: ABOUT[name] for name in BEAT_NAMES},
        "intervalSeconds": SimpleParameter(
            type="integer", description="At least 60 seconds; an hour unless it is written."
        ),
    }
)
UNKNOWN = "There is no such schedule. Look for its taskId with list-schedules."

Work = Callable[[Desk, Mapping[str, Any]], str]


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.schedules if manifest.features is not None else None
    if wanted is None or not wanted.enabled:
        return None
    make = partial(internal_tool, manifest)
    rules = approval_rules(manifest, wanted.approval)
    asking = partial(make, approval=rules, addresses=frozenset(ABOUT))
    tools = (
        make(
            (ALARM, SET_ALARM, ALARM_PARAMETERS),
            set_alarm,
            "Alarm",
            addresses=frozenset({WAKE_AT, "reminderMessage"}),
        ),
        asking(
            ("schedule-task", ADD, parameters(ABOUT, "kind", "message")),
            partial(run_tool, add),
            "Schedule",
        ),
        make(
            ("list-schedules", LIST, parameters({})),
            partial(run_tool, list_all),
            "Look at the schedules",
            is_repeatable=True,
        ),
        asking(
            ("update-schedule", UPDATE, parameters({"taskId": TASK_ID, **ABOUT}, "taskId")),
            partial(run_tool, change),
            "Change a schedule",
        ),
        asking(
            ("edit-heartbeat", HEARTBEAT, BEAT_PARAMETERS),
            partial(run_tool, heartbeat),
            "Heartbeat",
        ),
        make(
            ("remove-schedule", REMOVE, parameters({"taskId": TASK_ID}, "taskId")),
            partial(run_tool, remove),
            "Remove a schedule",
        ),
    )
    return lambda opening: nullcontext(
        NOTHING
        if opening.schedules is None
        else Contribution(tuple(tool.bind(opening) for tool in tools))
    )


async def run_tool(work: Work, opening: Opening, invocation: Invocation) -> ToolResult:
    """Raises `InvalidParameter`, `ToolError`."""
    text = await on_desk(work, opening, invocation)
    return plain_result(invocation, text)


async def set_alarm(opening: Opening, invocation: Invocation) -> ToolResult:
    """Ends the turn. Raises `InvalidParameter`."""
    text = await on_desk(alarm, opening, invocation)
    show_result(invocation, text)
    # The model is not asked for words any more, and often has said none.
    invocation.emit(TextDelta(f"\n\n{text.partition(' Until then')[0]}"))
    return ToolResult(text, "text/plain", ends_turn=True)


async def on_desk(work: Work, opening: Opening, invocation: Invocation) -> str:
    """Raises `InvalidParameter`, `ToolError`."""
    desk = opening.schedules
    if desk is None:
        raise ToolError("There are no schedules in this conversation.")
    with refusals():
        text: str = await database_sync_to_async(work)(desk, invocation.arguments)
    return text


@contextmanager
def refusals() -> Iterator[None]:
    """Turn what a schedule refuses into what the model is told."""
    try:
        yield
    except ValidationError as error:
        found = error.message_dict if hasattr(error, "error_dict") else {}
        for name, problems in found.items():
            if name != NON_FIELD_ERRORS:
                raise InvalidParameter(ARGUMENTS.get(name, name), problems[0]) from error
        raise ToolError(" ".join(error.messages), is_lasting=True) from error


def alarm(desk: Desk, given: Mapping[str, Any]) -> str:
    at = read_moment(WAKE_AT, given[WAKE_AT], desk.time_zone)
    repeat = None if given.get(REPEAT) is None else repeat_seconds(REPEAT, given[REPEAT])
    message = (given.get("reminderMessage") or "").strip() or REMINDER
    row = desk.set_alarm(at, message, repeat)
    return f"The alarm is set: {row.words}. Until then this turn ends."


def add(desk: Desk, given: Mapping[str, Any]) -> str:
    zone = desk.time_zone or "UTC"
    fields = {"time_zone": zone, "start_at": timezone.now(), **fields_of(given, zone)}
    if fields["kind"] == Schedule.Kind.AT and WAKE_AT not in given:
        raise InvalidParameter(WAKE_AT, "it is required for the kind at.")
    fields["name"] = fields.get("name") or " ".join(fields["message"].split())[:60]
    row = desk.add(fields)
    return f"Scheduled: {row.words}.\n{written(row)}"


def heartbeat(desk: Desk, given: Mapping[str, Any]) -> str:
    if given.get("enabled") is False:
        desk.heartbeats.delete()
        return "There is no heartbeat in this conversation any more."
    fields = fields_of(given, desk.time_zone)
    if not desk.heartbeats.exists():
        begun = {"message": BEAT, "interval_seconds": BEAT_SECONDS, "start_at": timezone.now()}
        fields = {**begun, **fields}
    row = desk.set_heartbeat(fields)
    return f"The heartbeat is set: {row.words}.\n{written(row)}"


def list_all(desk: Desk, given: Mapping[str, Any]) -> str:
    rows = [listed(row) for row in desk.rows.order_by("created_at")]
    return json.dumps(rows, ensure_ascii=False, indent=1) if rows else "There are none."


def change(desk: Desk, given: Mapping[str, Any]) -> str:
    pk = read_id(given["taskId"])
    known = None if pk is None else desk.rows.filter(pk=pk).first()
    if known is None:
        raise InvalidParameter("taskId", UNKNOWN)
    fields = fields_of(given, known.time_zone)
    if not fields:
        raise ToolError("Nothing is to be changed. Name what is new about the schedule.")
    row = desk.change(known.pk, fields)
    if row is None:
        raise InvalidParameter("taskId", UNKNOWN)
    return f"Changed: {row.words}.\n{written(row)}"


def remove(desk: Desk, given: Mapping[str, Any]) -> str:
    pk = read_id(given["taskId"])
    if pk is None or not desk.rows.filter(pk=pk).delete()[0]:
        raise InvalidParameter("taskId", UNKNOWN)
    return "Removed."


def written(row: Schedule) -> str:
    return json.dumps(listed(row), ensure_ascii=False)


schedules = Capability("schedules", frozenset({"features.schedules"}), prepare)
