"""PDFs, sound and film that the tests write themselves, byte by byte, with a length that is known."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence

from probe.drawn import adts, box, mp3, text
from transom import probe
from transom.parts import Facts
from transom.probe.encoded import Encoded

Objects = Mapping[int, bytes]


def stream(data: bytes, head: bytes = b"", *, deflate: bool = True) -> bytes:
    """A stream object, deflated unless told otherwise."""
    data = zlib.compress(data) if deflate else data
    return b"<<%s%s/Length %d>>stream\n%s\nendstream" % (head, b"/Filter/FlateDecode" if deflate else b"", len(data), data)


def tree(pages: int, content: bytes = b"BT /F1 12 Tf (Hello) Tj ET", page: bytes = b"") -> dict[int, bytes]:
    """The objects of a file of so many pages with one content: catalog 1, tree 2, content 3, font 4, pages from 5 on."""
    kids = b" ".join(b"%d 0 R" % (5 + i) for i in range(pages))
    head = b"/Type/Page/Parent 2 0 R/Contents 3 0 R" + page
    return {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: b"<</Type/Pages/Kids[%s]/Count %d/MediaBox[0 0 612 792]/Resources<</Font<</F1 4 0 R>>>>>>" % (kids, pages),
        3: stream(content),
        4: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        **{5 + i: b"<<" + head + b">>" for i in range(pages)},
    }


def classic(objects: Objects, extra: bytes = b"", *, head: bytes = b"%PDF-1.4\n", width: int = 20) -> bytes:
    """A file with a classic table."""
    return update(head, objects, b"/Root 1 0 R" + extra, width=width)


def update(data: bytes, objects: Objects, trailer: bytes, *, width: int = 20) -> bytes:
    """The file with a section of objects, their table and trailer behind it."""
    places = {}
    for number, value in sorted(objects.items()):
        places[number] = len(data)
        data += b"%d 0 obj\n%s\nendobj\n" % (number, value)
    start = len(data)
    data += b"xref\n"
    for number, at in places.items():
        if number - 1 not in places:
            count = next(n for n in range(1, len(places) + 1) if number + n not in places)
            data += b"%d %d\n" % (number, count)
        data += b"%010d 00000 n%s" % (at, b" \n" if width == 20 else b"\n")
    return data + b"trailer\n<<%s/Size %d>>\nstartxref\n%d\n%%%%EOF\n" % (trailer, max(objects) + 1, start)


def packed(objects: Objects, *, predict: int = 0, extra: bytes = b"") -> bytes:
    """A file with a cross-reference stream, all objects but streams in an object stream, the table predicted if told so."""
    data, places = b"%PDF-1.5\n", {}
    loose = {number: value for number, value in objects.items() if b"stream" in value}
    inside = {number: value for number, value in objects.items() if number not in loose}
    pack, table = max(objects) + 1, max(objects) + 2
    body = b"\n".join(inside.values())
    starts, at = [], 0
    for number, value in inside.items():
        starts.append(b"%d %d" % (number, at))
        at += len(value) + 1
    index = b" ".join(starts) + b"\n"
    head = b"/Type/ObjStm/N %d/First %d" % (len(inside), len(index))
    for number, value in {**loose, pack: stream(index + body, head)}.items():
        places[number] = len(data)
        data += b"%d 0 obj\n%s\nendobj\n" % (number, value)
    order = {number: i for i, number in enumerate(inside)}
    rows = [
        struct.pack(">BIB", 1, places[n], 0) if n in places else struct.pack(">BIB", 2, pack, order[n] & 255) if n in order
        else bytes(6) for n in range(table)
    ]  # fmt: skip
    columns = b"/DecodeParms<</Predictor 12/Columns 6>>" if predict else b""
    head = b"/Type/XRef/Size %d/W[1 4 1]/Root 1 0 R%s%s" % (table, columns, extra)
    plain = predicted(rows, predict) if predict else b"".join(rows)
    return data + b"%d 0 obj\n%s\nendobj\nstartxref\n%d\n%%%%EOF\n" % (table, stream(plain, head), len(data))


def predicted(rows: Sequence[bytes], kind: int) -> bytes:
    """Rows with PNG prediction: 1 none, 2 up, 3 left in every other row, 4 one that is rare."""
    out, above = b"", bytes(len(rows[0]))
    for i, row in enumerate(rows):
        if kind == 2:
            out += b"\2" + bytes((a - b) & 255 for a, b in zip(row, above, strict=True))
        elif kind == 3 and i % 2:
            out += b"\1" + bytes((a - b) & 255 for a, b in zip(row, b"\0" + row, strict=False))
        else:
            out += (b"\3" if kind == 4 else b"\0") + row
        above = row
    return out


# ---------------------------------------------------------------------------------------------------------- sound


def riff(*chunks: tuple[bytes, bytes], size: int | None = None, kind: bytes = b"RIFF") -> bytes:
    """A WAV of these chunks."""
    body = b"".join(name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2) for name, data in chunks)
    return kind + struct.pack("<I", len(body) + 4 if size is None else size) + b"WAVE" + body


def fmt(
    coding: int = 1, channels: int = 1, rate: int = 8_000, bits: int = 8, *, stated: int | None = None
) -> tuple[bytes, bytes]:
    """The format chunk of a WAV."""
    step = channels * -(-bits // 8)
    return b"fmt ", struct.pack("<HHIIHH", coding, channels, rate, rate * step if stated is None else stated, step, bits)


def aiff(
    frames: int = 8_000, *, kind: bytes = b"AIFF", there: int | None = None, coding: bytes = b"", power: int = 16_383 + 12
) -> bytes:
    """An AIFF of one channel, 8 bits, 8,000 Hz."""
    rate = struct.pack(">HQ", power, 8_000 << 51)
    common = struct.pack(">HIH", 1, frames, 8) + rate + coding
    sound = b"\0" * (8 + (frames if there is None else there))
    chunks = b"COMM" + struct.pack(">I", len(common)) + common + b"SSND" + struct.pack(">I", 8 + frames) + sound
    return b"FORM" + struct.pack(">I", len(chunks) + 4) + kind + chunks


def flac(samples: int = 88_200, rate: int = 44_100) -> bytes:
    """The first block of a FLAC, and some bytes that stand for its frames."""
    bits = rate << 44 | 1 << 41 | 15 << 36 | samples
    return b"fLaC\0\0\0\x22" + b"\x10\0\x10\0" + b"\0" * 6 + bits.to_bytes(8, "big") + b"\0" * 16 + b"\x55" * 2_000


def ogg_page(packet: bytes, granule: int, serial: bytes = b"abcd") -> bytes:
    """One page."""
    return b"OggS\0\0" + struct.pack("<Q", granule) + serial + b"\0" * 8 + b"\1" + bytes([min(len(packet), 255)]) + packet


def ogg(first: bytes, granule: int, *, more: bytes = b"") -> bytes:
    """Three pages: a header packet, some sound, and the last with a position; `more` stands behind it."""
    return ogg_page(first, 0) + ogg_page(b"\x55" * 200, 100) + ogg_page(b"\x66" * 200, granule) + more


OPUS = b"OpusHead\1\1" + struct.pack("<H", 312) + struct.pack("<I", 16_000) + b"\0\0\0"
VORBIS = b"\1vorbis\0\0\0\0\1" + struct.pack("<I", 22_050) + b"\0" * 14
SPEEX = b"Speex   " + b"1.2" + b"\0" * 17 + struct.pack("<II", 1, 80) + struct.pack("<I", 16_000) + b"\0" * 40
OGG_FLAC = b"\x7fFLAC\1\0\0\1fLaC\0\0\0\x22" + b"\x10\0\x10\0" + b"\0" * 6 + (48_000 << 44).to_bytes(8, "big") + b"\0" * 16
THEORA = (
    b"\x80theora\3\2\1" + struct.pack(">HH", 20, 15) + (320).to_bytes(3, "big") + (240).to_bytes(3, "big") + b"\0\0"
    + struct.pack(">II", 25, 1) + b"\0" * 10 + struct.pack(">H", 6 << 5) + b"\0"
)  # fmt: skip


def frames(count: int = 100, *, head: bytes = b"") -> bytes:
    """MP3 frames of 128 kbit/s at 44,100 Hz, the first with `head` behind its 36 bytes."""
    first = bytearray(mp3(1))
    first[36 : 36 + len(head)] = head
    return bytes(first) + mp3(count)


def xing(count: int, size: int = 0, *, silence: int = 0, flags: int = 15, tool: bytes = b"LAME3.100") -> bytes:
    """What stands in the first frame of an MP3 that knows its count of frames."""
    note = tool.ljust(21, b"\0") + silence.to_bytes(3, "big")
    return b"Xing" + struct.pack(">III", flags, count, size) + b"\0" * 104 + note


def vbri(count: int, size: int) -> bytes:
    """The same as Fraunhofer's encoder writes it."""
    return b"VBRI" + b"\0\1\0\0\0\0" + struct.pack(">II", size, count)


