"""What a training needs, counted from shapes, against a real model that is trained for a step."""

from __future__ import annotations

import json
import subprocess
import sys
import weakref
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

import mirrormata
from mirrormata.foundation._errors import InputError
from mirrormata.kernels._backends import choose_backend, launch_counts, reset_launch_counts
from mirrormata.models._config import ModelConfig
from mirrormata.models._families import find_family, load_families
from mirrormata.models._model import Model
from mirrormata.models.layers._seeded import CHUNK_ROWS, SeededLinear
from mirrormata.models.training._batches import training_batches
from mirrormata.models.training._estimate import estimate_training
from mirrormata.models.training._experiment import (
    Experiment,
    experiment_from_dict,
    read_experiment,
    shrink_model,
)
from mirrormata.models.training._flops import count_flops
from mirrormata.models.training._kept import measure_kept
from mirrormata.models.training._processes import Processes, shard_of
from mirrormata.models.training._run import TrainingRun
from mirrormata.models.training._train import train
from mirrormata.tests.cli.command_line import Outcome
from mirrormata.tests.models.allocations import peak_of
from mirrormata.tests.models.training_cases import experiment, settings

ROOT = Path(mirrormata.__file__).resolve().parent
EXPERIMENTS = sorted((ROOT / "examples/experiments").glob("*.toml"))
XLSTM = ("slstm", "mlstm")
DELTA = ("deltaproduct", "gated_deltanet", "fla_delta_net", "fla_gated_deltaproduct")


def family_config(family: str, **entries: Any) -> ModelConfig:
    if family in XLSTM:
        pytest.importorskip("xlstm")
    sizes = {"letters": 5, "classes": 7, "width": 24, "layers": 3, "heads": 2, "head_dim": 12, "value_dim": 6}
    return ModelConfig(family=family, **{**sizes, **find_family(family).example, **entries})


def run_of(one: Experiment) -> tuple[TrainingRun, list[Any]]:
    task = one.build_task()
    processes = Processes("cpu", one.train.precision)
    run = TrainingRun(one, task, one.config(task), processes)
    return run, list(training_batches(task, one.train, one.train_lengths(task), range(2), processes.device))


@pytest.mark.parametrize("family", load_families())
def test_parameters_by_part_are_those_of_a_model(family: str) -> None:
    entries = {
        name: value
        for name, value in family_config(family).as_json().items()
        if name not in ("letters", "classes")
    }
    data = {"task": {"spec": "S3"}, "model": entries, "train": {"lengths": [4, 9], "device": "cpu"}}
    found = estimate_training(experiment_from_dict(data, "test"))
    model = Model(found.config)
    parts: Counter[str] = Counter()
    for name, parameter in model.named_parameters():
        place = name.split(".")
        part = place[2] if place[0] == "blocks" else place[0]
        names = {"mixer": "mixers", "mlp": "mlps", "head": "read_out", "embedding": "embedding"}
        parts[names.get(part, "norms")] += parameter.numel()
    assert {name: number for name, number in found.parts.items() if number} == dict(parts)
    assert found.parameters == model.parameter_count == found.as_json()["parameters"]["total"]


def test_a_read_out_with_the_weights_of_the_embedding_is_counted_once() -> None:
    config = ModelConfig(
        letters=9, classes=9, width=8, heads=1, head_dim=4, value_dim=4, tied=True, head_bias=False
    )
    flops = count_flops(Model(config), 5)
    assert flops.read_out == 2 * 9 * 8


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"train__ema": 0.9, "start": {"frozen": ["norms", "embedding"]}},
        {"model__family": "lstm", "train__ema": 0.5},
        {"model__layers": 3, "train__precision": "bf16", "train__seeds": [7]},
    ],
)
def test_weights_gradients_and_optimizer_have_the_bytes_of_a_training(change: dict[str, Any]) -> None:
    start = change.pop("start", {}) if "start" in change else {}
    one = experiment_from_dict({**settings(**change), "start": start}, "test")
    run, batches = run_of(one)
    run.update(batches[0].letters, batches[0].labels)
    memory = estimate_training(one).memory
    parameters = list(run.model.parameters())
    assert memory.parameters == sum(p.nbytes for p in parameters)
    assert memory.gradients == sum(p.grad.nbytes for p in parameters if p.grad is not None)
    assert memory.optimizer == sum(
        x.nbytes for state in run.optimizer.state.values() for x in state.values() if torch.is_tensor(x)
    )
    averages = [] if run.average is None else list(run.average._averages.values())
    assert memory.average == sum(x.nbytes for x in averages)


