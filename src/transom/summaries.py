"""Asks fulfilled: with the official OpenAI or Anthropic client that the caller gives, or, with no model at all, by a digest.

The rules: no client is imported or made here, and no key is seen. The digest is a function of the ask: the same ask, the same
words.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from transom.errors import BadRequest, BadSetting
from transom.folds.prompts import BEFORE, CALLED, RETURNED, SAID
from transom.parts import Media, Part
from transom.placeholder import placeholder
from transom.plan import Ask
from transom.types import Json, JsonObject
from transom.wire import FORMS

__all__ = ["CutOff", "digest", "of_anthropic", "of_chat", "requests", "summarise"]

APIS: Final = ("openai-chat", "anthropic")
"""The forms that a summary is asked for in."""
CHARACTERS: Final = 3
"""Characters of a digest for each token that it may have: it is told in short words and figures."""
LEAST_LINE: Final = 24
"""Characters that a line of a digest has at the least; where there is no room, older lines go."""
FIGURE: Final = re.compile(r"(?<![\w.])[-+]?[$€£]?\d[\d,.:/-]*%?(?: ?(?:[kMG]?B|ms|s|px|x|EUR|USD))?(?!\w)")
MOST_FIGURES: Final = 6
OPENERS: Final = (*SAID.values(), CALLED, RETURNED, BEFORE)


class CutOff(BadRequest):
    """An answer that ended at its length, in the middle of what it says."""


def digest(ask: Ask) -> str:
    """A summary without a model: a line for each message, call, result and picture, with its first line and its figures.

    It is the default of what is embedded: deterministic, within `ask.max_tokens` as far as three characters are a token, and
    never more than what is asked for needs. Where there is no room for all, the oldest lines go first, except those of the
    user.
    """
    lines = [line for line in (_line(words) for words in _pieces(ask)) if line]
    room = ask.max_tokens * CHARACTERS
    share = max(LEAST_LINE, room // max(1, len(lines)))
    short = [line if len(line) < share else f"{line[: share - 1]}…" for line in lines]
    spare = sum(len(line) + 1 for line in short) - room
    for at, line in sorted(enumerate(short), key=lambda pair: (pair[1].startswith(SAID["user"]), pair[0])):
        if spare <= 0:
            break
        spare -= len(line) + 1
        short[at] = ""
    return "\n".join(filter(None, short))


def summarise(ask: Ask, *, client: Any, model: str, **options: Any) -> str:  # noqa: ANN401 - the official clients, as they are
    """The summary that `model` gives. `client` is an official synchronous client: `openai.OpenAI(...)` with any base URL, or
    `anthropic.Anthropic(...)`. `options` go into each request as they are.

    Raises what the client raises: then there is no summary, and nothing is lost. Raises BadSetting for what is no such client,
    BadRequest for an answer that is none, or that was cut off at its length: half a summary is none.
    """
    chat = getattr(client, "chat", None)
    if chat is not None:
        made = requests(ask, api="openai-chat", model=model, **options)
        return _joined(of_chat(_answer(chat.completions.create(**one))) for one in made)
    if getattr(client, "messages", None) is None:
        raise BadSetting("the client has neither `chat` nor `messages`; give an OpenAI or an Anthropic client")
    made = requests(ask, api="anthropic", model=model, **options)
    return _joined(of_anthropic(_answer(client.messages.create(**one))) for one in made)


def requests(
    ask: Ask,
    *,
    api: Literal["openai-chat", "anthropic"],
    model: str,
    **options: Any,  # noqa: ANN401 - of the provider
) -> tuple[JsonObject, ...]:
    """The request bodies that an ask needs, for a client of one's own, sync or async. The answers are joined with an empty
    line. Raises BadSetting for an `api` that is neither of the two, and for what is no ask.
    """
    if api not in APIS:
        raise BadSetting(f"api is {api!r}; a summary is asked for by one of {', '.join(APIS)}")
    if not isinstance(ask, Ask):
        raise BadSetting(f"the ask is {type(ask).__name__}; it must be one of a fit's `asks`")
    most = "max_completion_tokens" if api == "openai-chat" else "max_tokens"
    return tuple(
        {"model": model, most: ask.max_tokens, **options, "messages": [{"role": "user", "content": list(_spoken(one, ask, api))}]}
        for one in ask.prompt
    )


def _joined(answers: Iterator[str]) -> str:
    return "\n\n".join(filter(None, (answer.strip() for answer in answers)))


def _answer(answer: object) -> object:
    """An answer that is there. Raises BadSetting for one that would have to be awaited."""
    if inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()
        raise BadSetting(
            "the client is one for asyncio, and its answers are not waited for here; give a synchronous client, "
            "or send what `requests` makes yourself"
        )
    return answer


def of_chat(answer: object) -> str:
    """The words of an answer of Chat Completions, as its SDK's object or as JSON. Raises BadRequest where it is none, CutOff
    where it was cut off.
    """
    choices = _at(answer, "choices")
    if not isinstance(choices, list | tuple):
        raise BadRequest("the client's answer has no list of `choices`; it must be the whole answer of one request")
    if not choices:
        return ""
    _whole(_at(choices[0], "finish_reason"), "length")
    message = _at(choices[0], "message")
    if message is None:
        raise BadRequest("the first choice of the client's answer has no `message`; ask for the summary again")
    return _words(_at(message, "content"))


def of_anthropic(answer: object) -> str:
    """The same of an answer of Anthropic Messages."""
    _whole(_at(answer, "stop_reason"), "max_tokens")
    return _words(_at(answer, "content"))


def _whole(reason: object, cut: str) -> None:
    if reason == cut:
        raise CutOff(
            f"the summary was cut off at its length (the answer stopped with {cut!r}), and half of one is none; "
            f"give it more room (max_tokens=..., or max_completion_tokens=...), or leave it"
        )


def _words(content: object) -> str:
    """The text of an answer: a string, or the texts among its parts."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list | tuple):
        raise BadRequest("the content of the client's answer is neither a text nor a list of parts; ask for the summary again")
    texts = (part if isinstance(part, str) else _at(part, "text") for part in content)
    return "".join(text for text in texts if isinstance(text, str))


