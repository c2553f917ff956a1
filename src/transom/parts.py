"""Views of a conversation: what each message is made of and where. The JSON stays the truth; a view only points into it.

A view never holds a copy of a payload and its `repr` never shows one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from msgspec.structs import replace

from transom.frozen import Frozen
from transom.types import Json, JsonObject, Key, Place

Kind: TypeAlias = Literal[
    "text", "image", "document", "audio", "video", "call", "result", "reasoning", "server-call", "server-result",
    "reference", "opaque",
]  # fmt: skip
MediaKind: TypeAlias = Literal["image", "document", "audio", "video"]
Source: TypeAlias = Literal["base64", "data-url", "url", "file", "text", "none"]
Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


class Facts(Frozen, frozen=True, kw_only=True):
    """What the bytes of a piece of media say. 0 and "" mean: not known.

    `mime` is the type that the bytes show. `width` and `height` are stored pixels, before any orientation tag; of a PDF the
    points of its first page. Of a PDF `text_chars` estimates the characters that its pages show, `image_pages` how many of
    them draw a picture. `silent`: a film of which is known that it has no sound.
    `problem` says in words why a provider could not decode it ("empty", "not base64", "no known picture format",
    "cut off", "a side of 0 pixels", ...); "" when nothing is wrong as far as the header shows.
    """

    mime: str = ""
    width: int = 0
    height: int = 0
    animated: bool = False
    problem: str = ""
    pages: int = 0
    seconds: float = 0.0
    text_chars: int = 0
    image_pages: int = 0
    silent: bool = False


class Media(Frozen, frozen=True, kw_only=True):
    """One picture, document, sound or film.

    `payload` is the base64 text (without the head of a data URL), the URL, the file id or the plain text; `inline` how many
    characters of it stand in the body (0 for a URL or an id). `payload_at` and `mime_at` are places inside the message;
    `mime_at` is empty when the form declares no type of its own (a data URL declares it in the payload's string).
    """

    unshown = ("payload",)

    kind: MediaKind
    source: Source
    payload: str
    inline: int
    declared: str = ""
    detail: str = ""
    name: str = ""
    stamp: object = None
    generated: bool = False
    facts: Facts = Facts()
    payload_at: Place = ()
    mime_at: Place = ()


class Part(Frozen, frozen=True, kw_only=True):
    """A piece of a message's content, and `place`, where it stands in the message's JSON (`()`: it is the message).

    `text` is what the model reads as text: of a text its text, of a call its arguments as JSON text, of a result that is
    one string that string, of reasoning its visible text; a reference names what the provider keeps. `id` is the call's id, on
    the call and on its result. `parts` are what stands inside a result or a document. `twins` are places in the message that
    carry the same content again.
    `signed`: the provider signed it, so that it goes back as it came or not at all.
    """

    unshown = ("raw", "text")

    kind: Kind
    place: Place
    raw: Json
    text: str = ""
    media: Media | None = None
    id: str = ""
    name: str = ""
    failed: bool = False
    marked: bool = False
    signed: bool = False
    parts: tuple[Part, ...] = ()
    twins: tuple[Place, ...] = ()


class Message(Frozen, frozen=True, kw_only=True):
    """One message: its role, its parts, and `json`, the very object that was given.

    `index` is its number in the log. `names` are ids under which its calls go out, by the call's place, where the log that it is
    read from has decided on others than they have: what stands before a window is not in it. `follows`: it is a call that stands
    right behind another call, both of them items of their own: they are one turn together, and priced so.
    """

    unshown = ("json",)

    index: int
    role: Role
    parts: tuple[Part, ...]
    json: JsonObject
    names: tuple[tuple[Place, str], ...] = ()
    follows: bool = False


class Conversation(Frozen, frozen=True, kw_only=True):
    """A request body as read. `key` is the body's own name for its list of messages.

    `system` and `tools` are what stands outside that list; system messages inside the list are messages of role "system".
    `thinks`: the request asks the model to think, so that its provider wants thinking ahead of the last turn's calls;
    `unthinking`: it asks for none, so that its provider wants none in an answer that the model is to go on with. `held` are
    the fields that name what the provider keeps and puts in front of the messages, and which nobody here can see.
    """

    unshown = ("body", "tools")

    api: str
    body: JsonObject
    key: str
    messages: tuple[Message, ...]
    system: tuple[Part, ...] = ()
    tools: tuple[JsonObject, ...] = ()
    model: str = ""
    thinks: bool = False
    unthinking: bool = False
    held: tuple[str, ...] = ()


class Entry(Frozen, frozen=True, kw_only=True):
    """A message in the form it is sent in, and where each of its top-level parts came from.

    `seq` is the number of the stored message that it stands for (one that was made up stands for the message it mends).
    `origin[i]` is the key of `message.parts[i]`: the stored message and place where that part was written.
    """

    message: Message
    seq: int
    origin: tuple[Key, ...]

    def keyed(self) -> Iterator[tuple[Key, Part]]:
        """Every part, nested ones included, in document order, each with the key of where it was written."""
        for part, (seq, place) in zip(self.message.parts, self.origin, strict=True):
            for inner in walk((part,)):
                yield (seq, place + inner.place[len(part.place) :]), inner


class Group(Frozen, frozen=True, kw_only=True):
    """What links hold together: it goes out whole or not at all.

    `request`: it is the user's own turn (words or pictures, not only results). `opens`: a window may start with it.
    `pinned`: it must stay wherever the window starts (a system message inside the list).
    """

    start: int
    entries: tuple[Entry, ...]
    request: bool
    opens: bool
    pinned: bool = False


def is_call_item(message: Message) -> bool:
    """Whether a message is one call and nothing else, as an item of its own."""
    return len(message.parts) == 1 and message.parts[0].kind == "call" and message.parts[0].place == ()


def following(messages: Iterable[Message]) -> Iterator[Message]:
    """The messages with those told that are calls right behind a call, both of them items of their own."""
    before = False
    for message in messages:
        call = is_call_item(message)
        follows = before and call
        yield message if message.follows == follows else replace(message, follows=follows)
        before = call


def own_entry(message: Message) -> Entry:
    """The entry of a message that nothing was done to."""
    return Entry(message=message, seq=message.index, origin=tuple((message.index, part.place) for part in message.parts))


def walk(parts: Iterable[Part]) -> Iterator[Part]:
    """Every part in document order, a container before what stands in it."""
    for part in parts:
        yield part
        if part.parts:
            yield from walk(part.parts)


def spell(place: Place) -> str:
    """A place as people write it: `messages[3].content[1].source`."""
    out: list[str] = []
    for step in place:
        out.append(f"[{step}]" if isinstance(step, int) else f".{step}" if out else step)
    return "".join(out)
