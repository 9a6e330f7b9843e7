from __future__ import annotations

import pytest

from apps.workspace.local.files.bucket_address import BucketAddress, parse_bucket_address
from tests.tables import each_row


@each_row(
    ("text", "expected"),
    [
        ("s3://files", BucketAddress("files")),
        ("s3://my.files/a/b-c/", BucketAddress("my.files", "a/b-c")),
        (
            "s3://files/x?endpoint=https://minio.example.org:9000/&region=eu-north-1",
            BucketAddress("files", "x", "https://minio.example.org:9000", "eu-north-1"),
        ),
    ],
)
def test_an_address_has_a_bucket_a_prefix_and_parameters(text, expected):
    assert parse_bucket_address(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "files",
        "http://files",
        "s3://",
        "s3://Files",
        "s3://key:secret@files",
        "s3://files:80",
        "s3://files/a/../b",
        "s3://files/a//b",
        "s3://files#x",
        "s3://files?zone=x",
        "s3://files?region=a&region=b",
        "s3://files?endpoint=minio:9000",
        "s3://files?endpoint=https://key:secret@minio",
    ],
)
def test_other_texts_are_no_address(text):
    with pytest.raises(ValueError, match=r"^(s3|http|files)"):
        parse_bucket_address(text)


def test_an_address_is_shown_without_its_parameters():
    shown = [str(parse_bucket_address(f"s3://files{end}")) for end in ("", "/a?region=x")]

    assert shown == ["s3://files", "s3://files/a"]
