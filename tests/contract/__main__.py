"""Print the sections of the contract and the features of the doors, with the tests that prove
them."""

from collections.abc import Sequence

from tests.contract import features
from tests.contract.sections import SECTIONS, proofs


def show(title: str, tests: Sequence[str]) -> None:
    print(title)  # noqa: T201
    for test in tests:
        path, _, name = test.partition("::")
        print(f"    {name.removeprefix('test_').replace('_', ' ')}  ({path})")  # noqa: T201


found = proofs()
for section in SECTIONS:
    show(section, found.get(section, ()))
found_features = features.proofs()
for door, feature in features.cells():
    show(f"{door}: {feature}", found_features.get((door, feature), ()))
