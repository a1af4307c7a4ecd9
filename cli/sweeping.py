"""The command `sweep`, which trains a grid of models, here or as tasks of SLURM or Ray."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..foundation._errors import InputError
from ..foundation._files import require_there
from .help import MODELS
from .models import Logs, Minutes
from .options import Json
from .output import print_columns, print_json, say


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(rich_help_panel=MODELS)(sweep)


def sweep(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The .toml file that describes the sweep.")],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Write the results into this folder, which several processes or machines may share.",
        ),
    ],
    on: Annotated[
        str,
        typer.Option(
            metavar="SYSTEM",
            help="Where cells are trained: local, on this machine; slurm, each as a job of SLURM; or ray, each as a task of Ray.",
        ),
    ] = "local",
    workers: Annotated[
        int | None,
        typer.Option(
            help="Number of cells that are trained at once, each in a process of its own. On this machine, the default is one after the "
            "other in this process; the default for slurm is 16, and for ray as many as the cluster has cores, or GPUs with --gpus."
        ),
    ] = None,
    gpus: Annotated[int, typer.Option(help="Number of GPUs of each task of slurm or ray.")] = 0,
    partition: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Partition for the jobs of slurm. By default the cluster chooses one."
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="MINUTES",
            help="Time limit of each job of slurm. The default is 60 minutes. A training that takes longer is saved and goes on in another job.",
        ),
    ] = None,
    slurm: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="A further parameter of the jobs of slurm: cpus_per_task, mem_gb, or an option of sbatch, such as account=NAME. With "
            "cluster=local, processes of this machine take the place of jobs. Can be repeated.",
        ),
    ] = None,
    minutes: Minutes = None,
    logs: Logs = None,
    table: Annotated[bool, typer.Option("--table", help="Show the results so far without training.")] = False,
    picture: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Draw a curve for each row (the median over its seeds at every position) to this .png, .pdf or .svg file.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Train a grid of models and show the results as a table.

    The command reads the grid from a .toml file and trains the cells that are not yet in the output folder. A cell is one
    experiment for some of its seeds. With --on slurm or --on ray, each cell is a task of its own, and the command waits for all of them. The exit status is 1
    while cells are missing. `mirrormata report` shows the folder as a page.

    \b
    Examples:
      mirrormata sweep grid.toml -o results --minutes 60
      mirrormata sweep grid.toml -o results --on slurm --gpus 1 --time-limit 240
    """
    given = {
        "workers": workers,
        "gpus": gpus or None,
        "partition": partition,
        "time_limit": time_limit,
        "slurm": slurm,
    }
    where, parameters = _system(on, given), _parameters(slurm)
    require_there(file)
    # here, so that what is wrong in the command is told before torch is loaded, which takes seconds
    from ..models.sweeps._run import SweepFolder, run_sweep
    from ..models.sweeps._slurm import TIME_LIMIT
    from ..models.sweeps._submit import submit_sweep
    from ..models.sweeps._sweep import read_sweep
    from ..models.sweeps._table import sweep_caption, sweep_json, sweep_reading, sweep_table

    wanted = read_sweep(file)
    place = SweepFolder(Path(output))
    if picture is not None:
        from ..models.sweeps._table import draw_sweep, picture_format

        picture_format(picture)  # refused before anything is trained
    tell = partial(say, error=True)
    if table:
        pass
    elif where == "local" and workers is None:
        run_sweep(wanted, place, minutes=minutes, logs=logs or [], say=tell)
    else:
        submit_sweep(
            wanted, place, where, workers=workers, minutes=minutes, logs=logs or [], partition=partition,
            time_limit=TIME_LIMIT if time_limit is None else time_limit, gpus=gpus, parameters=parameters, say=tell,
        )  # fmt: skip
    if as_json:
        print_json(sweep_json(wanted, place))
    else:
        print_columns(f"{sweep_caption(wanted, place)} {sweep_reading(wanted)}", sweep_table(wanted, place))
    if picture is not None and not draw_sweep(wanted, place, picture):
        say(f"{picture}: not drawn, because no row is finished", error=True)
    if not place.finished(wanted):
        raise typer.Exit(1)


def _system(on: str, given: dict[str, Any]) -> Any:
    """Where the sweep runs; an option of another system is refused before anything is trained."""
    only = {"slurm": ("partition", "time_limit", "slurm", "gpus"), "ray": ("gpus",), "local": ()}
    if on not in only:
        raise InputError(f"--on {on}: it is local, slurm or ray")
    for name, value in given.items():
        if value is not None and name not in (*only[on], "workers"):
            systems = " or ".join(system for system, names in only.items() if name in names)
            raise InputError(
                f"`{name}` is for {systems}, and the sweep runs on {on}: leave it out, or give --on"
            )
    return on


def _parameters(texts: list[str] | None) -> dict[str, str]:
    found = {}
    for text in texts or []:
        key, equals, value = text.partition("=")
        if not key.strip() or not equals:
            raise InputError(f"--slurm {text}: write key=value, for example account=NAME")
        found[key.strip()] = value.strip()
    return found
