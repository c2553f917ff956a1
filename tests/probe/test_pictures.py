"""Sides, type and motion of pictures, against Pillow and against headers put together by hand."""

from __future__ import annotations

import io
import struct

import pytest
from PIL import Image

from probe.drawn import MOVING, PICTURES, box, chunk, draw, heic, jpeg, png_claiming, segment, text
from transom import probe
from transom.parts import Facts


def seen(data: bytes, declared: str = "image/png") -> Facts:
    """The facts of base64 and of the file, which must agree."""
    found = probe.facts(text(data), "base64", declared)
    assert probe.facts_of_bytes(data, len(data)) == found
    return found


@pytest.mark.parametrize("name", PICTURES)
def test_facts_agree_with_pillow(name: str) -> None:
    mime, data = PICTURES[name]
    with Image.open(io.BytesIO(data)) as picture:
        width, height = picture.size
    assert seen(data) == Facts(mime=mime, width=width, height=height, animated=name in MOVING)


@pytest.mark.parametrize("sides", [(1, 1), (1, 5_000), (4_999, 3), (256, 255)])
@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF"])
def test_odd_sides_agree_with_pillow(form: str, sides: tuple[int, int]) -> None:
    found = seen(draw(form, *sides))
    assert (found.width, found.height, found.problem) == (*sides, "")


def test_the_declared_type_changes_nothing_that_is_read() -> None:
    data = draw("JPEG")
    assert seen(data, "image/png") == seen(data, "application/pdf") == seen(data, "text/plain") == seen(data, "")


def test_png_with_a_chunk_before_its_header() -> None:
    plain = png_claiming(180, 120)
    assert seen(plain[:8] + chunk(b"CgBI", b"\x50\0\x20\x06") + plain[8:]) == Facts(mime="image/png", width=180, height=120)


def test_png_without_a_header_chunk_is_no_known_format() -> None:
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IDAT", b"x" * 40) + chunk(b"IEND", b"")
    assert seen(data) == Facts(problem="no known media format")


def test_apng_whose_animation_chunk_follows_a_long_profile() -> None:
    data = png_claiming(9, 9)
    at = 8 + 25
    for size in (3_000, 300_000):
        moving = data[:at] + chunk(b"iCCP", b"p" * size) + chunk(b"acTL", b"\0\0\0\3\0\0\0\0") + data[at:]
        assert seen(moving).animated


def test_png_that_claims_huge_sides_is_reported_as_it_claims() -> None:
    assert seen(png_claiming(60_000, 60_000)) == Facts(mime="image/png", width=60_000, height=60_000)
    assert seen(png_claiming(2**32 - 1, 2**32 - 1)).width == 2**32 - 1


@pytest.mark.parametrize(
    "data", [png_claiming(0, 4), png_claiming(4, 0), jpeg(width=0), draw("GIF")[:6] + b"\0\0" + draw("GIF")[8:]]
)
def test_a_side_of_0_is_a_problem(data: bytes) -> None:
    assert seen(data).problem == "a side of 0 pixels"


@pytest.mark.parametrize("code", [*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0), 0xF7])
def test_every_frame_header_of_jpeg_is_known(code: int) -> None:
    assert seen(jpeg(code=code)) == Facts(mime="image/jpeg", width=300, height=200)


@pytest.mark.parametrize("code", [0xC4, 0xC8, 0xCC])
def test_tables_of_jpeg_are_no_frame_headers(code: int) -> None:
    assert seen(jpeg(segment(code, b"\x08\0\7\0\7\3" + b"\0" * 20))) == Facts(mime="image/jpeg", width=300, height=200)


def test_the_thumbnail_inside_exif_is_not_the_picture() -> None:
    thumbnail = jpeg(width=160, height=120)
    assert seen(jpeg(segment(0xE1, b"Exif\0\0" + thumbnail))) == Facts(mime="image/jpeg", width=300, height=200)


@pytest.mark.parametrize("count", [1, 2, 14, 40])
def test_a_frame_behind_long_segments_is_found_however_it_is_written(count: int) -> None:
    """A profile of up to 2.6 MB stands before the frame: skipped without white space, else read up to 1 MiB."""
    data = jpeg(*[segment(0xE2, bytes([code % 251 for code in range(65_000)]))] * count)
    payload = text(data)
    found = Facts(mime="image/jpeg", width=300, height=200)
    assert probe.facts(payload, "base64", "image/jpeg") == found
    spaced = "\n".join(payload[at : at + 76] for at in range(0, len(payload), 76))
    assert probe.facts(spaced, "base64", "image/jpeg") == (found if count < 16 else Facts(mime="image/jpeg"))
    late = payload[:3_000] + "\n" + payload[3_000:]
    assert probe.facts(late, "base64", "image/jpeg") == (found if count < 16 else Facts(mime="image/jpeg"))


