"""What each process of a training does; it must be importable in a new process."""

from __future__ import annotations

import os
import signal
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import torch
import torch.distributed as dist

from mathamr_kedro.graph import GraphShards
from mathamr_kedro.learning import distillation
from mathamr_kedro.learning.config import TrainingConfig
from mathamr_kedro.learning.inputs import TrainingInputs
from mathamr_kedro.learning.pairs import TrainingPairs
from mathamr_kedro.learning.processes import Processes
from mathamr_kedro.learning.trainer import EncoderLearner, run_training

# Importing torch takes longer than these trainings: one server does it for all.
_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__])

TEACHER_WIDTH = 64
"""Instead of 2,048 hashed patterns, whose eigenvectors take longer than a training."""


class Job(NamedTuple):
    """A training of two processes."""

    graphs: Path
    pairs: TrainingPairs
    config: TrainingConfig
    out: Path
    killed: tuple[int, int] | None = None
    """Rank of a process that dies, and how many steps it does before."""
    has_common_folder: bool = True


def run_two(job: Job) -> list[int | None]:
    """Run the job; return the exit codes. Writes ``rank_0.pt``, ``error_0``, ..."""
    job.out.mkdir(exist_ok=True)
    # The first process listens at a port that the system chooses, and tells the other.
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    processes = [
        _CONTEXT.Process(target=_train, args=(job, rank, store.port)) for rank in (0, 1)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(200)
        process.kill()
        process.join()
    return [process.exitcode for process in processes]


def _train(job: Job, rank: int, port: int) -> None:
    torch.set_num_threads(1)
    distillation._WIDTH = TEACHER_WIDTH
    store = dist.TCPStore("127.0.0.1", port, is_master=False)
    os.environ["WORLD_SIZE"] = "2"
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    try:
        _run(job, rank)
    except Exception as exc:
        (job.out / f"error_{rank}").write_text(str(exc))
        os._exit(1)
    dist.destroy_process_group()


def _run(job: Job, rank: int) -> None:
    given = TrainingInputs(GraphShards(job.graphs), job.pairs, job.config)
    out = job.out if job.has_common_folder else job.out / str(rank)
    out.mkdir(exist_ok=True)
    with Processes.join(torch.device("cpu")) as (processes, device):
        learner = EncoderLearner(given, processes, device, out)
        run, done = learner.runner.run, list[int]()

        def run_or_die(number: int) -> None:
            if job.killed == (rank, len(done)):
                os.kill(os.getpid(), signal.SIGKILL)
            run(number)
            done.append(number)

        learner.runner.run = run_or_die  # type: ignore[method-assign]
        run_training(given, learner, processes, out)
        torch.save(learner.export_state(), job.out / f"rank_{rank}.pt")
