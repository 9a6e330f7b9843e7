"""The package that `pip install` installs, in its own environment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.sites.fork_server import ROOT
from tests.sites.serving import free_port

pytestmark = pytest.mark.full
ASK = {"stream": True, "messages": [{"role": "user", "content": "What is the weather in Oslo?"}]}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the package, and with dependencies from ours."""
    folder = tmp_path_factory.mktemp("wheel")
    wheels, environment = folder / "dist", folder / "venv"
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels), cwd=ROOT)
    run(sys.executable, "-m", "venv", "--without-pip", str(environment))
    (wheel,) = wheels.glob("*.whl")
    uv = (sys.executable, "-m", "uv", "--no-config", "pip", "install", "--offline", "--no-deps")
    run(
        *uv,
        "--quiet",
        "--compile-bytecode",
        "--python",
        str(environment / "bin/python"),
        str(wheel),
    )
    packages = packages_of(environment)
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    for path in (packages, *packages.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    return environment


def run(*command: str, cwd: Path | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def packages_of(environment: Path) -> Path:
    (packages,) = environment.glob("lib/python*/site-packages")
    return packages


def files_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def variables(home: Path, port: int) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PORT": str(port),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
    }


@contextmanager
def started(command: Sequence[str], cwd: Path, variables: dict[str, str]) -> Iterator[list[str]]:
    """Yield what the server has logged once it listens."""
    with subprocess.Popen(
        command, cwd=cwd, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        try:
            said = []
            for line in process.stdout:
                said.append(line)
                if "Serving on" in line:
                    break
            else:
                raise AssertionError("".join(said))
            yield said
        finally:
            process.terminate()
            process.stdout.read()


def text_at(address: str, body: object = None) -> str:
    data = None if body is None else json.dumps(body).encode()
    request = Request(address, data, {"Content-Type": "application/json"})
    with urlopen(request, timeout=60) as answer:
        text: str = answer.read().decode()
    return text


@pytest.mark.slow("installs a package and builds its static files")
def test_an_installed_package_serves_from_an_empty_folder(environment: Path, tmp_path: Path):
    folder, home, port = tmp_path / "folder", tmp_path / "home", free_port()
    folder.mkdir()
    packages = packages_of(environment)
    before = files_of(packages)
    command = (str(environment / "bin/quickapps"), "serve", "--prepare")
    address = f"http://127.0.0.1:{port}"

    with started(command, folder, variables(home, port)):
        page = text_at(f"{address}/chat/demo/")
        (style, *_) = re.findall(r'<link rel="stylesheet" href="(/static/[^"]+)"', page)
        static = text_at(f"{address}{style}")
        answer = text_at(f"{address}/openai/deployments/demo/chat/completions", ASK)

    assert "<title>Demo" in page
    assert re.search(r"\.[0-9a-f]{12}\.css$", style)
    assert static
    assert "Oslo" in answer
    assert answer.endswith("data: [DONE]\n\n")
    assert files_of(folder) == set()
    assert (home / ".local/share/quickapps/db.sqlite3").is_file()
    assert files_of(packages) == before


@pytest.mark.slow("installs a package")
def test_a_folder_named_apps_where_a_command_starts_is_not_imported(
    environment: Path, tmp_path: Path
):
    foreign = tmp_path / "apps"
    foreign.mkdir()
    (foreign / "__init__.py").write_text("raise SystemExit('a foreign package')")
    command = [str(environment / "bin/quickapps"), "manage", "check"]

    done = subprocess.run(
        command, cwd=tmp_path, env=variables(tmp_path, 8000), capture_output=True, text=True
    )

    assert (done.returncode, done.stdout) == (
        0,
        "System check identified no issues (0 silenced).\n",
    ), done.stderr


@pytest.mark.slow("installs a package")
def test_the_command_has_a_version_and_refuses_what_it_does_not_know(
    environment: Path, tmp_path: Path
):
    program = str(environment / "bin/quickapps")

    done = [
        subprocess.run(
            [program, *arguments], env=variables(tmp_path, 8000), capture_output=True, text=True
        )
        for arguments in (["--version"], ["serve", "--prepair"])
    ]

    assert [(one.returncode, one.stdout) for one in done] == [(0, "0.2.0\n"), (2, "")]
    assert "unrecognized arguments: --prepair" in done[1].stderr
