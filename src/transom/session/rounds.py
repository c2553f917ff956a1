"""A session's requests: a compile, its extension, the projection of the next. Nothing here commits anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from transom import extension, stages
from transom.catalog import ModelCard
from transom.check import images
from transom.errors import OverBudget
from transom.frozen import Frozen
from transom.pairing.draft import MADE
from transom.parts import Conversation, Entry, Message, spell
from transom.plan import Decision, Fold, Size, State
from transom.planner.allowance import allowance
from transom.policy import Policy, limit
from transom.pricing import PriceList
from transom.projection import Projection, appended, project
from transom.report import Report
from transom.session import bodies, first
from transom.session.slot import Slot
from transom.session.window import Opened, Windows
from transom.stages import Fit, Reach
from transom.store import Head, StoredLog
from transom.types import JsonObject, Key
from transom.wire.form import Form

UNMADE = "no request was made yet; compile one"
LOST = "the last request cannot be made again under these settings; compile one"


class Sent(Frozen, frozen=True, kw_only=True):
    """The last request as views, its size, and the version of the state that it was committed as."""

    unshown = ("written",)

    version: int
    written: Conversation
    size: Size


class Extended(Frozen, frozen=True, kw_only=True):
    """The last request with what came in since: the request, the state behind it, the size, the tokens that were `added` as the
    projection counts them, and whether it fits.
    """

    unshown = ("written",)

    written: Conversation
    state: State
    size: Size
    added: int
    projection: Projection


class Rounds:
    """What makes a session's requests: its windows, its policy and its card."""

    def __init__(  # noqa: PLR0913 - what a request is made of
        self, log: StoredLog, form: Form, *, model: str, policy: Policy, card: ModelCard, window: float | None, stream: float
    ) -> None:
        self.form, self.model, self.policy, self.stream = form, model, policy, stream
        given = int(limit(window)) if window is not None else 0
        self.card = replace(card, window=given) if given else card
        self.window = float(self.card.window) if window is None else limit(window)
        self._log, self._windows = log, Windows(log, form)
        self._memo: dict[tuple[int, int, bool], int] = {}
        self._sent: Sent | None = None

    def prices(self, multiplier: float) -> PriceList:
        """The price list with what was learned; texts that were counted once are not counted again."""
        return PriceList(self.card, multiplier=multiplier, memo=self._memo)

    def fit(  # noqa: PLR0913 - as a stage
        self,
        head: Head,
        slot: Slot,
        asked: JsonObject,
        *,
        multiplier: float,
        ready: Sequence[Fold] = (),
        compacting: bool = False,
        preview: bool = False,
    ) -> Fit:
        """The request that the session makes next, with the fields `asked` around it. Raises OverBudget."""

        def run(opened: Opened, last: State | None) -> Fit:
            fit = stages.run(
                opened.conversation, form=self.form, policy=self.policy, prices=self.prices(multiplier),
                last=_with_left_out(last, slot), history=opened.history, ready=ready, compacting=compacting, preview=preview,
            )  # fmt: skip
            report = _without(fit.report, opened.beside, opened.conversation)
            return replace(
                fit, report=replace(report, notes=(*report.notes, *_by_hand(slot, bodies.key(head.api), fit.state.folds)))
            )

        if slot.state is not None:
            opened = self._open(head, slot, slot.reach, asked)
            if opened.history.holds(slot.state):
                return run(opened, slot.state)
        return self._first(head, slot, asked, run)

    def _first(self, head: Head, slot: Slot, asked: JsonObject, run: Callable[[Opened, State | None], Fit]) -> Fit:
        """The first request of a log: of a long one only as much is read as it can need."""
        start = 0
        if head.count > first.LEAST and first.may_begin_later(self.policy, head):
            start = first.begin(self._log, head, allowance(self.policy, self.card, asked)[0])
        while start > 0:
            reach = first.reach(self._log, start)
            opened = self._open(head, slot, reach, asked)
            state = first.state(head, reach, policy=self.policy.fingerprint(), card=stages.card_key(self.card))
            fit = run(opened, state)
            if first.is_enough(fit, opened.conversation, start, self.policy):
                note = first.NOT_READ.format(last=start - 1)
                return replace(fit, report=replace(fit.report, notes=(*fit.report.notes, note)))
            start = max(0, head.count - 2 * (head.count - start))
        return run(self._open(head, slot, Reach(), asked), None)

    def sent(self, version: int, fit: Fit) -> None:
        """Remember a request that was committed, so that it need not be made again to be extended."""
        self._sent = Sent(version=version, written=self.form.read(fit.request), size=fit.report.after)

    def remember(self, version: int, extended: Extended) -> None:
        """Remember an extension that was committed."""
        self._sent = Sent(version=version, written=extended.written, size=extended.size)

    def moved(self, before: int, version: int) -> None:
        """The state has another version, and the last request is the same."""
        if self._sent is not None and self._sent.version == before:
            self._sent = replace(self._sent, version=version)

    def extended(self, head: Head, slot: Slot, more: Sequence[Message] = ()) -> Extended | str:
        """The last request with all that was stored since, and `more` behind it; or in words why there is none."""
        if slot.state is None:
            return UNMADE
        last = self._last(head, slot)
        return LOST if last is None else self._on(last, head, slot, slot.state, head.count, more)

    def _last(self, head: Head, slot: Slot) -> Sent | None:
        """The last request: the one that is remembered, or made again from the state behind it, which holds the summaries."""
        if self._sent is not None and self._sent.version == head.version:
            return self._sent
        made, state = slot.made, slot.state
        if made is None or state is None:
            return None
        opened = self._open(head, slot, slot.made_reach, slot.asked, made.count)
        try:
            fit = stages.run(
                opened.conversation, form=self.form, policy=self.policy, prices=self.prices(slot.multiplier),
                last=_with_left_out(made, slot), history=opened.history,
            )  # fmt: skip
        except OverBudget:  # by the prices of another model, or under other settings
            return None
        if fit.state.sent != made.sent:
            return None
        last = Sent(version=head.version, written=self.form.read(fit.request), size=fit.report.after)
        replayed = self._replayed(last, head, slot, fit.state, slot.steps)
        if replayed is None or replayed[1].sent != state.sent:
            return None
        self._sent = replayed[0]
        return self._sent

    def _replayed(self, last: Sent, head: Head, slot: Slot, state: State, steps: Sequence[int]) -> tuple[Sent, State] | None:
        """`last` with what came in up to the last of `steps` behind it, as it went out; None where it went out otherwise.

        All steps at once, where that gives what was sent; else half by half: a step is judged by what was there at the time.
        """
        if not steps or slot.state is None:
            return last, state
        found = self._behind(last, head, slot, state, steps[-1])
        if not isinstance(found, str):
            written, grown = found
            if grown.state.sent == slot.state.sent[: len(grown.state.sent)]:
                return Sent(version=head.version, written=written, size=last.size + grown.size), grown.state
        if len(steps) == 1:
            return None
        half = len(steps) // 2
        first = self._replayed(last, head, slot, state, steps[:half])
        return self._replayed(first[0], head, slot, first[1], steps[half:]) if first is not None else None

    def _behind(  # noqa: PLR0913, PLR0917 - a request, and what comes behind it
        self, last: Sent, head: Head, slot: Slot, state: State, until: int, more: Sequence[Message] = ()
    ) -> tuple[Conversation, extension.Extension] | str:
        """`last` with the messages behind those that `state` was made on, up to number `until`, and `more`."""
        opened = self._open(head, slot, slot.reach, slot.asked, until)
        window = replace(opened.conversation, messages=(*opened.conversation.messages, *more))
        prices = self.prices(slot.multiplier)
        found = extension.extend(window, state.count, form=self.form, policy=self.policy, prices=prices, state=state)
        if found.why:
            return found.why
        written = extension.appended_to(last.written, [entry.message for entry in found.entries])
        after = replace(found.state, count=until, key=opened.history.keys[until])
        return written, replace(found, state=after)

    def _on(  # noqa: PLR0913, PLR0917 - a request, and what comes behind it
        self, last: Sent, head: Head, slot: Slot, state: State, until: int, more: Sequence[Message] = ()
    ) -> Extended | str:
        """`last` with the messages behind those that `state` was made on, up to number `until`, and `more`; does it fit?"""
        behind = self._behind(last, head, slot, state, until, more)
        if isinstance(behind, str):
            return behind
        written, found = behind
        prices, size = self.prices(slot.multiplier), last.size + found.size
        added = appended((entry.message for entry in found.entries if entry.seq >= slot.counted and _is_stored(entry)), prices)
        fresh = until == slot.counted and not more and not slot.steps
        projection = self._projected(slot, written, size, added, prices, fresh=fresh)
        return Extended(written=written, state=found.state, size=size, added=added, projection=projection)

    def _projected(  # noqa: PLR0913 - the figures of a round
        self, slot: Slot, written: Conversation, size: Size, added: int, prices: PriceList, *, fresh: bool
    ) -> Projection:
        policy, limits = self.policy, self.card.limits
        live = sum(1 for message in written.messages for _ in images(message))
        most = [one for one in (limit(policy.max_images), limits.images) if one > 0]
        body = limit(policy.max_body_bytes) if policy.max_body_bytes is not None else limits.body_bytes
        return project(
            slot.seen,
            added=added,
            reserve=self._reserve(slot.asked),
            window=self.window,
            stream=self.stream,
            size=(size.bytes, body),
            images=(live, min(most, default=0)),
            faults=extension.faults(written, self.form, prices, Size()),
            fresh=fresh and not slot.seen.reported,
        )

    def _reserve(self, asked: JsonObject) -> int:
        """Tokens kept for the answer, as a compile keeps them (AF-06)."""
        budget, _ = allowance(replace(self.policy, budget=None, grace=0.0), replace(self.card, input_limit=0), asked)
        return int(self.card.window - budget.tokens) if self.card.window else self.policy.reserve or 0

    def _open(self, head: Head, slot: Slot, reach: Reach, asked: JsonObject, until: int | None = None) -> Opened:
        left_out = slot.left_out
        return self._windows.open(head, reach=reach, model=self.model, asked=asked, until=until, left_out=left_out)


