"""Subset the typeface of the pages by script: `python build.py` in an environment of its own."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

HERE = Path(__file__).parent
PACKAGE = HERE / "node_modules" / "inter-ui"
OUT = HERE.parents[1] / "apps/chat/static/chat/fonts"
WEIGHTS = (400, 700)
TEXT_SIZE = 14
"""The optical size, in points, of which all letters are drawn."""
FEATURES = ("ccmp", "kern", "locl", "mark", "mkmk", "tnum")
RANGES = {
    "latin": "0000-00FF 0131 0152-0153 02BB-02BC 02C6 02DA 02DC 2000-200F 2010-2027 2030 2032-2033"
    " 2039-203A 2044 20AC 2122 2190-2193 2212 2215 221E 2248 2260 2264-2265 25CB 25CF FEFF FFFD",
    "latin-ext": "0100-0130 0132-0151 0154-017F 018F 0192 01A0-01A1 01AF-01B0 01CD-01DC 0218-021B"
    " 0259 1E80-1E85 1E9E 1EA0-1EF9 20A9-20AB 20AD-20BD 2113",
    "cyrillic": "0400-045F 0462-0463 0472-0475 048A-04FF 2116",
    "greek": "0370-03FF",
}
"""Code points of each file, in hexadecimal; browsers fetch the files whose letters a page shows."""
LINE = 110
"""Characters of a list of ranges that stay on one line."""
HEAD = """/* The typeface, one file for each script: made by tools/fonts. */

/* A letter of the system takes the room of one of ours, so that nothing moves when those arrive. */
@font-face {
  ascent-override: 90.49%;
  descent-override: 22.56%;
  font-family: "Inter Fallback";
  line-gap-override: 0%;
  size-adjust: 107.06%;
  src: local("Arial"), local("Liberation Sans"), local("Helvetica");
}

"""
FACE = """@font-face {{
  font-display: swap;
  font-family: "Inter Text";
  font-style: normal;
  font-weight: {first} {last};
  src: url("../fonts/{name}") format("woff2");
  unicode-range:{ranges};
}}
"""


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    faces = []
    files = {}
    for script, written in RANGES.items():
        font = subset(points(written))
        name = f"inter-{script}.woff2"
        font.flavor = "woff2"
        font.save(OUT / name)
        content = (OUT / name).read_bytes()
        files[name] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        ranges = ", ".join(f"U+{part}" for part in written.split())
        ranges = f"\n    {ranges}" if len(ranges) > LINE else f" {ranges}"
        faces.append(FACE.format(first=WEIGHTS[0], last=WEIGHTS[1], name=name, ranges=ranges))
    write_texts(faces, files)


def points(written: str) -> set[int]:
    found = set()
    for part in written.split():
        first, _, last = part.partition("-")
        found |= set(range(int(first, 16), int(last or first, 16) + 1))
    return found


def subset(unicodes: set[int]) -> TTFont:
    font = TTFont(PACKAGE / "variable" / "InterVariable.woff2", recalcTimestamp=False)
    options = Options(
        layout_features=list(FEATURES), hinting=False, desubroutinize=True, notdef_outline=True
    )
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=unicodes)
    subsetter.subset(font)
    return instantiateVariableFont(font, {"opsz": TEXT_SIZE, "wght": WEIGHTS})


def write_texts(faces: list[str], files: dict[str, dict[str, object]]) -> None:
    version = json.loads((PACKAGE / "package.json").read_text())["version"]
    (OUT / "LICENSE.txt").write_text((PACKAGE / "LICENSE.txt").read_text())
    built = {"package": "inter-ui", "version": version, "files": files}
    (OUT / "versions.json").write_text(f"{json.dumps(built, indent=2)}\n")
    (OUT.parent / "styles" / "typeface.css").write_text(HEAD + "\n".join(faces))


main()
