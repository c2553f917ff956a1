"""Each provider's own words for a request that was too much, as users quoted them."""

# ruff: noqa: E501 - the words of providers stay in one piece
from __future__ import annotations

import pytest

from transom.proxy.overflow import Overflow, recognised

SAID = [
    ("prompt is too long: 208656 tokens > 200000 maximum", Overflow(kind="tokens", need=208_656, limit=200_000)),
    (
        "input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, decrease input length or `max_tokens` and try again",
        Overflow(kind="tokens", need=199_759, limit=191_808),
    ),
    ("Too much media: 0 document pages + 103 images > 100", Overflow(kind="images", need=103, limit=100)),
    ("Too much media: 40 document pages + 70 images > 100", Overflow(kind="images", need=110, limit=60)),
    ("too many images and documents: 120 + 0 > 100", Overflow(kind="images", need=120, limit=100)),
    (
        "messages.2.content.0.image.source.base64: image exceeds 5 MB maximum: 8259148 bytes > 5242880 bytes",
        Overflow(kind="image_bytes", need=8_259_148, limit=5_242_880),
    ),
    (
        (
            "messages.3.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image "
            "requests: 2000 pixels"
        ),
        Overflow(kind="many_side", limit=2_000),
    ),
    (
        "messages.3.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels",
        Overflow(kind="side", limit=8_000),
    ),
    (
        (
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 8227 tokens. Please reduce the length "
            "of the messages."
        ),
        Overflow(kind="tokens", need=8_227, limit=8_192),
    ),
    ("Your input exceeds the context window of this model. Please adjust your input and try again.", Overflow(kind="tokens")),
    ('{"error": {"code": "context_length_exceeded"}}', Overflow(kind="tokens")),
    (
        (
            "This model's maximum context length is 262144 tokens. However, you requested 128000 output tokens and your prompt contains at "
            "least 134145 input tokens, for a total of at least 262145 tokens. Please reduce the length of the input prompt."
        ),
        Overflow(kind="tokens", need=134_145, limit=134_144),
    ),
    (
        (
            "This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens (42832 of text input). "
            "Please reduce the length of either one"
        ),
        Overflow(kind="tokens", need=42_832, limit=32_768),
    ),
    ("At most 5 image(s) may be provided in one request.", Overflow(kind="images", limit=5)),
    ("request contains 54 images, exceeding the maximum of 50 allowed per request", Overflow(kind="images", need=54, limit=50)),
    (
        "The input token count (1048700) exceeds the maximum number of tokens allowed (1048576).",
        Overflow(kind="tokens", need=1_048_700, limit=1_048_576),
    ),
    (
        "The input token count exceeds the maximum number of tokens allowed 1048576.",
        Overflow(kind="tokens", limit=1_048_576),
    ),
]


@pytest.mark.parametrize("said, meant", SAID, ids=[said[:40] for said, _ in SAID])
def test_the_providers_words_are_read(said: str, meant: Overflow) -> None:
    assert recognised(400, f'{{"type": "error", "error": {{"message": "{said}"}}}}') == meant


@pytest.mark.parametrize(
    "status, said",
    [
        (429, "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000."),
        (429, "prompt is too long: 208656 tokens > 200000 maximum"),
        (400, "messages.167: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1."),
        (401, "invalid x-api-key"),
        (400, ""),
    ],
)
def test_what_is_no_overflow_is_none(status: int, said: str) -> None:
    assert recognised(status, said) is None


def test_a_413_says_enough_by_itself() -> None:
    assert recognised(413, "<html>413 Request Entity Too Large</html>") == Overflow(kind="bytes")


def test_figures_of_any_length_do_no_harm() -> None:
    said = f"prompt is too long: {'9' * 10_000} tokens > {'9' * 10_000} maximum"
    assert recognised(400, said) is not None
