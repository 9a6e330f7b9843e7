"""Defines tools that manage the conversation's alarm and the user's schedules."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

from channels.db import database_sync_to_async
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.utils import timezone
from django.utils.translation import gettext_lazy

from apps.agent.events import TextDelta
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import NOTHING, Capability, Contribution, Open, Opening
from apps.capabilities.schedules.task_arguments import (
    ARGUMENTS,
    REPEAT,
    WAKE_AT,
    list_schedule,
    read_moment,
    read_schedule_id,
    repeat_seconds,
    schedule_fields,
)
from apps.capabilities.wrappers.approval_rules import approval_rules
from apps.capabilities.wrappers.internal import (
    IN_TITLE,
    PlatformTool,
    internal_tool,
    parameters,
    plain_result,
    show_result,
    text_parameter,
)
from apps.errors import InvalidParameter, ToolError
from apps.manifest.manifest import Manifest
from apps.manifest.toolsets.parameters import Parameter, SimpleParameter
from apps.schedules.models import Schedule
from apps.schedules.user_schedules import UserSchedules

ALARM = "alarm-clock"
SET_ALARM = (
    "Ends your turn and wakes you in this conversation at a time, with a message to yourself. "
    "Use it for reminders, and to check something again later. A conversation has one alarm; "
    "setting another one replaces it. A time in the past wakes you at once."
)
REMINDER = "The alarm rings."
ALARM_PARAMETERS = parameters(
    {
        WAKE_AT: text_parameter(
            "The time, such as 2026-11-24T17:30:00+01:00. Without an offset, it is in "
            "the user's time zone.",
            display=IN_TITLE,
        ),
        "reminderMessage": text_parameter("The message that you get at that time."),
        REPEAT: SimpleParameter(
            type="number",
            description="Repeat the alarm at this interval in minutes, at least 1.",
        ),
    },
    WAKE_AT,
)
ABOUT: dict[str, Parameter] = {
    "kind": text_parameter(
        "When the task runs: at an interval, at a given time, or by a cron expression.",
        enum=("interval", "at", "cron"),
    ),
    "message": text_parameter(
        "The message that you get each time, with everything that you need to know."
    ),
    "name": text_parameter("A short name of the task, shown to the user.", display=IN_TITLE),
    "intervalSeconds": SimpleParameter(
        type="integer",
        description="Only for kind `interval`: the seconds between runs, at least 60.",
    ),
    WAKE_AT: text_parameter(
        "Only for kind `at`: the time, such as 2026-11-24T17:30:00+01:00. Without an offset, it is in the task's time zone."
    ),
    REPEAT: SimpleParameter(
        type="number",
        description="Only for kind `at`: repeat at this interval in minutes, at least 1.",
    ),
    "cronExpression": text_parameter("Only for kind `cron`: five fields, such as 0 9 * * MON-FRI."),
    "timezone": text_parameter("The time zone, such as Europe/Berlin. The default is the user's."),
    "activeHoursStart": text_parameter("Run only from this hour on, such as 22:00."),
    "activeHoursEnd": text_parameter("Run only until this hour, which can be on the next day."),
    "budgetTokens": SimpleParameter(
        type="integer",
        description="The number of tokens that one run may use. Omit it for the default.",
    ),
    "version": SimpleParameter(
        type="integer",
        description="The number of your version that answers; 0 for the live version. The default "
        "for a new task is the version of this conversation.",
    ),
}
TASK_ID: Parameter = text_parameter("The taskId, as in list-schedules.")
ADD = (
    "Schedules a task: at its times, you get the message in a new conversation of the user. The "
    "user has to approve it."
)
LIST = "Lists the user's schedules and alarms with you, with their next and last times."
UPDATE = "Changes a schedule. Fields that you omit do not change. The user has to approve it."
REMOVE = "Removes a schedule or an alarm."
HEARTBEAT = (
    "Wakes you in this conversation at regular intervals, until it is switched off. Fields that "
    "you omit do not change. The user has to approve it."
)
BEAT = "Check if there is something to do."
BEAT_SECONDS = 3600
BEAT_NAMES = ("intervalSeconds", "message", "timezone", "activeHoursStart", "activeHoursEnd")
BEAT_PARAMETERS = parameters(
    {
        "enabled": SimpleParameter(
            type="boolean", description="False turns the heartbeat off. The default is true."
        ),
        **{name: ABOUT[name] for name in BEAT_NAMES},
        "intervalSeconds": SimpleParameter(
            type="integer",
            description="The interval in seconds, at least 60. The default is one hour.",
        ),
    }
)
UNKNOWN = "There is no schedule with this taskId. Find the taskId with list-schedules."

Work = Callable[[UserSchedules, Mapping[str, Any]], str]


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.schedules if manifest.features is not None else None
    if wanted is None or not wanted.enabled:
        return None
    make = partial(internal_tool, manifest)
    rules = approval_rules(manifest, wanted.approval)
    asking = partial(make, approval=rules)
    about = frozenset(ABOUT)
    tools = (
        make(
            PlatformTool(
                ALARM,
                SET_ALARM,
                ALARM_PARAMETERS,
                gettext_lazy("Alarm"),
                "changes",
                addresses=frozenset({WAKE_AT, "reminderMessage"}),
            ),
            set_alarm,
        ),
        asking(
            PlatformTool(
                "schedule-task",
                ADD,
                parameters(ABOUT, "kind", "message"),
                gettext_lazy("Schedule"),
                "changes",
                addresses=about,
            ),
            partial(run_tool, add),
        ),
        make(
            PlatformTool(
                "list-schedules",
                LIST,
                parameters({}),
                gettext_lazy("Look at the schedules"),
                "read-only",
            ),
            partial(run_tool, list_all),
        ),
        asking(
            PlatformTool(
                "update-schedule",
                UPDATE,
                parameters({"taskId": TASK_ID, **ABOUT}, "taskId"),
                gettext_lazy("Change a schedule"),
                "changes",
                addresses=about,
            ),
            partial(run_tool, change),
        ),
        asking(
            PlatformTool(
                "edit-heartbeat",
                HEARTBEAT,
                BEAT_PARAMETERS,
                gettext_lazy("Heartbeat"),
                "changes",
                addresses=about,
            ),
            partial(run_tool, heartbeat),
        ),
        make(
            PlatformTool(
                "remove-schedule",
                REMOVE,
                parameters({"taskId": TASK_ID}, "taskId"),
                gettext_lazy("Remove a schedule"),
                "changes",
            ),
            partial(run_tool, remove),
        ),
    )
    return lambda opening: nullcontext(
        NOTHING
        if opening.chat.schedules is None
        else Contribution(tuple(tool.bind(opening) for tool in tools))
    )


async def run_tool(work: Work, opening: Opening, invocation: Invocation) -> ToolResult:
    """Run a schedule tool. Raises `InvalidParameter` or `ToolError` if it fails."""
    text = await with_schedules(work, opening, invocation)
    return plain_result(invocation, text)


async def set_alarm(opening: Opening, invocation: Invocation) -> ToolResult:
    """Set the conversation's alarm, and end the turn. Raises `InvalidParameter` if an argument is
    invalid.
    """
    text = await with_schedules(alarm, opening, invocation)
    show_result(invocation, text)
    # The model often writes no text with this call and is not called again, so the answer shows the
    # result's text.
    invocation.emit(TextDelta(f"\n\n{text.partition(' Until then')[0]}"))
    return ToolResult(text, "text/plain", ends_turn=True)


async def with_schedules(work: Work, opening: Opening, invocation: Invocation) -> str:
    """Call `work` with the user's schedules on a database thread. Raises `InvalidParameter` or
    `ToolError` on failure.
    """
    user_schedules = opening.chat.schedules
    if user_schedules is None:
        raise ToolError("There are no schedules in this conversation.")
    with refusals():
        text: str = await database_sync_to_async(work)(user_schedules, invocation.arguments)
    return text


@contextmanager
def refusals() -> Iterator[None]:
    """Within the block, convert a schedule's `ValidationError` to an error for the model."""
    try:
        yield
    except ValidationError as error:
        found = error.message_dict if hasattr(error, "error_dict") else {}
        for name, problems in found.items():
            if name != NON_FIELD_ERRORS:
                raise InvalidParameter(ARGUMENTS.get(name, name), problems[0]) from error
        raise ToolError(" ".join(error.messages), is_lasting=True) from error


