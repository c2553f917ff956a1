"""Makes the example: a browser agent at work, as a request body in two wire forms.

    python examples/make_browser_agent.py [FOLDER]

The agent compares three flights. Its tools answer with screenshots of drawn pages; two calls run in parallel, one tool
prints a long list, and one result comes a turn late. Everything is drawn and invented here; the same bytes come out of
every run with the same Pillow. Needs Pillow (extra `images`).
"""

from __future__ import annotations

import base64
import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

HERE = Path(__file__).resolve().parent
SIZE = (1280, 800)
INK, GREY, PAPER, LINE = "#1b1f24", "#6b7280", "#ffffff", "#d9dde3"
AIRLINES = (("Albatros", "#0f766e"), ("Borealis", "#7c3aed"), ("Condor Sud", "#b45309"))

SYSTEM = (
    "You are a travel assistant with a browser. Work in small steps, look at each page before you act, and never book "
    "without asking. Quote prices as they stand on the page."
)
TOOLS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (
        "browser",
        "Acts in the browser and answers with a screenshot of the page.",
        {"action": {"type": "string", "enum": ["open", "click", "type", "scroll"]}, "target": {"type": "string"}},
    ),
    ("page_text", "The text of the page that is open, without pictures.", {"page": {"type": "string"}}),
    ("seat_map", "Asks the airline for free seats; this can take a while.", {"flight": {"type": "string"}}),
)


@dataclass(frozen=True)
class Call:
    """A tool call of the agent: its id, the tool and what it is asked."""

    id: str
    tool: str
    ask: dict[str, str]


@dataclass(frozen=True)
class Answer:
    """A tool's result: words, and a screenshot's bytes where it made one."""

    call: str
    words: str
    shot: bytes = b""


@dataclass(frozen=True)
class Says:
    """A turn of words, and the calls that the agent makes with it."""

    role: str
    words: str
    calls: tuple[Call, ...] = ()
    answers: tuple[Answer, ...] = ()


# ------------------------------------------------------------------------------------------------------ the screenshots


