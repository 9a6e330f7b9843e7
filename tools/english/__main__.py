"""Print counts of wordings by kind of text; `--check` fails if a docstring begins with a fragment."""

import sys

from tools.english import sentences
from tools.english.patterns import count, fragments

if "--check" in sys.argv:
    found = fragments(sentences.docstrings())
    for place, text in found:
        sys.stdout.write(f"{place}: begin with a verb or the subject: {text.splitlines()[0]}\n")
    sys.exit(bool(found))

KINDS = {
    "docstrings": sentences.docstrings(),
    "comments": sentences.comments(),
    "scripts, styles": sentences.front_end_comments(),
    "docs": sentences.pages(),
    "visible texts": sentences.visible_texts(),
}
columns = {name: count(found) for name, found in KINDS.items()}
sys.stdout.write(f"{'':26}" + "".join(f"{name:>17}" for name in columns) + "\n")
for name in columns["docs"]:
    numbers = "".join(f"{column[name]:>17,}" for column in columns.values())
    sys.stdout.write(f"{name:26}{numbers}\n")
