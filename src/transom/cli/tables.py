"""Results as tables on a terminal. What is shown came out of the library; nothing is worked out here but layout."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

import transom
from transom.catalog import ModelCard
from transom.plan import Decision

COLOURS = {"drop": "red", "stub": "yellow", "cut": "yellow", "prune": "yellow", "repair": "cyan", "mend": "cyan", "mark": "blue"}
BASES = {
    "exact": "counted as the provider counts",
    "rule": "the provider's published rule",
    "observed": "as the provider reported it",
    "estimate": "estimated",
    "flat": "a flat price, since nothing is known",
}
MOST = 40
"""Most decisions in a table; the others are counted."""


def show_fit(console: Console, fit: transom.Fit, name: str) -> None:
    """A fit: sizes before and after, and each decision with its reason."""
    report = fit.report
    console.print(Text.assemble((name, "bold"), f"  {report.api}, priced as {report.card}"))
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
    if report.decisions:
        console.print(_decisions(report))
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
    console.print(Text.assemble((name, "bold"), f"  {bill.tokens:,} tokens, {bill.bytes:,} bytes, priced as {bill.card}"))
    table = _table("where", "what", "tokens", "bytes", "basis", right=(2, 3))
    for row in bill.rows:
        whole = row.kind == "message"
        table.add_row(
            Text(row.place if whole else f"  {row.place}", style="bold" if whole else ""),
            Text(row.says or row.kind),
            f"{row.tokens:,}",
            f"{row.bytes:,}",
            row.basis,
        )
    console.print(table)


def show_faults(console: Console, faults: Sequence[transom.Fault], name: str) -> None:
    """Each rule that a body breaks, where, and what the provider would answer."""
    if not faults:
        console.print(f"{name}: no faults", markup=False)
        return
    table = _table("where", "rule", "what is wrong", "what the provider answers")
    for fault in faults:
        style = "" if fault.refused else "dim"
        answer = fault.answer or ("" if fault.refused else "takes it; stricter servers do not")
        table.add_row(*(Text(words, style=style) for words in (fault.place, fault.code, fault.says, answer)))
    console.print(table)
    refused = sum(fault.refused for fault in faults)
    console.print(f"{name}: {len(faults)} faults, {refused} of which the provider refuses", markup=False)


def show_models(console: Console, cards: Sequence[ModelCard]) -> None:
    """Model cards, one a row."""
    table = _table("model", "vendor", "window", "input", "output", "pictures", "body", "as of", right=(2, 3, 4, 5, 6))
    for card in cards:
        table.add_row(
            card.name,
            card.vendor,
            _known(card.window),
            _known(card.input_limit),
            _known(card.output_limit),
            _known(card.limits.images),
            _known(card.limits.body_bytes),
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


def _decisions(report: transom.Report) -> Table:
    table = _table("what", "where", "why", "tokens", "bytes", right=(3, 4))
    for one in report.decisions[:MOST]:
        table.add_row(
            Text(one.verb, style=COLOURS[one.verb]),
            Text(report.where(one)),
            Text(f"{one.name}: {one.reason}" if one.name else one.reason),
            _change(one.tokens_before, one.tokens_after),
            _change(one.bytes_before, one.bytes_after),
        )
    more = report.decisions[MOST:]
    if more:
        table.add_row("...", f"{len(more):,} more", "--json has them all", *_sums(more))
    return table


def _sums(decisions: Sequence[Decision]) -> tuple[str, str]:
    return (
        _change(sum(one.tokens_before for one in decisions), sum(one.tokens_after for one in decisions)),
        _change(sum(one.bytes_before for one in decisions), sum(one.bytes_after for one in decisions)),
    )


def _change(before: int, after: int) -> str:
    return "-" if before == after == 0 else f"{before:,} -> {after:,}"


def _shares(basis: object) -> str:
    shares = dict(basis) if hasattr(basis, "items") else {}
    known = [f"{share:.0%} {BASES.get(name, name)}" for name, share in shares.items() if share >= 0.005]
    return "tokens: " + ", ".join(known) if known else ""


def _known(value: int) -> str:
    return f"{value:,}" if value else "-"


def _table(*columns: str, right: tuple[int, ...] = ()) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for i, name in enumerate(columns):
        table.add_column(name, justify="right" if i in right else "left", overflow="fold")
    return table
