"""The price list: order of sources, basis, sums, the multiplier, and bytes."""

from __future__ import annotations

import math
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from transom import canon, catalog
from transom.errors import BadSetting
from transom.parts import Conversation, Facts, Media, MediaKind, Message, Part, Source
from transom.pricing import Known, Price, PriceList
from transom.types import Json, JsonObject
from transom.wire import FORMS

FLAT = PriceList(catalog.FLAT)
GPT = PriceList(catalog.card("gpt-4o"))
CLAUDE = PriceList(catalog.card("claude-sonnet-4-5"))
NOTHING = Facts()
SIDES = Facts(width=1920, height=1080)


def media(kind: MediaKind = "image", source: Source = "base64", *, facts: Facts = NOTHING, **more: Any) -> Media:
    """A medium with a payload of five characters."""
    return Media(
        kind=kind, source=source, payload="abcde", inline=5 if source in {"base64", "data-url"} else 0, facts=facts, **more
    )


def part(given: Media) -> Part:
    """The part that carries it."""
    return Part(kind=given.kind, place=("content", 0), raw={"type": given.kind}, media=given)


def anthropic(*content: Json, role: str = "user") -> Message:
    """A message in Anthropic's form."""
    return FORMS["anthropic"].read_message({"role": role, "content": list(content)}, 0)


def test_a_picture_is_priced_by_its_header_first() -> None:
    assert CLAUDE.price_media(media(facts=SIDES, stamp=7)) == Price(1560, 5, "rule")


def test_a_stamp_goes_before_known_and_flat() -> None:
    known = {"abcde": Known(tokens=9)}
    prices = PriceList(CLAUDE.card, known=known)
    assert prices.price_media(media(stamp=7)) == Price(7, 5, "estimate")
    assert prices.price_media(media()) == Price(9, 5, "observed")
    assert CLAUDE.price_media(media()) == Price(1600, 5, "flat")


def test_a_setting_puts_the_stamp_first() -> None:
    prices = PriceList(CLAUDE.card, stamp_first=True)
    assert prices.price_media(media(facts=SIDES, stamp=7)) == Price(7, 5, "estimate")
    assert prices.price_media(media(facts=SIDES)) == Price(1560, 5, "rule")


@pytest.mark.parametrize("stamp", [math.nan, math.inf, -math.inf, -1, -0.5, 10**400, True, "100", None, [], {}])
def test_a_stamp_that_is_no_finite_number_of_tokens_is_not_used(stamp: object) -> None:
    """CM-56 takes it as given; here it is refused."""
    assert CLAUDE.price_media(media(stamp=stamp)).tokens == 1600
    assert FLAT.price_media(media(stamp=stamp)).tokens == 1600


@pytest.mark.parametrize("stamp, tokens", [(0, 0), (0.2, 1), (100, 100), (5_000, 5_000)])
def test_a_stamp_is_used_as_it_is(stamp: float, tokens: int) -> None:
    assert CLAUDE.price_media(media(source="url", stamp=stamp)).tokens == tokens


def test_an_unreadable_inline_picture_is_never_cheaper_than_the_flat_price() -> None:
    """AN-13: failing to decode is never the cheap case."""
    broken = Facts(problem="cut off", width=1, height=1)
    assert CLAUDE.price_media(media(facts=broken, stamp=3)) == Price(1600, 5, "estimate")
    assert CLAUDE.price_media(media(facts=broken)) == Price(1600, 5, "flat")
    assert CLAUDE.price_media(media(source="url", facts=broken, stamp=3)).tokens == 3


def test_a_remote_picture_is_known_or_flat() -> None:
    """AN-17: a URL has no header to read, and is not nearly free for that; it has no bytes in the body."""
    assert CLAUDE.price_media(media(source="url")) == Price(1600, 0, "flat")
    assert PriceList(CLAUDE.card, known={"abcde": Known(width=1920, height=1080)}).price_media(media(source="url")) == Price(
        1560, 0, "rule"
    )
    by_digest = {sha256(b"abcde").hexdigest(): Known(width=1920, height=1080)}
    assert PriceList(CLAUDE.card, known=by_digest).price_media(media(source="file")).tokens == 1560
    assert PriceList(CLAUDE.card, known={"other": Known(tokens=1)}).price_media(media(source="file")).tokens == 1600
    assert PriceList(CLAUDE.card, known={"abcde": Known()}).price_media(media(source="file")).tokens == 1600


@pytest.mark.parametrize("width, height", [(0, 0), (0, 5), (5, 0), (-1, 5)])
def test_a_side_of_zero_is_no_picture(width: int, height: int) -> None:
    """AN-14."""
    assert CLAUDE.price_media(media(facts=Facts(width=width, height=height))).basis == "flat"


