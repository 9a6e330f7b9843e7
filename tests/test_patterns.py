"""Expensive patterns are refused, and all others are searched as written."""

import time

import pytest
import regex

from apps.patterns import PatternRefused, compile_pattern, parse_pattern, size_of
from tests.tables import each_row


@each_row(
    ("pattern", "problem"),
    [
        ("(?:(?:(?:a{1000}){1000}){1000})", "2,002,002,002 states"),
        ("a{100000000}", "200,000,001 states"),
        ("[ab]{100000000}", "states"),
        ("(?:ab{1000000}){1000}", "states"),
        ("(?<=a{100000000})", "states"),
        ("(?x) a { 1000 0000 }", "states"),
        ("(?x) a #{\n{10000000}", "states"),
        ("(?:" * 100 + "a" + ")+" * 100, "states"),
        ("(?:" * 30 + "a" + "){1,}" * 30, "states"),
        ("(?:" * 30 + "a" + "){2}" * 30, "states"),
        ("(a{1000})(?1){1000}(?:\\1{1000}){1000}", "states"),
        ("(?(1)a{10000000}|b)(c)", "states"),
        ("(?:[\\d--[1]]{1000}|b){1000}", "states"),
        ("(?iV1)(?:[\u0100-\U0010ffff]{100}){30}", "states"),
        ("(" * 1000, "nested too deeply"),
        ("(?V1)" + "[" * 900, "nested too deeply"),
        ("a" * 2001, "has 2,001 characters; the limit is 2,000"),
        ("(", "is not a regular expression: missing ) at position 1"),
        (r"\L<names>", "is not a regular expression: undefined named list"),
        (r"\p{Nonsense}", "is not a regular expression"),
        ("(?a)(?u)x", "is not a regular expression"),
    ],
)
def test_a_pattern_that_cannot_be_compiled_within_bounds_is_refused_at_once(pattern, problem):
    started = time.thread_time()

    with pytest.raises(PatternRefused, match=regex.escape(problem)):
        compile_pattern(pattern, regex.IGNORECASE)

    assert time.thread_time() - started < 5


@each_row(
    ("pattern", "text"),
    [
        (r"^[A-Za-z0-9_-]{1,4096}$", "abc"),
        (r'"tool":"desk_(close|open)"', '{"tool":"desk_open"}'),
        (r"^(?!internal)\w+(?:\.\w+){0,100}$", "a.b.c"),
        (r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "0" * 8 + "-0000" * 3 + "-" + "0" * 12),
        (r"(?i)STRASSE", "strasse"),
        (r"a{5000}", "a" * 5000),
        (r"(?<year>\d{4})-(?P<month>\d\d)", "2026-11"),
    ],
)
def test_what_people_write_is_compiled(pattern, text):
    assert compile_pattern(pattern).search(text) is not None


def test_the_flags_of_a_caller_apply():
    assert compile_pattern("a", regex.IGNORECASE).search("A") is not None
    assert compile_pattern("a").search("A") is None


def test_the_size_counts_copies_of_repeated_parts():
    patterns = ("a", "a*", "a+", "a{3}", "a{3,}", "a{,9}", "(?:a+)+", "a{0}", "ab|c")

    sizes = {pattern: size_of(parse_pattern(pattern, 0)) for pattern in patterns}

    assert sizes == {
        "a": 2,
        "a*": 3,
        "a+": 5,
        "a{3}": 7,
        "a{3,}": 9,
        "a{,9}": 3,
        "(?:a+)+": 13,
        "a{0}": 3,
        "ab|c": 6,
    }
