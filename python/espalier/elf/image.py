"""An ELF file's dynamic section and symbols, of any word size and byte order (System V ABI, chapters 4 and 5).

`espalier run` reads a dozen libraries before it becomes the program: loading a general reader, and describing their headers
with it took a quarter of its time."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from typing import NamedTuple, Optional

_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NULL, _DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_GNU_HASH = 0, 4, 5, 6, 0x6FFFFEF5
_SHT_SYMTAB, _SHT_DYNSYM = 2, 11


class Malformed(ValueError):
    """No ELF file, or one whose parts lie outside of it."""


class _Segment(NamedTuple):
    type: int
    offset: int
    address: int
    size: int


class Image:
    """data: the whole file. Any method may raise Malformed or struct.error."""

    def __init__(self, data: mmap.mmap) -> None:
        if len(data) < 64 or data[:4] != b"\x7fELF" or data[4] not in (1, 2) or data[5] not in (1, 2):
            raise Malformed("no ELF file")
        self._data = data
        self.bits = 32 * data[4]
        self._order = "<" if data[5] == 1 else ">"
        self._word = "Q" if self.bits == 64 else "I"
        _, self.machine, _, _, programs, sections, _, _, size, count, section_size, section_count, _ = self._at(
            16, f"HHI3{self._word}I6H"
        )
        self._sections = range(sections, sections + section_size * section_count, max(section_size, 1))
        self._segments = [self._segment(programs + size * each) for each in range(count)]
        self.dynamic = self._dynamic()

    def _at(self, offset: int, form: str) -> tuple[int, ...]:
        return struct.unpack_from(self._order + form, self._data, offset)

    def _segment(self, offset: int) -> _Segment:
        if self.bits == 64:
            type_, _, start, address, _, size = self._at(offset, "II4Q")
        else:
            type_, start, address, _, size = self._at(offset, "5I")
        return _Segment(type_, start, address, size)

    def _dynamic(self) -> Optional[dict[int, list[int]]]:
        """Its values by tag; None: a program that is linked statically."""
        found = next((segment for segment in self._segments if segment.type == _PT_DYNAMIC), None)
        if found is None:
            return None
        part = self._data[found.offset : found.offset + found.size]
        pair = struct.Struct(f"{self._order}2{self._word}")
        values: dict[int, list[int]] = {}
        for tag, value in pair.iter_unpack(part[: len(part) // pair.size * pair.size]):
            if tag == _DT_NULL:
                break
            values.setdefault(tag, []).append(value)
        return values

    def _place(self, tag: int) -> Optional[int]:
        """Where in the file the part lies whose address the dynamic section tells."""
        address = (self.dynamic or {}).get(tag, [0])[0]
        for segment in self._segments:
            if address and segment.type == _PT_LOAD and 0 <= address - segment.address < segment.size:
                return segment.offset + address - segment.address
        return None

    def texts(self, tag: int) -> list[str]:
        """The strings whose numbers the dynamic section has under the tag."""
        strings = self._place(_DT_STRTAB)
        numbers = (self.dynamic or {}).get(tag, [])
        if numbers and strings is None:
            raise Malformed("the dynamic section has no strings")
        return [os.fsdecode(self._text((strings or 0) + number)) for number in numbers]

    def _text(self, offset: int) -> bytes:
        end = self._data.find(b"\0", offset)
        if not 0 <= offset <= end:
            raise Malformed("a string lies outside of the file")
        return self._data[offset:end]

    def _symbol(self, offset: int) -> tuple[int, bool]:
        """(number of the name, whether it is defined)."""
        if self.bits == 64:
            name, _, _, section = self._at(offset, "IBBH")
        else:
            name, _, _, _, _, section = self._at(offset, "IIIBBH")
        return name, section != 0

    def _is_defined_there(self, number: int, name: bytes) -> Optional[bool]:
        """Of the dynamic symbol of that number; None: it has another name."""
        symbols, strings = self._place(_DT_SYMTAB), self._place(_DT_STRTAB)
        if symbols is None or strings is None:
            return None
        text, defined = self._symbol(symbols + number * (24 if self.bits == 64 else 16))
        return defined if self._text(strings + text) == name else None

    def dynamic_symbol(self, name: bytes) -> tuple[bool, Optional[bool]]:
        """(whether there is a hash table to ask, whether the symbol is defined; None: it is not in it)."""
        for tag, numbers in ((_DT_GNU_HASH, self._by_gnu_hash), (_DT_HASH, self._by_hash)):
            table = self._place(tag)
            if table is not None:
                found = (self._is_defined_there(number, name) for number in numbers(table, name))
                return True, next((one for one in found if one is not None), None)
        return False, None

    def _by_gnu_hash(self, table: int, name: bytes) -> Iterator[int]:
        """Numbers of symbols whose name has the same hash."""
        buckets, first, bloom, _ = self._at(table, "4I")
        value = 5381
        for byte in name:
            value = (value * 33 + byte) & 0xFFFFFFFF
        start = table + 16 + bloom * self.bits // 8
        (number,) = self._at(start + value % max(buckets, 1) * 4, "I")
        while first <= number:
            (chained,) = self._at(start + buckets * 4 + (number - first) * 4, "I")
            if chained | 1 == value | 1:
                yield number
            if chained & 1:  # the last of its bucket
                return
            number += 1

    def _by_hash(self, table: int, name: bytes) -> Iterator[int]:
        buckets, chains = self._at(table, "2I")
        value = 0
        for byte in name:
            value = (value << 4) + byte
            value = (value ^ (value & 0xF0000000) >> 24) & 0x0FFFFFFF
        (number,) = self._at(table + 8 + value % max(buckets, 1) * 4, "I")
        for _ in range(chains):
            if number == 0:
                return
            yield number
            (number,) = self._at(table + 8 + (buckets + number) * 4, "I")

    def symbol(self, name: bytes) -> bool:
        """Whether any symbol table of the file defines it, also one that the loader does not see."""
        return any(self._is_defined_in(section, name) for section in self._sections)

    def _header(self, offset: int) -> tuple[int, int, int, int]:
        """Of a section: type, place, size, number of the section that it is linked with."""
        _, type_, _, _, start, size, link = self._at(offset, f"2I4{self._word}I")
        return type_, start, size, link

    def _is_defined_in(self, section: int, name: bytes) -> bool:
        type_, start, size, link = self._header(section)
        if type_ not in (_SHT_SYMTAB, _SHT_DYNSYM) or link >= len(self._sections):
            return False
        _, strings, strings_size, _ = self._header(self._sections[link])
        # Names share their ends: "MPI_Init" may be the end of "PMPI_Init". Most files do not have it at all.
        names, at = set(), self._data.find(name + b"\0", strings, strings + strings_size)
        while at >= 0:
            names.add(at - strings)
            at = self._data.find(name + b"\0", at + 1, strings + strings_size)
        each = 24 if self.bits == 64 else 16
        symbols = (self._symbol(offset) for offset in range(start, start + size, each)) if names else ()
        return any(defined and number in names for number, defined in symbols)
