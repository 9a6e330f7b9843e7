"""Icons of applications are validated, shown, served, exported and imported."""

from __future__ import annotations

import hashlib

import pytest
from django.core.exceptions import ValidationError

from apps.catalog.application_files.exporter import exported_files, write_files
from apps.catalog.application_files.row_import import import_directories
from apps.catalog.icons.images import keep_image
from apps.catalog.icons.values import Tile, free_colour, tile_of, validate_icon
from apps.catalog.models import Application
from tests.catalog.rows import make_application, make_deployment

SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
NAME = f"{hashlib.sha256(SVG).hexdigest()}.svg"


@pytest.mark.parametrize("icon", ["", "🦊", "👩‍👩‍👧‍👦", "❤️", "1️⃣", "🇳🇴", "colour:11", NAME])
def test_an_icon_is_an_emoji_a_colour_or_a_picture(icon: str):
    validate_icon(icon)


@pytest.mark.parametrize("icon", ["A", "AB", "🦊 x", "colour:12", "/etc/passwd", "<b>", "🦊" * 13])
def test_anything_else_is_refused(icon: str):
    with pytest.raises(ValidationError):
        validate_icon(icon)


def test_a_tile_has_the_icon_or_letters_on_a_colour():
    assert tile_of("Travel desk", "travel", "") == Tile("Td", 6)
    assert tile_of("Travel desk", "travel", "colour:2") == Tile("Td", 2)
    assert tile_of("Travel desk", "travel", "🦊") == Tile("Td", 6, emoji="🦊")
    assert tile_of("Travel desk", "travel", NAME) == Tile("Td", 6, url=f"/icons/{NAME}")


def test_two_applications_with_the_same_letters_differ_in_colour():
    taken = [Tile("Td", 6), Tile("TD", 0), Tile("X", 1)]

    assert free_colour("Travel desk", "travel", taken) == "colour:1"
    assert free_colour("Other", "travel", taken) == ""


@pytest.mark.django_db
def test_a_picture_is_served_for_good_and_can_do_nothing(client):
    name = keep_image(SVG)

    answer = client.get(f"/icons/{name}")

    assert (name, answer.content, answer["Content-Type"]) == (NAME, SVG, "image/svg+xml")
    assert answer["Content-Security-Policy"] == (
        "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    )
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Cache-Control"] == "public, max-age=31536000, immutable"
    assert client.get("/icons/none.svg").status_code == 404


@pytest.mark.django_db
def test_comments_before_a_picture_are_skipped_in_no_time():
    assert keep_image(b"<!-- a -->\n<!-- b --><svg/>").endswith(".svg")
    with pytest.raises(ValidationError):
        keep_image(b"<!---->" * 9_000)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("icon", "files"), [("🦊", ["application.yaml"]), (NAME, ["application.yaml", "icon.svg"])]
)
def test_an_icon_comes_back_from_files_as_it_was(icon: str, files: list[str], tmp_path):
    make_deployment()
    keep_image(SVG)
    row = make_application(icon=icon)
    first = exported_files(row)
    write_files(tmp_path, first)

    Application.objects.all().delete()
    import_directories(tmp_path)

    row = Application.objects.get()
    assert [path.removeprefix("application/travel/") for path in first] == files
    assert (row.icon, exported_files(row)) == (icon, first)
