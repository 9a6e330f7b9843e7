"""Calls that set an alarm or schedule a task, and what is said when an alarm rings."""

import re
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta

from apps.demo.calls import Call

ALARM, SCHEDULE = "alarm-clock", "schedule-task"
NAMES = frozenset(
    {ALARM, SCHEDULE, "list-schedules", "update-schedule", "remove-schedule", "edit-heartbeat"}
)
"""Tools that are called for the words below alone: a guess would set an alarm that nobody wants."""
UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
_reminder = re.compile(
    r"(?is:\b(?:remind|wake|alarm)\b[^.?!\n]{0,40}?\bin (?P<count>\d{1,4}|an?|one) "
    r"(?P<unit>second|minute|hour|day)s?\b\s*(?:to|that|about|of|:|,)?\s*(?P<subject>.*))"
)
_daily = re.compile(
    r"(?is:\bevery (?P<day>day|morning|weekday)\b(?: at (?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?)?"
    r"\s*[,:]?\s*(?P<subject>\w.*))"
)
_listing = re.compile(r"(?i:\b(?:list|show|which)\b[^.?!\n]{0,40}\b(?:schedules?|alarms?)\b)")
_alarm = re.compile(r"\A\[The alarm ")


def reminders(text: str, tools: Collection[str]) -> Iterator[Call]:
    """“Remind me in 1 minute to …”, “Every weekday at 9:30 …”, “List my schedules”."""
    if ALARM in tools and (found := _reminder.search(text)):
        count = int(found["count"]) if found["count"].isdecimal() else 1
        at = datetime.now(UTC) + timedelta(seconds=count * UNITS[found["unit"].lower()])
        subject = found["subject"].strip(" .!?\n")
        arguments = {"wakeAtISO": at.isoformat(timespec="seconds")}
        yield Call(ALARM, arguments | ({"reminderMessage": subject} if subject else {}))
    elif SCHEDULE in tools and (found := _daily.search(text)):
        hour, minute = int(found["hour"] or 9) % 24, int(found["minute"] or 0) % 60
        days = "MON-FRI" if found["day"].lower() == "weekday" else "*"
        expression = f"{minute} {hour} * * {days}"
        message = found["subject"].strip()
        yield Call(SCHEDULE, {"kind": "cron", "cronExpression": expression, "message": message})
    elif "list-schedules" in tools and _listing.search(text):
        yield Call("list-schedules", {})


def ringing(whole: str, question: str) -> str:
    """What is said to the message of an alarm, "" to any other. `whole` has what begins it."""
    return f"**Reminder:** {question.strip()}" if _alarm.search(whole) else ""