def test_rubbish_and_fill_bytes_between_segments_are_passed_over() -> None:
    data = jpeg(segment(0xE0, b"JFIF\0"), b"\0\1\2", b"\xff" * 9_000, b"\xff\x01", segment(0xDB, b"\0" * 65))
    assert seen(data) == Facts(mime="image/jpeg", width=300, height=200)


def test_a_jpeg_without_a_frame_header_holds_no_picture() -> None:
    assert seen(b"\xff\xd8\xff\xe0\0\x04ab\xff\xd9" + b"\0" * 60).problem == "no picture inside"
    assert seen(b"\xff\xd8\xff\xda\0\x04ab" + b"\0" * 60 + b"\xff\xd9").problem == "no picture inside"
    assert seen(b"\xff\xd8" + segment(0xE0, b"") * 5_000).problem == "no picture inside"


def test_a_gif_without_a_loop_that_has_one_frame_does_not_move() -> None:
    still = draw("GIF", 300, 300)
    assert not seen(still).animated
    assert seen(still[:-1]).problem == ""


def test_bmp_headers_old_and_upside_down() -> None:
    old = b"BM" + b"\0" * 12 + struct.pack("<IHHHH", 12, 24, 16, 1, 24) + b"\0" * 90
    assert seen(old) == Facts(mime="image/bmp", width=24, height=16)
    upside_down = b"BM" + b"\0" * 12 + struct.pack("<Iii", 40, 24, -16) + b"\0" * 90
    assert seen(upside_down) == Facts(mime="image/bmp", width=24, height=16)
    assert seen(b"BMW is a maker of cars. " * 9).problem == "no known media format"


@pytest.mark.parametrize("order", ["<", ">"])
def test_tiff_in_both_orders_with_its_directory_at_the_end(order: str) -> None:
    mark = b"II" if order == "<" else b"MM"
    entries = struct.pack(f"{order}HHIHH", 256, 3, 1, 640, 0) + struct.pack(f"{order}HHII", 257, 4, 1, 480)
    filler = b"\x77" * 3_000_000
    near = mark + struct.pack(f"{order}HI", 42, 8) + struct.pack(f"{order}H", 2) + entries
    far = mark + struct.pack(f"{order}HI", 42, 8 + len(filler)) + filler + struct.pack(f"{order}H", 2) + entries
    assert seen(near) == Facts(mime="image/tiff", width=640, height=480)
    assert probe.facts(text(far), "base64", "image/tiff") == Facts(mime="image/tiff", width=640, height=480)
    wide = struct.pack(f"{order}HHQHHHH", 256, 3, 1, 640, 0, 0, 0) + struct.pack(f"{order}HHQII", 257, 4, 1, 480, 0)
    big = mark + struct.pack(f"{order}HHHQ", 43, 8, 0, 16) + struct.pack(f"{order}Q", 2) + wide
    if order == "<":
        assert seen(big) == Facts(mime="image/tiff", width=640, height=480)


def test_tiff_without_sides_holds_no_picture() -> None:
    assert seen(b"II*\0\x08\0\0\0\1\0" + struct.pack("<HHII", 300, 3, 1, 1) + b"\0" * 60).problem == "no picture inside"


def test_heic_takes_the_largest_extent() -> None:
    """Tiles and thumbnails have extents of their own."""
    assert seen(heic((512, 512), (4032, 3024), (320, 240))) == Facts(mime="image/heic", width=4032, height=3024)
    assert seen(heic((8, 9), brand=b"mif1", compatible=b"mif1avif")) == Facts(mime="image/avif", width=8, height=9)
    assert seen(heic((8, 9), brand=b"mif1", compatible=b"mif1")) == Facts(mime="image/heif", width=8, height=9)
    assert seen(heic((8, 9), brand=b"hevc")).animated


def test_heic_whose_index_stands_behind_its_pixels() -> None:
    data = heic((8, 9), before=box(b"mdat", b"\x33" * 2_000_000))
    assert probe.facts(text(data), "base64", "image/heic") == Facts(mime="image/heic", width=8, height=9)