def _is_stored(entry: Entry) -> bool:
    """Whether anything in it was stored; what only makes the request legal is no news."""
    return any(place[:1] != (MADE,) for _, place in entry.origin)


def _with_left_out(state: State | None, slot: Slot) -> State | None:
    """The state with the pictures that were left out by hand as placeholders."""
    stubs = frozenset(key for key in slot.left_out if key[1] != ())
    if not stubs:
        return state
    return replace(state or State(), stubs=(state.stubs if state is not None else frozenset()) | stubs)


def _in_order(key: Key) -> tuple[int, str]:
    return key[0], spell(key[1])


def _by_hand(slot: Slot, key: str, standing: Sequence[Fold]) -> Iterator[str]:
    """What the report says of what was left out by hand."""
    left_out = sorted(slot.left_out, key=_in_order)
    if left_out:
        yield f"left out by hand: {', '.join(spell((key, seq, *place)) for seq, place in left_out)}"
    for seq in dict.fromkeys(seq for seq, _ in left_out):
        told = still_told(standing, spell((key, seq)), seq)
        if told:
            yield told


def still_told(made: Sequence[Fold], place: str, seq: int) -> str:
    """What is said of a message that is left out and that one of the summaries `made` stands for; "" where none does."""
    fold = next((one for one in made if one.covers(seq)), None)
    if fold is None:
        return ""
    return f"the summary of messages {fold.first} to {fold.last} was made before {place} was left out, and may still tell of it"


def _without(report: Report, beside: frozenset[int], conversation: Conversation) -> Report:
    """The report without what was only read to know what stands beside the window."""
    if not beside:
        return report
    gone = [one for one in report.decisions if one.seq in beside]
    kept: tuple[Decision, ...] = tuple(one for one in report.decisions if one.seq not in beside)
    tokens = sum(one.tokens_before - one.tokens_after for one in gone)
    size = sum(one.bytes_before - one.bytes_after for one in gone)
    count = sum(message.index in beside and message.role != "system" for message in conversation.messages)
    return replace(report, decisions=kept, before=report.before - Size(tokens, size, count))
