"""Slugs are derived from titles."""

from __future__ import annotations

from apps.catalog.slugs import slug_of
from tests.tables import each_row


@each_row(
    ("title", "slug"),
    [
        ("Desk helper", "desk-helper"),
        ("Кошка", "koshka"),
        ("日本", "riben"),
        ("北京 天气", "beijing-tianqi"),
        ("Größe für Ärzte", "grosse-fur-arzte"),
        ("Ελληνικά", "ellinika"),
        ("عربي", "rby"),
        ("🐱", "cat"),
        ("a" * 39 + " b", "a" * 39),
        ("…", ""),
    ],
)
def test_a_title_in_any_script_has_a_slug_of_latin_letters(title, slug):
    assert slug_of(title, 40) == slug
