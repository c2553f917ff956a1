"""A store as a user opens it: sessions by name, for one tenant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Final, Self

from transom.catalog import ModelCard, card
from transom.errors import BadSetting
from transom.fit import form_of
from transom.policy import Policy, limit
from transom.session.given import read
from transom.session.session import Session
from transom.store import Database, Shelf, Summary
from transom.store.shelf import OTHER_FORM

KINDS: Final[Mapping[type, str]] = {
    str: "a text",
    Policy: "a policy, such as Policy.sliding()",
    ModelCard: "a model card, such as transom.card(name)",
}
"""What a setting is, in words."""


class Store:
    """Sessions in a database, by its URL: `transom.Store("sqlite:///chat.db")` is one file, made when it is not there.

    Everything in it belongs to a tenant; `for_tenant` gives a handle that sees another one's. Raises BadSetting for what is no
    URL of a database, SchemaTooNew for one that a newer version wrote, StoreError for one that cannot be used. To be closed at
    the end, or used as `with Store(...) as store`.
    """

    def __init__(self, url: str, *, tenant: str = "") -> None:
        self._database = Database(url)
        self._shelf = Shelf(self._database, tenant)

    def for_tenant(self, tenant: str) -> Store:
        """The same database as another tenant sees it."""
        other = object.__new__(Store)
        other._database, other._shelf = self._database, Shelf(self._database, tenant)
        return other

    def session(  # noqa: PLR0913 - the session and how it is fitted
        self,
        name: str,
        *,
        api: str | None = None,
        model: str | None = None,
        policy: Policy | None = None,
        card: ModelCard | None = None,
        window: float | None = None,
        stream: float = 0,
    ) -> Session:
        """A session by name, made when it is not there.

        `api` is its wire form, needed to make it. `model` says who bills; without one, who did last. `policy` is how its
        requests are made to fit (`Policy.sliding()`). `card`: prices and limits other than the catalogue's. `window`: the most
        tokens that the provider takes in and gives out together, for the projection; None: the card's; 0: none is projected.
        `stream`: the most input tokens of a round before it is made afresh (0: off).

        Raises BadSetting for a form that is none, or not the session's, and for a value of another kind.
        """
        _typed(model=(model, str), policy=(policy, Policy), card=(card, ModelCard))
        _numbers(window=window, stream=stream)
        if api is not None:
            form_of(api)
        if api is None:
            log, head = self._shelf.open(name)
        else:
            log, head = self._shelf.make(name, api=api, model=model or (card.name if card is not None else ""))
        if api not in (None, head.api):
            raise BadSetting(OTHER_FORM.format(name=name, api=head.api, other=api))
        named = model or head.model
        return Session(
            log, self._shelf, form_of(head.api), head, model=named, policy=policy or Policy.sliding(),
            card=card or _card(named, head.api), window=window, stream=limit(stream),
        )  # fmt: skip

    def take(
        self, name: str, messages: Iterable[object], *, api: str, model: str | None = None, behind: bool = False
    ) -> tuple[int, ...]:
        """Messages as a session, or `behind` the last one of a session that holds some already; their numbers. All of it or
        nothing: where one is no message, no session is made either.

        Raises BadRequest with the place of what is no message, BadSetting for a form that is none, or not the session's, and for
        a session that holds messages already.
        """
        _typed(model=(model, str))
        views = read(form_of(api), api, messages)
        if not views:
            raise BadSetting(f"no messages are given for the session {name!r}; give one, or open it with `session`")
        head = self._shelf.take(name, views, api=api, model=model or "", behind=behind)
        return tuple(range(head.count - len(views), head.count))

    def sessions(self) -> tuple[Summary, ...]:
        """Every session of the tenant, by name."""
        return self._shelf.sessions()

    def fork(self, name: str, into: str, *, count: int | None = None) -> None:
        """Copy a session's first `count` messages (all of them) under the name `into`; see `Session.fork`."""
        self._shelf.fork(name, into, count=count)

    def delete(self, name: str) -> None:
        """Take a session away, and every payload that no other session holds. Raises NoSession."""
        self._shelf.delete(name)

    def close(self) -> None:
        """Close every connection; also those of handles for other tenants."""
        self._database.close()

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close it."""
        self.close()


def _card(model: str, api: str) -> ModelCard:
    return card(model, api=api)


def _typed(**given: tuple[object, type]) -> None:
    for name, (value, kind) in given.items():
        if value is not None and not isinstance(value, kind):
            raise BadSetting(f"{name} is {value!r}; it must be {KINDS.get(kind, kind.__name__)}, or left out")


def _numbers(**given: object) -> None:
    for name, value in given.items():
        if value is not None and (not isinstance(value, int | float) or isinstance(value, bool)):
            raise BadSetting(f"{name} is {value!r}; it must be a number of tokens, or left out")
