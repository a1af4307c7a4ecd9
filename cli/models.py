"""The commands `train`, `eval` and `sweep`, which train and test models."""

from __future__ import annotations

import os
import re
import tomllib
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..foundation._errors import InputError, LimitError
from ..foundation._files import is_there, require_there
from ..foundation._text import count_noun
from .help import MODEL, MODELS, TASK, TRAINING, complete_spec
from .options import SPEC_HELP, Group, Json, Sets, entries_set, one_of
from .output import print_columns, print_json, print_sentence, print_table, say, show_work

if TYPE_CHECKING:
    from ..models.training._experiment import Experiment

Device = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=TRAINING,
        metavar="NAME",
        help="Device to compute on: auto (the first GPU if there is one, otherwise the CPU), cpu, cuda, cuda:1, ... The default is auto.",
    ),
]
Precision = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=TRAINING,
        metavar="NAME",
        help="Precision of the computation: fp32, or bf16 by PyTorch's autocast. The default is fp32.",
    ),
]
Logs = Annotated[
    list[str] | None,
    typer.Option(
        "--log",
        metavar="NAME",
        help="Also write the metrics for other programs: csv (the file metrics.csv), tensorboard or wandb, which need their "
        "packages. Can be repeated.",
    ),
]
Minutes = Annotated[
    float | None,
    typer.Option(
        rich_help_panel=TRAINING,
        help="Save and stop after this many minutes. The same command continues later.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(rich_help_panel=MODELS)(train)
    app.command("eval", rich_help_panel=MODELS)(evaluate)


def train(
    context: typer.Context,
    spec: Annotated[
        str,
        typer.Argument(
            metavar="SPEC",
            autocompletion=complete_spec,
            help=SPEC_HELP
            + " For language modelling, write text, text:PATH, package:FILE or tokens:FOLDER. A .toml file describes a whole experiment.",
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Write the settings, metrics, checkpoint, results and models into this folder. Required, except with --dry-run.",
        ),
    ] = None,
    family: Annotated[
        str | None,
        Sets("model.family"),
        typer.Option(
            rich_help_panel=MODEL,
            metavar="NAME",
            help="Family of the layers: deltaproduct (which is DeltaNet with one factor), mamba, gla, rwkv7, ... The default is "
            "deltaproduct.",
        ),
    ] = None,
    householders: Annotated[
        int | None,
        Sets("model.householders"),
        typer.Option(
            rich_help_panel=MODEL,
            help="Number of Householder factors per token, for the family deltaproduct. The default is 1.",
        ),
    ] = None,
    range_: Annotated[
        str | None,
        Sets("model.range", lambda text: _numbers(text, "--range")),
        typer.Option(
            "--range",
            rich_help_panel=MODEL,
            metavar="A,B",
            help="Range of the eigenvalues of the transitions: --range=0,1 or --range=-1,1. The default is -1,1.",
        ),
    ] = None,
    layers: Annotated[
        int | None,
        Sets("model.layers"),
        typer.Option(rich_help_panel=MODEL, help="Number of blocks of the model. The default is 1."),
    ] = None,
    width: Annotated[
        int | None,
        Sets("model.width"),
        typer.Option(
            rich_help_panel=MODEL, help="Number of entries of the residual stream. The default is 128."
        ),
    ] = None,
    heads: Annotated[
        int | None,
        Sets("model.heads"),
        typer.Option(rich_help_panel=MODEL, help="Number of heads in each block. The default is 4."),
    ] = None,
    protocol: Annotated[
        str | None,
        Sets("task.protocol"),
        typer.Option(
            rich_help_panel=TASK,
            metavar="NAME",
            help="Take lengths, labels and supervision from a published set-up: word_problem, formal_language (with formal_language_prefix, every prefix is asked) or error_control. Without it, "
            "the project's own defaults apply, which for an automaton are words of 32 letters.",
        ),
    ] = None,
    lengths: Annotated[
        str | None,
        Sets("train.lengths", lambda text: _span(text, "--lengths")),
        typer.Option(
            rich_help_panel=TASK,
            metavar="LENGTHS",
            help="Length of the training words in letters, such as 128 or 3-40. By default the protocol decides.",
        ),
    ] = None,
    test_lengths: Annotated[
        str | None,
        Sets("eval.lengths", lambda text: _lengths(text, "--test-lengths")),
        typer.Option(
            rich_help_panel=TASK,
            metavar="LENGTHS",
            help="Lengths of the test words in letters, such as 128,512 or 40-256. By default the protocol decides.",
        ),
    ] = None,
    steps: Annotated[
        int | None,
        Sets("train.steps"),
        typer.Option(rich_help_panel=TRAINING, help="Number of optimizer steps. The default is 1,000."),
    ] = None,
    batch: Annotated[
        int | None,
        Sets("train.batch"),
        typer.Option(
            rich_help_panel=TRAINING,
            help="Number of training words per seed in each step. The default is 256.",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        Sets("train.seeds", lambda number: _first_seeds(number)),  # noqa: PLW0108 (it stands below)
        typer.Option(
            rich_help_panel=TRAINING,
            help="Number of models to train side by side. Their seeds are 0, 1, ... The default is 1.",
        ),
    ] = None,
    start: Annotated[
        str | None,
        Sets("start.path"),
        typer.Option(
            "--from",
            rich_help_panel=TRAINING,
            metavar="PATH",
            help="Begin at the weights of a model folder or of a construction's certificate. --set start.noise=0.002 adds noise, by which a "
            "construction of S3 stays right on all words of 64 letters that were tried; by 0.1 it is right on none.",
        ),
    ] = None,
    lr: Annotated[
        float | None,
        Sets("train.lr"),
        typer.Option(
            rich_help_panel=TRAINING, help="Highest learning rate of the schedule. The default is 0.001."
        ),
    ] = None,
    precision: Annotated[Precision, Sets("train.precision")] = None,
    device: Annotated[Device, Sets("train.device")] = None,
    deterministic: Annotated[
        bool,
        Sets("train.deterministic", lambda given: given or None),
        typer.Option(
            "--deterministic", rich_help_panel=TRAINING, help="Use only deterministic algorithms of PyTorch."
        ),
    ] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SECTION.ENTRY=VALUE",
            help="Set any other entry of the experiment, for example model.conv=4. Can be repeated.",
        ),
    ] = None,
    shrink: Annotated[
        int,
        typer.Option(
            rich_help_panel=MODEL,
            metavar="N",
            help="Divide width, head_dim and value_dim of the model by N, to try a large configuration on a small machine.",
        ),
    ] = 1,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Show parameters, memory, floating-point operations, tokens and the size of the state, and train nothing.",
        ),
    ] = False,
    processes: Annotated[
        int | None,
        typer.Option(
            help="Number of processes that would share the model by FSDP, for --dry-run. The default is 1."
        ),
    ] = None,
    logs: Logs = None,
    minutes: Minutes = None,
    as_json: Json = False,
) -> None:
    """Train models on the words of an automaton, or on text.

    One model is trained and then tested for each seed. The output folder receives the settings, the metrics, a checkpoint,
    the results, and a model folder for each seed. After an interruption, the same command continues the training and gives
    the same result. With --dry-run, the command says what the training needs.

    \b
    Examples:
      mirrormata train parity -o runs/parity --protocol formal_language_prefix --seeds 4
      mirrormata train S3 --householders 2 --lengths 64 --dry-run
    """
    _check_training_arguments(spec, output, device, dry_run, processes, set_ or [])
    from ..models._layer_names import is_layer_name, name_layer
    from ..models._records import set_entry
    from ..models.training._experiment import experiment_from_dict, read_toml, shrink_model

    data: dict[str, Any] = read_toml(spec) if spec.endswith(".toml") else {"task": {"spec": spec}}
    given = entries_set(train, context.params) | dict(_assignment(text) for text in set_ or [])
    family = given.get("model.family")
    if isinstance(family, str) and is_layer_name(family):
        name_layer(family)  # it was named on the command line
    for entry, value in given.items():
        set_entry(data, entry, value)
    experiment = experiment_from_dict(data, spec)
    if shrink != 1:
        experiment = shrink_model(experiment, shrink)
    if dry_run:
        _print_estimate(experiment, spec, processes, as_json)
        return
    assert output is not None  # as was checked
    from ..models.training._train import train as run
    from .training_display import show_training

    with show_training() as display:
        outcome = run(experiment, output, minutes=minutes, logs=logs or [], watcher=display)
    if os.environ.get("RANK", "0") != "0":
        return
    if as_json:
        facts = {"folder": output, "step": outcome.step, "steps": outcome.steps, "result": outcome.result}
        print_json({**facts, "contract": outcome.contract.as_json()})
        return
    print_table(outcome.contract.task, outcome.contract.rows()[1:])
    if outcome.result is None:
        say(f"stopped at step {outcome.step:,} of {outcome.steps:,}; the same command continues")
    else:
        result = outcome.result
        for test in (result, *result.get("other_precisions", []), *result.get("other_weights", [])):
            _print_result(test, outcome.contract.labels)


