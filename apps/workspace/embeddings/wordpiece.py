"""Implements WordPiece, the tokenizer of BERT's uncased models. It converts text to token IDs."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

LONGEST_WORD = 100
"""The maximum length of a word in characters. A longer word counts as unknown."""
MOST_CHARACTERS = 16_384
"""Only this many characters of a text are tokenized. That is ten times as many as a model reads,
unless the text is mostly white space.
"""
WRITTEN_TOKENS = re.compile(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])")
IDEOGRAPHS = re.compile(
    "([\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b920-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f])"
)
"""Matches characters that are words by themselves. The ranges come from BERT's own tokenizer."""
SMALL_SIGMA = "\N{GREEK SMALL LETTER SIGMA}"
DROPPED = frozenset({"Cc", "Cf", "Co", "Cs"})


@dataclass(frozen=True, slots=True)
class WordPiece:
    """BERT's tokenizer. `ids` contains the ID of each piece of a word. Pieces that do not begin a
    word begin with `##`.
    """

    ids: Mapping[str, int]

    def encode(self, text: str, most: int) -> list[int]:
        """Return the IDs of up to `most` tokens from the beginning of the text, without the start
        and end tokens.
        """
        return list(islice(self.all_ids(text[:MOST_CHARACTERS]), most))

    def all_ids(self, text: str) -> Iterator[int]:
        for part in WRITTEN_TOKENS.split(text):
            if WRITTEN_TOKENS.fullmatch(part):
                yield self.ids[part]
            else:
                for word in split_words(part):
                    yield from self.pieces(word)

    def pieces(self, word: str) -> list[int]:
        """Split a word into the longest known pieces, and return their IDs. If any part of the word
        is unknown, return the ID of `[UNK]`.
        """
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
    """Yield the words of a text in lower case and without accents. Every punctuation mark counts as
    a word.
    """
    cleaned = IDEOGRAPHS.sub(r" \1 ", "".join(map(clean, text)))
    plain = (c for c in unicodedata.normalize("NFD", cleaned) if unicodedata.category(c) != "Mn")
    # str.lower() converts a sigma at the end of a word into a form that the vocabulary does not
    # contain.
    lowered = "".join(plain).replace("\N{GREEK CAPITAL LETTER SIGMA}", SMALL_SIGMA).lower()
    return iter("".join(f" {c} " if is_punctuation(c) else c for c in lowered).split())


def clean(character: str) -> str:
    """Return a space for a white-space character, "" for a control character, and any other
    character unchanged.
    """
    if character in "\t\n\r" or character == " ":
        return " "
    if character == "\ufffd" or unicodedata.category(character) in DROPPED:
        return ""
    return " " if character.isspace() else character


def is_punctuation(character: str) -> bool:
    if character.isascii():
        return character.isprintable() and not character.isalnum() and character != " "
    return unicodedata.category(character)[0] == "P"
