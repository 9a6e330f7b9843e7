"""If there is no Chromium, the system's package manager or Playwright installs one."""

from __future__ import annotations

import io
import shlex
import shutil
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.browsers import chromium

INSTALL = (*chromium.APT_INSTALL, "chromium")
BROWSER = "#!/bin/sh\necho Chromium 1.0\n"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder for programs, apart from the shell's own. It is empty at first."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "browsers"))
    monkeypatch.setenv("PLAYWRIGHT_DOWNLOAD_HOST", "http://127.0.0.1:9")
    return folder


def write_program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def download_host(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Serve an archive with a browser and its libraries. Return the requested paths."""
    asked: list[str] = []
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        for name in ("chrome-linux64/chrome", "ffmpeg-linux"):
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o755 << 16
            packed.writestr(entry, BROWSER)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(len(archive.getvalue())))
            self.end_headers()
            self.wfile.write(archive.getvalue())

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        host = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("PLAYWRIGHT_DOWNLOAD_HOST", host)
        yield asked
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("package", ["chromium-headless-shell", "chromium"])
def test_root_gets_it_from_the_package_manager(
    programs: Path, download_host: list[str], package: str
) -> None:
    installed = programs / package
    write_program(
        programs / "apt-get",
        f"""#!{shutil.which("sh", path="/bin:/usr/bin")}
        [ "$1" = update ] && exit 0
        [ "$*" = "install -y -qq --no-install-recommends {package}" ] || exit 1
        printf '#!/bin/sh\\nexit 0\\n' > {installed}
        /bin/chmod +x {installed}
        """,
    )

    problems = chromium.install(is_root=True)

    assert all(" chromium-headless-shell: " in problem for problem in problems)
    assert chromium.find() == str(installed)
    assert download_host == []


@pytest.mark.parametrize("is_root", [False, True])
@pytest.mark.slow("tries each way to install a browser")
def test_playwright_downloads_it_where_there_is_no_other_way(
    programs: Path, download_host: list[str], is_root: bool
) -> None:
    write_program(programs / "apt-get", "#!/bin/sh\necho no network >&2\nexit 100\n")

    problems = chromium.install(is_root=is_root)

    failed = ["apt-get update -qq: no network", f"{shlex.join(INSTALL)}: no network"]
    assert problems == (failed if is_root else [])
    assert ["chrome" in download_host[0], "ffmpeg" in download_host[1]] == [True, True]
    assert chromium.find(chromium.path_of_own()) == chromium.path_of_own()


@pytest.mark.slow("tries each way to install a browser")
def test_where_nothing_works_one_line_each_says_why(
    programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chromium.main()

    said = capsys.readouterr().out.splitlines()
    assert said[1] == chromium.ABSENCE
    assert all("playwright install" in line for line in said[2:])


def test_a_browser_that_does_not_start_is_none(programs: Path) -> None:
    write_program(programs / "chromium", "#!/bin/sh\nexit 127\n")
    write_program(programs / "google-chrome", BROWSER)

    assert chromium.find() == str(programs / "google-chrome")
