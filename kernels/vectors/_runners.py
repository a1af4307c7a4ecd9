"""Public implementations with the signature that is tested, each with the formats in which it says that it computes.

A runner only carries arguments over: names, layouts, and a scale that the function does not take is multiplied into the queries,
which is exact since the factor is a power of two. What a function does not do raises `NotImplementedError`.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any

from ...foundation._arguments import show_error, show_value
from ...foundation._errors import InputError, MirrormataError, MissingExtraError
from ...foundation._extras import EXTRAS, needed_by
from ._calling import Contract, Function

FLOAT32 = Contract()
MIXED = tuple(
    Contract(inputs=name, outputs=name, products=products)
    for name in ("bf16", "fp16")
    for products in ("fp32", name)
)
"""16-bit inputs and outputs, all else in float32: with products of float32 and with products of the inputs' format."""


@dataclass(frozen=True)
class Runner:
    """A public implementation.

    Attributes:
        name: as `mirrormata vectors` takes it: PACKAGE/FUNCTION.
        operator: a key of `OPERATORS`.
        load: imports what it needs and returns the function.
        packages: the distributions whose versions a result is about.
        contracts: the formats in which it is tested, the first one by default.
        framework: of its arrays.
        on_gpu: whether it needs a GPU.
    """

    name: str
    operator: str
    load: Callable[[], Function]
    packages: tuple[str, ...]
    contracts: tuple[Contract, ...] = (FLOAT32,)
    framework: str = "torch"
    on_gpu: bool = False


def find_runner(name: str) -> Runner | None:
    """The runner of a name; None if there is none."""
    return next((runner for runner in RUNNERS if runner.name == name), None)


def require_gpu(name: str, device: str) -> None:
    """Refuse an implementation that needs a GPU where there is none; Triton's interpreter runs ours without.

    Args:
        name: of the implementation.
        device: where torch's tensors are.

    Raises:
        InputError: torch finds no GPU, or the device is the CPU.
    """
    if name.startswith("mirrormata/") and os.environ.get("TRITON_INTERPRET") == "1":
        return
    with needed_by(name):
        import torch
    if not torch.cuda.is_available():
        raise InputError(
            f"{name}: it needs a GPU, and torch finds none on this machine; run it where there is one"
        )
    if device == "cpu":
        raise InputError(f"{name}: it needs a GPU; name it as the device, such as cuda")