def _check_training_arguments(
    spec: str,
    output: str | None,
    device: str | None,
    dry_run: bool,
    processes: int | None,
    assignments: list[str],
) -> None:
    """Refuse what can be seen to be wrong before torch is loaded: the task's name or file, options that do not go together, a device."""
    from ..constructions._spec import automaton_from_spec
    from ..models._evaluation_arguments import check_device_name
    from ..models.tasks._automaton import OTHER_TASKS, AutomatonTask
    from ..models.tasks._task import TaskSettings

    for text in assignments:
        _assignment(text)
    if output is None and not dry_run:
        raise InputError("--output is missing: name a folder for the training, or give --dry-run")
    if processes is not None and not dry_run:
        raise InputError("--processes is for --dry-run; a training has the processes that torchrun starts")
    if device is not None:
        check_device_name(device)
    if spec.endswith(".toml"):
        require_there(spec)
        return
    if is_there(spec) or spec in ("text", "recall") or spec.startswith(("regex:", *OTHER_TASKS)):
        return
    try:
        automaton_from_spec(spec, max_states=1, max_transitions=1)  # only whether there is such a name
    except LimitError:
        return
    except InputError:
        _ = AutomatonTask(TaskSettings(spec=spec)).automaton  # which says what is meant


def _print_estimate(experiment: Experiment, name: str, processes: int | None, as_json: bool) -> None:
    from ..models.training._estimate import estimate_training

    with show_work("counting"):
        found = estimate_training(experiment, processes=1 if processes is None else processes, name=name)
    if os.environ.get("RANK", "0") != "0":
        return
    if as_json:
        print_json(found.as_json())
        return
    for title, rows in found.tables():
        print_table(title, rows)


