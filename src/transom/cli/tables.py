"""Results as tables on a terminal. What is shown came out of the library; nothing is worked out here but layout."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

import transom
from transom.catalog import ModelCard
from transom.cli.answers import plain
from transom.parts import walk
from transom.plan import Decision
from transom.report import many
from transom.types import Basis
from transom.view.blocks import grouped
from transom.wire import FORMS

COLOURS = {"drop": "red", "stub": "yellow", "cut": "yellow", "prune": "yellow", "repair": "cyan", "mend": "cyan", "mark": "blue"}
BASES = {
    "exact": "counted as the provider counts",
    "rule": "the provider's published rule",
    "observed": "as the provider reported it",
    "estimate": "estimated",
    "flat": "a flat price, since nothing is known",
}
SIZES = ("tokens_before", "tokens_after", "bytes_before", "bytes_after")
MOST = 60
"""Most decisions that are shown; the others are counted."""


def show_fit(console: Console, fit: transom.Fit, name: str) -> None:
    """A fit: sizes before and after, and each decision with its reason."""
    report = fit.report
    console.print(Text.assemble((name, "bold"), f"  {report.api}, priced as {_model(report.card)}"))
    sizes = _table("", "before", "after", "may be", right=(1, 2, 3))
    for unit in ("tokens", "bytes", "messages"):
        most = getattr(report.budget, unit)
        sizes.add_row(
            unit,
            f"{getattr(report.before, unit):,}",
            f"{getattr(report.after, unit):,}",
            f"{math.floor(most):,}" if math.isfinite(most) else "-",
        )
    console.print(sizes)
    live = _live(fit)
    if live or any(one.verb == "stub" for one in report.decisions):
        console.print(f"{many(live, 'picture')} in what goes out")
    if report.decisions:
        _show_decisions(console, report)
    else:
        console.print("Nothing had to change: the request goes out as it came.")
    for gone in report.breaks:
        words = f"cache break at message {gone.at} of the new request: {gone.cause}, {gone.tokens:,} tokens read again uncached"
        console.print(words, markup=False)
    for words in report.notes:
        console.print(words, style="dim", markup=False)
    console.print(_shares(report.basis), style="dim", markup=False)


def show_lines(console: Console, fits: Iterable[tuple[str, transom.Fit]]) -> None:
    """Several fits, one a row."""
    table = _table("", "tokens", "bytes", "what was done", right=(1,))
    for name, fit in fits:
        report = fit.report
        table.add_row(
            name,
            f"{report.before.tokens:,} -> {report.after.tokens:,}",
            f"{report.before.bytes:,} -> {report.after.bytes:,}",
            report.summary().partition(";")[0],
        )
    console.print(table)


def show_bill(console: Console, bill: transom.Bill, name: str) -> None:
    """What a request costs, by message and part."""
    console.print(
        Text.assemble((name, "bold"), f"  {bill.tokens:,} tokens, {bill.bytes:,} bytes, priced as {_model(bill.model)}")
    )
    table = _table("where", "what", "tokens", "bytes", "basis", right=(2, 3))
    fixed = bill.fixed
    table.add_row("", "system, tools, frame", f"{fixed.tokens:,}", f"{fixed.bytes:,}", fixed.basis)
    above = ""
    for row in bill.rows:
        whole = row.kind == "message"
        above = row.place if whole else above
        table.add_row(
            Text(row.place if whole else f"  {row.place.removeprefix(above)}", style="bold" if whole else ""),
            Text("" if whole else f"{row.kind} {row.how}".rstrip()),
            f"{row.price.tokens:,}",
            f"{row.price.bytes:,}",
            row.price.basis,
            style="bold" if whole else "",
        )
    console.print(table)


def unknown(card: ModelCard) -> str:
    """What is said of a model that nobody knows, and how it is priced."""
    shot = card.image.tokens(1280, 800)
    return (
        f"nobody knows a model {card.name!r}, and none begins with it; `transom models` lists what is known. It would be priced "
        f"by the dearest known rules: a picture of 1280 x 800 at {shot:,} tokens, its text as an estimate on the high side"
    )


def show_faults(console: Console, faults: Sequence[transom.Fault], name: str) -> None:
    """Each rule that a body breaks, where, and what the provider would answer."""
    if not faults:
        console.print(f"{name}: no faults", markup=False)
        return
    for fault in faults:
        console.print(Text.assemble((fault.place or "the request", "bold"), f"  {fault.code}"))
        console.print(f"    {fault.says}", markup=False, style="" if fault.refused else "dim")
        if fault.answer:
            console.print(f"    the provider answers: {fault.answer}", markup=False, style="dim")
        elif not fault.refused:
            console.print("    the provider takes it; stricter servers do not", style="dim")
    refused = sum(fault.refused for fault in faults)
    console.print(f"{name}: {many(len(faults), 'fault')}, {refused} of which the provider refuses", markup=False)


def show_models(console: Console, cards: Sequence[ModelCard]) -> None:
    """Model cards, one a row."""
    table = _table("model", "window", "input", "output", "pictures", "as of", right=(1, 2, 3, 4))
    for card in cards:
        table.add_row(
            card.name,
            _known(card.window),
            _known(card.input_limit),
            _known(card.output_limit),
            _known(card.limits.images),
            card.date,
        )
    console.print(table)


def show_model(console: Console, card: ModelCard) -> None:
    """One model card, fact by fact."""
    table = _table("fact", "value")
    facts = {
        "vendor": card.vendor,
        "window, tokens": _known(card.window),
        "most input, tokens": _known(card.input_limit),
        "most output, tokens": _known(card.output_limit),
        "shortest cached prefix, tokens": _known(card.cache_minimum),
        "most pictures": _known(card.limits.images),
        "longest side, px": _known(card.limits.side),
        f"longest side above {card.limits.many} pictures, px": _known(card.limits.many_side),
        "largest picture, base64 characters": _known(card.limits.image_bytes),
        "largest body, bytes": _known(card.limits.body_bytes),
        "most document pages": _known(card.limits.pages),
        "picture formats": ", ".join(sorted(card.limits.formats)) or "-",
        "cache marks": _known(card.limits.marks),
        "quirks": ", ".join(sorted(card.quirks)) or "-",
        "source": card.source,
        "as of": card.date,
    }
    for fact, value in facts.items():
        table.add_row(fact, Text(str(value)))
    console.print(Text(card.name, style="bold"))
    console.print(table)


def _show_decisions(console: Console, report: transom.Report) -> None:
    """Decisions with one verb and one reason stand together under it, each with its place and sizes."""
    groups = {title: _joined(ones) for title, ones in grouped(report.decisions).items()}
    shown = [one for ones in groups.values() for one in ones][:MOST]
    where = max(len(_where(report, one)) for one in shown)
    tokens = max(len(_change(one.tokens_before, one.tokens_after)) for one in shown)
    for (verb, reason), decisions in groups.items():
        console.print(Text.assemble((verb, COLOURS[verb]), f"  {reason}"))
        for one in decisions[: max(MOST // len(groups), 3)]:
            words = f"    {_where(report, one):<{where}}"
            if any((one.tokens_before, one.tokens_after, one.bytes_before, one.bytes_after)):
                words += f"  {_change(one.tokens_before, one.tokens_after):>{tokens}} tokens"
                words += f", {_change(one.bytes_before, one.bytes_after)} bytes"
            console.print(words.rstrip(), markup=False, soft_wrap=True)
        more = decisions[max(MOST // len(groups), 3) :]
        if more:
            console.print(f"    and {len(more):,} more; --json has them all", markup=False)
    console.print()


def _joined(decisions: Sequence[Decision]) -> list[Decision]:
    """Groups that are left out and stand next to each other as one line, with their sum."""
    out: list[Decision] = []
    for one in decisions:
        above = out[-1] if out else None
        if above is None or one.verb != "drop" or one.place or above.place or max(above.seq, above.last) + 1 != one.seq:
            out.append(one)
            continue
        sums = {unit: getattr(above, unit) + getattr(one, unit) for unit in SIZES}
        out[-1] = replace(above, last=max(one.seq, one.last), name="", **sums)
    return out


def _live(fit: transom.Fit) -> int:
    """How many pictures the request that was made still has."""
    talk = FORMS[fit.report.api].read(fit.request)
    media = (part.media for message in talk.messages for part in walk(message.parts))
    return sum(one is not None and one.kind == "image" for one in media)


def _model(name: str) -> str:
    return plain(name) or "an unknown model (--model names it)"


def _where(report: transom.Report, one: Decision) -> str:
    return f"{report.where(one)} {one.name}".rstrip()


def _change(before: int, after: int) -> str:
    return "-" if before == after == 0 else f"{before:,} -> {after:,}"


def _shares(basis: Mapping[Basis, float]) -> str:
    known = [f"{share:.0%} {BASES.get(name, name)}" for name, share in basis.items() if share >= 0.005]
    return "tokens: " + ", ".join(known) if known else ""


def _known(value: int) -> str:
    return f"{value:,}" if value else "-"


def _table(*columns: str, right: tuple[int, ...] = ()) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for i, name in enumerate(columns):
        table.add_column(name, justify="right" if i in right else "left", overflow="fold", no_wrap=i in right or name == "where")
    return table
