"""Text files, of which those are compressed whose name ends in .xz: kept results."""

from __future__ import annotations

from pathlib import Path

COMPRESSED = ".xz"


def read(path: Path) -> str:
    """Raises an OSError, or a ValueError if the file is not what its name says."""
    content = path.read_bytes()
    return (_unpacked(content) if path.suffix == COMPRESSED else content).decode("utf-8")


def write(text: str, path: Path) -> None:
    """The same text makes the same bytes: a compressed file that is written again does not differ."""
    content = text.encode("utf-8")
    path.write_bytes(_packed(content) if path.suffix == COMPRESSED else content)


def plain_name(path: Path) -> Path:
    """Without the ending of compressed files."""
    return path.with_suffix("") if path.suffix == COMPRESSED else path


# lzma is imported where it is used: a Python that was built without it reads and writes all other files.
def _unpacked(content: bytes) -> bytes:
    import lzma

    try:
        return lzma.decompress(content)
    except lzma.LZMAError as error:
        raise ValueError(f"it is not compressed by xz, or not whole: {error}") from error


def _packed(content: bytes) -> bytes:
    import lzma

    return lzma.compress(content, preset=9 | lzma.PRESET_EXTREME)
