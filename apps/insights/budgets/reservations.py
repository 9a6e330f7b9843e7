"""Reserves amounts in budget windows, charges costs, and releases reservations.

These functions are synchronous and run on a database thread. To avoid deadlocks, each transaction
locks windows in the order of `BudgetClaim.lock_order`.
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
from apps.insights.budgets.rules import BudgetClaim
from apps.insights.budgets.sentences import reserved_error, spent_error

WINDOWS = BudgetWindow._meta.db_table
RESERVATIONS = BudgetReservation._meta.db_table
# One conditional statement, so that the second of two concurrent calls sees the reservation of the
# first call.
RESERVE = (
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
# PostgreSQL does both steps in one statement, because each round trip takes a fifth of a
# millisecond.
RESERVE_AND_HOLD = (
    f"WITH updated AS ({RESERVE}), held AS ({HOLD} id FROM updated) SELECT * FROM updated"  # noqa: S608 - no values
)
GONE = "COALESCE((SELECT amount FROM gone), 0)"
RELEASE_AND_COUNT = f"WITH gone AS ({RELEASE}) {COUNT.format(GONE)}"


class ReservedWindow(NamedTuple):
    """The amounts of a window after a reservation, in the smallest parts of the budget's unit."""

    id: int
    spent: int
    reserved: int
    raised: int

    @property
    def used(self) -> int:
        return self.spent + self.reserved


@dataclass(frozen=True, slots=True)
class BudgetHold:
    """A call's reservation in one window. `used` is the used amount before the reservation."""

    claim: BudgetClaim
    window: int
    amount: int
    used: int
    limit: int

    @property
    def is_past_soft_limit(self) -> bool:
        soft = self.claim.rule.soft
        return soft is not None and self.used >= soft


@dataclass(frozen=True, slots=True)
class ReservationRequest:
    """The input of `reserve`, for one call."""

    call: UUID
    claims: Sequence[BudgetClaim]
    amounts: Mapping[int, int]
    """The amounts to reserve, by budget ID."""
    expires_at: datetime
    conversation: UUID | None = None
    time_zone: str = ""


def reserve(request: ReservationRequest) -> tuple[list[BudgetHold], list[BudgetHold]]:
    """Reserve amounts in all windows or in none.

    Returns two lists: all reservations, and the reservations that exceed a soft limit about which
    the user has not been notified yet. Raises `BudgetSpent` if a budget is used up, and
    `IntegrityError` if a budget was deleted.
    """
    now = timezone.now()
    with all_or_none(len(request.claims)):
        holds = [reserve_in_window(claim, request, now) for claim in request.claims]
    return holds, [one for one in holds if one.is_past_soft_limit and record_notice(one, request)]


def all_or_none(windows: int) -> AbstractContextManager[Any]:
    """Return a transaction. On PostgreSQL, a single window needs only one statement, and therefore
    no transaction.
    """
    is_one = windows == 1 and connection.vendor == "postgresql"
    return nullcontext() if is_one else transaction.atomic()


def adapted_id(call: UUID) -> UUID | str:
    return call if connection.features.has_native_uuid_field else call.hex


def reserve_in_window(claim: BudgetClaim, request: ReservationRequest, now: datetime) -> BudgetHold:
    """Reserve an amount in one window. Raises `BudgetSpent` if the budget is used up, and
    `BudgetReserved` if running calls have reserved the remaining amount.
    """
    rule, amount = claim.rule, request.amounts[claim.rule.id]
    found = try_to_reserve(claim, request, now)
    if found is None:
        window = window_of(claim, now)
        release_lapsed(window, now)
        found = try_to_reserve(claim, request, now)
        if found is None:
            row = BudgetWindow.objects.get(pk=window)
            limit = rule.limit + row.raised
            if row.spent < limit:
                raise reserved_error(rule, row.spent, limit)
            raise spent_error(rule, row.spent + row.reserved, limit, now, request.time_zone)
    return BudgetHold(claim, found.id, amount, found.used - amount, rule.limit + found.raised)


def try_to_reserve(
    claim: BudgetClaim, request: ReservationRequest, now: datetime
) -> ReservedWindow | None:
    rule, amount = claim.rule, request.amounts[claim.rule.id]
    adapted = connection.ops.adapt_datetimefield_value
    reserving = (amount, rule.id, claim.holder, adapted(rule.window_at(now).start), rule.limit)
    holding = (adapted_id(request.call), amount, adapted(request.expires_at))
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(RESERVE_AND_HOLD, (*reserving, *holding))
            row = cursor.fetchone()
        else:
            cursor.execute(RESERVE, reserving)
            if row := cursor.fetchone():
                cursor.execute(f"{HOLD} %s", (*holding, row[0]))
    return None if row is None else ReservedWindow(*row)


def window_of(claim: BudgetClaim, now: datetime) -> int:
    """Return the primary key of the current window. Create the window if necessary."""
    start, end = claim.rule.window_at(now)
    key = {"budget_id": claim.rule.id, "holder": claim.holder, "starts_at": start}
    row, _ = BudgetWindow.objects.get_or_create(**key, defaults={"ends_at": end})
    return row.pk


@transaction.atomic
def release_lapsed(window: int, now: datetime) -> None:
    """Release the expired reservations in a window, which belong to processes that have died."""
    BudgetWindow.objects.select_for_update().get(pk=window)
    lapsed = BudgetReservation.objects.filter(window=window, expires_at__lte=now)
    # A settlement locks its reservation and waits for the window. Waiting for the reservation here
    # would deadlock.
    found = dict(lapsed.select_for_update(skip_locked=True).values_list("pk", "amount"))
    if found:
        BudgetReservation.objects.filter(pk__in=found).delete()
        amount = sum(found.values())
        BudgetWindow.objects.filter(pk=window).update(reserved=F("reserved") - amount)


def release_all_lapsed() -> None:
    """Release all expired reservations, in one transaction per window."""
    now = timezone.now()
    lapsed = BudgetReservation.objects.filter(expires_at__lte=now)
    for window in lapsed.order_by().values_list("window", flat=True).distinct():
        release_lapsed(window, now)


def record_notice(hold: BudgetHold, request: ReservationRequest) -> bool:
    """Return True if the conversation has not shown a notice about this window yet, and record the
    notice. If there is no conversation, always return True.
    """
    if request.conversation is None:
        return True
    notice = BudgetNotice(window_id=hold.window, conversation=request.conversation)
    known = BudgetNotice.objects.filter(window=hold.window, conversation=request.conversation)
    if known.exists():
        return False
    BudgetNotice.objects.bulk_create([notice], ignore_conflicts=True)
    return True


class Settlement(NamedTuple):
    """The actual cost of a call that is charged to one window. `parts` is None if the call has no
    price.
    """

    hold: BudgetHold
    call: UUID
    parts: int | None


def settle(settlements: Iterable[Settlement]) -> None:
    """Add the costs of calls to their windows, and release the calls' reservations."""
    ordered = sorted(settlements, key=lambda one: one.hold.claim.lock_order)
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
    """Postpone the expiry of running calls' reservations to `expires_at`."""
    BudgetReservation.objects.filter(call__in=calls).update(expires_at=expires_at)
