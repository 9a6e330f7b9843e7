"""What calls hold back of budgets: taken before them, settled after them, given up with their process.

These functions are synchronous: they run on a database thread. Each transaction locks windows in the
order of `Claim.place`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from apps.insights.budgets.models import BudgetNotice, BudgetReservation, BudgetWindow
from apps.insights.budgets.rules import Claim
from apps.insights.budgets.sentences import reserved_error, spent_error

WINDOWS = BudgetWindow._meta.db_table
RESERVATIONS = BudgetReservation._meta.db_table
# One conditional statement: of two that come at once, the second sees what the first has taken.
TAKE = (
    f"UPDATE {WINDOWS} SET reserved = reserved + %s WHERE budget_id = %s AND holder = %s "  # noqa: S608 - no values
    "AND starts_at = %s AND spent + reserved < %s + raised "
    "RETURNING id, spent, reserved, raised"
)
HOLD = f"INSERT INTO {RESERVATIONS} (call, amount, expires_at, window_id) SELECT %s, %s, %s, "
RELEASE = f"DELETE FROM {RESERVATIONS} WHERE window_id = %s AND call = %s RETURNING amount"  # noqa: S608 - no values
COUNT = (
    f"UPDATE {WINDOWS} SET spent = spent + %s, unpriced = unpriced + %s, "  # noqa: S608 - no values
    "reserved = reserved - {} WHERE id = %s"
)
# PostgreSQL takes both steps in one statement; each way to it costs a process a fifth of a millisecond.
TAKE_AND_HOLD = f"WITH taken AS ({TAKE}), held AS ({HOLD} id FROM taken) SELECT * FROM taken"  # noqa: S608 - no values
GONE = "COALESCE((SELECT amount FROM gone), 0)"
RELEASE_AND_COUNT = f"WITH gone AS ({RELEASE}) {COUNT.format(GONE)}"


class TakenWindow(NamedTuple):
    """A window after its part was taken, in smallest parts."""

    id: int
    spent: int
    reserved: int
    raised: int

    @property
    def used(self) -> int:
        return self.spent + self.reserved


@dataclass(frozen=True, slots=True)
class Hold:
    """What a call holds back of a window. `used` is what others had before, of `limit`."""

    claim: Claim
    window: int
    amount: int
    used: int
    limit: int

    @property
    def is_past_soft_line(self) -> bool:
        soft = self.claim.rule.soft
        return soft is not None and self.used >= soft


@dataclass(frozen=True, slots=True)
class Reserving:
    """A call that is about to be made. `amounts` are by the ids of the rules.

    `time_zone` is the person's, for what they are told.
    """

    call: UUID
    claims: Sequence[Claim]
    amounts: Mapping[int, int]
    expires_at: datetime
    conversation: UUID | None = None
    time_zone: str = ""


def reserve(wanted: Reserving) -> tuple[list[Hold], list[Hold]]:
    """Hold back the amounts in all windows or in none; also those whose soft line is to be told.

    Raises `BudgetSpent`, and `IntegrityError` for a budget that was deleted meanwhile.
    """
    now = timezone.now()
    with all_or_none(len(wanted.claims)):
        holds = [take(claim, wanted, now) for claim in wanted.claims]
    return holds, [one for one in holds if one.is_past_soft_line and is_news(one, wanted)]


def all_or_none(windows: int) -> AbstractContextManager[Any]:
    """A transaction, unless it would be of a single statement."""
    is_one = windows == 1 and connection.vendor == "postgresql"
    return nullcontext() if is_one else transaction.atomic()


def adapted_id(call: UUID) -> UUID | str:
    return call if connection.features.has_native_uuid_field else call.hex


def take(claim: Claim, wanted: Reserving, now: datetime) -> Hold:
    """Raises `BudgetSpent`."""
    rule, amount = claim.rule, wanted.amounts[claim.rule.id]
    found = try_to_take(claim, wanted, now)
    if found is None:
        window = window_of(claim, now)
        release_lapsed(window, now)
        found = try_to_take(claim, wanted, now)
        if found is None:
            row = BudgetWindow.objects.get(pk=window)
            limit = rule.limit + row.raised
            if row.spent < limit:
                raise reserved_error(rule, row.spent, limit)
            raise spent_error(rule, row.spent + row.reserved, limit, now, wanted.time_zone)
    return Hold(claim, found.id, amount, found.used - amount, rule.limit + found.raised)


def try_to_take(claim: Claim, wanted: Reserving, now: datetime) -> TakenWindow | None:
    rule, amount = claim.rule, wanted.amounts[claim.rule.id]
    adapted = connection.ops.adapt_datetimefield_value
    taking = (amount, rule.id, claim.holder, adapted(rule.window_at(now).start), rule.limit)
    holding = (adapted_id(wanted.call), amount, adapted(wanted.expires_at))
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(TAKE_AND_HOLD, (*taking, *holding))
            row = cursor.fetchone()
        else:
            cursor.execute(TAKE, taking)
            if row := cursor.fetchone():
                cursor.execute(f"{HOLD} %s", (*holding, row[0]))
    return None if row is None else TakenWindow(*row)


def window_of(claim: Claim, now: datetime) -> int:
    """The id of the window's row, which the first call in it makes."""
    start, end = claim.rule.window_at(now)
    place = {"budget_id": claim.rule.id, "holder": claim.holder, "starts_at": start}
    row, _ = BudgetWindow.objects.get_or_create(**place, defaults={"ends_at": end})
    return row.pk


