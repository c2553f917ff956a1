"""Counters of optional packages: Mistral's own, those of open models, and any vocabulary that the caller supplies.

The rule of this file: a package is looked for at import and loaded at the first count; nothing here reads a file of the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

from transom.errors import BadSetting
from transom.tokens import vocabulary
from transom.types import Count

PACKAGES: Final[Mapping[str, str]] = MappingProxyType({"tekken": "mistral_common", "llama3": "quicktok", "qwen3": "quicktok"})
"""Vocabularies by the package that carries them: `mistral-common` 1.13 (the extra `mistral`), `quicktok-v1` 0.4 (`fast`)."""
FOUND: Final = frozenset(name for name, package in PACKAGES.items() if find_spec(package) is not None)
TOKENIZERS: Final = find_spec("tokenizers") is not None


def available(name: str) -> bool:
    """Whether the vocabulary `name` is installed."""
    return name in FOUND


@cache
def loaded(name: str) -> Callable[[str], int]:  # pragma: no cover - where an extra is installed
    """The counter of the vocabulary `name`, loaded once."""
    if name == "tekken":
        mistral = import_module("mistral_common.tokens.tokenizers.mistral").MistralTokenizer.v3(is_tekken=True)
        encode = mistral.instruct_tokenizer.tokenizer.encode
        return lambda text: len(encode(text, bos=False, eos=False))
    counter: Callable[[str], int] = import_module("quicktok").get_encoding(name).count
    return counter


def count(name: str, text: str) -> int:  # pragma: no cover - where an extra is installed
    """Tokens of `text` in the vocabulary `name`."""
    return loaded(name)(vocabulary.whole(text))


def supplied(tokenizer: str) -> Count:
    """A text counter for the text of a `tokenizer.json`, by the extra `vocabulary` (`tokenizers`): the `count` of a PriceList.

    Raises BadSetting where the package is missing, or where the text is no vocabulary.
    """
    if not TOKENIZERS:
        raise BadSetting("a vocabulary of your own needs the package tokenizers; install transom[vocabulary]")
    try:
        encode = import_module("tokenizers").Tokenizer.from_str(tokenizer).encode
    except Exception as error:  # noqa: BLE001 - the package raises bare exceptions
        raise BadSetting(f"this is no tokenizer.json that the package tokenizers can read ({error})") from None
    return lambda text: len(encode(vocabulary.whole(text), add_special_tokens=False).ids)
