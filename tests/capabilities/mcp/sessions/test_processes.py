"""Programs end with the process that started them."""

import os
from pathlib import Path

import pytest

from tests.capabilities.mcp.sessions.test_misbehaviour import is_running
from tests.sites.fork_server import fork_server

LEAVING = Path(__file__).parents[1] / "leaving.py"


@pytest.mark.parametrize(("loop", "end"), [("asyncio", "exit"), ("uvloop", "exit"), ("uvloop", "")])
def test_a_closed_program_leaves_nothing_and_an_open_one_ends_with_the_server(loop, end, tmp_path):
    environment = {"DJANGO_SETTINGS_MODULE": "quickapps_site.settings", "PATH": ""}
    written = tmp_path / "written"

    with written.open("wb") as file, Path(os.devnull).open() as nothing:
        files = (nothing.fileno(), file.fileno(), file.fileno())
        process = fork_server().start(str(LEAVING), [loop, end], environment, files)
        try:
            process.wait(60)
        finally:
            process.kill()

    lines = written.read_text()
    assert lines.startswith("1 0\n"), lines
    assert not is_running(int(lines.splitlines()[1]))
