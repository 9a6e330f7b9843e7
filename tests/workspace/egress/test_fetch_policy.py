"""Hosts that match a list."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from apps.workspace.egress.fetch_policy import is_listed
from tests.contract import proves
from tests.tables import each_row

labels = st.from_regex(r"[a-z]([a-z0-9-]{0,10}[a-z0-9])?", fullmatch=True).filter(
    lambda label: not label.startswith("xn--") and label[2:4] != "--"
)


@proves("17")
@each_row(
    ("host", "pattern", "expected"),
    [
        ("a.example", "a.example", True),
        ("A.Example", "a.eXAMPLE", True),
        ("a.example.", "a.example", True),
        ("a.example", " a.example ", True),
        ("b.a.example", "a.example", False),
        ("b.a.example", "*.a.example", True),
        ("c.b.a.example", "*.a.example", True),
        ("a.example", "*.a.example", False),
        ("evila.example", "*.a.example", False),
        (".a.example", "*.a.example", False),
        ("a.example.evil", "a.example", False),
        ("a.example", "*", False),
        ("a.example", "*.", False),
        ("a.example", "", False),
        ("a.example", "*.*", False),
        ("a.example", "http://a.example", False),
        ("bücher.example", "xn--bcher-kva.example", True),
        ("xn--bcher-kva.example", "bücher.example", True),
        ("8.8.8.8", "8.8.8.8", False),
        ("1.8.8.8", "*.8.8.8", False),
        ("::1", "::1", False),
        ("[::1]", "[::1]", False),
        ("134744072", "134744072", False),
        ("0x08080808", "0x08080808", False),
        ("8.0x8.010.8", "8.0x8.010.8", False),
    ],
)
def test_an_entry_is_a_host_or_what_it_ends_in_and_never_an_address(
    host: str, pattern: str, expected: bool
):
    assert is_listed(host, [pattern]) is expected


@proves("17")
@given(st.lists(labels, min_size=2, max_size=5))
def test_a_host_is_listed_below_each_of_its_parents_and_not_as_one(parts: list[str]):
    host = ".".join([*parts, "example"])
    parents = [".".join([*parts[n:], "example"]) for n in range(1, len(parts) + 1)]

    assert is_listed(host, [host])
    assert all(is_listed(host, [f"*.{parent}"]) for parent in parents)
    assert not is_listed(host, parents)
    assert not is_listed(host, [f"*.{host}"])


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_host_and_no_entry_is_too_strange(host: str, pattern: str):
    assert is_listed(host, [pattern]) in {True, False}
