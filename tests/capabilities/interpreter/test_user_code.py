"""A user runs code with the interpreter of an application."""

from __future__ import annotations

from typing import Any, cast

import pytest

from apps.agent.messages import Attachment, ModelMessage
from apps.agent.stages import silent
from apps.capabilities.interpreter.engines import Execution
from apps.capabilities.interpreter.user_code import can_run, check_code, run_user_code
from apps.capabilities.registry import Opening
from apps.errors import Refused
from apps.workspace.port import Workspace
from tests.capabilities.interpreter.tools import (
    CALLER,
    Folder,
    attached,
    document,
    predefined_tool,
)
from tests.capabilities.manifests import manifest
from tests.tables import each_row


def opening(files: Folder | None = None) -> Opening:
    return Opening(cast(Workspace, files or Folder()), CALLER, silent)


def test_code_can_be_run_where_the_manifest_has_an_interpreter():
    assert can_run(document())
    assert not can_run(manifest())
    assert not can_run(document({**predefined_tool(), "enabled": False}))


async def test_the_code_is_run_with_the_files_of_the_messages():
    files = Folder(**{"sums.csv": b"a,b"})

    execution = await run_user_code(
        document(),
        "print(open('sums.csv').read())\n6 * 7",
        opening(files),
        [attached("files/user-7/sums.csv")],
    )

    assert execution == Execution("SUCCESS", "42", "a,b\n")


async def test_each_run_starts_with_an_empty_interpreter():
    await run_user_code(document(), "x = 1", opening())

    execution = await run_user_code(document(), "x", opening())

    assert execution.status == "FAILURE"
    assert "NameError" in execution.stderr


async def test_a_missing_file_and_a_timeout_are_reasons(settings):
    message = ModelMessage("user", attachments=(Attachment(url="files/user-7/gone.csv"),))

    missing = await run_user_code(document(), "1", opening(), [message])
    settings.PY_INTERPRETER_CLIENT_TIMEOUT = 0.01
    late = await run_user_code(document(), "while True: pass", opening())

    assert missing.status == "FAILURE"
    assert "gone.csv" in missing.stderr
    assert late.status == "FAILURE"
    assert "The execution takes too long." in late.stderr


FOUR_EYES = {"mode": "confirm", "four_eyes": True}
DENIED = {"deny": {"patterns": ["open\\("]}}


@each_row(
    ("approval", "code", "is_offered", "refusal"),
    [
        (None, "1", True, ""),
        ({"mode": "confirm"}, "1", True, ""),
        (FOUR_EYES, "1", False, "code_denied"),
        ({**FOUR_EYES, "mode": "auto"}, "1", True, ""),
        (DENIED, "1", True, ""),
        (DENIED, "open('a')", True, "code_denied"),
    ],
)
def test_the_approval_rules_of_the_interpreter_apply(
    approval: Any, code: str, is_offered: bool, refusal: str
):
    own = document({**predefined_tool(), "approval": approval} if approval else None)

    found = ""
    try:
        check_code(own, code)
    except Refused as error:
        found = error.code

    assert (can_run(own), found) == (is_offered, refusal)


def test_an_application_without_an_interpreter_refuses_code():
    with pytest.raises(Refused, match="This app can’t run code"):
        check_code(manifest(), "1")