@transaction.atomic
def release_lapsed(window: int, now: datetime) -> None:
    """Give back what calls held whose process is gone."""
    BudgetWindow.objects.select_for_update().get(pk=window)
    lapsed = BudgetReservation.objects.filter(window=window, expires_at__lte=now)
    # Those that are settled at this moment are locked, and wait for the window.
    found = dict(lapsed.select_for_update(skip_locked=True).values_list("pk", "amount"))
    if found:
        BudgetReservation.objects.filter(pk__in=found).delete()
        amount = sum(found.values())
        BudgetWindow.objects.filter(pk=window).update(reserved=F("reserved") - amount)


def release_all_lapsed() -> None:
    """As `release_lapsed`, one transaction for each window."""
    now = timezone.now()
    lapsed = BudgetReservation.objects.filter(expires_at__lte=now)
    for window in lapsed.order_by().values_list("window", flat=True).distinct():
        release_lapsed(window, now)


def is_news(hold: Hold, wanted: Reserving) -> bool:
    """Whether the conversation has yet to be told; another request is told each time."""
    if wanted.conversation is None:
        return True
    notice = BudgetNotice(window_id=hold.window, conversation=wanted.conversation)
    known = BudgetNotice.objects.filter(window=hold.window, conversation=wanted.conversation)
    if known.exists():
        return False
    BudgetNotice.objects.bulk_create([notice], ignore_conflicts=True)
    return True


class Settlement(NamedTuple):
    """What a call counts as in a window, None where a price is missing."""

    hold: Hold
    call: UUID
    parts: int | None


def settle(settlements: Iterable[Settlement]) -> None:
    """Count the calls, and give back what they held back if it has not lapsed."""
    ordered = sorted(settlements, key=lambda one: one.hold.claim.place)
    with all_or_none(len(ordered)), connection.cursor() as cursor:
        for one in ordered:
            window = one.hold.window
            releasing = (window, adapted_id(one.call))
            counting = (one.parts or 0, int(one.parts is None))
            if connection.vendor == "postgresql":
                cursor.execute(RELEASE_AND_COUNT, (*releasing, *counting, window))
                continue
            cursor.execute(RELEASE, releasing)
            row = cursor.fetchone()
            cursor.execute(COUNT.format("%s"), (*counting, row[0] if row else 0, window))


def renew(calls: Collection[UUID], expires_at: datetime) -> None:
    """Hold on to the reservations of calls that go on."""
    BudgetReservation.objects.filter(call__in=calls).update(expires_at=expires_at)
