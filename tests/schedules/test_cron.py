"""Cron expressions that are stored, and those that are refused."""

import pytest

from apps.schedules.cron import cron_problem

END = "Enter five fields, such as “0 9 * * MON-FRI”."


@pytest.mark.parametrize("expression", ["*/60 */24 * * *", "0-30/10 1,5/2 */31 */12 */7", "@daily"])
def test_steps_may_be_as_large_as_their_field(expression):
    assert cron_problem(expression) == ""


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("*/99999999999 * * * *", "Bad step of the minute: the limit is 60."),
        ("0 1,2-5/25 * * *", "Bad step of the hour: the limit is 24."),
        ("0 0 */32 * *", "Bad step of the day of the month: the limit is 31."),
        ("0 0 1 */13 *", "Bad step of the month: the limit is 12."),
        ("0 0 * * */8", "Bad step of the day of the week: the limit is 7."),
        ("0 0 * * 1#2/3", "Bad day-of-week."),
        ("*/x * * * *", "Bad minute."),
    ],
)
def test_a_step_that_no_field_has_is_refused(expression, problem):
    assert cron_problem(expression) == f"{problem} {END}"