def evaluate(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER",
            help="A model folder, or a folder that `train` wrote, in which the models of all seeds are tested.",
        ),
    ],
    lengths: Annotated[
        str | None,
        typer.Option(
            metavar="LENGTHS",
            help="Lengths to test in letters, such as 128,512 or 40-256. The default is the test lengths of the task.",
        ),
    ] = None,
    words: Annotated[int, typer.Option(help="Number of random test words.")] = 256,
    seed: Annotated[int, typer.Option(help="Seed of the random test words.")] = 0,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Test on the rows of this word-problem .csv file or, for a language model, on this text file or folder.",
        ),
    ] = None,
    group: Group = None,
    chunk: Annotated[
        int,
        typer.Option(
            help="Number of tokens that are processed at once. The states are carried from one chunk to the next."
        ),
    ] = 1024,
    memory: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Test again with the memory of one layer after another, and of the lowest layers together, limited to about the last N "
            "letters.",
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Weights of a training with train.ema: average, or last for those after its last step. The default is average where there "
            "is one.",
        ),
    ] = None,
    precision: Precision = None,
    device: Device = None,
    as_json: Json = False,
) -> None:
    """Test trained models on words of any length.

    For each seed, the command prints the accuracy at each length, the fraction of words that are right throughout, the
    longest length up to which the accuracy is at least 90 %, and the first failure. No file is written.

    \b
    Examples:
      mirrormata eval runs/parity --lengths 256,4096
      mirrormata eval examples/models/s4 --words 64 --json
    """
    from ..models._evaluation_arguments import check_evaluation_arguments

    # all that is wrong in the command itself is told before torch is loaded, which takes seconds
    chosen = None if lengths is None else _lengths(lengths, "--lengths")
    arithmetic: Any = one_of(precision, "--precision", "fp32", "bf16") or "fp32"
    kept = one_of(weights, "--weights", "last", "average")
    where = device or "auto"
    check_evaluation_arguments(
        folder, words=words, seed=seed, chunk=chunk, memory=memory, data=data, group=group, device=where
    )
    from ..models._evaluation_file import evaluate_folder

    with show_work("testing") as progress:
        outcome = evaluate_folder(
            folder, lengths=chosen, words=words, seed=seed, data=data, group=group, chunk=chunk, device=where,
            memory=memory, precision=arithmetic, weights=kept, progress=progress,
        )  # fmt: skip
    if as_json:
        print_json(outcome.as_json())
        return
    print_table(outcome.contract.task, outcome.facts())
    facts = outcome.as_json()
    _print_result(facts, outcome.contract.labels)
    if "memory" in facts:
        _print_memory(facts)
    if "part" in facts:
        print_sentence(f"The model is a part {facts['part']}.")


def _first_column(result: dict[str, Any]) -> tuple[str, list[str]]:
    """The heading and cells that tell models apart: their seeds; an import has no seed of a training."""
    if "imported" in result:
        return "model", ["imported"] * len(result["seeds"])
    return "seed", [str(seed) for seed in result["seeds"]]


