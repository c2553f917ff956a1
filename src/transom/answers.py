"""What a provider answers to a request over one of its limits, word for word, as far as its wording is known.

The rule: the words are those of who is asked, which the form, the model's vendor and the name's host tell; where nobody's words
are known there are none. Sources, 2026-11: issues anthropics/claude-code 49537, anomalyco/opencode 6071,
crewAIInc/crewAI-examples 121, google-gemini/gemini-cli 4692, refly-ai/refly 1177, AIDotNet/OpenCowork 82.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from transom.catalog import ModelCard
from transom.rules.names import host

_ANSWERS: Final[Mapping[str, Mapping[str, str]]] = {
    "too-long": {
        "anthropic": "prompt is too long: {count} tokens > {most} maximum",
        "openai-chat": "This model's maximum context length is {window} tokens. However, your messages resulted in {count} "
        "tokens. Please reduce the length of the messages.",
        "openai-responses": "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "gemini": "The input token count ({count}) exceeds the maximum number of tokens allowed ({most}).",
        "openrouter": "This endpoint's maximum context length is {window} tokens. However, you requested about {count} tokens "
        '({count} of text input). Please reduce the length of either one, or use the "middle-out" transform to compress your '
        "prompt automatically.",
        "vllm": "This model's maximum context length is {window} tokens. However, you requested {output} output tokens and your "
        "prompt contains at least {count} input tokens, for a total of at least {total} tokens. Please reduce the length of the "
        "input prompt or the number of requested output tokens.",
    },
    "too-many-images": {
        "anthropic": "Too much media: 0 document pages + {count} images > {most}",
        "vllm": "At most {most} image(s) may be provided in one request.",
        "meta": "request contains {count} images, exceeding the maximum of {most} allowed per request",
    },
    "many-image-side": {
        "anthropic": "{at}: At least one of the image dimensions exceed max allowed size for many-image requests: {most} pixels"
    },
    "media-type": {"anthropic": "{at}.image.source.base64.data: Image does not match the provided media type {said}"},
    "too-large": {"anthropic": "413 request_too_large"},
}
"""The words by fault, and by who says them."""
_HOSTS: Final = {"openrouter": "openrouter", "vllm": "vllm", "hosted_vllm": "vllm"}
_OPENAI: Final = ("openai-chat", "openai-responses")


def answer(code: str, api: str, card: ModelCard, **given: int | str) -> str:
    """What is answered to the fault `code`; "" where the wording is not known.

    `given` are the figures of that fault: `count` is what the request has, `most` what it may have, `at` the place as the
    provider writes it, `said` the type that is declared, `output` the tokens that were asked for as an answer, and `total` those
    and the count.
    """
    return _ANSWERS[code].get(_says(api, card), "").format(window=card.window or given.get("most"), **given)


def _says(api: str, card: ModelCard) -> str:
    """Who answers."""
    if api not in _OPENAI:
        return api
    return _HOSTS.get(host(card.name), api if card.vendor == "openai" else card.vendor)