# ----------------------------------------------------------------------------------------------------------- film


def mvhd(units: int, rate: int = 1_000, *, wide: bool = False) -> bytes:
    """A movie header, of version 1 if `wide`."""
    if wide:
        return box(b"mvhd", b"\1\0\0\0" + b"\0" * 16 + struct.pack(">IQ", rate, units) + b"\0" * 80)
    return box(b"mvhd", b"\0" * 4 + b"\0" * 8 + struct.pack(">II", rate, units) + b"\0" * 80)


def track(handler: bytes, width: int = 0, height: int = 0, *, wide: bool = False) -> bytes:
    """A track of sound or film."""
    start = b"\1" + b"\0" * 87 if wide else b"\0" * 76
    head = box(b"tkhd", start + struct.pack(">II", width << 16, height << 16))
    return box(b"trak", head + box(b"mdia", box(b"mdhd", b"\0" * 24) + box(b"hdlr", b"\0" * 8 + handler + b"\0" * 13)))


def mp4(*inside: bytes, brand: bytes = b"isom", last: bool = True, media: int = 3_000, after: bytes = b"") -> bytes:
    """A film: its description behind the media if `last`, else before it."""
    head, moov = box(b"ftyp", brand + b"\0\0\2\0" + brand), box(b"moov", b"".join(inside))
    data = box(b"mdat", b"\x33" * media)
    return head + (data + moov if last else moov + after + data)


