"""The encoding of text that does not name it, found by what it would say in each.

A wrong encoding gives words that nobody has written, so text is only read in one whose letters fit:
those of a script, in their usual frequency, without capitals in the middle of words.
"""

# ruff: noqa: RUF001 - the letters of many scripts are what this is about

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

import charset_normalizer

SAMPLE_BYTES = 64 * 1024
LEAST_SCORE = 0.4
"""Of the letters, so many are among the most frequent ones of their language."""
MOST_FLIPS = 0.1
LEAST_KANA = 0.15
MOST_BLOCKS = 8
"""Of 256 characters each, in a text of UTF-16 that has few others than letters of one script."""
PUNCTUATION = frozenset("€£¥§°«»“”„‘’‚–—…·•²³½¼¾µ¿¡ªº©®™№×÷± \xa0\xad")
SCRIPTS = {
    "CYRILLIC": (("windows-1251", "koi8-u", "cp866", "iso8859-5"), "оеаинтсрвлкмдпуыяі"),
    "GREEK": (("windows-1253", "iso8859-7"), "αεοιτνσηρκπυςάέί"),
    "HEBREW": (("windows-1255",), "יוהלאמתרשבנםדכעחק"),
    "ARABIC": (("windows-1256",), "اليمنورتبةدعسف"),
}
LATIN = {
    "windows-1252": "àáâãäåæçèéêëìíîïñòóôõöøùúûüÿœß",
    "windows-1254": "çğıöşüâîû",
    "windows-1250": "ąćęłńóśźżáčďéěíňřšťúůýžőűăâîşţäöüßôľĺŕđ",
    "iso8859-2": "ąćęłńóśźżáčďéěíňřšťúůýžőűăâîşţäöüßôľĺŕđ",
    "cp850": "àáâãäåæçèéêëìíîïñòóôõöøùúûüÿß",
}
"""The letters of each encoding's languages, the likeliest first."""
ICELANDIC = "áéíóúýðþæö"
JAPANESE = ("cp932", "euc_jp")
OTHER_ASIAN = ("gb18030", "big5", "cp949")

_flip = re.compile(r"[^\W\d_A-Z][A-ZА-ЯЁІЇЄҐΑ-Ω]")
_mixed = re.compile(r"[A-Za-z](?=[^\W\d_a-zA-Z])|[^\W\d_a-zA-Z](?=[A-Za-z])")
"""Matches letters of two scripts next to each other in a word."""
_symbol_in_word = re.compile(r"[^\W\d_][^\w\s'’\-.,;:/&@]+[^\W\d_]")
_kana = re.compile("[\u3040-\u30ff]")
_half_kana = re.compile("[\uff61-\uff9f]")
_asian = re.compile("[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff00-\uff60]")


def encoding_of(content: bytes) -> str | None:
    """The encoding of text that is not UTF-8; None if none fits without a doubt."""
    sample = content[:SAMPLE_BYTES]
    if b"\0" in sample:
        return wide_encoding(sample)
    return next(fitting(sample), None)


def best_encoding(content: bytes) -> str:
    """UTF-8 for text that is UTF-8 or fits no encoding, else the one that it fits."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return encoding_of(content) or "utf-8"
    return "utf-8"


def wide_encoding(sample: bytes) -> str | None:
    """UTF-16 without a mark: of each two bytes, one has few values, and zero among them."""
    sample = sample[: len(sample) // 2 * 2]
    for encoding, high in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[0::2])):
        blocks = Counter(high)
        usual = max(blocks.values(), default=0)
        if 0 in blocks and len(blocks) <= MOST_BLOCKS and usual * 2 >= len(high):
            text = decoded(sample, encoding)
            if text is not None and "\0" not in text and all(map(is_written, text)):
                return encoding
    return None


def is_written(character: str) -> bool:
    return character.isspace() or unicodedata.category(character)[0] in "LMNPSZ"


def fitting(sample: bytes) -> Iterator[str]:
    high = sum(byte > 127 for byte in sample)
    letters = sum(chr(byte).isalpha() for byte in sample if byte < 128)
    if high * 2 > letters or has_runs(sample):
        yield from fitting_scripts(sample)
        yield from fitting_asian(sample)
    yield from fitting_latin(sample)


def has_runs(sample: bytes) -> bool:
    """Return whether most of what is not ASCII stands together, as in other scripts."""
    runs = re.findall(rb"[\x80-\xff]+", sample)
    return sum(len(run) for run in runs if len(run) > 2) * 2 > sum(map(len, runs))


def fitting_scripts(sample: bytes) -> Iterator[str]:
    scores: dict[str, float] = {}
    for script, (encodings, frequent) in SCRIPTS.items():
        for encoding in encodings:
            if (text := decoded(sample, encoding)) is not None:
                scores[encoding] = script_score(text, script, frequent)
    found = max(scores, key=scores.__getitem__, default="")
    if found and scores[found] >= LEAST_SCORE:
        yield found


def script_score(text: str, script: str, frequent: str) -> float:
    """Return a score for the frequent letters of the script; 0 if the text cannot be in it."""
    foreign = [one for one in text if ord(one) > 127 and one not in PUNCTUATION]
    letters = [one for one in foreign if unicodedata.name(one, "").startswith(script)]
    if not letters or len(letters) < len(foreign):
        return 0.0
    if len(_flip.findall(text)) + len(_mixed.findall(text)) > MOST_FLIPS * len(letters):
        return 0.0
    score = sum(one.lower() in frequent for one in letters) / len(letters)
    upper = sum(one.isupper() for one in letters)
    return score - 0.2 if upper * 2 > len(letters) else score


def fitting_asian(sample: bytes) -> Iterator[str]:
    for encoding in JAPANESE:
        text = decoded(sample, encoding)
        if text is None or _half_kana.search(text):
            continue
        foreign = sum(ord(one) > 127 for one in text)
        if len(_kana.findall(text)) >= LEAST_KANA * foreign and is_asian(text):
            yield encoding
    best = charset_normalizer.from_bytes(sample, cp_isolation=[*OTHER_ASIAN]).best()
    if best is not None and best.encoding in OTHER_ASIAN and is_asian(str(best)):
        yield best.encoding


def is_asian(text: str) -> bool:
    foreign = [one for one in text if ord(one) > 127 and one not in PUNCTUATION]
    return bool(foreign) and all(map(_asian.match, foreign))


def fitting_latin(sample: bytes) -> Iterator[str]:
    for encoding, letters in (*LATIN.items(), ("windows-1252", ICELANDIC)):
        text = decoded(sample, encoding)
        if text is not None and is_latin(text, letters):
            yield encoding


def is_latin(text: str, letters: str) -> bool:
    foreign = {one for one in text if ord(one) > 127 and one not in PUNCTUATION}
    return (
        all(one.lower() in letters for one in foreign)
        and not _symbol_in_word.search(text)
        and len(_flip.findall(text)) * 20 <= max(len(text), 20)
    )


def decoded(sample: bytes, encoding: str) -> str | None:
    try:
        return sample.decode(encoding)
    except UnicodeDecodeError as error:
        # The sample may end in the middle of a character.
        if error.start >= len(sample) - 4 and len(sample) == SAMPLE_BYTES:
            return sample[: error.start].decode(encoding)
        return None
