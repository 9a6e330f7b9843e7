"""Links and commands in the docs work."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class
from django.core.management.base import CommandError

from tests.sites.serving import Site
from tests.tables import each_row

ROOT = Path(__file__).parents[3]
PAGES = (*sorted(ROOT.glob("docs/*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md")
BLOCK = re.compile(r"(?ms)^```(?P<language>\w*)\n(?P<text>.*?)^```$")
INDENTED = re.compile(r"(?m)(?:^ {4}.*\n)+")
INLINE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"(?m)^#+ +(.*)$")
PROGRAM = re.compile(
    r"(?:[A-Z_]+=\S+ )*(?P<command>(?:\S*bin/)?(?:curl|make|python|manage\.py) .+)"
)
OPTIONAL = "[]…"
"""The marks of optional and repeated arguments in a synopsis."""
ANY_COMMAND = "x"
CORE = "http://127.0.0.1:8080"
"""DIAL Core, whose requests are tested with its other clients."""

PREPARE = """
from django.contrib.auth.models import User
from apps.accounts.models import ApiKey
from apps.catalog.models import Application, OperatorKey, empty_manifest
from tests.catalog.rows import store_application
editor = User.objects.create_superuser("editor-of-docs")
travel = Application.objects.create(slug="travel", title="Travel", manifest=empty_manifest())
Application.objects.filter(pk=travel.pk).update(version=3)
desk = {"orchestrator": {"deployment": {"deployment_id": "demo-model"}}, "contexts": [], "tool_sets": []}
store_application(slug="travel-desk", title="Travel desk", manifest=desk, is_enabled=True)
operator_key = OperatorKey.objects.create_key(name="docs", user=editor)[1]
program, key = ApiKey.objects.create_key(name="docs")
result = [operator_key, key, f"key-{program.prefix}"]
"""


@dataclass(frozen=True, slots=True)
class Command:
    page: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}: {shlex.join(self.words)}"


def read(page: Path) -> str:
    return page.read_text()


def prose(page: Path) -> str:
    """Return the text without its code blocks, in which links and headings are ignored."""
    return BLOCK.sub("", read(page))


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the ids of headings as GitHub and GitLab create them."""
    titles = (LINK.sub("]", heading).strip().lower() for heading in HEADING.findall(prose(page)))
    return frozenset(re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles)


def broken_links(page: Path) -> list[str]:
    broken = []
    for link in LINK.findall(INLINE.sub("", prose(page))):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if ":" in name:
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(f"{page.name}: {link}")
    return broken


def test_every_link_leads_to_a_page_and_one_of_its_headings():
    assert [link for page in PAGES for link in broken_links(page)] == []


def test_the_index_lists_every_page():
    index = ROOT / "docs/index.md"
    listed = {link.partition("#")[0] for link in LINK.findall(read(index))}

    assert {page.name for page in ROOT.glob("docs/*.md")} - listed == {index.name}


def lines_of_code(page: Path) -> Iterator[str]:
    text = read(page)
    blocks = [block["text"] for block in BLOCK.finditer(text) if block["language"] in ("", "sh")]
    blocks += INDENTED.findall(BLOCK.sub("", text))
    for block in blocks:
        yield from block.replace("\\\n", " ").splitlines()
    yield from INLINE.findall(BLOCK.sub("", text))


@cache
def printed_commands() -> tuple[Command, ...]:
    """Return each command once, without its environment and comment."""
    lines = ((page, line.strip()) for page in PAGES for line in lines_of_code(page))
    return tuple(
        dict.fromkeys(
            Command(page.name, tuple(shlex.split(re.split(r"\s#", found["command"])[0])))
            for page, line in lines
            if (found := PROGRAM.match(line))
        )
    )


def commands_of(*programs: str) -> list[Command]:
    return [one for one in printed_commands() if Path(one.words[0]).name in programs]


def test_every_target_of_make_exists():
    targets = {line.partition(":")[0] for line in (ROOT / "Makefile").read_text().splitlines()}
    named = {word for one in commands_of("make") for word in one.words[1:] if "=" not in word}

    assert named - targets == set()
    assert "run" in named


def test_every_python_module_exists():
    modules = {one.words[2] for one in commands_of("python") if one.words[1] == "-m"}

    assert [module for module in sorted(modules) if find_spec(module) is None] == []
    assert "quickapps_site.serve" in modules


def management_commands() -> list[list[str]]:
    found = [one.words for one in commands_of("python", "manage.py") if "manage.py" in one.words]
    commands = [[*words[words.index("manage.py") + 1 :]] for words in found]
    return [command for command in commands if command[0] != ANY_COMMAND]


@each_row("command", management_commands())
def test_management_commands_take_their_printed_arguments(command):
    name, *arguments = command
    parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)

    # a name alone is not a synopsis
    with suppress(CommandError) if not arguments else nullcontext():
        parser.parse_args([word.strip(OPTIONAL) for word in arguments])


# --- Requests --------------------------------------------------------------------------------------


@pytest.fixture
def readers_words(site: Site, tmp_path: Path) -> dict[str, str]:
    """Replace the docs' example values, as a reader does."""
    operator_key, key, bucket = site.shell(PREPARE)
    upload = tmp_path / "data.csv"
    upload.write_text("a,b\n1,2\n")
    return {
        "https://apps.example.com": site.url,
        "http://127.0.0.1:8000": site.url,
        "<operator key>": operator_key,
        "$KEY": key,
        "$QUICKAPPS_KEY": key,
        "my-application": "travel-desk",
        "Api-Key: …": f"Api-Key: {key}",
        "key-1a2b3c4d": bucket,
        "@data.csv": f"@{upload}",
    }


@each_row("command", [one for one in commands_of("curl") if CORE not in str(one)])
def test_requests_succeed(command, readers_words):
    words = [*command.words, "--silent", "--show-error", "--fail-with-body", "--max-time", "60"]
    for example, real in readers_words.items():
        words = [word.replace(example, real) for word in words]

    done = subprocess.run(words, capture_output=True, text=True, timeout=90, check=False)

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