def alarm(user_schedules: UserSchedules, given: Mapping[str, Any]) -> str:
    at = read_moment(WAKE_AT, given[WAKE_AT], user_schedules.time_zone)
    repeat = None if given.get(REPEAT) is None else repeat_seconds(REPEAT, given[REPEAT])
    message = (given.get("reminderMessage") or "").strip() or REMINDER
    row = user_schedules.set_alarm(at, message, repeat)
    return f"The alarm is set: {row.words}. The conversation continues then."


def add(user_schedules: UserSchedules, given: Mapping[str, Any]) -> str:
    zone = user_schedules.time_zone or "UTC"
    fields = {"time_zone": zone, "start_at": timezone.now(), **schedule_fields(given, zone)}
    if fields["kind"] == Schedule.Kind.AT and WAKE_AT not in given:
        raise InvalidParameter(WAKE_AT, "it is required for the kind `at`.")
    fields["name"] = fields.get("name") or " ".join(fields["message"].split())[:60]
    row = user_schedules.add(fields)
    return f"Scheduled: {row.words}.\n{write_schedule(row)}"


def heartbeat(user_schedules: UserSchedules, given: Mapping[str, Any]) -> str:
    if given.get("enabled") is False:
        user_schedules.heartbeats.delete()
        return "This conversation no longer has a heartbeat."
    fields = schedule_fields(given, user_schedules.time_zone)
    if not user_schedules.heartbeats.exists():
        begun = {"message": BEAT, "interval_seconds": BEAT_SECONDS, "start_at": timezone.now()}
        fields = {**begun, **fields}
    row = user_schedules.set_heartbeat(fields)
    return f"The heartbeat is set: {row.words}.\n{write_schedule(row)}"


