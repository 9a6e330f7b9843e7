"""What a row of the table is: a behaviour, and the tests that would fail without it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """`tests` are `path::name`, the path below `tests/`.

    `instead` is filled where we do otherwise than the reference: what we do, and why; the tests
    then pin ours.
    """

    says: str
    tests: tuple[str, ...]
    instead: str = ""


Table = dict[str, tuple[Rule, ...]]
"""Section → its behaviours, in the order of the text. Sections of the manifest begin with m."""


def rule(says: str, *tests: str) -> Rule:
    return Rule(says, tests)


def otherwise(says: str, instead: str, *tests: str) -> Rule:
    return Rule(says, tests, instead)


class Tests:
    """`file["name"]` is the test of that name in one file."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __getitem__(self, name: str) -> str:
        return f"{self.path}::test_{name}"


class Scripts(Tests):
    """The same of a test of scripts, whose name is the sentence in its file."""

    def __getitem__(self, name: str) -> str:
        return f"{self.path}::{name}"
