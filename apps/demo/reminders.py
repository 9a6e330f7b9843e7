"""Plans the calls with which the demo model sets alarms and schedules, and responds to alarm
messages.
"""

import re
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta

from apps.demo.calls import PlannedCall

ALARM, SCHEDULE = "alarm-clock", "schedule-task"
NAMES = frozenset(
    {ALARM, SCHEDULE, "list-schedules", "update-schedule", "remove-schedule", "edit-heartbeat"}
)
"""The tools that only this module calls, because a wrong guess would set an unwanted alarm."""
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


def reminders(text: str, tools: Collection[str]) -> Iterator[PlannedCall]:
    """Yield a call for a request such as “Remind me in 1 minute to …”, “Every weekday at 9:30 …” or
    “List my schedules”.
    """
    if ALARM in tools and (found := _reminder.search(text)):
        count = int(found["count"]) if found["count"].isdecimal() else 1
        at = datetime.now(UTC) + timedelta(seconds=count * UNITS[found["unit"].lower()])
        subject = found["subject"].strip(" .!?\n")
        arguments = {"wakeAtISO": at.isoformat(timespec="seconds")}
        yield PlannedCall(ALARM, arguments | ({"reminderMessage": subject} if subject else {}))
    elif SCHEDULE in tools and (found := _daily.search(text)):
        hour, minute = int(found["hour"] or 9) % 24, int(found["minute"] or 0) % 60
        days = "MON-FRI" if found["day"].lower() == "weekday" else "*"
        expression = f"{minute} {hour} * * {days}"
        message = found["subject"].strip()
        yield PlannedCall(
            SCHEDULE, {"kind": "cron", "cronExpression": expression, "message": message}
        )
    elif "list-schedules" in tools and _listing.search(text):
        yield PlannedCall("list-schedules", {})


def ringing(whole: str, question: str) -> str:
    """Return the answer to an alarm message, or "" for any other message. `whole` is the message
    with its introduction.
    """
    return f"**Reminder:** {question.strip()}" if _alarm.search(whole) else ""
