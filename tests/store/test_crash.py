"""A store after a crash, with two writers, and on a disk that is full."""

from __future__ import annotations

import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

import transom

WRITER = Path(__file__).with_name("writer.py")
KILLS = int(os.environ.get("TRANSOM_KILLS", "6"))
"""How often a writer is killed; 300 in the long run: `TRANSOM_KILLS=300 TRANSOM_SAID=200 pytest tests/store`."""
MOST_SAID = int(os.environ.get("TRANSOM_SAID", "12"))
"""Messages that a writer says at the most before it may be killed."""
KILLS_A_SESSION = 5


def url(path: Path) -> str:
    return f"sqlite:///{path / 'chat.db'}"


def started(*words: object) -> subprocess.Popen[str]:
    source = Path(__file__).parents[2] / "src"
    return subprocess.Popen(  # noqa: S603 - our own file
        [sys.executable, str(WRITER), *map(str, words)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(source)},
    )


def said(process: subprocess.Popen[str]) -> list[int]:
    """The numbers that a process said; a last line that was cut is none."""
    assert process.stdout is not None
    lines = process.stdout.read().split("\n")[:-1]
    return [int(line) for line in lines if line.isdigit()]


@pytest.mark.slow
def test_what_append_returned_from_survives_a_kill_at_any_moment(tmp_path: Path) -> None:
    """A process that appends and compiles is killed by SIGKILL, again and again on one session: nothing that it said is lost, and
    the next open goes on behind it.
    """
    rng = random.Random(4)
    told = 0
    for turn in range(KILLS):
        name = f"s{turn // KILLS_A_SESSION}"
        told = told if turn % KILLS_A_SESSION else 0
        with started(url(tmp_path), name, "a", 10_000, 3) as writer:
            assert writer.stdout is not None
            lines = [writer.stdout.readline() for _ in range(1 + rng.randrange(MOST_SAID))]
            time.sleep(rng.uniform(0, 0.1))
            writer.send_signal(signal.SIGKILL)
            numbers = [int(line) for line in lines[1:]] + said(writer)
        assert not numbers or numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        told = numbers[-1] + 1 if numbers else told
        with transom.Store(url(tmp_path)) as store:
            chat = store.session(name)
            kept = chat.messages()
            assert told <= len(kept) <= told + 1  # the last one may have been stored and not yet said
            assert [message["content"].split()[1] for message in kept] == [str(n) for n in range(len(kept))]
            told = len(kept)
            if kept:
                chat.compile(system="Be short.")


@pytest.mark.slow
def test_two_processes_append_to_one_session_and_all_messages_are_there_in_one_order(tmp_path: Path) -> None:
    """Both open a file that is not there yet."""
    with started(url(tmp_path), "shared", "a", 60, 5) as one, started(url(tmp_path), "shared", "b", 60, 5) as two:
        assert said(one) == said(two) == list(range(60))
    assert (one.returncode, two.returncode) == (0, 0)
    with transom.Store(url(tmp_path)) as store:
        chat = store.session("shared")
        kept = [message["content"].split()[:2] for message in chat.messages()]
        assert [n for who, n in kept if who == "a"] == [str(n) for n in range(60)]
        assert [n for who, n in kept if who == "b"] == [str(n) for n in range(60)]
        assert chat.compile().state.count == 120


FULL = """
import resource, signal, sys, transom
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with transom.Store(sys.argv[1]) as store:
    chat = store.session("full", api="anthropic", model="m")
    chat.append({"role": "user", "content": "first"})
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
    try:
        for _ in range(40):
            chat.append({"role": "user", "content": "x " * 10_000})
    except transom.StoreError as error:
        print(error)
    print(len(chat))
"""


def test_a_disk_that_fills_is_said_and_nothing_is_half_stored(tmp_path: Path) -> None:
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", FULL, url(tmp_path)], capture_output=True, text=True, check=True
    )
    words, count = done.stdout.strip().split("\n")
    assert "nothing of this call was stored" in words
    with transom.Store(url(tmp_path)) as store:
        assert len(store.session("full")) == int(count) > 1
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 300_000


def test_a_file_that_is_no_database_is_said(tmp_path: Path) -> None:
    (tmp_path / "chat.db").write_bytes(b"this is a letter, and no database " * 200)
    with pytest.raises(transom.StoreError, match="the file is no database"):
        transom.Store(url(tmp_path))


def test_a_damaged_page_is_said(tmp_path: Path) -> None:
    with transom.Store(url(tmp_path)) as store:
        chat = store.session("a", api="anthropic", model="m")
        chat.append([{"role": "user", "content": "word " * 500} for _ in range(400)])
    data = bytearray((tmp_path / "chat.db").read_bytes())
    data[40_960 : len(data) - 4_096] = b"\xa5" * (len(data) - 4_096 - 40_960)
    (tmp_path / "chat.db").write_bytes(data)
    with pytest.raises(transom.StoreError, match=r"damaged|cannot be read|malformed"), transom.Store(url(tmp_path)) as store:
        store.session("a").messages()


def test_a_file_of_a_newer_version_is_left_as_it_is(tmp_path: Path) -> None:
    transom.Store(url(tmp_path)).close()
    with sqlite3.connect(tmp_path / "chat.db") as raw:
        raw.execute("UPDATE transom_version SET version_num = '9999'")
    raw.close()
    with pytest.raises(transom.SchemaTooNew, match="'9999'"):
        transom.Store(url(tmp_path))


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(transom.StoreError, match="its folder is there"):
        transom.Store(url(tmp_path / "nowhere"))


@pytest.mark.parametrize("wrong", ["chat.db", "nosuch://x", ""])
def test_what_is_no_database_url_is_said(wrong: str) -> None:
    with pytest.raises(transom.BadSetting, match=r"sqlite:///chat\.db"):
        transom.Store(wrong)