def element(kind: int, data: bytes, *, open_: bool = False) -> bytes:
    """An element of Matroska; with `open_` its length is not said."""
    name = kind.to_bytes((kind.bit_length() + 7) // 8, "big")
    return name + (b"\x01" + b"\xff" * 7 if open_ else b"\x08" + len(data).to_bytes(4, "big")) + data


def matroska(*inside: bytes, open_: bool = False, kind: bytes = b"webm") -> bytes:
    """A file of one segment."""
    return element(0x1A45DFA3, element(0x4282, kind)) + element(0x18538067, b"".join(inside), open_=open_)


def information(length: float | None = None, *, scale: int = 1_000_000, single: bool = False) -> bytes:
    stated = b"" if length is None else element(0x4489, struct.pack(">f" if single else ">d", length))
    return element(0x1549A966, element(0x2AD7B1, scale.to_bytes(4, "big")) + stated)


def tracks(width: int, height: int, *, sound: bool) -> bytes:
    video = element(0xE0, element(0xB0, width.to_bytes(2, "big")) + element(0xBA, height.to_bytes(2, "big")))
    film = element(0xAE, element(0x83, b"\1") + video)
    return element(0x1654AE6B, element(0xEC, b"") + film + (element(0xAE, element(0x83, b"\2")) if sound else b""))


def cluster(time: int, *blocks: int, grouped: bool = False, open_: bool = False) -> bytes:
    """A cluster at a time, with blocks at so many units behind it."""
    made = [b"\x81" + struct.pack(">h", at) + b"\0" + b"\x44" * 60 for at in blocks]
    inside = [element(0xA0, element(0xA1, one)) if grouped else element(0xA3, one) for one in made]
    return element(0x1F43B675, element(0xE7, time.to_bytes(4, "big")) + b"".join(inside), open_=open_)


def avi(step: int = 40_000, count: int = 50) -> bytes:
    head = struct.pack("<IIIIIIIIII", step, 0, 0, 0, count, 0, 2, 0, 160, 120) + b"\0" * 16
    inside = b"hdrlavih" + struct.pack("<I", 56) + head
    return b"RIFF\0\1\0\0AVI LIST" + struct.pack("<I", len(inside)) + inside + b"\0" * 200


def flv(**numbers: float) -> bytes:
    pairs = b"".join(struct.pack(">H", len(name)) + name.encode() + b"\0" + struct.pack(">d", n) for name, n in numbers.items())
    return b"FLV\1\5\0\0\0\x09\0\0\0\0\x12" + b"\0" * 10 + b"\2\0\x0aonMetaData\x08\0\0\0\3" + pairs + b"\0" * 200


def asf(seconds: float, buffered: int = 3_000) -> bytes:
    start = bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c") + b"\0" * 14
    played = struct.pack("<QQQ", round((seconds + buffered / 1_000) * 10_000_000), 0, buffered)
    return start + bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365") + b"\0" * 48 + played + b"\0" * 200


def mpeg(start: int, end: int, *, version: int = 2) -> bytes:
    """A program stream of two packs with these clocks."""

    def pack(clock: int) -> bytes:
        top, mid, low = clock >> 30 & 7, clock >> 15 & 0x7FFF, clock & 0x7FFF
        bits = (1 << 38 | top << 35 | 1 << 34 | mid << 19 | 1 << 18 | low << 3 | 4) if version == 2 else (
            2 << 36 | top << 33 | 1 << 32 | mid << 17 | 1 << 16 | low << 1 | 1)  # fmt: skip
        return b"\0\0\1\xba" + bits.to_bytes(5, "big") + b"\0" * 9

    return pack(start) + b"\x77" * 100 + pack(end) + b"\x77" * 100


def tagged(sound: bytes, art: int = 0, *, footer: bool = False) -> bytes:
    """Sound behind an ID3 tag with a picture of so many bytes."""
    size = bytes(art >> shift & 0x7F for shift in (21, 14, 7, 0))
    return b"ID3\4\0" + (b"\x10" if footer else b"\0") + size + b"\xff" * art + (b"3DI" + b"\0" * 7 if footer else b"") + sound


SOUNDING: dict[str, tuple[str, bytes, float]] = {
    "wav": ("audio/wav", riff(fmt(), (b"data", b"\0" * 4_000)), 0.5),
    "wav of 24 bits": ("audio/wav", riff(fmt(0xFFFE, 2, 48_000, 24), (b"data", b"\0" * 288_000)), 1.0),
    "wav with odd chunks": ("audio/wav", riff((b"LIST", b"abc"), fmt(), (b"odd ", b"x"), (b"data", b"\0" * 8_000)), 1.0),
    "wav, compressed": ("audio/wav", riff(fmt(17, 1, 8_000, 4, stated=4_055), (b"data", b"\0" * 8_110)), 2.0),
    "wav of 64 bits": ("audio/wav", riff((b"ds64", b"\0" * 28), fmt(), (b"data", b"\0" * 8_000), kind=b"RF64"), 1.0),
    "aiff": ("audio/aiff", aiff(), 1.0),
    "aifc": ("audio/aiff", aiff(kind=b"AIFC", coding=b"sowt\0\0"), 1.0),
    "aifc, compressed": ("audio/aiff", aiff(16_000, kind=b"AIFC", coding=b"ima4\0\0", there=4_000), 2.0),
    "flac": ("audio/flac", flac(), 2.0),
    "opus": ("audio/ogg", ogg(OPUS, 48_312), 1.0),
    "vorbis": ("audio/ogg", ogg(VORBIS, 44_100), 2.0),
    "speex": ("audio/ogg", ogg(SPEEX, 24_000), 1.5),
    "ogg flac": ("audio/ogg", ogg(OGG_FLAC, 24_000), 0.5),
    "mp3": ("audio/mpeg", mp3(100), 100 * 1_152 / 44_100),
    "mp3 with a tag": ("audio/mpeg", tagged(mp3(100), 9_000, footer=True), 100 * 1_152 / 44_100),
    "mp3 with a count": ("audio/mpeg", frames(100, head=xing(100, 101 * 417)), 100 * 1_152 / 44_100),
    "mp3 with silence": ("audio/mpeg", frames(100, head=xing(100, 101 * 417, silence=576 << 12 | 576)), 99 * 1_152 / 44_100),
    "mp3 with another count": ("audio/mpeg", frames(100, head=vbri(100, 101 * 417)), 100 * 1_152 / 44_100),
    "mp3 with an old tag": ("audio/mpeg", mp3(100) + b"TAG" + b"\0" * 125, 100 * 1_152 / 44_100),
    "aac": ("audio/aac", adts(50), 50 * 1_024 / 44_100),
    "m4a": ("audio/mp4", mp4(mvhd(2_196), track(b"soun"), brand=b"M4A "), 2.196),
}
"""Sound of each kind, its type, and how long it lasts."""

EXTENDED = box(b"mvex", box(b"trex", b"\0" * 24) + box(b"mehd", b"\0" * 4 + struct.pack(">I", 2_500)))
INDEX = box(b"sidx", b"\0" * 8 + struct.pack(">I", 90_000) + b"\0" * 10 + b"\0\2" + struct.pack(">III", 9, 90_000, 0) * 2)
LIVE = information(), tracks(64, 48, sound=True)

FILMS: dict[str, tuple[str, bytes, tuple[float, int, int, bool]]] = {
    "mp4": ("video/mp4", mp4(mvhd(1_500), track(b"soun"), track(b"vide", 320, 176)), (1.5, 320, 176, False)),
    "mp4, start first": ("video/mp4", mp4(mvhd(1_500), track(b"vide", 320, 176), last=False), (1.5, 320, 176, True)),
    "mp4 of version 1": ("video/mp4", mp4(mvhd(9_000, 6_000, wide=True), track(b"vide", 64, 48, wide=True)), (1.5, 64, 48, True)),
    "mp4 in fragments": (
        "video/mp4",
        mp4(mvhd(0), EXTENDED, track(b"vide", 8, 8)),
        (2.5, 8, 8, True),
    ),
    "mp4 with an index": (
        "video/mp4",
        mp4(
            mvhd(0), box(b"mvex", box(b"trex", b"\0" * 24)), track(b"vide", 8, 8), last=False,
            after=INDEX,
        ),
        (2.0, 8, 8, True),
    ),
    "quicktime": ("video/quicktime", mp4(mvhd(600, 600), track(b"vide", 100, 50), brand=b"qt  "), (1.0, 100, 50, True)),
    "3gp": ("video/3gpp", mp4(mvhd(600, 600), track(b"vide", 176, 144), brand=b"3gp4"), (1.0, 176, 144, True)),
    "webm": (
        "video/webm", matroska(information(1_500.0), tracks(320, 240, sound=False), cluster(0, 0, 40)), (1.5, 320, 240, True),
    ),
    "mkv": (
        "video/x-matroska",
        matroska(information(1_500.0, single=True), tracks(320, 240, sound=True), cluster(0, 0, 40), kind=b"matroska"),
        (1.5, 320, 240, False),
    ),
    "webm of a browser": (
        "video/webm",
        matroska(*LIVE, cluster(0, 0, 40, open_=True), cluster(1_000, 0, 500, open_=True), open_=True),
        (1.5, 64, 48, False),
    ),
    "webm in groups": (
        "video/webm", matroska(*LIVE, cluster(2_000, 0, 250, grouped=True)), (2.25, 64, 48, False),
    ),
    "theora": ("video/ogg", ogg(THEORA, 40 << 6 | 10), (2.0, 320, 240, False)),
    "avi": ("video/x-msvideo", avi(), (2.0, 160, 120, False)),
    "flv": ("video/x-flv", flv(duration=3.5, width=32.0, height=16.0), (3.5, 32, 16, False)),
    "wmv": ("video/x-ms-wmv", asf(4.5), (4.5, 0, 0, False)),
    "mpeg": ("video/mpeg", mpeg(90_000, 3 * 90_000), (2.0, 0, 0, False)),
    "mpeg of version 1": ("video/mpeg", mpeg(7 << 30, (7 << 30) + 180_000, version=1), (2.0, 0, 0, False)),
}  # fmt: skip
"""Film of each kind, its type; seconds, sides, and whether it is silent."""

CONTENT = b"BT /F1 12 Tf 72 700 Td (Hello) Tj 0 -14 Td (wor\\(ld\\)) Tj [(a)-300(b)20(c)] TJ <4142> Tj ET"
DOCUMENTS: dict[str, tuple[bytes, int]] = {
    "classic": (classic(tree(3, CONTENT)), 3),
    "lines of 19 bytes": (classic(tree(3, CONTENT), width=19), 3),
    "behind rubbish": (b"rubbish\n" * 9 + classic(tree(3, CONTENT)), 3),
    "packed": (packed(tree(3, CONTENT)), 3),
    "packed, predicted": (packed(tree(3, CONTENT), predict=2), 3),
    "packed, predicted otherwise": (packed(tree(3, CONTENT), predict=3), 3),
    "many": (classic(tree(200, CONTENT)), 200),
    "many, packed": (packed(tree(200, CONTENT)), 200),
}
"""PDFs, and how many pages they have."""


class Counted(Encoded):
    """Base64 text that counts the bytes it is asked for."""

    __slots__ = ("asked",)

    def __init__(self, data: bytes) -> None:
        super().__init__(text(data))
        self.asked = 0

    def part(self, at: int, count: int) -> bytes:
        self.asked += count
        return super().part(at, count)


def read(data: bytes) -> Facts:
    """What a probe finds in a PDF."""
    return probe.facts(text(data), "base64", "application/pdf")