def _at(value: object, name: str) -> Any:  # noqa: ANN401 - of an SDK's object, or of its JSON
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _spoken(message: JsonObject, ask: Ask, api: str) -> Iterator[Json]:
    """A prompt's parts in the client's own form. Text and pictures are all that a prompt holds."""
    for part in _parts(message, ask):
        if part.media is None:
            yield {"type": "text", "text": part.text}
        else:
            yield _picture(part.media, api)


def _picture(media: Media, api: str) -> Json:
    kind = media.facts.mime or media.declared or "image/png"
    inline = media.source in ("base64", "data-url")
    if not inline and media.source != "url":
        return {"type": "text", "text": placeholder(media)}
    if api == "openai-chat":
        url = f"data:{kind};base64,{media.payload}" if inline else media.payload
        return {"type": "image_url", "image_url": {"url": url}}
    if inline:
        return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": media.payload}}
    return {"type": "image", "source": {"type": "url", "url": media.payload}}


def _parts(message: JsonObject, ask: Ask) -> Sequence[Part]:
    return FORMS[ask.api].read_message(message, 0).parts


def _pieces(ask: Ask) -> Iterator[str]:
    """The words of each piece of the material; of a picture its placeholder. The first part of a prompt is the instruction."""
    for message in ask.prompt:
        for part in _parts(message, ask)[1:]:
            yield part.text if part.media is None else placeholder(part.media)


def _line(words: str) -> str:
    """One line for a piece: who or what, the first line that says something, and figures from the rest."""
    opener = next((one for one in OPENERS if words.startswith(one)), "")
    said = words[len(opener) :].strip()
    first, _, rest = said.partition("\n")
    figures = list(dict.fromkeys(found.group().strip() for found in FIGURE.finditer(rest)))[:MOST_FIGURES]
    line = " ".join(first.split())
    told = f" ({', '.join(figures)})" if figures else ""
    return f"{opener}{line}{told}" if said else ""