@pytest.mark.parametrize("processes", [2, 3, 7])
def test_shards_are_those_of_the_process_with_most(processes: int) -> None:
    one = experiment(train__seeds=[0], model__layers=3, model__householders=3, train__batch=14)
    found = estimate_training(one, processes=processes)
    shares = [
        sum(shard_of(p.detach(), rank, processes).nbytes for p in Model(found.config).parameters())
        for rank in range(processes)
    ]
    assert found.memory.parameters == max(shares)
    assert found.memory.optimizer - 2 * found.memory.gradients == 4 * len(
        list(Model(found.config).parameters())
    )


@pytest.mark.parametrize("family", load_families())
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_what_is_kept_for_gradients_is_what_torch_keeps(family: str, precision: str) -> None:
    """Words of two and of many chunks; of a model with a third block, of which two are run."""
    # torch's own LSTM runs by oneDNN in float32, and in bfloat16 where the processor has instructions for it
    fused = precision == "fp32" or torch.ops.mkldnn._is_mkldnn_bf16_supported()
    if family in XLSTM or (family == "lstm" and fused):
        pytest.skip("its kernels on a CPU keep other tensors than those that torch declares")
    tokens = 300 if family in DELTA else 70
    config = family_config(family, conv=0 if family in ("transformer", "rwkv7", "lstm") else 3)
    found = measure_kept(config, 2, 3, tokens, precision)  # type: ignore[arg-type]
    model = Model(config, (0, 1))
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    saved = []

    class Saved:
        def __init__(self, x: torch.Tensor) -> None:
            self.x = x

    def save(x: torch.Tensor) -> Saved:
        one = Saved(x)
        saved.append(weakref.ref(one))
        return one

    letters = torch.zeros(2, 3, tokens, dtype=torch.int64)
    with torch.autograd.graph.saved_tensors_hooks(save, lambda one: one.x):
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            logits, states = model(letters)
        loss = F.cross_entropy(logits.flatten(0, 2).float(), letters.flatten(), reduction="none").view(
            2, -1
        ).sum(1) / torch.ones(2)
    storages = {
        one.x.untyped_storage().data_ptr(): one.x.untyped_storage().nbytes()
        for one in (reference() for reference in saved)
        if one is not None
    }
    expected = sum(size for place, size in storages.items() if place not in own)
    assert loss.requires_grad
    assert len(states) == 3
    # a chunk of 21 tokens, for three factors, does not divide the words that are run
    assert found.bytes(3, False) == pytest.approx(
        expected, rel=0.05 if tokens > 256 and config.householders == 3 else 0
    )


@pytest.mark.parametrize(
    ("change", "least", "most"),
    [
        ({}, 1.0, 1.08),
        ({"model__family": "transformer"}, 1.0, 1.08),
        ({"model__family": "gated_deltanet", "train__precision": "bf16"}, 1.0, 1.1),
        ({"model__householders": 2, "train__accumulate": 4}, 1.0, 1.1),
        # gradients inside a block come on top of what the block keeps
        ({"train__checkpointing": True}, 1.0, 1.5),
        # the scan in plain torch computes the states of a segment again
        ({"model__family": "mamba2"}, 1.0, 1.6),
    ],
)
def test_the_peak_of_a_step_is_near_the_estimate(change: dict[str, Any], least: float, most: float) -> None:
    """Measured on a small model on a CPU; what was allocated before is left out."""
    sizes: dict[str, Any] = {
        "model__width": 64, "model__layers": 4, "model__head_dim": 32, "model__value_dim": 32, "model__mlp": 2.0,
        "train__batch": 16, "train__lengths": [64, 64], "train__seeds": [0],
    }  # fmt: skip
    one = experiment(**{**sizes, **change})
    run, batches = run_of(one)
    run.update(batches[0].letters, batches[0].labels)
    run.optimizer.zero_grad(set_to_none=True)
    peak = peak_of(lambda: run.update(batches[1].letters, batches[1].labels))
    memory = estimate_training(one).memory
    assert least <= peak / (memory.gradients + memory.activations + memory.loss) <= most


