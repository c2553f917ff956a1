"""A store as a user opens it: sessions by name, for one tenant."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from transom.catalog import ModelCard, card
from transom.errors import BadSetting
from transom.fit import form_of
from transom.policy import Policy
from transom.session.session import Session
from transom.store import Database, Shelf, Summary


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

        Raises BadSetting for a form that is none, or not the session's.
        """
        if api is not None:
            form_of(api)
        if api is None:
            log, head = self._shelf.open(name)
        else:
            log, head = self._shelf.make(name, api=api, model=model or (card.name if card is not None else ""))
        if api not in (None, head.api):
            raise BadSetting(f"the session {name!r} holds messages of {head.api}, not of {api}; open it as {head.api}")
        named = model or head.model
        return Session(
            log, self._shelf, form_of(head.api), head, model=named, policy=policy or Policy.sliding(),
            card=card or _card(named, head.api), window=window, stream=stream,
        )  # fmt: skip

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
