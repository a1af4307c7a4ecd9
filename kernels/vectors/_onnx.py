"""ONNX's operator LinearAttention, run by ONNX Runtime on the CPU: heads are packed into the last dimension."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ...foundation._errors import InputError

OPSET = 27
"""The first one of ONNX that has LinearAttention."""


def linear_attention(rule: str) -> Callable[..., Any]:
    """The operator as a function of numpy's arrays.

    Args:
        rule: its update rule, `gated_delta` or `gated`.

    Raises:
        InputError: onnx or onnxruntime is not installed.
    """
    try:
        import_module("onnx")
        import_module("onnxruntime")
    except ModuleNotFoundError as error:
        raise InputError(
            f"onnxruntime/LinearAttention: no module {error.name}: pip install onnx onnxruntime"
        ) from None

    def run(
        q: Any, k: Any, v: Any, g: Any, beta: Any = None, initial_state: Any = None, scale: float = 1.0
    ) -> Any:
        B, T, H, K = q.shape
        V = v.shape[3]
        if initial_state is None:
            initial_state = np.zeros((B, H, K, V), np.float32)
        given = {"query": q, "key": k, "value": v, "past_state": initial_state, "decay": g}
        if beta is not None:
            given["beta"] = beta
        flat = {"past_state": initial_state} | {
            name: x.reshape(B, T, int(np.prod(x.shape[2:]))).astype(q.dtype)
            for name, x in given.items()
            if name != "past_state"
        }
        shapes = tuple((name, x.shape) for name, x in flat.items())
        session = _session(rule, shapes, H, float(scale), str(q.dtype))
        o, final = session.run(None, flat)
        return o.reshape(B, T, H, V), final

    if rule == "gated":  # a function whose signature has no beta

        def without_error(
            q: Any, k: Any, v: Any, g: Any, initial_state: Any = None, scale: float = 1.0
        ) -> Any:
            return run(q, k, v, g, None, initial_state, scale)

        return without_error
    return run


@cache
def _session(
    rule: str, shapes: tuple[tuple[str, tuple[int, ...]], ...], heads: int, scale: float, dtype: str
) -> Any:
    """A model of one node, ready to run."""
    onnx, runtime = import_module("onnx"), import_module("onnxruntime")
    helper, types = onnx.helper, {"float16": onnx.TensorProto.FLOAT16, "float32": onnx.TensorProto.FLOAT}
    names = [name for name, _ in shapes]
    slots = [
        name if name in names else "" for name in ("query", "key", "value", "past_state", "decay", "beta")
    ]
    node = helper.make_node(
        "LinearAttention", slots if slots[-1] else slots[:-1], ["output", "present_state"], q_num_heads=heads,
        kv_num_heads=heads, scale=scale, update_rule=rule,
    )  # fmt: skip
    inputs = [
        helper.make_tensor_value_info(
            name, types["float32"] if name == "past_state" else types[dtype], list(shape)
        )
        for name, shape in shapes
    ]
    outputs = [
        helper.make_tensor_value_info("output", types[dtype], None),
        helper.make_tensor_value_info("present_state", types["float32"], None),
    ]
    graph = helper.make_graph([node], "word", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    return runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
