"""Model cards: what is known of each model, as data. (Loading and look-up: see below.)"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a provider refuses. 0 (or an empty set) means that no limit is known.

    `images` per request; `side` pixels of any picture; `many_side` pixels of any picture in a request with more than
    `many` pictures; `image_bytes` base64 characters of one picture; `body_bytes` of the whole body; `pages` of documents;
    `formats` the media types of pictures that are taken; `marks` cache marks per request.
    """

    images: int = 0
    side: int = 0
    many: int = 0
    many_side: int = 0
    image_bytes: int = 0
    body_bytes: int = 0
    pages: int = 0
    formats: frozenset[str] = frozenset()
    marks: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """One model's facts. Sizes are tokens; `source` and `date` say where the figures come from.

    `input_limit` is the most input tokens, `window` input and output together, `quirks` flags such as "no-prefill"
    (a request may not end with an assistant turn). `known` is False for a model that no entry describes.
    """

    name: str
    vendor: str = ""
    window: int = 0
    input_limit: int = 0
    output_limit: int = 0
    cache_minimum: int = 0
    quirks: frozenset[str] = frozenset()
    limits: Limits = Limits()
    source: str = ""
    date: str = ""
    known: bool = True
