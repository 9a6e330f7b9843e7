from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.workspace.local.workspace import LocalWorkspace
from apps.workspace.port import Workspace
from tests.capabilities.files.agents import CALLER
from tests.workspace.dial.callers import called


@pytest.fixture
def own(settings: Any, tmp_path: Path, db: None) -> LocalWorkspace:
    settings.MEDIA_ROOT = tmp_path
    return LocalWorkspace(CALLER)


@pytest.fixture(params=["local", "dial"])
def workspace(request: pytest.FixtureRequest) -> Iterator[Workspace]:
    """Yield each workspace in turn. The tools behave the same in both."""
    if request.param == "local":
        yield request.getfixturevalue("own")
        return
    with called(request.getfixturevalue("core")) as inside:
        yield inside
