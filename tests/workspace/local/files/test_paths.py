from __future__ import annotations

import pytest

from apps.errors import FileRefused
from apps.workspace.local.files.paths import check_name, split_path, write_path
from tests.tables import each_row


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a.txt", "files/user-1/a.txt"),
        ("notes/to do.md", "files/user-1/notes/to%20do.md"),
        ("100%/ü?#.txt", "files/user-1/100%25/%C3%BC%3F%23.txt"),
        ("a\\b:c.txt", "files/user-1/a%5Cb%3Ac.txt"),
    ],
)
def test_a_path_is_the_name_with_each_part_encoded(name, path):
    assert write_path("user-1", name) == path
    assert split_path(path) == ("user-1", name)


@each_row(
    "path",
    [
        "",
        "files",
        "files/user-1",
        "files/user-1/",
        "files//a.txt",
        "/files/user-1/a.txt",
        "other/user-1/a.txt",
        "files/user-1/../user-2/a.txt",
        "files/user-1/%2E%2E/a.txt",
        "files/user-1/a%2Fb.txt",
        "files/user-1/a//b.txt",
        "files/user-1/a%00.txt",
        "files/user-1/%FF.txt",
        "files/user-1/" + "a" * 501,
        "https://example.com/files/user-1/a.txt",
    ],
)
def test_what_can_be_no_file_has_no_name(path):
    assert split_path(path) is None


@each_row(
    ("name", "problem"),
    [
        ("", "the name is empty"),
        ("/a.txt", "begins or ends with a slash"),
        ("a/", "begins or ends with a slash"),
        ("a//b", "two in a row"),
        ("../a.txt", "'.' and '..' are not allowed"),
        ("a/./b", "'.' and '..' are not allowed"),
        ("a\nb.txt", "control characters"),
        ("a\x00.txt", "control characters"),
        ("a\ud800.txt", "control characters"),
        ("ü" * 128, "too long; the limit is 255 bytes"),
        ("a/" * 300 + "a", "has 601 characters; the limit is 500"),
    ],
)
def test_a_name_that_cannot_be_is_refused_with_the_reason(name, problem):
    with pytest.raises(FileRefused) as caught:
        check_name(name)

    assert problem in str(caught.value)
    assert len(str(caught.value)) < 800
