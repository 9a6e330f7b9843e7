"""Secrets whose values are stored in Vault."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps import process_state
from apps.manifest.secrets import Credential
from apps.workspace.local.models import Secret
from apps.workspace.local.secrets import vault
from apps.workspace.local.secrets.sources import SourceFailed, SourceText
from apps.workspace.local.secrets.stored_secrets import (
    SecretRefused,
    problem_in_vault,
    reveal,
    versions,
)
from apps.workspace.local.secrets.vault import FORM, Vault, known_texts, reference_problem
from tests.sites.serving import free_port
from tests.tables import each_row
from tests.workspace.local.secrets.vault_server import ROLE, SECRET_ID, VaultServer, serve_vault

PATH = "secret/data/apps/tracking"
REFERENCE = f"{PATH}#token"
OLD, NEW = "sk-old-0123456789", "sk-new-0123456789"


@pytest.fixture(scope="module")
def module_server() -> Iterator[VaultServer]:
    with serve_vault() as server:
        yield server


@pytest.fixture
def server(module_server: VaultServer, settings: Any) -> VaultServer:
    fresh = VaultServer(documents={PATH: [{"token": OLD}]})
    for name in ("tokens", "documents", "is_sealed", "lease", "reads", "logins"):
        setattr(module_server, name, getattr(fresh, name))
    settings.VAULT_URL, settings.VAULT_TOKEN = module_server.url, "root"
    settings.VAULT_ROLE_ID = settings.VAULT_SECRET_ID = ""
    return module_server


@pytest.fixture
def each_read_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vault, "FRESH_SECONDS", 0.0)


async def read() -> SourceText:
    try:
        return await Vault().read(REFERENCE)
    finally:
        await process_state.close_loop_objects()


async def failure() -> str:
    with pytest.raises(SourceFailed) as failed:
        await read()
    return str(failed.value)


async def test_a_text_is_read_once_a_minute(server: VaultServer):
    texts = [await read() for _ in range(3)]

    assert texts == [SourceText(OLD, 1)] * 3
    assert server.reads == 1
    assert list(known_texts()) == [OLD]
    assert OLD not in repr(texts)


@pytest.mark.usefixtures("each_read_asks")
async def test_a_rotated_text_takes_effect_without_a_restart(server: VaultServer):
    before = await read()
    server.documents[PATH].append({"token": NEW})
    after = await read()

    assert (before, after) == (SourceText(OLD, 1), SourceText(NEW, 2))


@pytest.mark.usefixtures("each_read_asks")
async def test_while_vault_is_unavailable_the_last_text_is_used_for_a_bounded_time(
    server: VaultServer, monkeypatch: pytest.MonkeyPatch, caplog: Any
):
    await read()
    server.is_sealed = True
    problem = f"Vault cannot be read at {PATH}: it returned status 503."

    sealed = await read()
    monkeypatch.setattr(vault, "LAST_SECONDS", 0.0)
    too_old = await failure()
    unread = await failure()
    server.is_sealed = False
    back = await read()

    assert sealed == SourceText(OLD, 1, f"{problem} A value from 0 min ago is used.")
    assert (too_old, unread, back) == (problem, problem, SourceText(OLD, 1))
    assert caplog.messages == [sealed.problem]


@pytest.mark.usefixtures("server")
async def test_a_vault_that_nobody_answers_for_is_named_without_the_text(settings: Any):
    settings.VAULT_URL = f"http://127.0.0.1:{free_port()}"

    assert (await failure()).startswith(f"Vault cannot be read at {PATH}: ")


@pytest.mark.usefixtures("each_read_asks")
async def test_a_text_that_is_deleted_is_not_used_any_more(server: VaultServer):
    await read()
    server.documents[PATH].append(None)
    deleted = await failure()
    server.documents[PATH].append({"other": NEW})
    without_key = await failure()
    del server.documents[PATH]
    gone = await failure()

    assert deleted == gone == f"Vault has no secret at {PATH}."
    assert without_key == f"Vault has no string under the key 'token' at {PATH}."
    assert list(known_texts()) == []


@pytest.mark.usefixtures("each_read_asks")
async def test_a_token_from_a_file_is_rotated_without_a_restart(
    server: VaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "token"
    monkeypatch.setenv("VAULT_TOKEN_FILE", str(file))
    file.write_text("root")
    before = await read()
    server.tokens = {"rotated"}
    refused = await read()
    file.write_text("rotated")
    after = await read()

    assert (before, after) == (SourceText(OLD, 1), SourceText(OLD, 1))
    assert refused.problem.startswith(f"Vault cannot be read at {PATH}: it returned status 403.")


@pytest.mark.usefixtures("each_read_asks")
async def test_an_app_role_logs_in_again_when_its_token_ends_or_is_revoked(
    server: VaultServer, settings: Any
):
    settings.VAULT_TOKEN, settings.VAULT_ROLE_ID, settings.VAULT_SECRET_ID = "", ROLE, SECRET_ID
    await read()
    await read()
    first = server.logins
    server.tokens.clear()
    server.lease = 1
    await read()
    revoked = server.logins
    await read()
    ended = server.logins
    settings.VAULT_SECRET_ID = "wrong"
    refused = await read()

    assert (first, revoked, ended) == (1, 2, 3)
    assert refused.problem.startswith(
        f"Vault cannot be read at {PATH}: it returned status 400 for the AppRole login."
    )
    assert "wrong" not in refused.problem


@each_row(
    "reference",
    [
        *("secret/apps#token", "secret/data#token", "secret/data/apps", "secret/data/apps#"),
        *("/secret/data/apps#token", "secret/data/../x#token", "secret/data/a b#token"),
        *("secret/data/apps?x=1#token", "sys/unseal#token", "secret/data/./x#token"),
    ],
)
def test_what_is_no_path_of_the_kv_engine_is_refused(reference):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("django.conf.settings.VAULT_URL", "https://vault.example.org", raising=False)

        assert reference_problem(reference) == FORM
        assert reference_problem(f"team/kv/data/apps/shop#{'key'}") == ""


async def store(**values: Any) -> Secret:
    fields = {"value": REFERENCE, "servers": ["https://api.example.org"], "is_in_vault": True}
    return await Secret.objects.acreate(name="shop", **{**fields, **values})


@pytest.mark.django_db
@pytest.mark.usefixtures("each_read_asks")
async def test_a_secret_of_vault_goes_to_its_servers_alone_and_changes_its_version(
    server: VaultServer,
):
    row = await store()
    url = "https://api.example.org/x"

    before, known = await reveal(Credential(secret="shop"), url), await versions(["shop"])
    with pytest.raises(SecretRefused) as elsewhere:
        await reveal(Credential(secret="shop"), "https://evil.example.net")
    server.documents[PATH].append({"token": NEW})
    after, known_after = await reveal(Credential(secret="shop"), url), await versions(["shop"])
    await process_state.close_loop_objects()

    assert (before.text, after.text) == (OLD, NEW)
    assert (known, known_after) == ((("shop", before.version),), (("shop", after.version),))
    assert before.version < after.version
    assert "may not be sent to https://evil.example.net" in str(elsewhere.value)
    assert await problem_in_vault(row) == ""
    await process_state.close_loop_objects()


@pytest.mark.django_db
@pytest.mark.usefixtures("each_read_asks")
async def test_a_text_that_cannot_be_sent_is_refused_by_its_path(server: VaultServer):
    await store()
    server.documents[PATH].append({"token": f"{NEW}\r\nX: y"})
    with pytest.raises(SecretRefused) as unfit:
        await reveal(Credential(secret="shop"), "https://api.example.org")
    del server.documents[PATH]
    with pytest.raises(SecretRefused) as missing:
        await reveal(Credential(secret="shop"), "https://api.example.org")
    await process_state.close_loop_objects()

    assert str(unfit.value).startswith("The secret 'shop' is sent in headers, and ")
    assert NEW not in str(unfit.value)
    assert f"cannot be read. Vault has no secret at {PATH}." in str(missing.value)