def list_all(user_schedules: UserSchedules, given: Mapping[str, Any]) -> str:
    rows = [list_schedule(row) for row in user_schedules.rows.order_by("created_at")]
    return json.dumps(rows, ensure_ascii=False, indent=1) if rows else "There are no schedules."


def change(user_schedules: UserSchedules, given: Mapping[str, Any]) -> str:
    pk = read_schedule_id(given["taskId"])
    known = None if pk is None else user_schedules.rows.filter(pk=pk).first()
    if known is None:
        raise InvalidParameter("taskId", UNKNOWN)
    fields = schedule_fields(given, known.time_zone)
    if not fields:
        raise ToolError("The call contains no changes. Pass the fields to change.")
    row = user_schedules.change(known.pk, fields)
    if row is None:
        raise InvalidParameter("taskId", UNKNOWN)
    return f"Changed: {row.words}.\n{write_schedule(row)}"


def remove(user_schedules: UserSchedules, given: Mapping[str, Any]) -> str:
    pk = read_schedule_id(given["taskId"])
    if pk is None or not user_schedules.rows.filter(pk=pk).delete()[0]:
        raise InvalidParameter("taskId", UNKNOWN)
    return "Removed."


def write_schedule(row: Schedule) -> str:
    return json.dumps(list_schedule(row), ensure_ascii=False)


schedules = Capability("schedules", frozenset({"features.schedules"}), prepare)