def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The font that Pillow carries with it, in pixels."""
    return ImageFont.load_default(size)


def window(address: str, accent: str) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    """An empty browser window that shows `address`."""
    image = Image.new("RGB", SIZE, PAPER)
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, SIZE[0], 56), fill="#eceff3")
    for i, colour in enumerate(("#ef4444", "#f59e0b", "#10b981")):
        draw.ellipse((18 + 26 * i, 20, 34 + 26 * i, 36), fill=colour)
    draw.rounded_rectangle((120, 12, 1180, 44), 16, fill=PAPER, outline=LINE)
    draw.text((140, 19), address, INK, font(16))
    draw.rectangle((0, 56, SIZE[0], 64), fill=accent)
    return image, draw


def png(image: Image.Image) -> bytes:
    """The picture as a PNG of 16 colours, so that the example stays small."""
    out = io.BytesIO()
    image.quantize(16).save(out, "PNG", optimize=True)
    return out.getvalue()


def search_page(query: str, *, typed: bool) -> bytes:
    """The start page, with the search field empty or filled in."""
    image, draw = window("https://skylark.example/", "#2563eb")
    draw.text((440, 190), "skylark", "#2563eb", font(96))
    draw.text((446, 300), "Three airlines. One page. No tricks.", GREY, font(22))
    draw.rounded_rectangle((240, 360, 1040, 424), 32, fill=PAPER, outline="#2563eb", width=3)
    draw.text((276, 378), query if typed else "Where to?", INK if typed else GREY, font(26))
    draw.rounded_rectangle((560, 460, 720, 512), 10, fill="#2563eb" if typed else LINE)
    draw.text((602, 472), "Search", PAPER, font(22))
    return png(image)


def list_page(prices: tuple[int, ...], *, chosen: int = -1) -> bytes:
    """The list of flights; `chosen` is drawn as the row under the pointer."""
    image, draw = window("https://skylark.example/flights?from=LIS&to=OSL", "#2563eb")
    draw.text((60, 96), "Lisbon to Oslo, 14 May", INK, font(36))
    draw.text((60, 146), f"{len(prices)} flights, sorted by price", GREY, font(20))
    for i, price in enumerate(prices):
        name, colour = AIRLINES[i]
        top = 200 + 180 * i
        back = "#eff6ff" if i == chosen else PAPER
        draw.rounded_rectangle((60, top, 1220, top + 150), 14, fill=back, outline=colour, width=3)
        draw.ellipse((90, top + 35, 170, top + 115), fill=colour)
        draw.text((116, top + 54), name[0], PAPER, font(36))
        draw.text((210, top + 34), name, INK, font(30))
        draw.text((210, top + 80), f"{7 + 4 * i}:{15 * i:02d}  to  {12 + 4 * i}:{5 + 15 * i:02d}, one stop", GREY, font(22))
        draw.text((1010, top + 48), f"{price} EUR", colour, font(40))
    return png(image)


def flight_page(row: int, price: int) -> bytes:
    """One flight: a drawn route, what is in the price and what is not."""
    name, colour = AIRLINES[row]
    image, draw = window(f"https://skylark.example/flight/{name[:2].upper()}{410 + row}", colour)
    draw.rectangle((0, 64, 1280, 250), fill=colour)
    draw.text((60, 100), name, PAPER, font(60))
    draw.text((60, 180), f"{price} EUR for one", PAPER, font(34))
    draw.line([(160, 420), (420 + 90 * row, 330), (760, 400), (1120, 340)], fill=colour, width=6, joint="curve")
    for x, y, city in ((160, 420, "LIS"), (760, 400, ("FRA", "CPH", "MAD")[row]), (1120, 340, "OSL")):
        draw.ellipse((x - 12, y - 12, x + 12, y + 12), fill=PAPER, outline=colour, width=5)
        draw.text((x - 24, y + 22), city, INK, font(26))
    for i, line in enumerate(("Cabin bag: included", "Checked bag: 35 EUR", "Change of date: 60 EUR", "Meal: not included")):
        draw.text((80, 540 + 48 * i), line, INK, font(26))
    draw.rounded_rectangle((880, 600, 1200, 680), 12, fill=colour)
    draw.text((960, 620), "Choose", PAPER, font(34))
    return png(image)


def seats_page(row: int) -> bytes:
    """The seat map of a flight, free seats filled."""
    name, colour = AIRLINES[row]
    image, draw = window(f"https://skylark.example/seats/{name[:2].upper()}{410 + row}", colour)
    draw.text((60, 96), f"{name}: choose a seat", INK, font(36))
    for line in range(6):
        for seat in range(20):
            x, y = 90 + 56 * seat, 190 + 72 * line + (48 if line > 2 else 0)
            free = (seat * 7 + line * 5 + row * 3) % 4 == 0
            draw.rounded_rectangle((x, y, x + 42, y + 52), 8, fill=colour if free else "#e5e7eb", outline=LINE)
    draw.text((60, 740), "filled: free", GREY, font(20))
    return png(image)


# ------------------------------------------------------------------------------------------------------------ the story


def fares() -> str:
    """What `page_text` prints of a page of fare rules: long, and mostly of no use."""
    change = (
        "Fare class {c}{n}: the ticket is valid for the flight and the day that it names. A change of date costs {a} "
        "EUR until {h} hours before departure, later nothing is paid back. Bags over {k} kg are weighed anew."
    )
    seats = (
        "Fare class {c}{n}: seats in rows {a} to {b} are free for children under {k}. The airline may change "
        "the aircraft; a seat that was paid for is then replaced by one of the same kind, or {h} EUR are paid back."
    )
    lines = [
        (change, seats)[n % 2].format(c="LMQTV"[n % 5], n=n, a=20 + 5 * (n % 9), b=40 + n % 30, h=24 + 12 * (n % 4), k=8 + n % 15)
        for n in range(60)
    ]
    return "\n".join(lines)


def story() -> tuple[Says, ...]:
    """The turns of the conversation, oldest first."""
    prices = (184, 209, 231)

    def step(  # noqa: PLR0913, PLR0917 - a row of the story
        number: int, words: str, tool: str, ask: dict[str, str], said: str, shot: bytes = b""
    ) -> tuple[Says, Says]:
        call = Call(f"toolu_{number:02d}", tool, ask)
        return Says("assistant", words, (call,)), Says("user", "", answers=(Answer(call.id, said, shot),))

    pair = (Call("toolu_05", "browser", {"action": "open", "target": "flight AL410"}),
            Call("toolu_06", "browser", {"action": "open", "target": "flight BO411"}))  # fmt: skip
    slow = (Call("toolu_09", "seat_map", {"flight": "AL410"}), Call("toolu_10", "page_text", {"page": "fare rules"}))
    return (
        Says("user", "I must be in Oslo on 14 May, from Lisbon, with one checked bag. Which flight is best?"),
        *step(1, "I open the search page.", "browser", {"action": "open", "target": "skylark.example"},
              "The page is open.", search_page("", typed=False)),
        *step(2, "", "browser", {"action": "type", "target": "Lisbon to Oslo, 14 May"},
              "Typed.", search_page("Lisbon to Oslo, 14 May", typed=True)),
        *step(3, "", "browser", {"action": "click", "target": "Search"}, "Clicked.", list_page(prices)),
        *step(4, "Three flights. I look at the first two side by side.", "browser",
              {"action": "scroll", "target": "first row"}, "Scrolled.", list_page(prices, chosen=0)),
        Says("assistant", "", pair),
        Says("user", "", answers=(Answer("toolu_05", "AL410 is open in tab 1.", flight_page(0, 184)),
                                  Answer("toolu_06", "BO411 is open in tab 2.", flight_page(1, 209)))),
        *step(7, "A checked bag costs the same with both. Now the third.", "browser",
              {"action": "open", "target": "flight CO412"}, "CO412 is open in tab 3.", flight_page(2, 231)),
        Says("assistant", "Albatros is cheapest: 184 EUR and 35 EUR for the bag, so 219 EUR. Shall I look at seats and "
                          "fare rules too?"),
        Says("user", "Yes, and I need an aisle seat."),
        Says("assistant", "I ask the airline for free seats and read the rules meanwhile.", slow),
        Says("user", "While you wait: is the change fee the same everywhere?", answers=(Answer("toolu_10", fares()),)),
        Says("assistant", "All three charge 60 EUR for a change of date. The seat map is not here yet."),
        Says("user", "Fine. I wait.", answers=(Answer("toolu_09", "Free seats on AL410.", seats_page(0)),)),
        *step(11, "Row 4 has a free aisle seat. I open the page to make sure.", "browser",
              {"action": "open", "target": "seats AL410"}, "The seat map is open.", seats_page(0)),
        Says("assistant", "Seat 4C on AL410 is free and on the aisle. With the bag it is 219 EUR. Shall I book it?"),
        Says("user", "First show me the seats of Borealis too, then decide for me which is better."),
        *step(12, "", "browser", {"action": "open", "target": "seats BO411"},
              "The seat map is open.", seats_page(1)),
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------- the wire forms


def b64(data: bytes) -> str:
    """Bytes as base64 text."""
    return base64.b64encode(data).decode()


def anthropic() -> dict[str, Any]:
    """The story as a body for Anthropic Messages. The late result stands where it arrived: the fault is on purpose."""
    messages: list[dict[str, Any]] = []
    for turn in story():
        parts: list[dict[str, Any]] = []
        for answer in turn.answers:
            content: list[dict[str, Any]] = [{"type": "text", "text": answer.words}]
            if answer.shot:
                source = {"type": "base64", "media_type": "image/png", "data": b64(answer.shot)}
                content.append({"type": "image", "source": source})
            parts.append({"type": "tool_result", "tool_use_id": answer.call, "content": content})
        if turn.words:
            parts.append({"type": "text", "text": turn.words})
        parts += [{"type": "tool_use", "id": c.id, "name": c.tool, "input": c.ask} for c in turn.calls]
        messages.append({"role": turn.role, "content": parts})
    tools = [{"name": n, "description": d, "input_schema": {"type": "object", "properties": p}} for n, d, p in TOOLS]
    return {"model": "claude-sonnet-4-5", "max_tokens": 2048, "system": SYSTEM, "tools": tools, "messages": messages}


def openai_chat() -> dict[str, Any]:
    """The same story as a body for OpenAI Chat Completions, where a tool's screenshot follows in a user message."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}]
    for turn in story():
        shots = [answer.shot for answer in turn.answers if answer.shot]
        messages += [{"role": "tool", "tool_call_id": answer.call, "content": answer.words} for answer in turn.answers]
        parts: list[dict[str, Any]] = [
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{b64(shot)}"}} for shot in shots
        ]
        if turn.role == "user":
            if turn.words:
                parts.append({"type": "text", "text": turn.words})
            if parts:
                messages.append({"role": "user", "content": parts})
            continue
        message: dict[str, Any] = {"role": "assistant", "content": turn.words or None}
        if turn.calls:
            message["tool_calls"] = [
                {"id": c.id, "type": "function", "function": {"name": c.tool, "arguments": json.dumps(c.ask)}} for c in turn.calls
            ]
        messages.append(message)
    tools = [
        {
            "type": "function",
            "function": {"name": n, "description": d, "parameters": {"type": "object", "properties": p}},
        }
        for n, d, p in TOOLS
    ]
    return {"model": "gpt-4o", "max_tokens": 2048, "tools": tools, "messages": messages}


def main(folder: Path) -> None:
    """Write both bodies into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, body in (("browser-agent.json", anthropic()), ("browser-agent-openai.json", openai_chat())):
        text = json.dumps(body, ensure_ascii=False, indent=1) + "\n"
        (folder / name).write_text(text, encoding="utf-8")
        print(f"{folder / name}: {len(text.encode()):,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
