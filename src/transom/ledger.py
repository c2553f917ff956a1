"""The prices of one fit: each message's JSON is counted once, however often it is asked for."""

from __future__ import annotations

from msgspec.structs import replace

from transom.parts import Conversation, Message
from transom.pricing import Price, PriceList
from transom.types import JsonObject


class Ledger:
    """A price list that remembers what each message cost, by the very object that its JSON is.

    It lives as long as one fit, in which no object changes; the objects are held, so that no other takes the place of one.
    """

    __slots__ = ("_held", "_known", "prices")

    def __init__(self, prices: PriceList) -> None:
        self.prices = prices
        self._known: dict[int, Price] = {}
        self._held: list[JsonObject] = []

    def message(self, message: Message) -> Price:
        """What a message costs."""
        found = self._known.get(id(message.json))
        if found is None:
            found = self._known[id(message.json)] = self.prices.message(message)
            self._held.append(message.json)
        return found

    def fixed(self, conversation: Conversation) -> Price:
        """Everything but the messages, as a request costs it that opens with the user: what is sent does, whatever came."""
        start = next((i for i, message in enumerate(conversation.messages) if message.role != "assistant"), None)
        opened = replace(conversation, messages=conversation.messages[start:]) if start else conversation
        return self.prices.fixed(opened)
