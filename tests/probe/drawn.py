"""Media that the tests make themselves: drawn with Pillow, or put together byte by byte."""

from __future__ import annotations

import base64
import io
import struct
import zlib
from typing import Any

from PIL import Image


def draw(form: str, width: int = 37, height: int = 23, *, mode: str = "RGB", **options: Any) -> bytes:
    """A picture with a slope of colours, saved by Pillow."""
    picture = Image.linear_gradient("L").resize((width, height)).convert(mode)
    out = io.BytesIO()
    picture.save(out, form, **options)
    return out.getvalue()


def frames(form: str, width: int = 40, height: int = 30, **options: Any) -> bytes:
    """Three frames of different colours."""
    each = [Image.new("RGB", (width, height), colour) for colour in ("red", "green", "blue")]
    out = io.BytesIO()
    each[0].save(out, form, save_all=True, append_images=each[1:], **options)
    return out.getvalue()


def text(data: bytes) -> str:
    """Base64 as most clients write it."""
    return base64.b64encode(data).decode()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_claiming(width: int, height: int) -> bytes:
    """A PNG whose header claims sides that its few bytes do not have."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def segment(code: int, data: bytes) -> bytes:
    """A JPEG segment."""
    return bytes([0xFF, code]) + struct.pack(">H", len(data) + 2) + data


def jpeg_frame(code: int, width: int, height: int) -> bytes:
    return segment(code, struct.pack(">BHHB", 8, height, width, 3) + b"\1\x11\0\2\x11\1\3\x11\1")


def jpeg(*before: bytes, code: int = 0xC0, width: int = 300, height: int = 200) -> bytes:
    """A JPEG of these segments, a frame header and a scan that holds nothing sensible."""
    scan = segment(0xDA, b"\3\1\0\2\x11\3\x11\0\x3f\0") + b"\x12\x34\xff\x00\x56" * 20
    return b"\xff\xd8" + b"".join(before) + jpeg_frame(code, width, height) + scan + b"\xff\xd9"


def box(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data) + 8) + kind + data


def heic(*sides: tuple[int, int], brand: bytes = b"heic", compatible: bytes = b"mif1heic", before: bytes = b"") -> bytes:
    """The boxes of a HEIC with an extent for each of its items."""
    extents = b"".join(box(b"ispe", b"\0\0\0\0" + struct.pack(">II", *pair)) for pair in sides)
    meta = box(b"meta", b"\0\0\0\0" + box(b"hdlr", b"\0" * 24) + box(b"iprp", box(b"ipco", extents)))
    return box(b"ftyp", brand + b"\0\0\0\0" + compatible) + before + meta + box(b"mdat", b"\x55" * 64)


def wav(seconds: int = 1, *, stated: int | None = None) -> bytes:
    """A silent WAV of 8,000 bytes a second."""
    samples = b"\x80" * (8_000 * seconds)
    head = b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8_000, 8_000, 1, 8)
    size = len(samples) if stated is None else stated
    return b"RIFF" + struct.pack("<I", min(len(head) + 8 + size, 0xFFFFFFFF)) + head + b"data" + struct.pack("<I", size) + samples


def mp3(count: int = 4) -> bytes:
    """Frames of MPEG 1 layer III, 128 kbit/s, 44,100 Hz: 417 bytes each."""
    return (b"\xff\xfb\x90\x64" + b"\0" * 413) * count


def adts(count: int = 4) -> bytes:
    """AAC frames of 200 bytes."""
    length = 200
    head = bytes([0xFF, 0xF1, 0x50, 0x80 | length >> 11, length >> 3 & 0xFF, (length & 7) << 5 | 0x1F, 0xFC])
    return (head + b"\0" * (length - 7)) * count


def pdf() -> bytes:
    """A PDF of one empty page, as small as it may be."""
    return (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
    )


PICTURES: dict[str, tuple[str, bytes]] = {
    "png": ("image/png", draw("PNG")),
    "png-palette": ("image/png", draw("PNG", mode="P")),
    "png-profile": ("image/png", draw("PNG", icc_profile=bytes(range(256)) * 20)),
    "apng": ("image/png", frames("PNG")),
    "jpeg": ("image/jpeg", draw("JPEG")),
    "jpeg-progressive": ("image/jpeg", draw("JPEG", progressive=True)),
    "jpeg-cmyk": ("image/jpeg", draw("JPEG", mode="CMYK")),
    "jpeg-exif": ("image/jpeg", draw("JPEG", exif=b"Exif\0\0" + b"\xff\xd8\xff\xc0\0\x11\x08\0\1\0\1\xff\xd9" * 2_000)),
    "jpeg-profile": ("image/jpeg", draw("JPEG", icc_profile=bytes(range(256)) * 600)),
    "gif": ("image/gif", draw("GIF")),
    "gif-moving": ("image/gif", frames("GIF", duration=50)),
    "gif-looping": ("image/gif", frames("GIF", duration=50, loop=0)),
    "webp-lossy": ("image/webp", draw("WEBP")),
    "webp-lossless": ("image/webp", draw("WEBP", lossless=True)),
    "webp-extended": ("image/webp", draw("WEBP", exif=b"Exif\0\0II*\0\x08\0\0\0\0\0")),
    "webp-moving": ("image/webp", frames("WEBP")),
    "bmp": ("image/bmp", draw("BMP")),
    "tiff": ("image/tiff", draw("TIFF")),
    "tiff-deflate": ("image/tiff", draw("TIFF", compression="tiff_adobe_deflate")),
    "avif": ("image/avif", draw("AVIF")),
    "avif-moving": ("image/avif", frames("AVIF")),
}
"""Each kind of picture that Pillow writes, with its media type."""

MOVING = frozenset({"apng", "gif-moving", "gif-looping", "webp-moving", "avif-moving"})

SOUND: dict[str, tuple[str, bytes]] = {
    "wav": ("audio/wav", wav()),
    "mp3": ("audio/mpeg", mp3()),
    "mp3-tagged": ("audio/mpeg", b"ID3\4\0\0\0\0\0\x0a" + b"\0" * 10 + mp3()),
    "aac": ("audio/aac", adts()),
    "ogg": ("audio/ogg", b"OggS\0\2" + b"\0" * 20 + b"\1\x1eOpusHead" + b"\0" * 40),
    "ogg-film": ("video/ogg", b"OggS\0\2" + b"\0" * 20 + b"\1\x2a\x80theora" + b"\0" * 40),
    "flac": ("audio/flac", b"fLaC\0\0\0\x22" + b"\0" * 60),
    "aiff": ("audio/aiff", b"FORM\0\0\1\0AIFFCOMM" + b"\0" * 60),
    "mp4": ("video/mp4", box(b"ftyp", b"isom\0\0\2\0isomavc1mp41") + box(b"free", b"\0" * 40)),
    "m4a": ("audio/mp4", box(b"ftyp", b"M4A \0\0\2\0isomM4A ") + box(b"free", b"\0" * 40)),
    "mov": ("video/quicktime", box(b"ftyp", b"qt  \0\0\2\0qt  ") + box(b"wide", b"\0" * 40)),
    "3gp": ("video/3gpp", box(b"ftyp", b"3gp4\0\0\2\x003gp4") + box(b"free", b"\0" * 40)),
    "webm": ("video/webm", b"\x1aE\xdf\xa3\x9fB\x86\x81\1B\xf7\x81\1B\xf2\x81\4B\xf3\x81\x08B\x82\x84webm" + b"\0" * 40),
    "mkv": ("video/x-matroska", b"\x1aE\xdf\xa3\x9fB\x86\x81\1B\xf7\x81\1B\x82\x88matroska" + b"\0" * 40),
    "avi": ("video/x-msvideo", b"RIFF\0\1\0\0AVI LIST" + b"\0" * 60),
    "flv": ("video/x-flv", b"FLV\1\5\0\0\0\x09" + b"\0" * 60),
    "mpeg": ("video/mpeg", b"\0\0\1\xba\x44" + b"\0" * 60),
    "wmv": ("video/x-ms-wmv", b"0&\xb2u\x8ef\xcf\x11\xa6\xd9\0\xaa\0b\xcel" + b"\0" * 60),
    "pdf": ("application/pdf", pdf()),
}
"""Sound, film and documents: the smallest of each that shows its signature."""
