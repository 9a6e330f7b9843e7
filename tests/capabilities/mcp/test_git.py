"""The predefined toolset of Git with its real server."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from apps.agent.tools import Invocation, PendingResult
from tests.capabilities.manifests import use
from tests.capabilities.mcp.desk import named, opened_desk
from tests.capabilities.mcp.servers import nothing_left_over, register
from tests.fakes import MemoryLedger
from tests.sites.fork_server import ROOT

GIT = ROOT / ".venv-peers/bin/mcp-server-git"
TOOLSET = json.loads((ROOT / "predefined/toolset/git.json").read_text())
IDENTITY = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *IDENTITY, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.django_db
@pytest.mark.skipif(not GIT.exists(), reason="mcp-server-git is not installed")
async def test_the_predefined_toolset_reads_a_repository_and_asks_before_it_changes_one(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / "tea.md").write_text("Steep for three minutes.\n")
    git(tmp_path, "add", "tea.md")
    git(tmp_path, "commit", "-qm", "Say how long")
    (tmp_path / "tea.md").write_text("Steep for four minutes.\n")
    await register("--repository", str(tmp_path), name="git", command=str(GIT))
    place = str(tmp_path)
    reading: dict[str, dict[str, Any]] = {
        "git_git_log": {},
        "git_git_status": {},
        "git_git_diff_unstaged": {},
        "git_git_show": {"revision": "HEAD"},
    }

    async with nothing_left_over(), opened_desk(TOOLSET) as contribution:
        told = {
            name: (await use(named(contribution, name), repo_path=place, **more)).content
            for name, more in reading.items()
        }
        asking: dict[str, Any] = {"ledger": MemoryLedger(), "key": "t:1:0:1"}
        add = Invocation("1", {"repo_path": place, "files": ["tea.md"]}, **asking)
        commit = Invocation("2", {"repo_path": place, "message": "Wait longer"}, **asking)
        asked = [
            await named(contribution, "git_git_add").call(add),
            await named(contribution, "git_git_commit").call(commit),
        ]

    assert contribution.issues == ()
    assert "Say how long" in told["git_git_log"]
    assert "tea.md" in told["git_git_status"]
    assert "+Steep for four minutes." in told["git_git_diff_unstaged"]
    assert "Say how long" in told["git_git_show"]
    assert [type(one) for one in asked] == [PendingResult, PendingResult]
    assert git(tmp_path, "status", "--porcelain") == " M tea.md\n"
