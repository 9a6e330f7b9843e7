"""No path lets a tool change files outside of the agent's folder."""

from urllib.parse import unquote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from apps.capabilities.files.paths import (
    check_file,
    check_folder,
    check_own,
    full_folder,
    full_path,
    matches_path,
    shown_path,
)
from apps.errors import FileRefused, InvalidParameter
from apps.workspace.dial.core import Core
from apps.workspace.dial.resources import resource_path
from apps.workspace.local.files.paths import split_path
from tests.contract import proves
from tests.tables import each_row

HOME = "files/user-1/desk/"
CORE = Core("http://core.example", metadata_seconds=60.0, sign_in_seconds=60.0)
PIECES = st.sampled_from(
    ["..", ".", "/", "//", "\\", "%2e", "%2E%2e", "%252e", "%2f", "%5c", "%00", "\0", "\n", "\t",
     " ", "\u2024", "\uff0e", "\uff0f", "\u202e", "\ud800", "files/", "a", "é", "%", "%zz", "%ff",
     "C:", "~", "?", "#", ";", "*", ":", "://", "@"]
)  # fmt: skip
PATHS = st.lists(PIECES | st.text(max_size=5), max_size=8).map("".join)


@proves("14.5")
@given(PATHS)
@example("a/%2e%2e/%2e%2e/other")
@example("..%2f..%2fx")
@example("files/user-2/x")
@example("/files/user-2/x")
@example("%66iles/user-2/x")
@settings(max_examples=1_000, deadline=None)
def test_what_may_be_written_is_below_the_folder_for_all_who_keep_files(path):
    try:
        check_own("path", path)
    except InvalidParameter:
        return

    place = full_path(HOME, path)

    local = split_path(place)
    if local is not None:  # names that are too long are refused there
        bucket, name = local
        assert bucket == "user-1"
        assert name.startswith("desk/")
        assert len(name) > len("desk/")
        assert not {"", ".", ".."} & set(name.split("/"))
    try:
        at_core = resource_path(CORE, place)
    except FileRefused:
        return
    decoded = [unquote(part) for part in at_core.split("/")]
    assert decoded[:3] == ["files", "user-1", "desk"]
    assert not {"", ".", ".."} & set(decoded)


@proves("14.5")
@given(PATHS)
@settings(max_examples=500, deadline=None)
def test_what_is_told_of_a_path_leads_there_again(path):
    try:
        check_own("path", path)
    except InvalidParameter:
        return
    place = full_path(HOME, path)

    shown = shown_path(HOME, place)

    check_own("path", shown)
    assert full_path(HOME, shown) == place


@proves("14.5")
@each_row(
    "path",
    ["", "/a", "a/../b", "..", "a//b", "a/", "a ", "a/b /c", "a\\b", "a\nb", "a\0b", "%2e%2e/a",
     "a%2fb", "a%00", ".", "./a", "a%20", "files/user-1/desk/a.txt"],
)  # fmt: skip
def test_these_name_no_file_that_may_be_written(path):
    with pytest.raises(InvalidParameter):
        check_own("path", path)


@proves("14.5")
@each_row(
    "path",
    ["files/", "files/../x", "files/user-2/../user-1/a", "files//a", "files/u/%2e%2e/a",
     "http://a/b", "/files/user-1/a", "files/u/a\n"],
)  # fmt: skip
def test_these_name_no_file_that_may_be_read(path):
    with pytest.raises(InvalidParameter):
        check_file("path", path)


@proves("14.5")
@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("", HOME),
        (".", HOME),
        ("./", HOME),
        ("/", HOME),
        ("notes", f"{HOME}notes/"),
        ("my notes/", f"{HOME}my%20notes/"),
        ("files/user-1/", "files/user-1/"),
    ],
)
def test_a_folder_has_these_names(path, place):
    check_folder("path", path)

    assert full_folder(HOME, path) == place


@proves("14.5")
@each_row(
    ("path", "pattern", "is_match"),
    [
        ("a/b/c.md", "*.md", True),
        ("a/b/c.md", "a/*.md", False),
        ("a/b/c.md", "a/**/*.md", True),
        ("a/c.md", "a/**/*.md", True),
        ("a/b/c.md", "**", True),
        ("a/b/c.md", "**/b/**", True),
        ("a/b/c.md", "?/?/?.md", True),
        ("a/b/c.md", "*/c.md", False),
        ("x" * 400, "*x" * 200 + "y", False),
        ("a/" * 200 + "b", "**/" * 60 + "*a*/c", False),
        ("[a].md", "[a]*", True),
    ],
)
def test_patterns_fit_whole_paths_or_names(path, pattern, is_match):
    assert matches_path(path, pattern) == is_match
