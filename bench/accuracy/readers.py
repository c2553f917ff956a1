"""Forms that transom does not plan, brought into one that it reads: for prices only.

The rule of this file: what is not known stays out; a request that nothing can be made of gives None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from transom.types import Json, JsonObject

Read = tuple[str, JsonObject]


def asked(words: Json, system: Json = None) -> Read | None:
    """One question, and the system text before it."""
    if not isinstance(words, str):
        return None
    before = [{"role": "system", "content": system}] if isinstance(system, str) and system else []
    return "openai-chat", {"messages": [*before, {"role": "user", "content": words}]}


def invoked(body: JsonObject) -> Read | None:
    """Bedrock's `invoke`: each vendor's own body."""
    if "anthropic_version" in body:
        return "anthropic", body
    if "messages" in body:
        return ("bedrock" if "inferenceConfig" in body or "schemaVersion" in body else "openai-chat"), body
    return asked(body.get("prompt", body.get("inputText", body.get("message"))))


def completion(body: JsonObject) -> Read | None:
    """A prompt to go on from."""
    prompt = body.get("prompt")
    return asked("\n".join(one for one in prompt if isinstance(one, str)) if isinstance(prompt, list) else prompt)


def cohere(body: JsonObject) -> Read | None:
    """Version 1: a message behind a history."""
    history = [
        {"role": "assistant" if turn.get("role") == "CHATBOT" else "user", "content": turn.get("message") or ""}
        for turn in body.get("chat_history") or ()
    ]
    said = body.get("message")
    return ("openai-chat", {"messages": [*history, {"role": "user", "content": said}]}) if isinstance(said, str) else None


def grpc(body: JsonObject) -> Read | None:
    """Protocol buffers of xAI as JSON."""
    return "openai-chat", {"messages": list(turns(body.get("messages") or ()))}


def turns(messages: Json) -> Iterator[JsonObject]:
    """Each message with its role in small letters and its texts as parts."""
    for message in messages:
        role = str(message.get("role", "")).removeprefix("ROLE_").lower() or "user"
        role = role if role in {"system", "user", "assistant"} else "user"
        parts = [part for part in message.get("content") or () if isinstance(part, dict)]
        yield {"role": role, "content": [{"type": "text", "text": part.get("text") or ""} for part in parts]}


def interaction(body: JsonObject) -> Read | None:
    """Gemini's interactions: an input of words or of turns."""
    given = body.get("input")
    if isinstance(given, str):
        return "gemini", {"contents": [{"role": "user", "parts": [{"text": given}]}], "tools": body.get("tools") or []}
    return asked(" ".join(part.get("text", "") for part in given if isinstance(part, dict))) if isinstance(given, list) else None


READERS: Mapping[str, Callable[[JsonObject], Read | None]] = MappingProxyType(
    {
        "bedrock-invoke": invoked,
        "openai-completions": completion,
        "cohere-v1": cohere,
        "cohere-v2": lambda body: ("openai-chat", body),
        "ollama-chat": lambda body: ("openai-chat", body),
        "ollama-generate": lambda body: asked(body.get("prompt"), body.get("system")),
        "xai-grpc": grpc,
        "gemini-interactions": interaction,
        "mistral-conversations": lambda body: asked(body.get("inputs"), body.get("instructions")),
    }
)
"""Other forms by their name in the recordings."""
