"""Static files as browsers should get them: compressed, and named by their content.

They are built into `STATIC_ROOT` once for each version of them. Where they are not built (in
tests, and with `DEBUG`), pages use their plain names and get them from their sources.
"""

import hashlib
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import brotli
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.core.files import locks
from django.core.management import call_command
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

logger = logging.getLogger(__name__)

STAMP = "built.sha256"
"""Holds the hash of the sources that the folder was built from."""


def build() -> None:
    """Build the static files, unless these very files were built before.

    Of several processes that start together one builds, and the others wait for it.
    """
    stamp = Path(settings.STATIC_ROOT) / STAMP
    version = hash_of_sources()
    with stamp.with_suffix(".lock").open("w") as lock:
        locks.lock(lock, locks.LOCK_EX)
        try:
            if stamp.exists() and stamp.read_text() == version:
                return
            logger.info("Building the static files")
            call_command("collectstatic", interactive=False, verbosity=0)
            stamp.write_text(version)
        finally:
            locks.unlock(lock)


def hash_of_sources() -> str:
    digest = hashlib.sha256(Path(__file__).read_bytes())  # how they are built counts as well
    for path, content in sorted(sources()):
        digest.update(f"{path}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def sources() -> Iterator[tuple[str, bytes]]:
    for finder in get_finders():
        for path, storage in finder.list([]):
            with storage.open(path) as file:
                yield path, file.read()


class QuickCompressor(Compressor):  # type: ignore[misc]
    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        """Compress a few per cent less than at best, in a tenth of the time."""
        return bytes(brotli.compress(data, quality=9))


FILES_OF_SCRIPTS = (
    r"""(?P<matched>new URL\(["'](?P<url>[./].*?)["'], import\.meta\.url\))""",
    """new URL("%(url)s", import.meta.url)""",
)
"""How a script names a file beside it that is no script."""


Processed = tuple[str, str | None, bool | Exception, bool]
"""Name, hashed name, whether it was written or why not, whether its content changed."""


def is_in_comment(match: re.Match[str]) -> bool:
    before = match.string[: match.start("url")]
    return before.rfind("/**") > before.rfind("*/")


class BuiltFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    patterns = (*CompressedManifestStaticFilesStorage.patterns, ("*.js", (FILES_OF_SCRIPTS,)))
    support_js_module_import_aggregation = True
    max_post_process_passes = 50  # more than the longest row of modules that import each other

    def _post_process(
        self, paths: dict[str, Any], adjustable_paths: list[str], hashed_files: dict[str, str]
    ) -> Iterator[Processed]:
        """Search a file once if it names no others: to search bundles in each pass takes long."""
        is_first_pass = not hashed_files
        if is_first_pass:
            self.files_naming_none: set[str] = set()
        pending = {name: file for name, file in paths.items() if name not in self.files_naming_none}
        for processed in super()._post_process(pending, adjustable_paths, hashed_files):
            name, _, _, has_changed = processed
            if is_first_pass and not has_changed:
                self.files_naming_none.add(name)
            yield processed

    def url_converter(
        self, name: str, hashed_files: dict[str, str], template: str | None = None
    ) -> Callable[[re.Match[str]], str]:
        """Leave types in comments alone: scripts may import the types of each other."""
        convert = super().url_converter(name, hashed_files, template)
        return lambda match: match[0] if is_in_comment(match) else str(convert(match))

    def url(self, name: str | None, force: bool = False) -> str:
        if not self.hashed_files:
            return StaticFilesStorage.url(self, name)
        return str(super().url(name, force))

    def create_compressor(self, **options: object) -> Compressor:
        return QuickCompressor(**options)
