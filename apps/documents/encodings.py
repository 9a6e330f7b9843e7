"""Detects the encoding of texts that do not declare it.

Each candidate encoding gets a score for how common the decoded letter pairs are in the encoding's
languages. If the best score does not clearly exceed the second best, the encoding is unknown.
"""

# ruff: noqa: RUF001 - this module is about the letters of many scripts

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import chardet

SAMPLE_BYTES = 64 * 1024
SCORED_BYTES = 4 * 1024
SCRIPTS = {
    "CYRILLIC": ("windows-1251", "koi8-u", "koi8-r", "cp866", "iso-8859-5"),
    "GREEK": ("windows-1253", "iso-8859-7"),
    "HEBREW": ("windows-1255",),
    "ARABIC": ("windows-1256",),
    "THAI": ("cp874",),
}
EAST_ASIAN = ("cp932", "euc-jp", "gb18030", "big5", "cp949")
LATIN = {
    "windows-1252": "àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿœß",
    "windows-1254": "çğıöşüâîû",
    "windows-1250": "ąćęłńóśźżáčďéěíňřšťúůýžőűăâîşţäöüßôľĺŕđ",
    "iso-8859-2": "ąćęłńóśźżáčďéěíňřšťúůýžőűăâîşţäöüßôľĺŕđ",
    "cp850": "àáâãäåæçèéêëìíîïñòóôõöøùúûüÿß",
}
"""Maps encodings of Latin scripts to the non-ASCII letters of the languages that use them."""
LEAST_SCORE = 0.05
"""The score that an encoding of a script other than Latin must exceed. Random bytes and wrong
encodings have lower scores.
"""
LEAD = 1.5
"""The minimum ratio of the best score to the second best, for scripts other than Latin."""
LATIN_LEAD = 1.1
USUAL_LATIN = "windows-1252"
USUAL_ADVANTAGE = 1.1
NONE = "ascii"
"""The encoding that `chardet` must return if a text has none of the requested encodings."""
MOST_BLOCKS = 8
"""A text is treated as UTF-16 only if its characters come from at most this many blocks of 256 code
points. A text that is mostly in one script uses few blocks.
"""
PUNCTUATION = frozenset("€£¥§°«»“”„‘’‚–—…·•²³½¼¾µ¿¡ªº©®™№×÷± \xa0\xad،؛؟ـ\u200c\u200d\u200e\u200f")

_beside_latin = re.compile(r"[A-Za-z](?=[^\W\d_a-zA-Z])|[^\W\d_a-zA-Z](?=[A-Za-z])")
_symbol_in_word = re.compile(r"[^\W\d_](?:[^\w\s'’\-.,;:/&@]|[¹²³¼½¾])+[^\W\d_]")
_opening_after_letter = re.compile(r"[^\W\d_][‚„]")
_east_asian = re.compile("[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff00-\uff60]")
_runs = re.compile(rb"[\x80-\xff]+")


def encoding_of(content: bytes) -> str | None:
    """Return the encoding of a text that is not UTF-8, or None if it is unknown."""
    sample = content[:SAMPLE_BYTES]
    if b"\0" in sample:
        return wide_encoding(sample)
    sample = telling(content)
    if not sample:
        return None
    if only_punctuation(sample):
        return USUAL_LATIN
    if is_other_script(sample):
        found = leading(dict(other_scores(sample)), LEAST_SCORE, LEAD)
        if found or is_in_runs(sample):
            return found
    return leading(dict(latin_scores(sample)), 0, LATIN_LEAD)


