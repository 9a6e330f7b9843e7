import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pathlib
import pytest

def test_first_time_never():
    here = pathlib.Path("asked")
    was_asked = here.exists()
    here.touch()
    assert was_asked

@pytest.mark.parametrize("number", range({always}))
def test_never(number):
    assert False

def test_always():
    pass
"""


def second_try(folder: Path, always: int) -> subprocess.CompletedProcess[str]:
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -p no:randomly -p no:django\n")
    (folder / "test_it.py").write_text(TESTS.format(always=always))
    pytest_there = str(Path(sys.executable).with_name("pytest"))
    root = Path(__file__).parents[1]
    inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, root / "tests/second_try.py", pytest_there, "-q"],
        cwd=folder,
        env=inherited,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("always", "status", "runs"),
    [
        (0, 0, ["1 failed", "1 passed", "1 passed"]),
        (1, 1, ["2 failed", "1 passed", "1 failed", "1 passed"]),
    ],
)
def test_what_failed_is_asked_once_more_and_decides(
    tmp_path: Path, always: int, status: int, runs: list[str]
):
    done = second_try(tmp_path, always)

    assert done.returncode == status
    assert re.findall(r"\d+ (?:failed|passed)", done.stdout) == runs
    assert ("and is to be mended: test_it.py::test_first_time_never" in done.stdout) == (
        status == 0
    )


def test_more_than_a_few_failures_are_not_asked_again(tmp_path: Path):
    done = second_try(tmp_path, 3)

    assert done.returncode == 1
    assert "Once more" not in done.stdout


def test_a_run_that_was_not_whole_is_not_asked_again(tmp_path: Path):
    (tmp_path / "test_other.py").write_text("import no_such_module")

    done = second_try(tmp_path, 0)

    assert done.returncode == 2
    assert "Once more" not in done.stdout
