"""What calls hold back of budgets: taken before them, settled after them, given up with their process.

These functions are synchronous: they run on a database thread. Each transaction locks windows in the
order of `Claim.place`, and reservations of a window only while it has that window locked.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, Sum
from django.utils import timezone

from apps.insights.budgets.models import BudgetNotice, BudgetReservation, BudgetWindow
from apps.insights.budgets.rules import Claim
from apps.insights.budgets.sentences import spent_error

WINDOWS = BudgetWindow._meta.db_table
RESERVATIONS = BudgetReservation._meta.db_table
# One conditional statement: of two that come at once, the second sees what the first has taken.
TAKE = (
    f"UPDATE {WINDOWS} SET reserved = reserved + %s WHERE budget_id = %s AND holder = %s "  # noqa: S608 - no values
    "AND starts_at = %s AND spent + reserved < %s + raised "
    "RETURNING id, spent, reserved, raised"
)
HOLD = (
    f"INSERT INTO {RESERVATIONS} (call, window_id, amount, expires_at) "  # noqa: S608 - no values
    "VALUES (%s, %s, %s, %s)"
)
COUNT = f"UPDATE {WINDOWS} SET spent = spent + %s, unpriced = unpriced + %s WHERE id = %s"  # noqa: S608 - no values
RELEASE = f"DELETE FROM {RESERVATIONS} WHERE window_id = %s AND call = %s RETURNING amount"  # noqa: S608 - no values
GIVE_BACK = f"UPDATE {WINDOWS} SET reserved = reserved - %s WHERE id = %s"  # noqa: S608 - no values


class Standing(NamedTuple):
    """A row of a window, in smallest parts."""

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


@transaction.atomic
def reserve(wanted: Reserving) -> tuple[list[Hold], list[Hold]]:
    """Hold back the amounts in all windows or in none; also those whose soft line is to be told.

    Raises `BudgetSpent`.
    """
    now = timezone.now()
    adapted = connection.ops.adapt_datetimefield_value
    holds = [take(claim, wanted, now) for claim in wanted.claims]
    call = adapted_id(wanted.call)
    rows = [(call, one.window, one.amount, adapted(wanted.expires_at)) for one in holds]
    with connection.cursor() as cursor:
        cursor.executemany(HOLD, rows)
    return holds, [one for one in holds if one.is_past_soft_line and is_news(one, wanted)]


def adapted_id(call: UUID) -> UUID | str:
    return call if connection.features.has_native_uuid_field else call.hex


def take(claim: Claim, wanted: Reserving, now: datetime) -> Hold:
    """Raises `BudgetSpent`."""
    rule, amount = claim.rule, wanted.amounts[claim.rule.id]
    found = try_to_take(claim, amount, now)
    if found is None:
        window = window_of(claim, now)
        release_lapsed(window, now)
        found = try_to_take(claim, amount, now)
        if found is None:
            row = BudgetWindow.objects.get(pk=window)
            limit = rule.limit + row.raised
            raise spent_error(rule, row.spent + row.reserved, limit, now, wanted.time_zone)
    return Hold(claim, found.id, amount, found.used - amount, rule.limit + found.raised)


def try_to_take(claim: Claim, amount: int, now: datetime) -> Standing | None:
    rule = claim.rule
    start = connection.ops.adapt_datetimefield_value(rule.window_at(now).start)
    with connection.cursor() as cursor:
        cursor.execute(TAKE, (amount, rule.id, claim.holder, start, rule.limit))
        row = cursor.fetchone()
    return None if row is None else Standing(*row)


def window_of(claim: Claim, now: datetime) -> int:
    """The id of the window's row, which the first call in it makes."""
    start, end = claim.rule.window_at(now)
    place = {"budget_id": claim.rule.id, "holder": claim.holder, "starts_at": start}
    row, _ = BudgetWindow.objects.get_or_create(**place, defaults={"ends_at": end})
    return row.pk


def release_lapsed(window: int, now: datetime) -> None:
    """Give back what calls held whose process is gone."""
    BudgetWindow.objects.select_for_update().get(pk=window)
    lapsed = BudgetReservation.objects.filter(window=window, expires_at__lte=now)
    if amount := lapsed.aggregate(sum=Sum("amount"))["sum"]:
        lapsed.delete()
        BudgetWindow.objects.filter(pk=window).update(reserved=F("reserved") - amount)


def release_all_lapsed() -> None:
    """As `release_lapsed`, one transaction for each window."""
    now = timezone.now()
    lapsed = BudgetReservation.objects.filter(expires_at__lte=now)
    for window in lapsed.order_by().values_list("window", flat=True).distinct():
        with transaction.atomic():
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


@transaction.atomic
def settle(settlements: Iterable[Settlement]) -> None:
    """Count the calls, and give back what they held back if it has not lapsed."""
    for one in sorted(settlements, key=lambda one: one.hold.claim.place):
        window = one.hold.window
        with connection.cursor() as cursor:
            cursor.execute(COUNT, (one.parts or 0, int(one.parts is None), window))
            cursor.execute(RELEASE, (window, adapted_id(one.call)))
            if row := cursor.fetchone():
                cursor.execute(GIVE_BACK, (row[0], window))


def renew(calls: Collection[UUID], expires_at: datetime) -> None:
    """Hold on to the reservations of calls that go on."""
    BudgetReservation.objects.filter(call__in=calls).update(expires_at=expires_at)