def load_runner(runner: Runner) -> Function:
    """The function of a public implementation.

    Args:
        runner: the implementation.

    Raises:
        InputError: what it needs is not installed, or another version is.
    """
    try:
        return runner.load()
    except (MirrormataError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise InputError(
            f"{runner.name}: it cannot be loaded: {show_error(error)}; look at the versions of {', '.join(runner.packages)}"
        ) from None


def load_function(name: str) -> Function:
    """The function that `module:function` names.

    Args:
        name: such as `my_package.kernels:delta_rule`; the module is looked for in the current folder first, and dots behind the
            colon lead into classes.

    Raises:
        InputError: there is no such module or function, or the module cannot be imported.
    """
    module, colon, path = name.partition(":")
    if not colon or not module or not path:
        known = ", ".join(runner.name for runner in RUNNERS)
        raise InputError(f"{show_value(name)}: write module:function, or one of {known}")
    here = os.getcwd()
    added = here not in sys.path  # the installed command, unlike `python -m`, does not look there
    if added:
        sys.path.insert(0, here)
    try:
        found: Any = _module(module, show_value(name))
    except InputError:
        if added:
            sys.path.remove(here)
        raise
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except KeyboardInterrupt:
            raise
        except BaseException:  # a module's own __getattr__ may raise anything
            raise InputError(f"{show_value(name)}: {module} has no {path}") from None
    if not callable(found):
        raise InputError(f"{show_value(name)}: {path} is no function")
    function: Function = found
    return function


def _module(name: str, what: str) -> Any:
    """Import a module; what is not installed is one line."""
    try:
        with needed_by(what):
            return import_module(name)
    except ModuleNotFoundError as error:
        package = (error.name or name).partition(".")[0]
        if package in EXTRAS:
            raise
        raise InputError(
            f"{what}: no module {error.name or name} in {os.getcwd()} or among the installed packages; go to its folder, or install it"
        ) from None
    except (MissingExtraError, KeyboardInterrupt):
        raise
    except BaseException as error:  # SystemExit as well
        raise InputError(f"{what}: {name} cannot be imported: {show_error(error)}") from error


def padded(function: Function, width: int) -> Function:
    """A function called with heads of a width that it needs: K and V are filled up with zeros, which change no sum.

    Args:
        function: see `check_vectors`.
        width: of the keys and values that it is called with; words with wider ones are not for it.
    """
    from functools import wraps

    with needed_by("a function of padded heads"):
        from torch.nn.functional import pad

    @wraps(function)
    def run(q: Any, k: Any, v: Any, initial_state: Any = None, **rest: Any) -> Any:
        K, V = q.shape[3], v.shape[3]
        if max(K, V) > width:
            raise NotImplementedError(f"it takes heads of at most {width} only")
        q, k = (pad(x, (0, width - K)) for x in (q, k))
        if "g" in rest and rest["g"].dim() == 4:
            rest["g"] = pad(rest["g"], (0, width - K))
        for name in ("u", "z"):
            if name in rest:
                rest[name] = pad(rest[name], (0, width - K))
        if initial_state is not None:
            initial_state = pad(initial_state, (0, width - V, 0, width - K))
        o, final = function(q=q, k=k, v=pad(v, (0, width - V)), initial_state=initial_state, **rest)
        return o[..., :V], None if final is None else final[..., :K, :V]

    return run


def _own(backend: str, mode: str) -> Function:
    with needed_by("`delta_product`"):
        from ..delta._front import delta_product

    def run(
        q: Any,
        k: Any,
        v: Any,
        beta: Any,
        g: Any = None,
        a: Any = None,
        initial_state: Any = None,
        cu_seqlens: Any = None,
        scale: float | None = None,
        householders: int = 1,
    ) -> Any:
        return delta_product(
            q, k, v, beta, g, a, householders=householders, initial_state=initial_state, cu_seqlens=cu_seqlens,
            scale=scale, output_final_state=True, backend=backend, mode=mode,
        )  # fmt: skip

    return run


def _own_rank_one(backend: str) -> Function:
    with needed_by("`rank_one_scan`"):
        from ..scans._rank_one import rank_one_scan

    def run(q: Any, k: Any, v: Any, a: Any, u: Any, z: Any, initial_state: Any = None, cu_seqlens: Any = None, scale: Any = None) -> Any:  # fmt: skip
        return rank_one_scan(
            q, a, u, z, k, v, initial_state, scale=scale, output_final_state=True, cu_seqlens=cu_seqlens, backend=backend
        )  # fmt: skip

    return run


def _own_plain() -> Function:
    from ._plain import plain_delta_rule

    return plain_delta_rule


def _transformers(module: str, name: str) -> Function:
    """A fallback of transformers as it stands, also where FLA is installed: below the wrapper that would choose FLA."""
    found = _module(f"transformers.models.{module}.modeling_{module}", f"transformers/{module}/{name}")
    function = inspect.unwrap(getattr(found, name))

    def run(q: Any, k: Any, v: Any, beta: Any, g: Any, initial_state: Any = None, scale: float = 1.0) -> Any:
        q = q * (scale * round(q.shape[3] ** 0.5))  # it divides by the root of K itself
        return function(q, k, v, g=g, beta=beta, initial_state=initial_state, output_final_state=True)

    return run


def _fla(module: str, name: str, **fixed: Any) -> Function:
    """A function of FLA that takes its arguments by FLA's usual names."""
    function = getattr(_module(f"fla.ops.{module}", f"fla/{name}"), name)
    taken = inspect.signature(function).parameters
    gated = "g" in taken and name != "fused_recurrent_delta_rule"
    packed = "cu_seqlens" in taken

    def call(arguments: dict[str, Any]) -> Any:
        found = {x: y for x, y in arguments.items() if x in taken and y is not None}
        return function(**found, output_final_state=True, **fixed)

    def plain(q: Any, k: Any, v: Any, beta: Any, initial_state: Any = None, cu_seqlens: Any = None, scale: Any = None) -> Any:  # fmt: skip
        return call(locals())

    def with_gates(q: Any, k: Any, v: Any, beta: Any, g: Any, initial_state: Any = None, cu_seqlens: Any = None, scale: Any = None) -> Any:  # fmt: skip
        return call(locals())

    def unpacked(
        q: Any, k: Any, v: Any, beta: Any, g: Any, initial_state: Any = None, scale: Any = None
    ) -> Any:
        return call(locals())

    if not gated:
        return plain
    return with_gates if packed else unpacked


def _whole_chunks(function: Function, size: int) -> Function:
    """A function for lengths that are multiples of its chunk."""

    def run(q: Any, k: Any, v: Any, beta: Any, g: Any, initial_state: Any = None, scale: Any = None) -> Any:
        if q.shape[1] % size:
            raise NotImplementedError(f"it takes multiples of {size} tokens only")
        return function(q=q, k=k, v=v, beta=beta, g=g, initial_state=initial_state, scale=scale)

    return run


def _fla_plain_delta(module: str, name: str) -> Function:
    """`delta_rule_recurrence` of FLA, heads before tokens and without a scale."""
    function = getattr(_module(f"fla.ops.{module}", f"fla/{name}"), name)

    def run(q: Any, k: Any, v: Any, beta: Any, initial_state: Any = None, scale: float = 1.0) -> Any:
        q = q * (scale * round(q.shape[3] ** 0.5))
        o, final = function(*(x.transpose(1, 2) for x in (q, k, v, beta)), initial_state=initial_state)
        return o.transpose(1, 2), final

    return run


def _fla_product(module: str, name: str) -> Function:
    function = getattr(_module(f"fla.ops.{module}", f"fla/{name}"), name)

    def run(
        q: Any, k: Any, v: Any, beta: Any, g: Any = None, initial_state: Any = None, cu_seqlens: Any = None,
        scale: Any = None, householders: int = 1,
    ) -> Any:  # fmt: skip
        return function(
            q=q, k=k, v=v, g=g, beta=beta, scale=scale, cu_seqlens=cu_seqlens, initial_state=initial_state,
            output_final_state=True, **{_householders(function): householders},
        )  # fmt: skip

    return run


def _householders(function: Function) -> str:
    return (
        "num_householder"
        if "num_householder" in inspect.signature(function).parameters
        else "num_householders"
    )


def _fla_rank_one(module: str, name: str) -> Function:
    """FLA's RWKV-7 and DPLR: their `a` is z, which reads, and their `b` is u, which writes."""
    function = getattr(_module(f"fla.ops.{module}", f"fla/{name}"), name)
    first, gate = ("r", "w") if "rwkv7" in name else ("q", "gk")

    def run(q: Any, k: Any, v: Any, g: Any, u: Any, z: Any, initial_state: Any = None, cu_seqlens: Any = None, scale: Any = None) -> Any:  # fmt: skip
        return function(
            **{first: q, gate: g}, k=k, v=v, a=z, b=u, scale=scale, initial_state=initial_state, output_final_state=True,
            cu_seqlens=cu_seqlens,
        )  # fmt: skip

    return run


def _fla_plain_rank_one(name: str, multiple: int) -> Function:
    """FLA's plain DPLR, heads before tokens and without a scale."""
    function = getattr(_module("fla.ops.generalized_delta_rule.dplr.naive", f"fla/{name}"), name)

    def run(
        q: Any, k: Any, v: Any, g: Any, u: Any, z: Any, initial_state: Any = None, scale: float = 1.0
    ) -> Any:
        if q.shape[1] % multiple:
            raise NotImplementedError(f"it takes multiples of {multiple} tokens only")
        q = q * (scale * round(q.shape[3] ** 0.5))
        o, final = function(*(x.transpose(1, 2) for x in (q, k, v, z, u, g)), initial_state=initial_state)
        return o.transpose(1, 2), final

    return run


def _fla_scalar(module: str, name: str) -> Function:
    function = getattr(_module(f"fla.ops.{module}", f"fla/{name}"), name)

    def unpacked(q: Any, k: Any, v: Any, g: Any, initial_state: Any = None, scale: Any = None) -> Any:
        return function(q=q, k=k, v=v, g=g, scale=scale, initial_state=initial_state, output_final_state=True)

    def packed(
        q: Any, k: Any, v: Any, g: Any, initial_state: Any = None, cu_seqlens: Any = None, scale: Any = None
    ) -> Any:
        return function(
            q=q, k=k, v=v, g=g, scale=scale, initial_state=initial_state, output_final_state=True, cu_seqlens=cu_seqlens
        )  # fmt: skip

    return packed if "cu_seqlens" in inspect.signature(function).parameters else unpacked


def _flash_qla() -> Function:
    function = _module("flash_qla", "flash_qla/chunk_gated_delta_rule").chunk_gated_delta_rule

    def run(q: Any, k: Any, v: Any, beta: Any, g: Any, initial_state: Any = None, cu_seqlens: Any = None, scale: Any = None) -> Any:  # fmt: skip
        more = {} if cu_seqlens is None else {"cu_seqlens": cu_seqlens}
        return function(
            q, k, v, g, beta, scale=scale, initial_state=initial_state, output_final_state=True, **more
        )

    return padded(run, 128)


def _flashinfer() -> Function:
    """The prefill kernel of FlashInfer for Hopper, which takes gates themselves and packed sequences."""
    module = "flashinfer.gdn_kernels.delta_rule_dsl.delta_rule_sm90"
    function = _module(module, "flashinfer/delta_rule_prefill").delta_rule_prefill_dsl_sm90
    with needed_by("flashinfer/delta_rule_prefill"):
        import torch

    def run(q: Any, k: Any, v: Any, beta: Any, g: Any, initial_state: Any = None, cu_seqlens: Any = None, scale: Any = None) -> Any:  # fmt: skip
        B, T, H, D = q.shape
        if T == 0:
            raise NotImplementedError("calls without tokens do not reach the kernel")
        bounds = torch.arange(0, B * T + 1, T, device=q.device) if cu_seqlens is None else cu_seqlens
        o = torch.empty(B * T, H, D, dtype=q.dtype, device=q.device)
        final = torch.empty(len(bounds) - 1, H, D, D, dtype=torch.float32, device=q.device)
        # its states are [V, K]
        start = None if initial_state is None else initial_state.transpose(-1, -2).contiguous()
        function(
            o, final, *(x.reshape(-1, H, D).contiguous() for x in (q, k, v)), start, g.exp().reshape(-1, H),
            beta.float().reshape(-1, H), bounds, scale,
        )  # fmt: skip
        return o.view(B, T, H, D), final.transpose(-1, -2)

    return padded(run, 128)


def _on_gpu(
    name: str, operator: str, load: Callable[[], Function], contracts: tuple[Contract, ...]
) -> tuple[Runner, ...]:
    """A kernel of FLA with the words as they are, and with heads padded to 64 for what refuses narrower ones."""
    common = Runner(
        f"fla/{name}", operator, load, ("flash-linear-attention", "triton"), contracts, on_gpu=True
    )
    return common, replace(common, name=f"{common.name}/padded", load=lambda: padded(load(), 64))


def _onnxruntime(rule: str) -> Function:
    from ._onnx import linear_attention

    return linear_attention(rule)


def _all_runners() -> tuple[Runner, ...]:
    fla, hf = ("flash-linear-attention",), ("transformers",)
    found = [
        Runner("numpy/plain", "delta_product", _own_plain, ("numpy",), framework="numpy"),
        *(
            Runner(
                f"mirrormata/{backend}/{mode}",
                "delta_product",
                partial(_own, backend, mode),
                ("mirrormata",),
                (FLOAT32, *MIXED),
            )
            for backend, mode in (("reference", "auto"), ("torch", "chunk"), ("torch", "scan"))
        ),
        Runner("mirrormata/rank_one_scan", "rwkv7", partial(_own_rank_one, "torch"), ("mirrormata",)),
        *(
            Runner(
                f"mirrormata/triton/{mode}",
                "delta_product",
                partial(_own, "triton", mode),
                ("mirrormata", "triton"),
                (FLOAT32, *MIXED),
                on_gpu=True,
            )
            for mode in ("recurrent", "chunk", "scan")
        ),
        Runner(
            "mirrormata/triton/rank_one_scan",
            "rwkv7",
            partial(_own_rank_one, "triton"),
            ("mirrormata", "triton"),
            on_gpu=True,
        ),
        Runner(
            "fla/naive_recurrent_gated_delta_rule",
            "gated_delta_rule",
            partial(_fla, "gated_delta_rule.naive", "naive_recurrent_gated_delta_rule"),
            fla,
        ),
        Runner(
            "fla/naive_chunk_gated_delta_rule",
            "gated_delta_rule",
            partial(_fla, "gated_delta_rule.naive", "naive_chunk_gated_delta_rule"),
            fla,
        ),
        Runner(
            "fla/delta_rule_recurrence",
            "delta_rule",
            partial(_fla_plain_delta, "delta_rule.naive", "delta_rule_recurrence"),
            fla,
        ),
        Runner(
            "fla/naive_recurrent_gated_delta_product",
            "delta_product",
            partial(_fla_product, "gated_delta_product.naive", "naive_recurrent_gated_delta_product"),
            fla,
        ),
        Runner("fla/naive_recurrent_kda", "kda", partial(_fla, "kda.naive", "naive_recurrent_kda"), fla),
        Runner(
            "fla/naive_chunk_kda", "kda", lambda: _whole_chunks(_fla("kda.naive", "naive_chunk_kda"), 64), fla
        ),
        Runner("fla/dplr_recurrence", "rwkv7", partial(_fla_plain_rank_one, "dplr_recurrence", 1), fla),
        Runner("fla/dplr_chunkwise", "rwkv7", partial(_fla_plain_rank_one, "dplr_chunkwise", 32), fla),
        Runner(
            "fla/naive_recurrent_simple_gla",
            "scalar_gate",
            partial(_fla_scalar, "simple_gla.naive", "naive_recurrent_simple_gla"),
            fla,
        ),
        Runner(
            "fla/naive_chunk_simple_gla",
            "scalar_gate",
            partial(_fla_scalar, "simple_gla.naive", "naive_chunk_simple_gla"),
            fla,
        ),
        *(
            Runner(
                f"transformers/{module}/{form}",
                "gated_delta_rule",
                partial(_transformers, module, f"torch_{form}_gated_delta_rule"),
                hf,
                (FLOAT32, MIXED[0]),
            )
            for module in ("qwen3_next", "qwen3_5", "olmo_hybrid")
            for form in ("recurrent", "chunk")
        ),
        *(
            Runner(
                f"transformers/kimi_linear/{form}",
                "kda",
                partial(_transformers, "kimi_linear", f"{form}_kimi_delta_attention"),
                hf,
                (FLOAT32, MIXED[0]),
            )
            for form in ("recurrent", "chunk")
        ),
        Runner(
            "onnxruntime/LinearAttention",
            "gated_delta_rule",
            partial(_onnxruntime, "gated_delta"),
            ("onnxruntime", "onnx"),
            (FLOAT32, Contract(inputs="fp16", beta="fp16", gates="fp16", outputs="fp16")),
            framework="numpy",
        ),
        Runner(
            "onnxruntime/LinearAttention/channels",
            "kda",
            partial(_onnxruntime, "gated_delta"),
            ("onnxruntime", "onnx"),
            framework="numpy",
        ),
        Runner(
            "onnxruntime/LinearAttention/gated",
            "scalar_gate",
            partial(_onnxruntime, "gated"),
            ("onnxruntime", "onnx"),
            framework="numpy",
        ),
        *_on_gpu("chunk_delta_rule", "delta_rule", partial(_fla, "delta_rule", "chunk_delta_rule"), MIXED),
        *_on_gpu(
            "fused_recurrent_delta_rule",
            "delta_rule",
            partial(_fla, "delta_rule", "fused_recurrent_delta_rule"),
            (FLOAT32, *MIXED),
        ),
        *_on_gpu(
            "chunk_gated_delta_rule",
            "gated_delta_rule",
            partial(_fla, "gated_delta_rule", "chunk_gated_delta_rule"),
            MIXED,
        ),
        *_on_gpu(
            "fused_recurrent_gated_delta_rule",
            "gated_delta_rule",
            partial(_fla, "gated_delta_rule", "fused_recurrent_gated_delta_rule"),
            (FLOAT32, *MIXED),
        ),
        *_on_gpu(
            "chunk_gated_delta_product",
            "delta_product",
            partial(_fla_product, "gated_delta_product", "chunk_gated_delta_product"),
            MIXED,
        ),
        *_on_gpu("chunk_kda", "kda", partial(_fla, "kda", "chunk_kda"), MIXED),
        *_on_gpu(
            "fused_recurrent_kda", "kda", partial(_fla, "kda", "fused_recurrent_kda"), (FLOAT32, *MIXED)
        ),
        *_on_gpu("chunk_rwkv7", "rwkv7", partial(_fla_rank_one, "rwkv7", "chunk_rwkv7"), MIXED),
        *_on_gpu(
            "fused_recurrent_rwkv7",
            "rwkv7",
            partial(_fla_rank_one, "rwkv7", "fused_recurrent_rwkv7"),
            (FLOAT32, *MIXED),
        ),
        *_on_gpu(
            "chunk_simple_gla", "scalar_gate", partial(_fla_scalar, "simple_gla", "chunk_simple_gla"), MIXED
        ),
        *_on_gpu(
            "fused_recurrent_simple_gla",
            "scalar_gate",
            partial(_fla_scalar, "simple_gla", "fused_recurrent_simple_gla"),
            (FLOAT32, *MIXED),
        ),
        Runner(
            "flash_qla/chunk_gated_delta_rule",
            "gated_delta_rule",
            _flash_qla,
            ("flash-qla", "tilelang"),
            MIXED[:2],
            on_gpu=True,
        ),
        Runner(
            "flashinfer/delta_rule_prefill",
            "gated_delta_rule",
            _flashinfer,
            ("flashinfer-python", "nvidia-cutlass-dsl"),
            MIXED[:2],
            on_gpu=True,
        ),
    ]
    return tuple(found)


RUNNERS = _all_runners()
"""All of them: first those that need no GPU."""