def test_heic_without_extents_has_unknown_sides() -> None:
    assert seen(heic()) == Facts(mime="image/heic")
    assert seen(box(b"ftyp", b"heic\0\0\0\0") + box(b"mdat", b"\0" * 80)) == Facts(mime="image/heic")


def test_heic_boxes_with_lying_lengths_end_the_search() -> None:
    data = box(b"ftyp", b"heic\0\0\0\0") + b"\0\0\0\2meta" + b"\0" * 80
    assert seen(data) == Facts(mime="image/heic")
    wide = box(b"ftyp", b"heic\0\0\0\0") + b"\0\0\0\1free" + struct.pack(">Q", 24) + b"\0" * 8 + heic((5, 6))[24:]
    assert seen(wide) == Facts(mime="image/heic", width=5, height=6)
    endless = box(b"ftyp", b"heic\0\0\0\0") + b"\0\0\0\0mdat" + b"\0" * 80
    assert seen(endless) == Facts(mime="image/heic")


@pytest.mark.parametrize("start", [b"VP8 \0\0\0\0\0\0\0abc", b"VP8L\0\0\0\0\x30", b"VP9 "])
def test_webp_of_no_known_form_is_no_known_format(start: bytes) -> None:
    assert seen(b"RIFF\x40\0\0\0WEBP" + start + b"\0" * 60).problem == "no known media format"


SVG = "http://www.w3.org/2000/svg"


@pytest.mark.parametrize(
    "root,sides",
    [
        (f'<svg xmlns="{SVG}" width="320" height="200"/>', (320, 200)),
        (f"<svg xmlns='{SVG}' width='10.2px' height='1e2'></svg>", (11, 100)),
        ('<svg viewBox="0 0 24 48"/>', (24, 48)),
        ('<svg viewBox="0,0,24,48" width="12"/>', (12, 24)),
        ('<svg viewBox="0 0 24 48" height="12"/>', (6, 12)),
        ('<svg viewBox="0 0 24 48" width="100%" height="100%"/>', (24, 48)),
        ('<svg viewBox="0 0 24 48" width="5" height="6"/>', (5, 6)),
        ('<svg viewBox="0 0 0 0" width="5em"/>', (0, 0)),
        ('<svg width="1in" height="25.4mm"/>', (96, 96)),
        ('<svg width="99999999999e99" height="-3"/>', (1 << 31, 0)),
        ('<?xml version="1.0"?>\n<!-- <svg width="1"> -->\n<!DOCTYPE svg [<!ENTITY a "b">]>\n<svg width="7" height="8">', (7, 8)),
        ('\ufeff<s:svg width="7" height="8" title="a > b">', (0, 0)),
        ('\ufeff<?xml version="1.0"?><s:svg width="7" height="8" title="a > b">', (7, 8)),
    ],
)
def test_svg_sides(root: str, sides: tuple[int, int]) -> None:
    found = seen(root.encode())
    assert (found.width, found.height) == sides
    if root.startswith(("<", "\ufeff<?")):
        assert found.mime == "image/svg+xml"
    assert probe.facts(root, "text", "image/svg+xml").width in {sides[0], 0}


def test_svg_of_no_width_is_a_problem() -> None:
    assert seen(b'<svg width="0" height="10"/>').problem == "a side of 0 pixels"


@pytest.mark.parametrize(
    "data",
    [
        b"<!DOCTYPE html><html><svg width='1' height='1'/></html>",
        b"<?xml version='1.0'?><rss><svg width='1' height='1'/></rss>" + b" " * 60,
        b"<svg width='1'",
        b"<?xml ",
        b"<!-- " * 20_000,
        b"<!DOCTYPE " + b" " * 70_000,
        b"<!-- -->" * 100 + b"<svg>",
        b"<svg " + b"a='b' " * 20_000,
    ],
)
def test_other_markup_is_no_known_format(data: bytes) -> None:
    assert seen(data) == Facts(problem="no known media format")


def test_svg_as_text_in_a_data_url_is_read() -> None:
    payload = "%3Csvg%20width='3'%20height='4'/%3E"
    assert probe.facts(payload, "data-url", "image/svg+xml") == Facts(mime="image/svg+xml", width=3, height=4)
    assert probe.facts("%3Csvg", "data-url", "image/svg+xml").problem == "not base64"
