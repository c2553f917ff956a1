"""Text counters: exact where the vocabulary is known, close where it is not, and never in trouble."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from transom import BadSetting, catalog
from transom.tokens import Counter, claude, extras, vocabulary
from transom.tokens.counter import estimate, is_dense, sampled
from transom.tokens.features import script_of, split

O200K = Counter(name="o200k", engine="tiktoken")
CLAUDE = catalog.card("claude-sonnet-4-5").counter
needs_extra = pytest.mark.skipif(not claude.available(), reason="needs the extra `claude` (ctok, Python 3.12 or later)")


@pytest.mark.parametrize(
    "text, o200k, cl100k",
    [
        ("", 0, 0),
        ("hello world", 2, 2),
        ("antidisestablishmentarianism", 6, 6),
        ("<|endoftext|>", 7, 7),
        ("你好世界", 2, 5),
        ("a" * 64, 8, 8),
    ],
)
def test_openai_text_is_exact(text: str, o200k: int, cl100k: int) -> None:
    """Counted with tiktoken 0.14.0; special tokens are text like any other."""
    assert O200K.count(text) == o200k
    assert Counter(name="cl100k", engine="tiktoken", vocabulary="cl100k_base").count(text) == cl100k
    assert O200K.basis == "exact"


@pytest.mark.parametrize("run", [" ", "\n", "a", "-", "é", "中", "\u3000", "1", "aB"])
def test_a_run_of_a_million_is_counted_without_trouble(run: str) -> None:
    """tiktoken 0.14.0 overflows its stack on a million spaces."""
    assert O200K.count(run * (300_000 // len(run))) > 0


def test_long_prose_is_counted_whole() -> None:
    text = "The quick brown fox. " * 500
    assert not vocabulary.has_long_run(text)
    assert O200K.count(text) == 2_501


def test_a_lone_surrogate_is_replaced() -> None:
    assert vocabulary.whole("a\ud800é") == "a\ufffdé"
    assert vocabulary.whole("plain") == "plain"


def test_a_cut_loses_nothing() -> None:
    text = "word " * 10 + " " * 5_000 + "x" * 4_500 + "!" * 2_001 + " end"
    assert vocabulary.has_long_run(text)
    assert "".join(vocabulary.cut(text)) == text
    assert max(map(len, vocabulary.cut(text))) <= 2 * vocabulary.RUN


@given(st.text(max_size=400))
@example("\ud800 lone")
@example("é\u0301")
@example("🇩🇪👩‍👩‍👧")
def test_every_counter_takes_every_text(text: str) -> None:
    for name in ("gpt-4o", "gpt-4", "claude-sonnet-4-5", "claude-opus-4-7", "claude-opus-5", "?", "flat"):
        counter = catalog.card(name).counter
        assert isinstance(counter.count(text), int)
        assert (counter.count(text) > 0) is bool(text) or claude.available()
        assert counter.count(text) == counter.count(text, dense=False)


@pytest.mark.parametrize(
    "text, least, most",
    [
        ("The quick brown fox jumps over the lazy dog. " * 20, 190, 240),
        ('{"type": "object", "properties": {"city": {"type": "string", "description": "A city"}}}', 26, 38),
        ("Россия — крупнейшая страна мира по площади. " * 5, 60, 120),
        ("日本の首都は東京です。" * 10, 70, 130),
        ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk" * 20, 900, 1_200),
    ],
)
def test_an_estimate_of_claude_text_is_close(text: str, least: int, most: int) -> None:
    """Bounds are a tenth and more around what ctok 1.3.0 counts."""
    assert least <= estimate(CLAUDE, text) <= most


def test_an_unknown_model_is_counted_as_the_dearest() -> None:
    text = "Please read the attached document carefully and answer in one sentence. " * 10
    assert catalog.card("?").counter.count(text) >= max(
        estimate(catalog.card(name).counter, text) for name in ("claude-sonnet-4-5", "claude-opus-5")
    )
    assert catalog.card("?").counter.basis == "estimate"


@needs_extra
def test_with_the_extra_claude_text_is_counted() -> None:
    """platform.claude.com, token-counting: "You are a scientist" and "Hello, Claude" are 14 with a frame of 7."""
    assert CLAUDE.basis == "rule"
    assert CLAUDE.count("You are a scientist") + CLAUDE.count("Hello, Claude") + 7 == 14
    assert CLAUDE.count("word " * 60_000) > 0


def test_long_text_is_cut_at_lines_or_spaces_for_the_extra() -> None:
    text = "line of words\n" * 3_000 + "x" * 45_000
    pieces = claude.windows(text)
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= claude.WINDOW
    assert pieces[1].startswith("\n")
    assert claude.windows("short") == ["short"]


def test_samples_put_a_rough_count_right() -> None:
    assert sampled("ab" * 200_000, lambda text: 2 * len(text), len) == 800_000


@pytest.mark.parametrize(
    "text, dense",
    [("plain words, here and there", False), ("x" * 88 + "{" * 12, False), ("x" * 87 + "{" * 13, True), ("日本", True)],
)
def test_dense_text(text: str, dense: bool) -> None:
    """CM-54: dense is more than 12 % of the first 2,000 characters."""
    assert is_dense(text) is dense


def test_the_reference_figures_of_text() -> None:
    """CM-54, CM-61, CM-F1: 2.9 characters a token for prose, 2.3 for dense text; 54 characters are 19."""
    flat = catalog.FLAT.counter
    assert flat.count("x" * 54) == 19
    assert flat.count("{" * 54) == flat.count("x" * 54, dense=True) == 24


def test_scripts_are_told_apart() -> None:
    assert [script_of(ord(c)) for c in "жאहกე한かや漢😀Ωé"] == (
        ["cyrillic", "arabic", "indic", "thai", "caucasian", "hangul", "kana", "kana", "han", "emoji", "greek", "other"]
    )
    rest, foreign = split("Say 你好 and до свидания 2 раза now")
    assert rest.split() == ["Say", "and", "now"]
    assert set(foreign) == {"han", "cyrillic"}


def test_a_vocabulary_of_ones_own_counts_by_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Extra `vocabulary`: special tokens are not added, and a text that is no vocabulary is said to be none."""

    class Tokenizer:
        @staticmethod
        def from_str(text: str) -> Tokenizer:
            if not text.startswith("{"):
                raise Exception("expected value at line 1")  # noqa: TRY002 - as the package raises it
            return Tokenizer()

        def encode(self, text: str, *, add_special_tokens: bool) -> SimpleNamespace:
            return SimpleNamespace(ids=[*text.split(), *("<bos>",) * add_special_tokens])

    monkeypatch.setattr(extras, "TOKENIZERS", True)
    monkeypatch.setattr(extras, "import_module", {"tokenizers": SimpleNamespace(Tokenizer=Tokenizer)}.__getitem__)
    assert extras.supplied("{}")("three plain words") == 3
    with pytest.raises(BadSetting, match=r"no tokenizer\.json that the package tokenizers can read \(expected value"):
        extras.supplied("words")
    monkeypatch.setattr(extras, "TOKENIZERS", False)
    with pytest.raises(BadSetting, match=r"install transom\[vocabulary\]"):
        extras.supplied("{}")


def test_a_count_by_an_open_vocabulary_is_exact_where_its_package_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    counter = Counter(name="mistral", engine="open", vocabulary="tekken")
    bases = []
    for there in ("tekken", "none"):
        monkeypatch.setattr(extras, "available", there.__eq__)
        bases.append(counter.basis)
    assert bases == ["exact", "estimate"]
