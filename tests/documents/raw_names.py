"""ZIP archives whose names are written as other programs write them."""

from collections.abc import Mapping
from io import BytesIO
from zipfile import ZipFile, ZipInfo


class RawName(ZipInfo):
    """An entry whose name is written in any encoding, without the UTF-8 flag."""

    encoding = "utf-8"

    def _encodeFilenameFlags(self) -> tuple[bytes, int]:  # noqa: N802
        return self.filename.encode(self.encoding), self.flag_bits


def raw_archive(
    files: Mapping[str, bytes | str], encoding: str = "utf-8", extra: bytes = b""
) -> BytesIO:
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        for name, content in files.items():
            entry = RawName(name)
            entry.encoding = encoding
            entry.extra = extra
            archive.writestr(entry, content)
    file.seek(0)
    return file
