from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from apps.doors.client_parameters import ignored_header


def value_of(*names: str) -> str:
    ((name, value),) = ignored_header(names)
    assert name == b"x-ignored-parameters"
    return value.decode("ascii")


def test_ignored_parameters_are_sorted_and_safe_for_a_header():
    assert value_of("user", "metadata") == "metadata, user"
    assert value_of("a\r\nSet-Cookie: b", "é,", "", "stream_options.x") == (
        "_, __, a__Set-Cookie__b, stream_options.x"
    )


def test_of_very_many_only_the_first_are_told():
    names = [f"{number:06}{'x' * 500}" for number in range(100_000)]

    found = value_of(*names).split(", ")

    assert found == [name[:64] for name in names[: len(found) - 1]] + ["..."]
    assert 900 < len(", ".join(found)) < 1100


@given(st.lists(st.text(max_size=100), min_size=1, max_size=50))
def test_no_name_breaks_the_header(names):
    found = value_of(*names)

    assert found.isascii()
    assert found.isprintable()
    assert 0 < len(found) < 1100