def counted(config: ModelConfig, words: int, tokens: int) -> tuple[int, int, int]:
    """Operations of matrix products that torch counts: forward, of them in linear maps, backward."""
    model = Model(config)
    inside = [0]
    with FlopCounterMode(display=False) as counter:
        for module in model.modules():
            if isinstance(module, SeededLinear | torch.nn.Linear):
                begun: list[int] = []
                module.register_forward_pre_hook(lambda *_, b=begun: b.append(counter.get_total_flops()))
                module.register_forward_hook(
                    lambda *_, b=begun: inside.__setitem__(0, inside[0] + counter.get_total_flops() - b.pop())
                )
        logits, _ = model(torch.randint(config.letters, (1, words, tokens)))
        forward = counter.get_total_flops()
        logits.square().sum().backward()
        return forward, inside[0], counter.get_total_flops() - forward


@pytest.mark.parametrize("family", [name for name in load_families() if name not in (*XLSTM, "lstm")])
def test_operations_of_linear_maps_are_those_that_torch_counts(family: str) -> None:
    config = family_config(family)
    flops = count_flops(Model(config), 37)
    assert counted(config, 3, 37)[1] == 3 * 37 * (flops.linear + flops.read_out)


@pytest.mark.parametrize("family", DELTA)
@pytest.mark.parametrize("tokens", [20, 64, 150])
def test_operations_of_products_of_factors_are_those_that_torch_counts(family: str, tokens: int) -> None:
    """Torch counts matrix products alone, so the triangular systems are left out; plain torch takes W S0 twice."""
    config = family_config(family, initial="learned", output_gate=True)
    words = 3
    flops = count_flops(Model(config), tokens)
    K, V, factors = config.head_dim, config.value_dim, config.householders
    R = min(CHUNK_ROWS // factors, tokens)
    C, heads = R * factors, words * config.heads * config.layers * -(-tokens // R)
    solving, twice = heads * C * C * (K + V), heads * 2 * C * K * V
    forward, _, backward = counted(config, words, tokens)
    assert flops.recurrence is not None
    # each figure for a token is rounded down
    mine = words * tokens * (flops.linear + flops.read_out)
    exact = words * tokens * config.layers * find_family(family).work(config, tokens)  # type: ignore[misc]
    assert forward == pytest.approx(mine + exact - solving + twice, rel=1e-12)
    # the solution's gradient is another solution and a product, of which torch counts both halves: 2 C² (K + V); the loss does not ask for
    # the last state, so two products of the last chunk have no gradients
    last = words * config.heads * config.layers * 2 * C * K * V
    assert backward == pytest.approx(2 * (mine + exact - solving + twice) + 2 * solving - 4 * last, rel=1e-12)
    assert flops.recurrence == config.layers * int(find_family(family).work(config, tokens))  # type: ignore[misc]
    assert flops.backward == 2 * flops.forward


def test_operations_of_attention_and_of_any_matrix_are_those_that_torch_counts() -> None:
    tokens = 37
    attention = family_config("transformer", classes=5)
    flops = count_flops(Model(attention), tokens)
    with sdpa_kernel(SDPBackend.MATH):  # whose products torch counts
        forward, linear, _ = counted(attention, 3, tokens)
    # torch counts all pairs of tokens, and half of them and the diagonal are there
    assert (forward - linear) * (tokens + 1) == 2 * tokens * 3 * tokens * flops.recurrence  # type: ignore[operator]
    matrix = family_config("matrix", range=(0, 1))
    flops = count_flops(Model(matrix), tokens)
    forward, linear, _ = counted(matrix, 3, tokens)
    written = (
        2 * matrix.head_dim * matrix.value_dim * matrix.heads * matrix.layers
    )  # k vᵀ is no matrix product
    assert forward - linear == 3 * tokens * (flops.recurrence - written)  # type: ignore[operator]


def test_what_is_frozen_has_no_gradient_of_its_weights_and_checkpointing_computes_blocks_again() -> None:
    model = Model(ModelConfig(letters=4, classes=5, width=8, heads=1, head_dim=4, value_dim=4))
    whole = count_flops(model, 64)
    assert whole.recomputed == 0
    assert whole.total == 3 * whole.forward
    again = count_flops(model, 64, checkpointing=True)
    assert again.recomputed == again.forward - again.read_out
    for block in model.blocks:
        block.mlp.requires_grad_(False)
    assert whole.backward - count_flops(model, 64).backward == 2 * (3 * 16 * 8)


@pytest.mark.parametrize(("family", "share"), [("mamba", 0.5), ("deltaproduct", 0.5), ("gla", 0.95)])
def test_kernels_keep_less_than_plain_torch_and_none_is_launched(family: str, share: float) -> None:
    """Plain torch keeps every token's state, or a chunk's triangles; kernels compute them again."""
    config = family_config(family)
    reset_launch_counts()
    plain, kernels = (measure_kept(config, 1, 3, 48, "fp32", kernels=given) for given in (False, True))
    assert kernels.block < share * plain.block
    assert kernels.around < plain.around  # norms
    assert kernels.stream == plain.stream
    assert launch_counts() == {}
    assert choose_backend("auto", torch.device("cpu")) == "torch"  # as before


def test_every_family_but_a_users_and_xlstm_counts_its_recurrence() -> None:
    assert {name for name, family in load_families().items() if family.work is None} == set(XLSTM)


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_the_configurations_have_the_sizes_of_their_names(path: Path) -> None:
    found = read_experiment(path)
    small = shrink_model(found, 16)
    assert small.model["width"] * 16 == found.model["width"]
    estimate = estimate_training(
        msgspec.structs.replace(found, train=msgspec.structs.replace(found.train, device="cuda"))
    )
    expected = {
        "deltanet_340m": 374_363_136, "deltanet_1_3b": 1_365_679_104, "gated_deltanet_340m": 512_526_072,
        "gated_deltanet_1_3b": 1_387_861_752, "deltaproduct_340m": 425_088_000, "deltaproduct_1_3b": 1_568_185_344,
    }  # fmt: skip
    assert estimate.parameters == expected[path.stem]
    assert len(EXPERIMENTS) == len(expected)


def test_deltanet_has_the_parameters_of_the_published_model() -> None:
    """By hand from the shapes of FLA's configuration; ours has a row more in the embedding, for the end of a document."""
    D, layers, heads, hidden, vocabulary = 2048, 24, 16, 5632, 32000
    block = 4 * D * D + 3 * 4 * D + heads * D + D // heads + 3 * D * hidden + 2 * D
    assert 2 * vocabulary * D + layers * block + D == 1_365_679_104 - D


def test_a_dry_run_of_a_billion_parameters_takes_little_memory_and_writes_nothing(tmp_path: Path) -> None:
    program = (
        "import resource, sys\n"
        "from mirrormata.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)\n"
    )
    path = ROOT / "examples/experiments/deltanet_1_3b.toml"
    command = [sys.executable, "-c", program, "train", str(path), "--dry-run", "--json", "--device", "cuda"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True, timeout=300)
    found = json.loads(done.stdout)
    assert found["parameters"]["total"] == 1_365_679_104
    assert found["memory"]["parameters"] == 4 * 1_365_679_104
    kilobytes = int(done.stderr.split()[-1])
    assert 1024 * kilobytes < found["memory"]["parameters"] / 3
    assert list(tmp_path.iterdir()) == []


def test_the_table_and_its_numbers(call: Any) -> None:
    arguments = ("train", "S3", "--householders", "2", "--lengths", "8-64", "--dry-run", "--device", "cpu")
    shown: Outcome = call(*arguments)
    assert shown.status == 0
    assert "deltaproduct, 1 layer: parameters" in shown.out
    found = json.loads(call(*arguments, "--json").out)
    assert found["tokens"]["length"] == 65
    assert found["tokens"]["step"] == 256 * 65
    assert f"{found['parameters']['total']:,}" in shown.out
    assert (
        sum(found["parameters"][part] for part in ("embedding", "mixers", "mlps", "norms", "read_out"))
        == found["parameters"]["total"]
    )
    assert found["memory"]["total"] == sum(size for name, size in found["memory"].items() if name != "total")
    assert found["flops"]["step"]["total"] == found["flops"]["token"]["total"] * found["tokens"]["step"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("S3",), "--output is missing: name a folder for the training, or give --dry-run"),
        (
            ("S3", "-o", "x", "--processes", "2"),
            "--processes is for --dry-run; a training has the processes that torchrun starts",
        ),
        (("S3", "--dry-run", "--processes", "0"), "--processes is 0: at least 1 is needed"),
        (
            ("S3", "--dry-run", "--processes", "2", "--seeds", "2"),
            "--processes: FSDP shards one model; give one seed",
        ),
        (
            ("S3", "--dry-run", "--shrink", "3"),
            "--shrink is 3, and model.width is 128, which is no multiple of it",
        ),
        (("S3", "--dry-run", "--shrink", "0"), "--shrink is 0: at least 1 is needed"),
    ],
)
def test_bad_options_are_one_line(
    arguments: tuple[str, ...], error: str, call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome: Outcome = call("train", *arguments)
    assert (outcome.status, outcome.err) == (2, f"error: {error}\n")
    assert list(tmp_path.iterdir()) == []


def test_a_shrunk_training_has_the_smaller_sizes(tmp_path: Path) -> None:
    small = shrink_model(experiment(), 4)
    assert {name: small.model[name] for name in ("width", "head_dim", "value_dim")} == {
        "width": 4,
        "head_dim": 2,
        "value_dim": 2,
    }
    train(small, tmp_path / "x")
    assert json.loads((tmp_path / "x/settings.json").read_text())["model"]["width"] == 4
    with pytest.raises(InputError, match="no multiple"):
        shrink_model(experiment(), 3)


def test_the_estimate_is_in_the_results_too(tmp_path: Path) -> None:
    one = experiment()
    result = train(one, tmp_path / "x").result
    found = estimate_training(one)
    assert result is not None
    assert result["training"]["parameters"] == found.parameters
    assert result["training"]["state"] == found.state


def test_the_text_names_the_device_the_parts_of_a_step_and_what_is_computed_again() -> None:
    settings = {
        "task": {"spec": "parity"},
        "train": {"steps": 10, "batch": 8, "accumulate": 4, "checkpointing": True, "device": "cpu"},
    }
    found = estimate_training(experiment_from_dict(settings, "x"))
    assert found.device == "cpu"
    texts = dict(found.rows())
    assert any("on a CPU, torch, blocks computed again" in label for label in texts)
    assert texts["tokens: at a time"] == "2 words, since train.accumulate is 4"
    assert found.as_json()["flops"]["training"] == 10 * found.tokens_a_step * found.flops.total
    assert texts["operations: all steps"]


@pytest.mark.parametrize(
    "path", [path for path in EXPERIMENTS if path.stem.endswith("_340m")], ids=lambda path: path.stem
)
def test_the_title_of_an_experiment_has_its_parameters(path: Path) -> None:
    found = estimate_training(read_experiment(path))
    assert (
        f"with {round(found.parameters / 1e6)} million parameters here" in path.read_text().partition("\n")[0]
    )
