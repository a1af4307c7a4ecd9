"""What `compare_versions` runs on the command line of both checkouts: chains of commands about automata, theorems, models, claims."""

from __future__ import annotations

from dataclasses import dataclass

THEOREMS = (
    *("G.T3", "DP.T4", "H.A5inv", "own.LMI", "G.T6", "DP.T7", "DP.T1", "own.T2tight", "G.T4", "own.n-1"),
    *("S.star-free", "DP.T2", "DP.T6", "G.A3"),
)
SMALL = (
    "parity",
    "mod:3",
    "S3",
    "Q8",
    "cycle:5",
    "flipflop",
    "T3",
    "tomita:4",
    "A5[involutions]",
    "gridworld:3",
)
NAMED = (
    *(
        "mod:60",
        "Z5",
        "S4",
        "A4",
        "dihedral:3",
        "dihedral:5[generators]",
        "S3_x_Z2",
        "Z2_x_Z3_x_Z5",
        "S4[transpositions]",
    ),
    *(
        "A5[generators]",
        "S3[in_2_tokens]",
        "permreset:2",
        "T2",
        "T4",
        "T2[all]",
        "gridworld:3",
        "gridworld:9",
    ),
    *(f"tomita:{i}" for i in (1, 2, 4, 5, 6, 7)),
    *(
        "starladder:ab",
        "dn:3",
        "dyck1:2",
        "dyck:2,2",
        "mod_arith:2",
        "mod_arith:3",
        "codeswap:3",
        "boxes:2,2",
    ),
    *(
        "random:states=4,letters=2,seed=1",
        "random:states=6,letters=3,seed=2",
        "random:states=7,letters=2,seed=5",
    ),
)
REGEXES = (("(aa)*", "a"), ("(ab)*", "ab"), ("a(a|b)*b", "ab"), ("((a|b)(a|b))*", "ab"), ("(a|bc)*c?", "abc"))
LARGE = {"chess", "Z60", "S5", "S5[in_4_tokens]", "S5[up_to_3]", "mod_arith:5", "mod_arith:2,1"}
"""Without spectra, and with fewer options."""
QUICK = ("parity", "S3", "flipflop", "cycle:5", "tomita:4", "A5[involutions]")
PROVED_QUICKLY = {"S3", "flipflop", "tomita:4"}

Command = tuple[str, list[str]]


@dataclass(frozen=True)
class Chain:
    """Commands that run after each other in one folder; data and models lie in `../../inputs`."""

    name: str
    commands: list[Command]


def construction(spec: str, *options: str, lengthy: bool = False, quick: bool = False) -> Chain:
    """All that is asked about one automaton."""
    s = [spec, *options]
    plan = ["plan", *s, "--json", "--bounds", "bounds.json"]
    commands: list[Command] = [
        ("figures", ["inspect", *s, "--json"]),
        ("certificates", ["construct", *s, "--json", "-o", "made.json"]),
        ("checkers", ["check", "made.json", "--json"]),
        ("checkers", ["check", "made.json", "--json", "--for", *s]),
        ("figures", ["run", "made.json", "--random", "3", "--length", "97", "--seed", "5", "--json"]),
    ]
    prove = ["prove", "made.json", *s, "--json", "--max-states", "1000", "-o", "proof.json"]
    if not lengthy:
        commands += [
            ("figures", plan),
            ("figures", ["spectrum", "made.json", "--json", "--max-letters", "12", "--max-dim", "8"]),
            ("certificates", ["construct", *s, "--json", "--exactness", "integer", "-o", "integer.json"]),
            ("certificates", ["export", "npz", "made.json", "-o", "made.npz"]),
            ("certificates", ["export", "safetensors", "made.json", "-o", "made.safetensors"]),
        ]
    if not lengthy and (not quick or spec in PROVED_QUICKLY):
        commands.append(("verdicts", prove))
    if not lengthy and not quick:
        commands += [
            *(
                (
                    "figures",
                    [
                        "run",
                        "made.json",
                        "--random",
                        "2",
                        "--length",
                        "61",
                        "--json",
                        "--dtype",
                        dtype,
                        *extra,
                    ],
                )
                for dtype, extra in (
                    ("exact", []),
                    ("fp32", []),
                    ("fp8_e4m3", []),
                    ("fp64", ["--sequential"]),
                )
            ),
            ("certificates", ["plan", *s, "--json", "--max-layers", "3", "--bounds", "few.json"]),
            ("certificates", ["construct", *s, "--json", "--coordinates", "one_hot", "-o", "one_hot.json"]),
            ("certificates", ["construct", *s, "--json", "--wiring", "printed", "-o", "printed.json"]),
            ("certificates", ["construct", *s, "--json", "--max-layers", "1", "-o", "one_layer.json"]),
            ("certificates", ["construct", *s, "--json", "--max-householders", "1", "-o", "one_factor.json"]),
            ("figures", ["construct", *s, "--show", "--max-letters", "100"]),
            ("figures", ["construct", *s, "--latex", "--max-letters", "100"]),
            ("certificates", ["inspect", *s, "--json", "--write", "written.json"]),
            ("certificates", ["inspect", *s, "--json", "--write", "written.dot"]),
        ]
    return Chain(spec, commands)


