"""Print the sections of the contract and the tests that prove them."""

from tests.contract.sections import SECTIONS, proofs

found = proofs()
for section in SECTIONS:
    print(section)  # noqa: T201
    for test in found.get(section, ()):
        path, _, name = test.partition("::")
        print(f"    {name.removeprefix('test_').replace('_', ' ')}  ({path})")  # noqa: T201
