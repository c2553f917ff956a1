"""What a provider really took is called no slip: recorded requests, each answered with a bill, against the forms' own rules."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from evidence.tools import load
from evidence.usage import NAMES
from transom import catalog, door
from transom.errors import BadRequest
from transom.wire import FORMS

USAGE = Path(__file__).parents[3] / "shared" / "data" / "usage"
THEMSELVES = ("anthropic", "openai-chat", "openai-responses", "gemini", "vertex", "bedrock-converse")
"""Who answered: the vendors under their own roof, whose words the rules quote."""


@pytest.mark.slow
@pytest.mark.parametrize("provider", THEMSELVES)
def test_no_message_that_was_taken_has_a_slip(provider: str) -> None:
    if not USAGE.is_dir():
        pytest.skip("the recorded requests are not beside this checkout")
    found: Counter[str] = Counter()
    seen = 0
    for record in load(USAGE, "usage_records").records(USAGE):
        if record["provider"] != provider or not record.get("input_tokens"):
            continue
        api = NAMES.get(record["api"], record["api"])
        form, card = FORMS[api], catalog.card(record["model"], api=api)
        try:
            talk = form.read(door.admit(record["request"]))
        except BadRequest:
            continue  # of another shape: there are recordings of what an SDK was given
        seen += 1
        found += Counter(f"{slip.code} in {record['id']}" for one in talk.messages for slip in form.slips(one, card.quirks))
    assert not found
    assert seen > 0
