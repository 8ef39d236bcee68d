"""Damage every file of a finished run, and write through two servers at once.

    verify      files are damaged (a bit, half of it, all of it, deleted): does
                ``mathamr doctor --verify`` name each of them?
    servers     posts are added, changed and deleted through two servers over one index:
                is every answer true at both at once, and is anything lost?

Works on a copy of a finished data root to which posts were added.

Example:
    kedro run --env demo --params data_root=/tmp/demo
    python -m benchmarks.index_faults --data-root /tmp/demo --minutes 10
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import httpx

from benchmarks.faults import DAMAGES, shorten
from benchmarks.serving import run_server
from mathamr_kedro.base.records import Post
from mathamr_kedro.base.writers import NAME
from mathamr_kedro.cli.doctor import find_damage
from mathamr_kedro.project.catalog import open_context
from mathamr_kedro.project.search import open_updatable_index

PARTS = ("verify", "servers")
PASSING = (".lock", ".writer.json", "tracker_journal.dat", "last_run.json")
"""Locks, what names their owners, and a journal that the engine removes."""
TOKEN = "bench"


def add_posts(env: str, root: Path) -> None:
    """Add two posts and delete one of the collection."""
    index = open_updatable_index(env, str(root))
    texts = {"added-1": "Every prime is odd or two.", "added-2": "A tree has no cycle."}
    index.add(
        Post(key, "document", key, None, None, None, None, (), "", text, ())
        for key, text in texts.items()
    )
    posts = open_context(env, str(root)).catalog.load("posts")
    index.delete([next(iter(posts.records())).post_id])


def verify_damage(root: Path, rng: random.Random) -> None:
    """Damage all files in each way; print which are not named.

    Lists come after what they list: of what is in a list that cannot be read there is
    no checksum.
    """
    assert list(find_damage(root)) == []
    files = [f for f in sorted(root.rglob("*")) if f.is_file() and f.stat().st_size]
    files = [f for f in files if f.name not in PASSING]
    last = [f for f in files if f.name in (NAME, "edge.json")]
    listed = json.loads((root / NAME).read_text())["files"]
    lists = [f for f in files if f.relative_to(root).as_posix() in listed]
    others = [f for f in files if f not in lists and f not in last]
    print("| damage | files | named | share |\n|---|---:|---:|---:|")
    for fault, damage in DAMAGES.items():
        silent: list[Path] = []
        for some in (others, lists, last):
            before = {file: file.read_bytes() for file in some}
            for file in some:
                damage(file, rng)
            lines = "\n".join(find_damage(root))
            silent += [f for f in some if repr(str(f)) not in lines]
            for file, content in before.items():
                file.write_bytes(content)
        named = len(files) - len(silent)
        share = f"{named / len(files):.1%}"
        print(f"| {fault} | {len(files)} | {named} | {share} |", flush=True)
        for kind in sorted({shorten(str(file)) for file in silent})[:20]:
            print(f"not named: {kind}")


class Writer(threading.Thread):
    """Writes posts of its own through either server, and checks both after each."""

    def __init__(self, name: str, servers: list[str], end: float) -> None:
        super().__init__()
        self.label, self.servers, self.end = name, servers, end
        self.rng = random.Random(name)
        self.texts: dict[str, str | None] = {}
        """What each post is; ``None``: there is none."""
        self.answers: Counter[str] = Counter()
        self.wrong: list[str] = []

    def run(self) -> None:
        """Write until the end."""
        with httpx.Client(timeout=300) as client:
            number = 0
            while time.monotonic() < self.end:
                number += 1
                self.write(client, f"{self.label}-{self.rng.randrange(5)}", number)

    def write(self, client: httpx.Client, key: str, number: int) -> None:
        """Add, change or delete a post; look for it at both servers."""
        before = self.texts.get(key)
        after = None if before and self.rng.random() < 0.4 else f"Post {number}: $n^2$."
        address = f"{self.rng.choice(self.servers)}/api/posts"
        method, sent = "POST", [{"id": key, "text": after}]
        if after is None:
            method, sent = "DELETE", [key]  # type: ignore[list-item]
        headers = {"Authorization": f"Bearer {TOKEN}"}
        answer = client.request(method, address, json=sent, headers=headers)
        self.answers[f"{method} {answer.status_code}"] += 1
        if answer.is_success:
            self.texts[key] = after
        elif answer.status_code != 503:
            self.wrong.append(f"{method} of {key}: {answer.status_code} {answer.text}")
        self.check(client, key)

    def check(self, client: httpx.Client, key: str) -> None:
        """Compare a post at both servers with what was acknowledged last."""
        expected = self.texts.get(key)
        for server in self.servers:
            found = client.get(f"{server}/api/posts/{key}")
            while found.status_code == 503:
                time.sleep(float(found.headers["Retry-After"]))
                found = client.get(f"{server}/api/posts/{key}")
            shown = expected is not None and expected.partition(":")[0] in found.text
            is_true = shown if expected else found.status_code == 404
            if not is_true:
                self.wrong.append(f"{key} at {server}: {found.status_code}")


def write_through_both(env: str, root: Path, minutes: float) -> None:
    """Let two writers change posts through two servers; print what came of it."""
    os.environ["MATHAMR_TOKEN"] = TOKEN
    options = ["--env", env, "--data-root", str(root)]
    with run_server(options) as (one, _), run_server(options) as (two, _):
        servers = [one.address, two.address]
        end = time.monotonic() + 60 * minutes
        writers = [Writer(name, servers, end) for name in ("a", "b")]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        with httpx.Client(timeout=300) as client:
            for writer in writers:
                for key in writer.texts:
                    writer.check(client, key)
    answers = sum((writer.answers for writer in writers), Counter())
    wrong = [line for writer in writers for line in writer.wrong]
    print(
        f"{minutes:g} minutes through two servers: {dict(answers)}, {len(wrong)} wrong"
    )
    print("\n".join(wrong))


def main() -> None:
    """Run the chosen parts on a copy of a data root."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--env", default="demo")
    parser.add_argument("--data-root", type=Path, required=True)
    parser.add_argument("--only", choices=PARTS, nargs="*", default=PARTS)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "data"
        views = shutil.ignore_patterns("view-*")
        shutil.copytree(options.data_root, root, symlinks=True, ignore=views)
        add_posts(options.env, root)
        if "verify" in options.only:
            verify_damage(root, random.Random(options.seed))
        if "servers" in options.only:
            write_through_both(options.env, root, options.minutes)


if __name__ == "__main__":
    main()
