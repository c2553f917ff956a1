"""A session: messages that are kept, and the request that they make next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from transom import canon, door, folds
from transom.calibration import Record
from transom.catalog import ModelCard
from transom.errors import BadSetting, StateConflict, StoreError
from transom.frozen import Frozen
from transom.parts import Message, spell
from transom.plan import Ask, Fold
from transom.policy import Policy
from transom.projection import Projection, Seen, answered, appended
from transom.session import bodies, learning, places
from transom.session.given import flat, read
from transom.session.learning import Stats
from transom.session.rounds import Rounds, still_told
from transom.session.slot import Slot
from transom.session.window import lost, stored
from transom.stages import Fit
from transom.store import Head, Row, Shelf, StoredLog, is_whole
from transom.types import Json, JsonObject
from transom.wire.form import Form, Usage

RETRIES: Final = 8
"""How often an answer is appended anew when somebody else went on with the session at the same moment."""


class Recorded(Frozen, frozen=True, kw_only=True):
    """An answer that was stored: why it stopped, in the provider's own word, the usage it reported, the numbers of its
    messages, and whether something was learned from it.
    """

    stop_reason: str
    usage: Usage | None
    seqs: tuple[int, ...]
    learned: bool = False


class Step(Frozen, frozen=True, kw_only=True):
    """The last request with what came in since. Send it where it `fits`; else compile. `request` is None where there is none."""

    unshown = ("request",)

    request: JsonObject
    fits: bool
    why: tuple[str, ...] = ()
    projection: Projection | None = None
    seqs: tuple[int, ...] = ()


class Session:
    """A conversation in a store, made by `Store.session`. Not for several threads at once; several processes may hold one."""

    def __init__(  # noqa: PLR0913 - what `Store.session` knows
        self, log: StoredLog, shelf: Shelf, form: Form, head: Head, *, model: str, policy: Policy, card: ModelCard,
        window: float | None, stream: float,
    ) -> None:  # fmt: skip
        self.log = log
        self._shelf, self._form = shelf, form
        self.name, self.api, self.model = head.name, head.api, model
        self._options = {"window": window, "stream": stream}
        self._policy, self._card = policy, card
        self._slot: tuple[int, Slot] | None = None  # by its version, so that it is read once
        self._rounds = Rounds(log, form, model=model, policy=policy, card=card, window=window, stream=stream)

    def __repr__(self) -> str:
        """Its name; no content."""
        return f"Session({self.name!r}, api={self.api!r}, model={self.model!r})"

    def append(self, *messages: object, model: str = "") -> tuple[int, ...]:
        """Store messages behind the last one; their numbers. When it returns they survive a crash.

        Each is a message of the session's form, an SDK's object of one, or a list of these. `model`: who wrote them. Raises
        BadRequest with the place of what is no message; nothing is stored then.
        """
        if not isinstance(model, str):
            raise BadSetting(f"model is {model!r}; it must be the name of who wrote the messages, or left out")
        given = list(flat(messages))
        head = self.log.append(self._views(given), model=model, api=self.api)
        return tuple(range(head.count - len(given), head.count))

    def record(self, reply: object, *, usage: Usage | None = None) -> Recorded:
        """Store a provider's answer, whole as its SDK returned it or as a dict, and learn from the usage that it reports.

        `usage`: what was reported, where the answer itself does not say it (a stream that was put together, a host's own log).
        Figures that are no counts of tokens are not used. Raises BadRequest for what is no answer, BadSetting for a `usage` that
        is no `transom.Usage`; nothing is stored then.
        """
        answer = door.admit(reply, door.NO_ANSWER)
        found = bodies.reply(self.api, answer)
        usage = learning.sound(usage) or learning.sound(self._form.usage(answer))
        views = read(self._form, self.api, found.messages, whose="the answer")
        for attempt in range(RETRIES):
            head, slot, before, _ = self._opening()
            after = learning.learned(before, slot.sample if not slot.steps else None, usage, self._rounds.card)
            following = replace(slot, seen=self._seen(slot, head, usage, views), counted=head.count + len(views), sample=None)
            try:
                then = self.log.append(
                    views, model=found.model or self.model, api=self.api, slot=following.to_dict(), over=head.version,
                    records=learning.written(after, before, self._rounds.card),
                )  # fmt: skip
            except StateConflict:
                if attempt == RETRIES - 1:
                    raise
                continue
            self._rounds.moved(head.version, then.version)
            seqs = tuple(range(then.count - len(views), then.count))
            return Recorded(
                stop_reason=found.stop_reason, usage=usage, seqs=seqs, learned=after.calibration != before.calibration
            )
        raise AssertionError("unreachable")

    def compile(self, **asked: Json) -> Fit:
        """The request that the session makes next: the newest messages and what must stay, as the policy has it.

        The keywords are fields of the body (`tools`, `max_tokens`, ...); `system` is put where the form has it. Raises
        OverBudget with the numbers if nothing legal fits, StateConflict where somebody else went on meanwhile; both leave
        everything as it was.
        """
        return self._compiled(asked)

    def compact(self, **asked: Json) -> Fit:
        """As `compile`, and what ages at a compaction ages now."""
        return self._compiled(asked, compacting=True)

    def preview(self, **asked: Json) -> Fit:
        """What `compile` would make, over the budget, too (CM-127). It leaves no trace (CM-160)."""
        head, slot, record, ready = self._opening()
        return self._rounds.fit(
            head, slot, self._fields(asked), multiplier=record.calibration.multiplier, ready=ready, preview=True
        )

    def extend(self, *messages: object) -> Step:
        """Store messages, and put them behind the last request in the form that they are sent in: nothing sent before moves.

        `fits` says whether that can go out: in tokens by the last reported usage, in bytes, pictures and sides. Else compile.
        """
        head, slot = self._now()
        views = [self._apart(view) for view in self._views(flat(messages), head.count)]
        found = self._rounds.extended(head, slot, views)  # before anything is stored, so that what is wrong is found by then
        seqs: tuple[int, ...] = ()
        if views:
            then = self.log.append(views, model="", api=self.api)
            seqs = tuple(range(then.count - len(views), then.count))
            if (then.version, seqs[0]) != (head.version, head.count) or any(map(_calls, views)):
                head, slot = self._now()  # somebody else went on, or ids of calls are decided where they are stored
                found = self._rounds.extended(head, slot)
            elif not isinstance(found, str):
                head, found = then, replace(found, state=replace(found.state, count=then.count, key=then.key))
        if isinstance(found, str):
            return Step(request={}, fits=False, why=(found,), seqs=seqs)
        projection = found.projection
        step = Step(request=found.written.body, fits=projection.fits, why=projection.why, projection=projection, seqs=seqs)
        if not step.fits:
            return step
        following = replace(
            slot, state=found.state, steps=(*slot.steps, head.count), seen=slot.seen.carried(found.added), counted=head.count
        )
        try:
            self.log.commit(following.to_dict(), over=head.version)
        except StateConflict as error:
            return replace(step, fits=False, why=(str(error),))
        self._rounds.remember(head.version + 1, found)
        return step

    def project(self, *messages: object) -> Projection:
        """Whether the next round fits: the last request, what was stored since, and `messages`, which are not stored."""
        head, slot, *_ = self._opening()
        more = self._views(flat(messages), head.count)
        found = self._rounds.extended(head, slot, more)
        return Projection(tokens=0, why=(found,)) if isinstance(found, str) else found.projection

    def fulfil(self, ask: Ask, summary: object) -> Fold:
        """Keep the summary that a fit asked for; the next compile judges whether it can stand for what it was asked for.

        It may come late: where messages of it were left out meanwhile, it goes in as soon as it has room.
        """
        made = folds.fulfil(ask, summary)
        self.log.fold(made.key, made.to_dict())
        return made

    def fork(self, into: str, *, at: int | None = None) -> Session:
        """A copy of the session's first `at` messages (all of them) under another name, with the newest state that was made on no
        more than these, what of them was left out by hand, their summaries, and what was learned. Payloads are shared, and
        neither changes the other.
        """
        self._shelf.fork(self.name, into, count=at)
        log, head = self._shelf.open(into)
        return Session(
            log, self._shelf, self._form, head, model=self.model, policy=self._policy, card=self._card,
            window=self._options["window"], stream=self._options["stream"] or 0,
        )  # fmt: skip

    def delete(self) -> None:
        """Take the session away, and every payload that no other session of the tenant holds."""
        self._shelf.delete(self.name)

    def leave_out(self, place: str) -> str:
        """Leave a message (`messages[3]`), or a picture or file in one (`messages[3].content[1]`), out of every later request. It
        stays stored. What is to be known of it: that a summary may still tell of it, or "".

        Raises BadSetting for a place where nothing stands that can be left out, with what can be.
        """
        head, slot, _, made = self._opening()
        name = bodies.key(self.api)
        seq = places.number(place, name, head.count)
        view = stored(self._form, self._read(seq, seq + 1)[0])
        key = places.key(place, name, view)
        self.log.commit(replace(slot, left_out=slot.left_out | {key}).to_dict(), over=head.version)
        state = slot.state
        standing = (*state.folds, *state.ready) if state is not None else ()
        return still_told((*standing, *made), spell((name, seq)), seq)

    def messages(self, first: int = 0, last: int | None = None) -> tuple[JsonObject, ...]:
        """Stored messages as they were appended, from number `first` up to, not including, `last` (the end).

        Raises BadSetting for what is no number, StoreError where one of them is missing in the store.
        """
        for name, value in (("first", first), ("last", last)):
            if not (is_whole(value) or (value is None and name == "last")):
                raise BadSetting(f"messages: {name} is {value!r}; it must be the number of a message")
        count = self.log.head().count
        return tuple(row.json for row in self._read(max(0, first), count if last is None else min(last, count)))

    def _read(self, first: int, end: int) -> tuple[Row, ...]:
        """Rows by number. Raises StoreError where one is missing."""
        rows = self.log.read(range(first, end))
        for seq, row in enumerate(rows, first):
            if row.seq != seq:
                raise lost(seq)
        if len(rows) < end - first:
            raise lost(first + len(rows))
        return rows

    def occupancy(self) -> int:
        """Tokens that the last round filled: its prompt, cached tokens included, and its answer, as reported; else as planned."""
        seen = self._now()[1].seen
        return seen.prompt + seen.output

    def stats(self) -> Stats:
        """What the session has learned about prices under its card."""
        return learning.stats(self._opening()[2], self._rounds.card)

    def __len__(self) -> int:
        """How many messages are stored."""
        return self.log.head().count

    def _compiled(self, asked: Mapping[str, Json], *, compacting: bool = False) -> Fit:
        head, slot, stored, ready = self._opening()
        fields, card = self._fields(asked), self._rounds.card
        multiplier = stored.calibration.multiplier
        fit = self._rounds.fit(head, slot, fields, multiplier=multiplier, ready=ready, compacting=compacting)
        following = replace(
            slot, state=fit.state, reach=fit.reach, made=fit.state, made_reach=fit.reach, steps=(), asked=fields,
            multiplier=multiplier, seen=Seen(prompt=fit.report.after.tokens), counted=head.count,
            sample=learning.sample(fit, card),
        )  # fmt: skip
        records = learning.written(stored, Record(), card)
        settled = [(fold.key, fold.to_dict()) for fold in ready]  # each stands, waits in the state, or was refused and told of
        self.log.commit(following.to_dict(), over=head.version, count=head.count, records=records, settled=settled)
        self._rounds.sent(head.version + 1, fit)
        return fit

    def _fields(self, asked: Mapping[str, Json]) -> JsonObject:
        """The fields around the messages. Raises BadSetting for messages among them: those are the session's own."""
        for name in {"messages", bodies.key(self.api)} & asked.keys():
            raise BadSetting(f"{name}: a request's messages are those that the session holds; append them, and leave this out")
        return door.admit(asked)

    def _now(self) -> tuple[Head, Slot]:
        head, slot, *_ = self._opening()
        return head, slot

    def _opening(self) -> tuple[Head, Slot, Record, tuple[Fold, ...]]:
        """The session as it stands, what it was at, what was learned under its card, and the summaries that are kept."""
        card = self._rounds.card
        found = self.log.opening(card.name)
        head = found.head
        if self._slot is None or self._slot[0] != head.version:
            self._slot = head.version, Slot.from_dict(head.slot)
        record = learning.record_of(found.record, card, head)
        return head, self._slot[1], record, _summaries(found.folds)

    def _views(self, messages: Iterable[object], first: int = 0) -> list[Message]:
        return read(self._form, self.api, messages, first)

    def _apart(self, view: Message) -> Message:
        """The same message, apart from the caller's object, which may change behind a request that was remembered."""
        return self._form.read_message(msgspec.json.decode(canon.encode(view.json)), view.index)

    def _seen(self, slot: Slot, head: Head, usage: Usage | None, views: list[Message]) -> Seen:
        """What is known after an answer: its report; or, without one, the last report and what came in since (AF-12)."""
        prices = self._rounds.prices(slot.multiplier)
        sent = slot.state.count if slot.state is not None and usage is not None else slot.counted
        behind = [self._form.read_message(row.json, row.seq) for row in self.log.read(range(sent, head.count))]
        grown = appended(behind, prices)
        if usage is not None:
            return Seen(prompt=usage.prompt, output=usage.output, growth=grown, reported=True)
        return slot.seen.carried(grown + answered((part for view in views for part in view.parts), prices))


def _calls(view: Message) -> bool:
    return any(part.kind == "call" for part in view.parts)


def _summaries(kept: Iterable[JsonObject]) -> tuple[Fold, ...]:
    try:
        return tuple(Fold.from_dict(plain) for plain in kept)
    except BadSetting as error:
        raise StoreError(f"a summary in the store cannot be read ({error}); restore a copy of the store") from error