def theorems_of(spec: str, names: tuple[str, ...]) -> Chain:
    """The construction of each theorem, block delays included, where it is on offer."""
    commands: list[Command] = []
    for name in names:
        file = f"{name}.json"
        commands += [
            ("certificates", ["construct", spec, "--json", "--theorem", name, "-o", file]),
            ("checkers", ["check", file, "--json"]),
            ("figures", ["run", file, "--random", "2", "--length", "53", "--dtype", "fp32", "--json"]),
        ]
    return Chain(f"{spec} by theorem", commands)


def models_of(spec: str, arithmetics: tuple[str, ...]) -> Chain:
    """Weights that hold a construction, and what is proved of them; the smallest training."""
    train = [
        "train",
        spec,
        "--width",
        "16",
        "--heads",
        "2",
        "--lengths",
        "8",
        "--test-lengths",
        "16",
        "--device",
        "cpu",
    ]
    return Chain(
        f"{spec} as a model",
        [
            ("certificates", ["construct", spec, "--json", "-o", "made.json"]),
            ("kernels", ["export", "model", "made.json", spec, "-o", "model"]),
            ("kernels", ["export", "fla", "made.json", "-o", "fla"]),
            *(
                (
                    "verdicts",
                    [
                        "prove",
                        "model",
                        spec,
                        "--json",
                        "--max-states",
                        "2000",
                        "--arithmetic",
                        a,
                        "-o",
                        f"{i}.json",
                    ],
                )
                for i, a in enumerate(arithmetics)
            ),
            ("kernels", ["eval", "model", "--json", "--lengths", "33", "--words", "8", "--device", "cpu"]),
            ("kernels", [*train, "--steps", "3", "--batch", "8", "--householders", "2", "-o", "trained"]),
        ],
    )


def chains(quick: bool, library: list[str], files: list[str]) -> list[list[Chain]]:
    """Lists of chains, each for one process."""
    if quick:
        small = [construction(spec, quick=True) for spec in QUICK]
        return [
            [*small, Chain("library", [("figures", ["inspect", "--library", "--json"])])],
            [claims("PD", "S")],
        ]
    specs = list(dict.fromkeys([*library, *NAMED]))
    automata = [construction(spec, lengthy=spec in LARGE) for spec in specs]
    automata += [construction(f"regex:{pattern}", "--alphabet", letters) for pattern, letters in REGEXES]
    automata += [construction(f"../../inputs/data/cases/{file}") for file in files]
    automata += [construction("S3", "--product", "right"), construction("tomita:4", "--track", "output")]
    bounds = Chain(
        "library", [("figures", ["inspect", "--library"]), ("figures", ["inspect", "--library", "--json"])]
    )
    arithmetics = ("kernel:recurrent:fp32", "kernel:recurrent:bf16", "per_step:bf16")
    learned = Chain(
        "learned layers",
        [
            (
                "verdicts",
                ["compare", "../../inputs/models/s4", "S4", "--json", "--words", "8", "--length", "64"],
            ),
            (
                "verdicts",
                [
                    "compare",
                    "../../inputs/decay.npz",
                    "parity",
                    "--json",
                    "--words",
                    "8",
                    "-o",
                    "impossible.json",
                ],
            ),
            (
                "verdicts",
                ["prove", "../../inputs/decay.npz", "parity", "--json", "--arithmetic", "per_op:bf16"],
            ),
            ("figures", ["spectrum", "../../inputs/decay.npz", "--json", "--products", "3"]),
            (
                "kernels",
                [
                    "eval",
                    "../../inputs/models/s4",
                    "--json",
                    "--lengths",
                    "32",
                    "--words",
                    "8",
                    "--device",
                    "cpu",
                ],
            ),
        ],
    )
    models = [models_of("S3", arithmetics), models_of("cycle:5", arithmetics[:2]), learned]
    theorems = [theorems_of(spec, THEOREMS) for spec in SMALL]
    # One process takes every fourth automaton, so that processes end at about the same time.
    return [
        [claims("DP", "CK", "PD", "R7", "S", "PT"), *models],
        [claims("G", "KR", "E", "H", "own")],
        theorems,
        *([bounds, *automata[i::4]] if i == 0 else automata[i::4] for i in range(4)),
    ]


def claims(*sources: str) -> Chain:
    """The claims of these sources, checked quickly, and what is recorded of them."""
    commands: list[Command] = []
    for source in sources:
        commands += [
            ("verdicts", ["verify", "--quick", "--source", source, "--json", "--jobs", "1"]),
            ("verdicts", ["claims", "--source", source, "--json"]),
        ]
    return Chain(f"claims of {', '.join(sources)}", commands)
