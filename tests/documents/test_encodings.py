"""Text without a declared encoding is read correctly or refused."""

# ruff: noqa: RUF001

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.documents.encodings import encoding_of
from apps.documents.formats import decode_document
from apps.documents.paged_text import UnreadableDocument
from tests.tables import each_row

RUSSIAN = "Привет, мир. Это обычный русский текст о погоде."
GERMAN = "name;city;amount\nMüller;Köln;1,50 €\nJosé;Málaga;2,00 €\n"
JAPANESE = "今日の天気は晴れです。明日は雨でしょう。"


@each_row(
    ("text", "encoding"),
    [
        (RUSSIAN, "windows-1251"),
        (RUSSIAN, "koi8-r"),
        (RUSSIAN, "cp866"),
        (RUSSIAN, "iso8859-5"),
        (RUSSIAN, "utf-16"),
        (RUSSIAN, "utf-16-le"),
        (RUSSIAN, "utf-16-be"),
        ("имя;город;сумма\nИван;Москва;10\nОльга;Казань;20\n", "windows-1251"),
        ("Їжак і ґава: привіт, як справи?", "windows-1251"),
        (GERMAN, "windows-1252"),
        (GERMAN, "utf-8-sig"),
        (GERMAN, "utf-16-le"),
        (GERMAN.replace("€", "EUR"), "cp850"),
        ("Müller", "windows-1252"),
        ("Åse Ødegård; smørrebrød", "windows-1252"),
        ("Élève déçu à Noël: cœur brisé, ça coûte 5 €", "windows-1252"),
        ("Zażółć gęślą jaźń; łódź; ćma; źródło", "windows-1250"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy", "windows-1250"),
        ("Şu köşe yaz köşesi, ığdır üzüm", "windows-1254"),
        ("Καλημέρα κόσμε, τι κάνετε;", "windows-1253"),
        ("שלום עולם, מה שלומך היום", "windows-1255"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        ("今天天气很好，我们去公园玩吧。", "gbk"),
        ("今天天氣很好，我們去公園玩吧。", "big5"),
        ("오늘 날씨가 좋습니다. 공원에 갑시다.", "euc_kr"),
        ("สวัสดีครับ ยินดีต้อนรับ", "cp874"),
        ("مرحبا بالعالم", "windows-1256"),
        ("ПРИВЕТ МИР", "windows-1251"),
        ("ОТЧЁТ О ПРОДАЖАХ", "koi8-r"),
        ("ΑΘΗΝΑ", "windows-1253"),
        ("ΚΑΛΗΜΕΡΑ ΚΟΣΜΕ", "windows-1253"),
        ("Usunięto klucz bezpieczeństwa", "windows-1250"),
        ("Statične datoteke", "windows-1250"),
        ("Felhasználónév (nem kötelező)", "windows-1250"),
        ("VU POUR LA DERNIÈRE FOIS À", "windows-1252"),
        ("“Quoted” – 20 °C, ½ cup, © 2024…", "windows-1252"),
        ("x" * 70_000 + " Müller", "windows-1252"),
        ("x,y\n" * 20_000 + "Müller\n", "windows-1252"),
    ],
)
def test_text_is_read_as_it_was_written(text: str, encoding: str):
    assert decode_document(text.encode(encoding)) == text


@each_row(
    ("text", "encoding"),
    [
        ("東京", "shift_jis"),
        ("東京", "euc_jp"),
        ("안녕", "cp949"),
        ("ÄÖÜ", "cp850"),
    ],
)
def test_a_word_that_could_be_another_one_is_refused(text: str, encoding: str):
    with pytest.raises(UnreadableDocument):
        decode_document(text.encode(encoding))


def test_a_nul_in_a_text_is_left_out():
    written = "one\0 two, three, and many more words that nobody has to count, éà"

    assert decode_document(written.encode()) == written.replace("\0", "")


@pytest.mark.parametrize(
    "content",
    [
        bytes(range(128, 256)),
        "prix: 5 \xd7 \xb9\xb2x\xb3y".encode("latin-1") + b"a\xb9b\xb3c\xbfd",
    ],
)
def test_text_that_fits_no_encoding_is_refused(content: bytes):
    with pytest.raises(UnreadableDocument):
        decode_document(content)


@given(st.binary(max_size=200))
def test_any_bytes_are_text_in_the_encoding_that_is_found_or_nothing(content: bytes):
    found = encoding_of(content)

    assert found is None or isinstance(content.decode(found, "replace"), str)
