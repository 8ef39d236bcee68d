"""A tiny collection, and the ingestion pipeline run on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from kedro.framework.session import KedroSession

from mathamr_kedro.project.catalog import configure_kedro

PROJECT = Path(__file__).resolve().parents[3]

POSTS = """<?xml version="1.0" encoding="utf-8"?>
<posts>
  <row Id="1" PostTypeId="1" AcceptedAnswerId="2" Title="Why $x$?" Body="&lt;p&gt;Is \
&lt;span class=&quot;math-container&quot; id=&quot;11&quot;&gt;x^2&lt;/span&gt; even?\
&lt;/p&gt;" Tags="&lt;algebra&gt;&lt;proof&gt;" Score="4"/>
  <row Id="2" PostTypeId="2" ParentId="1" Body="&lt;p&gt;Yes.&lt;/p&gt;" Score="-1"/>
  <row Id="3" PostTypeId="2" ParentId="1" Body="&lt;p&gt;No.&lt;/p&gt;"/>
</posts>
"""
HEADER = "id post_id thread_id type comment_id old_visual_id visual_id issue formula"
TOPICS = """<Topics><Topic number="A.1"><Title>T</Title><Question>&lt;p&gt;\
&lt;span class=&quot;math-container&quot; id=&quot;q_1&quot;&gt;$x$&lt;/span&gt;\
&lt;/p&gt;</Question><Tags>a</Tags></Topic></Topics>"""


@pytest.fixture
def raw(tmp_path) -> Path:
    """A collection of three posts in the official formats."""
    folder = tmp_path / "raw"
    files = {
        "Posts.V1.3.xml": POSTS,
        "Comments.V1.3.xml": '<c><row Id="5" PostId="1" Text="so $y$"/></c>',
        "Topics/Task1/Topics_Task1.xml": TOPICS,
        "Topics/Task1/Information.csv": "Topic,Category,Difficulty,Dependency\n"
        "A.1,Proof,Low,Both\n",
        "Qrels/qrel_task1.tsv": "A.1\t0\t2\t3\nA.1\t0\t99\t0\n",
        "Qrels/qrel_task2.tsv": "B.1\t0\t70\t2\n",
    }
    for family, cell in {"latex": "x^2", "slt": "<m/>", "opt": "<c/>"}.items():
        rows = [HEADER.replace(" ", "\t"), f"11\t1\t1\tquestion\t\t70\t70\t\t{cell}"]
        name = f"Formulas/{family}_representation_v3/1.tsv"
        files[name] = "\n".join(rows) + "\n"
        name = f"Topics/Task1/Topics_Formulas_{family.upper()}.tsv"
        files[name.replace("LATEX", "Latex")] = (
            f"id\ttopic_id\tthread_id\ttype\tformula\nq_1\tA.1\t3\tquestion\t{cell}\n"
        )
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def ingest(tmp_path, raw):
    """Runs the stage on the collection and returns the catalog."""

    def run(env: str = "test", raw_root: Path = raw, **parameters):
        configure_kedro(PROJECT)
        roots = {"data_root": str(tmp_path / "data"), "raw_root": str(raw_root)}
        roots |= parameters
        with KedroSession.create(PROJECT, env=env, runtime_params=roots) as session:
            session.run(pipeline_names=["ingestion"])
        return KedroSession.create(
            PROJECT, env=env, runtime_params=roots
        ).load_context().catalog  # fmt: skip

    return run
