"""Make `src/transom/data/catalogue.json.gz` from an installed litellm wheel: windows and limits of first-party models.

    pip download --no-deps litellm && python scripts/catalogue.py litellm-*.whl

Each model is `name: [input, output, cache minimum, flags]`; flags: "p" the model refuses an assistant turn at the end,
"v" it takes pictures. The licence (MIT) is written beside it.
"""

from __future__ import annotations

import gzip
import json
import sys
import zipfile
from pathlib import Path

DATA = Path(__file__).parent.parent / "src" / "transom" / "data"
SOURCE = "litellm/model_prices_and_context_window_backup.json"
PROVIDERS = frozenset(
    {
        "openai", "anthropic", "azure", "azure_ai", "bedrock", "bedrock_converse", "vertex_ai-anthropic_models", "gemini",
        "vertex_ai-language-models", "mistral", "xai", "deepseek", "cohere_chat", "cohere", "dashscope", "moonshot", "zai",
        "minimax", "meta_llama",
    }
)  # fmt: skip


def row(entry: dict[str, object]) -> list[object]:
    """What is kept of an entry."""
    flags = ("p" if entry.get("supports_assistant_prefill") is False else "") + ("v" if entry.get("supports_vision") else "")
    keys = ("max_input_tokens", "max_output_tokens", "prompt_cache_min_tokens")
    return [*(int(value) if isinstance(value := entry.get(key), int | float) else 0 for key in keys), flags]


def main(wheel: str) -> None:
    """Read the wheel, write the snapshot and its licence."""
    with zipfile.ZipFile(wheel) as archive:
        entries = json.loads(archive.read(SOURCE))
        licence = next(name for name in archive.namelist() if name.endswith("licenses/LICENSE"))
        (DATA / "catalogue.LICENSE.txt").write_bytes(archive.read(licence))
    kept = {
        name.lower(): row(entry)
        for name, entry in sorted(entries.items())
        if entry.get("litellm_provider") in PROVIDERS and entry.get("mode") in {"chat", "responses"}
    }
    kept = {name: values for name, values in kept.items() if values[0]}
    text = json.dumps({"source": Path(wheel).name, "models": kept}, separators=(",", ":"), sort_keys=True)
    (DATA / "catalogue.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{len(kept)} models")


if __name__ == "__main__":
    main(sys.argv[1])
