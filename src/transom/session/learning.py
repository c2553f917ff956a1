"""What a session has learned about prices: one record for each model card, kept with the session."""

from __future__ import annotations

import msgspec
from msgspec.structs import asdict

from transom import canon
from transom.calibration import MOST, Record, Reset, loaded
from transom.catalog import ModelCard
from transom.errors import BadSetting
from transom.frozen import Frozen
from transom.session.slot import Sample
from transom.stages import Fit
from transom.store import Head
from transom.store.rows import now
from transom.wire import numbers
from transom.wire.form import Usage


class Stats(Frozen, frozen=True, kw_only=True):
    """What is known of a session's prices (CM-151): the factor on what is estimated, how many samples it was learned from,
    whether it is a restart that knows nothing yet, and what reset it.
    """

    card: str
    multiplier: float
    samples: int
    provisional: bool
    reset: Reset | None = None


def record_of(text: str, card: ModelCard, head: Head) -> Record:
    """The record to go on with under this card; `text` is the stored one."""
    try:
        plain = msgspec.json.decode(text) if text else None
    except msgspec.DecodeError:
        plain = {}
    found = plain if isinstance(plain, dict) or plain is None else {}
    return loaded(found, prints=card.fingerprint(), parts=head.kinds, now=now())


def sound(usage: Usage | None) -> Usage | None:
    """A usage that can be gone on with; None where a figure is no count of tokens. Raises BadSetting for what is no Usage."""
    if usage is None:
        return None
    if not isinstance(usage, Usage):
        raise BadSetting(f"usage is {type(usage).__name__}; give transom.Usage(prompt=..., output=...), or leave it out")
    found = {name: numbers.count(asdict(usage), name) for name in ("prompt", "output", "cached", "written")}
    prompt, output = found["prompt"], found["output"]
    if not prompt or output is None or max(prompt, output) > MOST:
        return None
    return Usage(prompt=prompt, output=output, cached=found["cached"] or 0, written=found["written"] or 0)


def sample(fit: Fit, card: ModelCard) -> Sample:
    """The plan of a request as evidence: what of it was guessed, and what was not."""
    guessed = sum(share for basis, share in fit.report.basis.items() if basis in ("estimate", "flat"))
    estimated = round(fit.report.after.tokens * min(1.0, guessed))
    return Sample(card=card.name, estimated=estimated, exact=fit.report.after.tokens - estimated)


def learned(record: Record, evidence: Sample | None, usage: Usage | None, card: ModelCard) -> Record:
    """The record after an answer. Only the first answer after a compile under this card is evidence."""
    if record.foreign or evidence is None or usage is None or evidence.card != card.name:
        return record
    return record.learned(usage.prompt, evidence.estimated, evidence.exact, now=now())


def written(record: Record, before: Record, card: ModelCard) -> dict[str, str]:
    """The record to store, by card; nothing where a newer version wrote the one that is there, or nothing changed."""
    return {} if record.foreign or record == before else {card.name: canon.text(record.to_dict())}


def stats(record: Record, card: ModelCard) -> Stats:
    """The record as a user sees it."""
    known = record.calibration
    return Stats(
        card=card.name,
        multiplier=known.multiplier,
        samples=known.samples,
        provisional=known.provisional,
        reset=record.reset,
    )
