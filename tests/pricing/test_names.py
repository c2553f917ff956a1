"""How a model's name finds its card."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transom import catalog
from transom.data.tables import read
from transom.errors import BadSetting
from transom.rules import names

NAMES = [
    ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
    ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
    ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
    ("openrouter/anthropic/claude-sonnet-4.5:beta", "claude-sonnet-4-5"),
    ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
    ("bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
    ("arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
    ("us-gov.anthropic.claude-sonnet-5", "claude-sonnet-5"),
    ("databricks-claude-3-7-sonnet", "claude-3-7-sonnet"),
    ("claude-4-sonnet", "claude-sonnet-4"),
    ("claude-sonnet-4-20250514", "claude-sonnet-4"),
    ("anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
    ("claude-2.1", "claude-2"),
    ("gpt-4o-2024-11-20", "gpt-4o"),
    ("openai/gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
    ("azure/gpt-4.1-nano", "gpt-4.1-nano"),
    ("gpt-4-0125-preview", "gpt-4"),
    ("gpt-5-chat-latest", "gpt-5"),
    ("gpt-5.4-mini-2026-03-17", "gpt-5.4"),
    ("ft:gpt-4o-2024-08-06:acme::abc123", "gpt-4o"),
    ("GPT-4o ", "gpt-4o"),
    ("o3-mini", "o3"),
    ("openai/ft:gpt-4o-mini:acme::abc", "gpt-4o-mini"),
    ("snowflake/openai-gpt-4.1", "gpt-4.1"),
    ("databricks/databricks-meta-llama-3-3-70b-instruct", "llama-3.3"),
    ("azure_ai/fw-kimi-k3", "kimi-k3"),
    ("global.xai.grok-4.6", "grok-4.6"),
    ("bedrock/eu-central-1/minimax.minimax-m2.1", "minimax-m2"),
    ("google.gemma-3-4b-it", "gemma-3"),
    ("us.deepseek.v3.2", "deepseek-v3.2"),
    ("zai-glm-5-3", "glm-5.3"),
    ("gemini-3-5-flash", "gemini-3.5-flash"),
    ("fireworks_ai/accounts/fireworks/models/llama-v3p1-70b-instruct", "llama-3.1"),
    ("accounts/fireworks/models/qwen2p5-vl-32b-instruct", "qwen2.5-vl"),
    ("mistral-medium-3-1", "mistral-medium"),
]


@pytest.mark.parametrize("written, meant", NAMES)
def test_a_name_is_read_as_people_write_it(written: str, meant: str) -> None:
    card, same = catalog.card(written), catalog.card(meant)
    assert card.known
    assert (card.image, card.counter, card.frame) == (same.image, same.counter, same.frame)


@pytest.mark.parametrize(
    "name", ["claude-opus-4-9", "claude-opus-6", "gpt-7", "gpt-4.2", "gpt-neo-20b", "grok-9", "", "-", "/", "@"]
)
def test_another_version_is_another_model(name: str) -> None:
    assert not catalog.card(name).known


def test_an_unknown_claude_is_priced_as_the_newest() -> None:
    card = catalog.card("claude-opus-4-9")
    assert card.vendor == "anthropic"
    assert card.image == catalog.card("claude-opus-5").image
    assert catalog.card("", api="anthropic").image == card.image


@pytest.mark.parametrize(
    "name, newest",
    [
        ("qwen9-max", "qwen3.6"),
        ("openrouter/deepseek/deepseek-v9", "deepseek-v4"),
        ("grok-9", "grok-4.7"),
        ("nous-hermes-2-mixtral-8x7b-dpo", "mistral-large"),
        ("chatglm-9", "glm-5"),
        ("moonshot-v1-8k", "kimi-k3"),
        ("llama-9-70b", "llama-4"),
        ("medgemma-27b", "gemma-3"),
        ("gemini-omni-1.2-flash", "gemini-3.5"),
        ("nova-9", "nova-2"),
    ],
)
def test_an_unknown_model_of_a_known_line_is_priced_as_its_newest(name: str, newest: str) -> None:
    card, same = catalog.card(name), catalog.card(newest)
    assert not card.known
    assert (card.vendor, card.counter, card.frame) == (same.vendor, same.counter, same.frame)


def test_an_unknown_model_of_no_line_is_priced_as_the_dearest() -> None:
    assert catalog.card("phi-9").image == catalog.card("?").image
    assert catalog.card("phi-9").counter.name == "unknown"


def test_who_hosts_it_narrows_the_limits() -> None:
    """platform.claude.com, vision, 2026-08-22: 5 MB a picture where others host it, else 10; bodies 20, 30 and 32 MB."""
    found = {
        name: (card.limits.image_bytes, card.limits.body_bytes)
        for name in ("claude-opus-5", "us.anthropic.claude-opus-5", "vertex_ai/claude-opus-5", "claude-opus-5@default")
        for card in (catalog.card(name),)
    }
    assert found == {
        "claude-opus-5": (10 * 2**20, 32 * 2**20),
        "us.anthropic.claude-opus-5": (5 * 2**20, 20 * 2**20),
        "vertex_ai/claude-opus-5": (5 * 2**20, 30 * 2**20),
        "claude-opus-5@default": (5 * 2**20, 30 * 2**20),
    }
    assert names.platform("gpt-4o") == ""


@given(
    st.text(max_size=60), st.sampled_from(["", "anthropic", "openai-chat", "blocks"]), st.sampled_from(["", "2026-01-01", "?"])
)
def test_a_look_up_never_fails(name: str, api: str, on: str) -> None:
    card = catalog.card(name, api=api, on=on)
    assert card.image.tokens(640, 480) > 0
    assert card.counter.count("word") > 0


def test_a_price_file_that_names_what_it_lacks_is_refused() -> None:
    text = """
[counters.a]
engine = "characters"
[images.b]
shape = "flat"
price = 1
[frames.c]
style = "flat"
[media.d]
[limits.e]
[[models]]
names = ["m"]
counter = "a"
image = "lost"
frame = "c"
media = "d"
limits = "e"
[[families]]
prefixes = []
"""
    with pytest.raises(BadSetting, match=r"prices\.toml: the entry of \['m'\] names the image 'lost', which the file lacks"):
        read(text)
    with pytest.raises(BadSetting, match=r"prices\.toml: b has the shape 'cubes'; known are flat, tiles, patch28"):
        read(text.replace('shape = "flat"', 'shape = "cubes"'))