def test_a_claimed_side_is_bounded() -> None:
    assert GPT.price_media(media(facts=Facts(width=10**30, height=10**30))).tokens == 765


def test_documents_and_sounds() -> None:
    """CM-50: 1,000 where nothing is known; a document at least one page; sound 10 a second (guide realtime-costs) and 4."""
    assert FLAT.price_media(media("document")) == FLAT.price_media(media("audio")) == Price(1000, 5, "flat")
    assert CLAUDE.price_media(media("document")).tokens == CLAUDE.card.media.page
    assert CLAUDE.price_media(media("document", facts=Facts(pages=3))) == Price(3 * 1_565 + 9, 5, "estimate")
    assert CLAUDE.price_media(media("document", facts=Facts(pages=1, text_chars=1_000))) == Price(1_565 + 368 + 9, 5, "estimate")
    assert GPT.price_media(media("audio", facts=Facts(seconds=2.58))) == Price(29, 5, "rule")
    assert GPT.price_media(media("audio", facts=Facts(seconds=math.nan))).tokens == 1000
    assert CLAUDE.price_media(media("audio", facts=Facts(seconds=2.0))).tokens == 1000
    assert GPT.price_media(media("video", facts=Facts(seconds=2.0))).tokens == 1000


def test_an_explanation_says_where_a_figure_comes_from() -> None:
    assert CLAUDE.explain(media(facts=SIDES)) == (
        "1920x1080 -> 1456x819, ceil(1456/28) x ceil(819/28) = 52 x 30 = 1,560 tokens (claude-28px, standard tier)"
    )
    assert CLAUDE.explain(media(stamp=7)) == "stamped with 7 tokens"
    assert PriceList(CLAUDE.card, known={"abcde": Known(tokens=9)}).explain(media()) == "known to cost 9 tokens"
    assert CLAUDE.explain(media()) == "nothing is known of it: 1,600 tokens, the flat price"
    assert GPT.explain(media("audio", facts=Facts(seconds=2.0))) == "2.00 seconds x 10 + 4 = 24 tokens"
    assert GPT.explain(media("document", facts=Facts(pages=2))) == "2 pages, some 0 characters on them: 1,996 tokens"
    assert CLAUDE.explain(media("document", "text")) == "the text of the document"


def test_the_picture_of_an_unknown_model_is_an_estimate() -> None:
    assert PriceList(catalog.card("?")).price_media(media(facts=SIDES)).basis == "estimate"


def test_a_sum_has_the_worst_basis() -> None:
    assert Price(1, 2, "exact") + Price(3, 4, "rule") == Price(4, 6, "rule")
    assert Price(1, 2, "flat") + Price(3, 4, "observed") == Price(4, 6, "flat")


def test_a_message_is_its_frame_and_its_parts() -> None:
    """CM-51: a result costs what stands in it; nested parts are told with their place in the message."""
    picture = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "a word"}, picture]}
    message = anthropic(result, {"type": "text", "text": "more"})
    rows = FLAT.parts(message)
    assert [place for place, _ in rows] == [
        ("content", 0),
        ("content", 0, "content", 0),
        ("content", 0, "content", 1),
        ("content", 1),
    ]
    assert sum(price.tokens for _, price in rows) == FLAT.message(message).tokens == 3 + 1_600 + 2
    assert FLAT.part(message.parts[0]).tokens == 1_603
    assert FLAT.message(message).bytes == len(canon.encode(message.json)) + 1


def test_fixed_is_the_body_without_its_messages() -> None:
    body: JsonObject = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 5,
        "system": "Be brief",
        "messages": [{"role": "user", "content": "Hi"}],
    }
    conversation = FORMS["anthropic"].read(body)
    fixed, said = CLAUDE.fixed(conversation), CLAUDE.message(conversation.messages[0])
    assert fixed.bytes + said.bytes == len(canon.encode(body))
    assert fixed.tokens == 4 + CLAUDE.text("Be brief").tokens


@pytest.mark.parametrize("prices", [FLAT, GPT, CLAUDE])
def test_reasoning_is_its_visible_text(prices: PriceList) -> None:
    thought = anthropic({"type": "thinking", "thinking": "let me think", "signature": "s"}).parts[0]
    assert prices.part(thought).tokens == prices.text("let me think").tokens > 0


def test_an_opaque_part_is_its_json() -> None:
    """AN-21, AN-23: what nobody knows costs the text it is written as."""
    message = anthropic({"type": "from_the_future", "size": 12})
    assert GPT.parts(message)[0][1].tokens == GPT.text('{"type":"from_the_future","size":12}').tokens


