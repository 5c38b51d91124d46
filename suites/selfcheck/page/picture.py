"""The picture of the page in the README: python -m suites.selfcheck.page.picture

It holds the words that are seen on it, so that the self-check can tell whether it is old.
"""

from __future__ import annotations

import struct
import sys
import tempfile
import zlib
from pathlib import Path

from playwright.sync_api import Page, ViewportSize

from suites.selfcheck.page import browser
from suites.selfcheck.page.pages import SETTLED, Reader, build_recorded, watched

PICTURE = Path(__file__).parents[3] / "reports" / "page.png"
COMMAND = "python -m suites.selfcheck.page.picture"
SIZE: ViewportSize = {"width": 1440, "height": 900}
KEY = b"Description\0"
END = b"\0\0\0\0IEND"


def seen(page: Page) -> str:
    """Return the words at the top of the page and of the first rows, which fill the picture."""
    parts = [page.inner_text("header.top"), *page.locator(".row > th").all_inner_texts()[:2]]
    return " ".join(" ".join(parts).split())


def held(picture: bytes) -> str:
    """Return the words that a picture holds; nothing where it holds none."""
    place = picture.find(b"iTXt" + KEY)
    if place < 0:
        return ""
    size = struct.unpack(">I", picture[place - 4 : place])[0]
    return picture[place + 4 + len(KEY) + 4 : place + 4 + size].decode("utf-8")


def holding(picture: bytes, words: str) -> bytes:
    """Return a picture that holds these words, in a chunk before its last one."""
    body = b"iTXt" + KEY + b"\0\0\0\0" + words.encode("utf-8")
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    place = picture.rindex(END)
    return picture[:place] + chunk + picture[place:]


def opened(page: Page, url: str) -> Page:
    """Return the page as it is in the picture."""
    page.set_viewport_size(SIZE)
    Reader(page, url).open()
    page.evaluate(SETTLED)
    return page


def main() -> int:
    """Take the picture."""
    with tempfile.TemporaryDirectory() as folder, browser.browser() as found, watched(found) as page:
        opened(page, build_recorded(Path(folder)).url)
        PICTURE.write_bytes(holding(page.screenshot(), seen(page)))
    print(PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
