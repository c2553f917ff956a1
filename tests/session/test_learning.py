"""CM-138 to CM-153: what a session learns from reported usage, and when it forgets."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from transom import FLAT, Policy, Store, calibration
from transom.calibration import Calibration, Record, loaded
from transom.errors import OverBudget
from transom.session import Session
from transom.wire.form import Usage

PRINTS = {"text": "t1", "image": "i1", "document": "d1", "audio": "a1", "tools": "o1"}
LEARNED = {
    **Record(calibration=Calibration(multiplier=1.4, samples=9), prints=tuple(sorted(PRINTS.items()))).to_dict(),
    "time": "then",
}


def record(plain: Any, parts: set[str], **changed: str) -> Record:
    return loaded(plain, prints=PRINTS | changed, parts=frozenset(parts), now="now")


def test_a_changed_price_of_a_kind_that_the_session_holds_resets_the_factor() -> None:
    """CM-144, CM-145: it restarts at 1, provisional, and a record says why."""
    found = record(LEARNED, {"text", "image"}, image="i2")
    assert (found.calibration.multiplier, found.calibration.provisional) == (1.0, True)
    assert found.reset == calibration.Reset(time="now", multiplier=1.4, kinds=("image",))
    assert dict(found.prints)["image"] == "i2"


def test_a_changed_price_of_a_kind_that_it_does_not_hold_keeps_the_factor() -> None:
    """CM-146, CM-153: kept, and stamped with the prices of today."""
    found = record(LEARNED, {"text"}, image="i2")
    assert (found.calibration.multiplier, found.reset) == (1.4, None)
    assert dict(found.prints)["image"] == "i2"
    assert found.time == "then"


@pytest.mark.parametrize("kind", ["text", "image", "document", "audio", "video", "call", "result"])
def test_each_kind_of_part_depends_on_its_price(kind: str) -> None:
    """CM-144: text on its own, films on sound, calls and results on tools; everything on text."""
    price = calibration.HOLDS.get(kind, "text")
    assert record(LEARNED, {kind}, **{price: "other"}).calibration.provisional
    assert record(LEARNED, set(), text="other").calibration.provisional


def test_a_provisional_factor_is_kept_with_its_reset() -> None:
    """CM-147, CM-148: it holds nothing of the old prices; a second reset would lose the history of the first."""
    first = record(LEARNED, {"image"}, image="i2")
    again = record(first.to_dict(), {"image"}, image="i3")
    assert again.calibration == first.calibration
    assert again.reset == first.reset
    assert dict(again.prints)["image"] == "i3"


def test_the_first_sample_sets_a_provisional_factor_and_the_reset_stays() -> None:
    """CM-149, CM-151: no averaging; the reset survives learning and being stored."""
    first = record(LEARNED, {"image"}, image="i2")
    after = first.learned(1_200, 1_000, 0, now="later")
    assert after.calibration == Calibration(multiplier=1.2, samples=1, provisional=False)
    assert record(after.to_dict(), {"image"}, image="i2") == after
    assert after.reset == first.reset
    assert after.time == "later"


def test_a_record_of_a_newer_version_is_not_used() -> None:
    """CM-150: 1 in memory, and marked so that nothing is written over it."""
    found = record({**LEARNED, "format": calibration.RECORD_FORMAT + 1}, {"text"})
    assert (found.calibration.multiplier, found.foreign) == (1.0, True)


@pytest.mark.parametrize(
    "broken", [{}, {"multiplier": "x"}, {"multiplier": float("nan"), "samples": 1}, {"multiplier": 99, "samples": 1}]
)
def test_a_record_that_cannot_be_read_starts_afresh(broken: Any) -> None:
    found = record(broken, {"text"})
    assert found.calibration == Calibration()


def begun(store: Store, name: str = "a", **options: Any) -> Session:
    chat = store.session(name, **{"api": "anthropic", "card": FLAT, "policy": Policy.sliding(budget=100_000), **options})
    chat.append({"role": "user", "content": "word " * 4_000})
    return chat


def answered(prompt: int, words: str = "yes") -> Any:
    usage = {"input_tokens": prompt, "output_tokens": 3}
    return {"role": "assistant", "content": [{"type": "text", "text": words}], "stop_reason": "end_turn", "usage": usage}


@pytest.fixture
def store() -> Any:
    with Store("sqlite://") as opened:
        yield opened


def test_one_sample_a_compile(store: Store) -> None:
    """CM-138, CM-139, CM-140, CM-141: only the first answer after a compile is evidence; a fifth of the way."""
    chat = begun(store)
    planned = chat.compile().report.after.tokens
    assert chat.record(answered(planned * 3 // 2)).learned
    assert chat.stats().multiplier == pytest.approx(1 + 0.2 * 0.5, abs=0.001)
    assert not chat.record(answered(planned * 2)).learned
    assert chat.stats().samples == 1


def test_an_extended_round_is_no_evidence(store: Store) -> None:
    """CM-139: later rounds of a turn carry content that the plan did not hold."""
    chat = begun(store)
    planned = chat.compile().report.after.tokens
    chat.extend({"role": "user", "content": "more"})
    assert not chat.record(answered(planned)).learned


def test_what_was_learned_scales_the_next_compile_and_survives_a_restart(store: Store) -> None:
    """CM-138, CM-142: the factor is kept with the session, by card."""
    chat = begun(store)
    planned = chat.compile().report.after.tokens
    chat.record(answered(planned * 3 // 2))
    again = store.session("a", card=FLAT, policy=Policy.sliding(budget=100_000))
    assert again.stats() == chat.stats()
    assert again.preview().report.after.tokens == pytest.approx(planned * 1.1, rel=0.01)
    other = store.session("a", model="claude-opus-4-8")
    assert other.stats().samples == 0


def test_exact_prices_are_not_scaled(store: Store) -> None:
    """Under a card that counts exactly nothing is guessed, so nothing is learned (the estimated share is under a tenth)."""
    chat = store.session("x", api="openai-chat", model="gpt-4o")
    chat.append({"role": "user", "content": "word " * 1_000})
    planned = chat.compile().report.after.tokens
    reply = {"choices": [{"message": {"role": "assistant", "content": "y"}, "finish_reason": "stop"}]}
    assert not chat.record({**reply, "usage": {"prompt_tokens": planned * 2, "completion_tokens": 1}}).learned


def test_previews_and_refused_compiles_leave_no_trace(store: Store) -> None:
    """CM-160, INV-20, CM-127: nothing of the session changes; the preview shows what would go out, over the budget too."""
    chat = begun(store, policy=Policy.sliding(budget=200))
    before = chat.log.head()
    shown = chat.preview()
    assert shown.report.after.tokens > 200
    with pytest.raises(OverBudget):
        chat.compile()
    assert chat.log.head() == before


def test_a_stale_factor_does_not_lock_a_session(store: Store) -> None:
    """CM-152: a factor of 1.8 that made the first compile throw could never be lowered; under changed prices it is given up."""
    chat = begun(store, policy=Policy.sliding(budget=10_000))
    head = chat.log.head()
    stale = {**LEARNED, "multiplier": 1.8, "prints": {"text": "old"}}
    chat.log.commit(head.slot, over=head.version, records={FLAT.name: msgspec.json.encode(stale).decode()})
    fit = chat.compile()
    assert fit.report.after.tokens <= 10_000
    assert chat.stats().reset is not None
    assert chat.record(answered(fit.report.after.tokens * 5 // 4)).learned
    assert chat.stats().multiplier == pytest.approx(1.25, abs=0.01)
    assert chat.stats().reset is not None


def test_a_newer_record_is_left_as_it_is(store: Store) -> None:
    """CM-150: left in the store untouched."""
    chat = begun(store)
    head = chat.log.head()
    newer = msgspec.json.encode({"format": 99, "factor": 7}).decode()
    chat.log.commit(head.slot, over=head.version, records={FLAT.name: newer})
    planned = chat.compile().report.after.tokens
    assert not chat.record(answered(planned * 2)).learned
    assert chat.log.opening(FLAT.name).record == newer


def test_no_figure_that_is_no_number_is_learned_from(store: Store) -> None:
    """CM-141: non-finite or non-positive samples are ignored; a ratio outside the band is refused."""
    chat = begun(store)
    planned = chat.compile().report.after.tokens
    for prompt in (0, -5, planned * 40):
        chat.compile()
        assert not chat.record({"role": "assistant", "content": [], "usage": {}}, usage=Usage(prompt=prompt, output=1)).learned
    assert chat.stats().multiplier == 1


def test_a_models_change_keeps_each_ones_record(store: Store) -> None:
    """The key is (session, card): going back finds what was learned before."""
    chat = begun(store)
    planned = chat.compile().report.after.tokens
    chat.record(answered(planned * 3 // 2))
    other = store.session("a", card=replace(FLAT, name="flat-2"), policy=Policy.sliding(budget=100_000))
    assert other.stats().samples == 0
    assert store.session("a", card=FLAT).stats().samples == 1
