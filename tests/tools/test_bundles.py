"""The committed bundles of the chat page are what `make bundles` makes of its scripts and styles."""

from __future__ import annotations

import re
from pathlib import Path

from quickapps_site.assets import bundles

ROOT = Path(__file__).resolve().parents[2]
STATIC = ROOT / "apps/chat/static"
ENTRY = re.compile(r"""<script type="module" src="\{% static '(chat/[^']+)' %\}">""")


def test_the_bundles_were_made_of_the_files_that_are_there() -> None:
    changed = bundles.changed_sources(bundles.read(STATIC), STATIC)

    assert changed == [], "These files and the bundles differ: run `make bundles` and commit it."


def test_every_module_script_of_the_chat_that_a_template_names_has_a_bundle() -> None:
    named = {
        entry
        for template in (ROOT / "templates").rglob("*.html")
        for entry in ENTRY.findall(template.read_text())
    }

    missing = sorted(named - set(bundles.read(STATIC).entries))
    assert missing == [], "Templates name scripts without a bundle: run `make bundles`."


def test_every_bundle_and_what_it_imports_is_there() -> None:
    made = bundles.read(STATIC)

    named = {
        *made.entries.values(),
        *made.imports,
        *(one for all in made.imports.values() for one in all),
    }
    assert made.entries != {}
    assert sorted(name for name in named if not (STATIC / name).is_file()) == []


def test_a_changed_and_a_deleted_file_differ_from_what_was_bundled(tmp_path: Path) -> None:
    (tmp_path / "same.js").write_text("1;\n")
    (tmp_path / "changed.js").write_text("2;\n")
    of_one = bundles.digest_of(tmp_path / "same.js") or ""
    made = bundles.Bundles({}, {}, {"same.js": of_one, "changed.js": of_one, "deleted.js": of_one})

    assert bundles.changed_sources(made, tmp_path) == ["changed.js", "deleted.js"]