def best_encoding(content: bytes) -> str:
    """Return the encoding of a text, or "utf-8" if it is unknown."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return encoding_of(content) or "utf-8"
    return "utf-8"


def wide_encoding(sample: bytes) -> str | None:
    """Return "utf-16-le" or "utf-16-be" for a text without a byte order mark, or None if it is not
    UTF-16. In UTF-16, one byte of each pair has few different values, including zero.
    """
    sample = sample[: len(sample) // 2 * 2]
    for encoding, high in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[0::2])):
        blocks = Counter(high)
        usual = max(blocks.values(), default=0)
        if 0 in blocks and len(blocks) <= MOST_BLOCKS and usual * 2 >= len(high):
            text = decode_sample(sample, encoding)
            if text is not None and "\0" not in text and all(map(is_written, text)):
                return encoding
    return None


def is_written(character: str) -> bool:
    return character.isspace() or unicodedata.category(character)[0] in "LMNPSZ"


def telling(content: bytes) -> bytes:
    """Return the first lines that contain non-ASCII bytes, about `SCORED_BYTES` bytes in total.
    Lines can be decoded separately, because no encoding splits a character between two lines.
    """
    found = bytearray()
    start = 0
    while len(found) < SCORED_BYTES and (high := _runs.search(content, start)):
        begin = max(content.rfind(b"\n", start, high.start()) + 1, start, high.start() - 200)
        end = content.find(b"\n", high.end())
        start = len(content) if end < 0 else end + 1
        line = content[begin : min(start, begin + SCORED_BYTES)]
        if len(line) == SCORED_BYTES:
            line = line.rpartition(b" ")[0] or line
        found += line
    return bytes(found)


def only_punctuation(sample: bytes) -> bool:
    text = decode_sample(sample, USUAL_LATIN)
    return text is not None and is_latin(text, "") and not is_in_runs(sample)


def foreign_letters(text: str) -> list[str]:
    return [one for one in text if ord(one) > 127 and one not in PUNCTUATION]


def is_other_script(sample: bytes) -> bool:
    """Return True if the text seems to be in a script other than Latin: few of its letters are
    ASCII, or its non-ASCII bytes are adjacent.
    """
    high = sum(byte > 127 for byte in sample)
    letters = sum(chr(byte).isalpha() for byte in sample if byte < 128)
    return high * 2 > letters or is_in_runs(sample)


def is_in_runs(sample: bytes) -> bool:
    runs = [len(run) for run in _runs.findall(sample)]
    return sum(run for run in runs if run > 2) * 2 > sum(runs)


def leading(scores: dict[str, tuple[float, str]], least: float, lead: float) -> str | None:
    """Return the encoding with the best score, or None if the score does not exceed `least`.

    The score must also be at least `lead` times the score of any encoding that decodes the text
    differently. `scores` maps each encoding to its score and the decoded text.
    """
    if not scores:
        return None
    best = max(scores, key=lambda encoding: scores[encoding][0])
    score, text = scores[best]
    others = [other for other, read in scores.values() if read != text]
    return best if score > least and score >= lead * max(others, default=0) else None


def other_scores(sample: bytes) -> Iterator[tuple[str, tuple[float, str]]]:
    for script, encodings in SCRIPTS.items():
        for encoding in encodings:
            text = decode_sample(sample, encoding)
            if text is not None and is_in_script(text, script):
                yield encoding, (score_of(text, encoding), text)
    for encoding in EAST_ASIAN:
        text = decode_sample(sample, encoding)
        if text is not None and all(map(_east_asian.match, foreign_letters(text))):
            yield encoding, (score_of(text, encoding), text)


def is_in_script(text: str, script: str) -> bool:
    foreign = foreign_letters(text)
    return all(
        unicodedata.name(one, "").startswith(script) or unicodedata.category(one) == "Mn"
        for one in foreign
    ) and odd_neighbours(text) * 10 <= len(foreign)


def odd_neighbours(text: str) -> int:
    """Return the number of implausible pairs of letters: a capital after a lowercase letter, or
    letters of two scripts.
    """
    capitals = sum(one.islower() and other.isupper() for one, other in pairwise(text))
    return capitals + len(_beside_latin.findall(text))


def latin_scores(sample: bytes) -> Iterator[tuple[str, tuple[float, str]]]:
    for encoding, letters in LATIN.items():
        text = decode_sample(sample, encoding)
        if text is not None and is_latin(text, letters):
            advantage = USUAL_ADVANTAGE if encoding == USUAL_LATIN else 1
            yield encoding, (score_of(text, encoding) * advantage, text)


def is_latin(text: str, letters: str) -> bool:
    capitals = sum(
        one.islower() and other.isupper() and not (one.isascii() and other.isascii())
        for one, other in pairwise(text)
    )
    return (
        all(one.lower() in letters for one in foreign_letters(text))
        and not _symbol_in_word.search(text)
        and not _opening_after_letter.search(text)
        and capitals * 20 <= max(len(text), 20)
    )


def score_of(text: str, encoding: str) -> float:
    """Return a score from 0 to 1. It is high if the text's letter pairs are frequent in the
    languages of the encoding.

    The score is computed for the lowercase text, because it identifies the languages better.
    """
    try:
        content = text.lower().encode(encoding)
    except UnicodeEncodeError:
        content = text.encode(encoding, "replace")
    found = chardet.detect_all(
        content,
        ignore_threshold=True,
        include_encodings=[encoding, NONE],
        no_match_encoding=NONE,
    )
    return max((one["confidence"] for one in found if one["encoding"] != NONE), default=0.0)


def decode_sample(sample: bytes, encoding: str) -> str | None:
    try:
        return sample.decode(encoding)
    except UnicodeDecodeError as error:
        # The sample may end in the middle of a character.
        if error.start >= len(sample) - 4 and len(sample) >= SCORED_BYTES:
            return sample[: error.start].decode(encoding)
        return None