def _print_result(result: dict[str, Any], labels: str) -> None:
    if "bits" in result:
        _print_bits(result, labels.removeprefix("next "))
        return
    if result.get("whole_words"):
        _print_whole_words(result)
        return
    lengths = list(result["accuracy"])
    first, names = _first_column(result)
    headings = [first, *(f"accuracy {x}" for x in lengths), *(f"exact {x}" for x in lengths)]
    rows = [[*headings, "longest ≥ 90 %", "first failure"]]
    for i, name in enumerate(names):
        shown = [result["accuracy"][x][i] for x in lengths] + [result["exact"][x][i] for x in lengths]
        failure = result["first_failure"][i]
        rows.append(
            [
                name,
                *("-" if x is None else f"{x:.4f}" for x in shown),
                f"{result['longest_90'][i]:,}",
                "none"
                if failure is None
                else f"token {failure['least']:,} (median {failure['median']:,.0f})",
            ]
        )
    print_columns(
        f"{count_noun(result['words'], 'word')} of {count_noun(result['length'], 'letter')}{_say_arithmetic(result)}",
        rows,
    )


def _print_whole_words(result: dict[str, Any]) -> None:
    """Words of all lengths with one label each: how many there are of each length, and the shortest that is wrong."""
    lengths = list(result["accuracy"])
    counts = [f"accuracy {x} ({count_noun(result['words_at'][x], 'word')})" for x in lengths]
    rows = [["seed", *counts, "90 % of the words in (n/2, n] up to n =", "shortest wrong word"]]
    for i, seed in enumerate(result["seeds"]):
        shown = [result["accuracy"][x][i] for x in lengths]
        failure = result["first_failure"][i]
        rows.append(
            [
                str(seed),
                *("-" if x is None else f"{x:.4f}" for x in shown),
                f"{result['longest_90'][i]:,}",
                "none" if failure is None else count_noun(failure["least"], "letter"),
            ]
        )
    title = f"{count_noun(result['words'], 'word')} of 1 to {count_noun(result['length'], 'letter')}, one label each{_say_arithmetic(result)}"
    print_columns(title, rows)


def _print_bits(result: dict[str, Any], unit: str) -> None:
    rows = [["seed", "position", f"bits a {unit}", "perplexity", "accuracy"]]
    for i, seed in enumerate(result["seeds"]):
        for span in result["bits"]:
            shown = [result[key][span][i] for key in ("bits", "perplexity", "accuracy")]
            rows.append([str(seed), span, *("-" if x is None else f"{x:.3f}" for x in shown)])
    print_columns(
        f"{count_noun(result['words'], 'window')} of {result['length']:,} {unit}s{_say_arithmetic(result)}",
        rows,
    )


def _say_arithmetic(test: dict[str, Any]) -> str:
    """In which arithmetic a test was made; nothing for one of version 0.1, which does not say."""
    averaged = ", averaged weights" if test.get("weights") == "average" else ""
    if "precision" not in test:
        return averaged
    return f"{averaged}, tested in {test['precision']} ({test['backend']} on {test['device']})"


def _print_memory(result: dict[str, Any]) -> None:
    key = "bits" if "bits" in result else "accuracy"
    lengths = list(result[key])
    rows = [["seed", "short layers", *lengths, "longest ≥ 90 %"]]
    runs = [{"layers": [], **result}, *result["memory"]["shortened"]]
    for i, seed in enumerate(result["seeds"]):
        for run in runs:
            shown = [run[key][x][i] for x in lengths]
            rows.append(
                [
                    str(seed),
                    ", ".join(str(n) for n in run["layers"]) or "none",
                    *("-" if x is None else f"{x:.4f}" for x in shown),
                    f"{run['longest_90'][i]:,}",
                ]
            )
    letters = count_noun(result["memory"]["letters"], "letter")
    print_columns(f"{key} where short layers remember the last {letters} at most", rows)


def _numbers(text: str, option: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(re.fullmatch("-?[0-9]{1,18}", part) for part in parts):
        raise InputError(f"{option} {text}: write whole numbers separated by a comma")
    return [int(part) for part in parts]


def _first_seeds(number: int) -> list[int]:
    if not 1 <= number <= 10_000:  # as many as are trained side by side, by `models.training`
        raise InputError(f"--seeds {number:,}: give a number from 1 to 10,000; train more in parts")
    return list(range(number))


def _span(text: str, option: str) -> list[int]:
    found = re.fullmatch("([0-9]{1,18})(?:-([0-9]{1,18})?)?", text)
    if found is None:
        raise InputError(f"{option} {text}: write a length, or shortest-longest")
    return [int(found[1]), int(found[2] or found[1])]


def _lengths(text: str, option: str) -> list[Any]:
    spans = [_span(part.strip(), option) for part in text.split(",")]
    if any(not 1 <= low <= high for low, high in spans):
        raise InputError(f"{option} {text}: lengths are at least 1, and a span has its shortest length first")
    return [low if low == high else (low, high) for low, high in spans]


def _assignment(text: str) -> tuple[str, Any]:
    entry, equals, value = text.partition("=")
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value
    if not equals or "." not in entry:
        raise InputError(f"--set {text}: write section.entry=value, for example model.conv=4")
    return entry, parsed
