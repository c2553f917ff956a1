"""The table of formats: a row is a type, a test of the first bytes, a reader, and a look at the end where one is due.

The first row whose test holds and whose reader does not say Other has it. New formats are new rows.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from transom.frozen import Frozen
from transom.parts import Facts
from transom.probe.boxes import accept_boxes, name_boxes, read_boxes
from transom.probe.film import measure_asf, measure_avi, measure_boxes, measure_flv, measure_mpeg
from transom.probe.frames import accept_frames, accept_id3, measure_frames, read_frames, read_mp3
from transom.probe.jpeg import flaw_jpeg, read_jpeg
from transom.probe.matroska import measure_ebml, read_ebml
from transom.probe.office import measure_zip, read_zip
from transom.probe.pdf import measure_pdf, read_pdf
from transom.probe.raster import PNG, flaw_png, flaw_webp, read_bmp, read_gif, read_png, read_webp
from transom.probe.sound import measure_aiff, measure_flac, measure_ogg, measure_wav, read_ogg, read_wav
from transom.probe.svg import accept_svg, read_svg
from transom.probe.tiff import accept_tiff, read_tiff
from transom.probe.window import CUT_OFF, Head, Other, Short, Source

FIRST = 96
"""Bytes that are decoded first: enough for the sides of all but JPEG, TIFF, AVIF and HEIC."""
MOST = 1 << 20
"""Bytes beyond which no header is followed; the sides then stay unknown."""
_GROWTH = 4


class Row(Frozen, frozen=True):
    """One format.

    `mime` names it when the bytes end before the reader has what it needs ("": then it is not this format). `loose`: its
    signature may stand behind other bytes, so it is no proof in text of which nothing is known.
    """

    accept: Callable[[bytes], bool]
    read: Callable[[Head], Facts]
    mime: Callable[[bytes], str]
    flaw: Callable[[Source], str] | None = None
    measure: Callable[[Source, Facts], Facts] | None = None
    loose: bool = False


def _starts(*signatures: bytes) -> Callable[[bytes], bool]:
    return lambda start: start.startswith(signatures)


def _riff(kind: bytes) -> Callable[[bytes], bool]:
    return lambda start: start[:4] in {b"RIFF", b"RF64", b"BW64"} and start[8:12] == kind


def _form(start: bytes) -> bool:
    return start[:4] == b"FORM" and start[8:12] in {b"AIFF", b"AIFC"}


def _is(mime: str) -> Callable[[Head], Facts]:
    known = Facts(mime=mime)
    return lambda _head: known


def _named(mime: str) -> Callable[[bytes], str]:
    return lambda _start: mime


def _anything(_start: bytes) -> bool:
    return True


FORMATS: tuple[Row, ...] = (
    Row(_starts(PNG), read_png, _named("image/png"), flaw_png),
    Row(_starts(b"\xff\xd8\xff"), read_jpeg, _named("image/jpeg"), flaw_jpeg),
    Row(_starts(b"GIF87a", b"GIF89a"), read_gif, _named("image/gif")),
    Row(_riff(b"WEBP"), read_webp, _named("image/webp"), flaw_webp),
    Row(_starts(b"%PDF-"), read_pdf, _named(""), measure=measure_pdf),
    Row(_riff(b"WAVE"), read_wav, _named("audio/wav"), measure=measure_wav),
    Row(accept_boxes, read_boxes, name_boxes, measure=measure_boxes),
    Row(accept_id3, read_mp3, _named("audio/mpeg"), measure=measure_frames),
    Row(_starts(b"BM"), read_bmp, _named("image/bmp")),
    Row(accept_tiff, read_tiff, _named("image/tiff")),
    Row(accept_svg, read_svg, _named("")),
    Row(accept_frames, read_frames, _named(""), measure=measure_frames),
    Row(_starts(b"OggS\0"), read_ogg, _named("audio/ogg"), measure=measure_ogg),
    Row(_starts(b"fLaC\0"), _is("audio/flac"), _named("audio/flac"), measure=measure_flac),
    Row(_starts(b"\x1aE\xdf\xa3"), read_ebml, _named("video/x-matroska"), measure=measure_ebml),
    Row(_form, _is("audio/aiff"), _named("audio/aiff"), measure=measure_aiff),
    Row(_riff(b"AVI "), _is("video/x-msvideo"), _named("video/x-msvideo"), measure=measure_avi),
    Row(_starts(b"FLV\1"), _is("video/x-flv"), _named("video/x-flv"), measure=measure_flv),
    Row(_starts(b"\0\0\1\xba"), _is("video/mpeg"), _named("video/mpeg"), measure=measure_mpeg),
    Row(_starts(b"0&\xb2u\x8ef\xcf\x11"), _is("video/x-ms-wmv"), _named("video/x-ms-wmv"), measure=measure_asf),
    Row(_starts(b"PK\3\4"), read_zip, _named(""), measure=measure_zip),
    Row(_anything, read_pdf, _named(""), measure=measure_pdf, loose=True),
)


def look(source: Source, *, loose: bool = True) -> tuple[Facts, Row | None]:
    """The facts that the first bytes state and the row that read them; empty facts and None where no row does."""
    start = source.head(FIRST)
    for row in FORMATS:
        if row.accept(start.data) and (loose or not row.loose) and (facts := _read(source, row, start)) is not None:
            return facts, row
    return Facts(), None


def measured(source: Source, row: Row, facts: Facts) -> Facts:
    """The facts with what is wrong at the end, or else with what the rest of the file tells: pages, seconds, sides of a film."""
    if facts.problem:
        return facts
    problem = row.flaw(source) if row.flaw else ""
    if problem or not row.measure:
        return replace(facts, problem=problem) if problem else facts
    try:
        return row.measure(source, facts)
    except Short:
        return facts


def _read(source: Source, row: Row, head: Head) -> Facts | None:
    """What one row reads, with as many bytes as it asks for; None where it says that it is another format."""
    limit = FIRST
    while True:
        try:
            return row.read(head)
        except Other:
            return None
        except Short as short:
            if head.complete or limit >= MOST:
                # The bytes end, or the bound is reached, before the reader has what it needs.
                mime = row.mime(head.data)
                return Facts(mime=mime, problem=CUT_OFF if head.complete else "") if mime else None
            limit = min(MOST, max(short.until, limit * _GROWTH))
            head = source.head(limit)
