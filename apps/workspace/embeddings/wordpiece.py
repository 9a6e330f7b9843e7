"""WordPiece, the tokens of BERT's uncased models: words of text as ids of a vocabulary."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

LONGEST_WORD = 100
"""Characters; a longer word is unknown."""
MOST_CHARACTERS = 16_384
"""Of a text that are looked at: ten times what a model reads, unless it is all white space."""
WRITTEN_TOKENS = re.compile(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])")
IDEOGRAPHS = re.compile(
    "([\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b920-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f])"
)
"""Each is a word by itself; the ranges are those of BERT's own tokenizer."""
SMALL_SIGMA = "\N{GREEK SMALL LETTER SIGMA}"
DROPPED = frozenset({"Cc", "Cf", "Co", "Cs"})


@dataclass(frozen=True, slots=True)
class WordPiece:
    """`ids` has the id of each piece; pieces within a word begin with `##`."""

    ids: Mapping[str, int]

    def encode(self, text: str, most: int) -> list[int]:
        """At most `most` ids, without those that begin and end a text."""
        return list(islice(self.all_ids(text[:MOST_CHARACTERS]), most))

    def all_ids(self, text: str) -> Iterator[int]:
        for part in WRITTEN_TOKENS.split(text):
            if WRITTEN_TOKENS.fullmatch(part):
                yield self.ids[part]
            else:
                for word in split_words(part):
                    yield from self.pieces(word)

    def pieces(self, word: str) -> list[int]:
        """The longest known piece at each place; the whole word is unknown where there is none."""
        found: list[int] = []
        start = 0
        while start < len(word) <= LONGEST_WORD:
            prefix = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if prefix + word[start:end] in self.ids), None)
            if end is None:
                break
            found.append(self.ids[prefix + word[start:end]])
            start = end
        return found if start == len(word) else [self.ids["[UNK]"]]


def split_words(text: str) -> Iterator[str]:
    """Words in lower case and without accents; every punctuation mark is a word."""
    cleaned = IDEOGRAPHS.sub(r" \1 ", "".join(map(clean, text)))
    plain = (c for c in unicodedata.normalize("NFD", cleaned) if unicodedata.category(c) != "Mn")
    # A sigma at the end of a word has a form of its own in str.lower(), not in the vocabulary's.
    lowered = "".join(plain).replace("\N{GREEK CAPITAL LETTER SIGMA}", SMALL_SIGMA).lower()
    return iter("".join(f" {c} " if is_punctuation(c) else c for c in lowered).split())


def clean(character: str) -> str:
    """White space as a space; nothing for control characters, such as most that break lines."""
    if character in "\t\n\r" or character == " ":
        return " "
    if character == "\ufffd" or unicodedata.category(character) in DROPPED:
        return ""
    return " " if character.isspace() else character


def is_punctuation(character: str) -> bool:
    if character.isascii():
        return character.isprintable() and not character.isalnum() and character != " "
    return unicodedata.category(character)[0] == "P"