def test_the_callers_own_counter_is_believed() -> None:
    prices = PriceList(catalog.card("?"), count=len)
    assert prices.text("four") == Price(4, 0, "exact")
    assert prices.text("") == Price(0, 0, "exact")


def test_a_memo_is_shared_and_keeps_no_text() -> None:
    asked: list[str] = []

    def count(text: str) -> int:
        asked.append(text)
        return len(text)

    memo: dict[Any, int] = {}
    for _ in range(3):
        assert PriceList(GPT.card, count=count, memo=memo).text("some words").tokens == 10
    assert asked == ["some words"]
    assert all(isinstance(item, int) for key in memo for item in key)


@pytest.mark.parametrize("multiplier", [0, -1, math.nan, math.inf])
def test_a_multiplier_that_is_no_positive_number_is_refused(multiplier: float) -> None:
    with pytest.raises(BadSetting, match=r"is not a positive number; use 1\.0"):
        PriceList(GPT.card, multiplier=multiplier)


def test_the_multiplier_scales_guesses_only() -> None:
    scaled = PriceList(catalog.card("claude-sonnet-4-5"), multiplier=2.0)
    assert scaled.price_media(media(facts=SIDES)).tokens == 1560
    assert scaled.price_media(media()).tokens == 3200
    assert PriceList(GPT.card, multiplier=2.0).text("hello world").tokens == 2
    assert (
        PriceList(catalog.card("?"), multiplier=2.0).text("hello").tokens == 2 * PriceList(catalog.card("?")).text("hello").tokens
    )


HOSTILE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.lists(st.integers(), max_size=2),
)


MEDIA = st.builds(
    Media,
    kind=st.sampled_from(["image", "document", "audio", "video"]),
    source=st.sampled_from(["base64", "data-url", "url", "file", "text", "none"]),
    payload=st.text(max_size=9),
    inline=st.integers(0, 9),
    stamp=HOSTILE,
    generated=st.booleans(),
    detail=st.text(max_size=5) | st.sampled_from(["low", "high", "original"]),
    facts=st.builds(
        Facts,
        width=st.integers(-5, 2**33),
        height=st.integers(-5, 2**33),
        pages=st.integers(-1, 10**20),
        seconds=st.floats(),
        problem=st.sampled_from(["", "cut off"]),
    ),
)


@given(
    given=MEDIA, model=st.sampled_from(["gpt-4o", "gpt-6-astra", "claude-opus-5", "flat", "?"]), multiplier=st.floats(0.6, 1.8)
)
def test_no_medium_has_a_price_that_is_no_number(given: Media, model: str, multiplier: float) -> None:
    prices = PriceList(catalog.card(model), multiplier=multiplier)
    price = prices.part(part(given))
    assert isinstance(price.tokens, int)
    assert price.tokens >= 0
    assert prices.explain(given)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(st.characters(codec="utf-8"), max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), inner, max_size=3)
    ),
    max_leaves=9,
)


@given(
    content=st.lists(JSON, max_size=3),
    tools=st.lists(JSON, max_size=2),
    extra=JSON,
    model=st.sampled_from(["gpt-5", "claude-opus-5", "flat", "?"]),
)
def test_any_json_has_a_price_and_sums_add_up(content: list[Json], tools: list[Json], extra: Json, model: str) -> None:
    prices = PriceList(catalog.card(model))
    parts = tuple(Part(kind="opaque", place=("content", index), raw=raw) for index, raw in enumerate(content))
    message = Message(index=0, role="user", parts=parts, json={"role": "user", "content": content})
    frame = prices.card.frame.message(message, lambda _: 0)
    assert prices.message(message).tokens == frame + sum(price.tokens for _, price in prices.parts(message))
    body = {
        "messages": [],
        "tools": tools,
        "tool_choice": extra,
        "response_format": {"json_schema": {"schema": extra}},
        "output_format": {"schema": extra},
    }
    assert prices.fixed(Conversation(api="openai-chat", body=body, key="messages", messages=())).tokens >= 0


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -1, -(10**20), 10**20])
def test_what_is_known_and_is_no_figure_is_never_used(bad: Any) -> None:
    """Negative, infinite and absent figures of the caller's: bounded, and never NaN."""
    for name in ("tokens", "width", "height", "pages", "seconds", "text_chars"):
        prices = replace(CLAUDE, known={"abcde": Known(**{"pages": 1, name: bad})})
        for kind in ("image", "document", "audio", "video"):
            tokens = prices.price_media(media(kind)).tokens
            assert isinstance(tokens, int)
            assert 0 < tokens < 10**13
