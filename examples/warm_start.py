"""AALpy learns a black box; its machine is constructed, and a training begins near the construction, beside one from random weights."""

import tempfile
from pathlib import Path

from aalpy.base import SUL
from aalpy.learning_algs import run_Lstar
from aalpy.oracles import RandomWordEqOracle

from mirrormata import construct, train
from mirrormata.constructions import from_aalpy
from mirrormata.models import experiment_from_dict


class Lamps(SUL):  # type: ignore[misc]  # AALpy has no types
    """`next` takes the lamps through three phases, `swap` turns their order round."""

    def pre(self) -> None:
        self.phase, self.order = 0, 1

    post = pre

    def step(self, letter: str | None) -> str:
        self.order *= -1 if letter == "swap" else 1
        self.phase = (self.phase + self.order * (letter == "next")) % 3
        return f"{self.phase} {self.order}"


machine = run_Lstar(["next", "swap"], Lamps(), RandomWordEqOracle(["next", "swap"], Lamps()), "moore", print_level=0)  # fmt: skip
print(f"AALpy found {machine.size} states")
place = Path(tempfile.mkdtemp())
from_aalpy(machine).save(place / "lamps.json")
construct(place / "lamps.json").save(place / "exact.json")
task = {"spec": str(place / "lamps.json"), "bos": False, "labels": "state"}
steps = {"steps": 150, "batch": 16, "lengths": [16, 16], "seeds": [0, 1, 2], "lr": 3e-3, "threads": 1, "device": "cpu"}  # fmt: skip
for name, start in (("exact with noise", {"path": str(place / "exact.json"), "noise": 0.05}), ("random", {})):
    model = {} if start else {"heads": 4, "head_dim": 4, "value_dim": 4, "width": 16, "householders": 2}
    settings = {"task": task, "model": model, "train": steps, "eval": {"lengths": [16]}, "start": start}
    print(name, (train(experiment_from_dict(settings, name), place / name).result or {})["accuracy"])
