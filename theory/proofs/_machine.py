"""What the search of `prove` runs: the machine of a model in an arithmetic."""

from __future__ import annotations

from typing import Any

from ...constructions._delay import BlockDelay
from ...constructions._lrnn import LRNN
from ...constructions._realisation import Realisation
from ...constructions.automata._automaton import Automaton
from ...constructions.chains._blocks import BlockRNN
from ...constructions.chains._chain import ChainRNN
from ...constructions.decays._decay import DecayRNN
from ...foundation._errors import InputError
from .._kinds import kind_of
from ..arithmetic._arithmetic import Arithmetic, Exact, Kernel, PerOp, PerStep, Rounded
from ..arithmetic._rounding import FloatFormat
from ..running._blocks import BlockStepper
from ..running._chain import ChainStepper
from ..running._decay import DecayStepper
from ..running._delay import DelayStepper
from ..running._stepper import LayeredStepper, table_stepper
from ._answers import Answers, answers_of
from ._exact import ExactNpzStepper
from ._kernel_step import kernel_machine
from ._linear import LinearMachine, linear_machine
from ._npz_model import NpzModel
from ._state_search import Machine
from ._stepper_machine import StepperMachine


def machine_of(
    model: Any, automaton: Automaton, arithmetic: Arithmetic | str, of_stepper: Answers | None = None
) -> Machine:
    """What the search of the states runs; `of_stepper`: what a `Stepper`'s answers mean, by default states."""
    answers = answers_to(model, automaton, of_stepper)
    if isinstance(model, NpzModel):
        if isinstance(arithmetic, Exact):
            return StepperMachine(ExactNpzStepper(model), answers)
        if isinstance(arithmetic, Kernel):
            return kernel_machine(model, answers, arithmetic)
        return model.machine(_stepwise(arithmetic), answers)
    if isinstance(model, Realisation):
        machine: Machine = kind_of(model).machine(model, answers, arithmetic)
        return machine
    return StepperMachine(model, answers)


def table_machine(lrnn: LRNN, answers: Answers, arithmetic: Any) -> Machine:
    """A table in exact numbers, on a kernel, or rounded at every token: one layer as matrices, several by a stepper."""
    if isinstance(arithmetic, Exact):
        return StepperMachine(table_stepper(lrnn, "exact"), answers)
    if isinstance(arithmetic, Kernel):
        return kernel_machine(lrnn, answers, arithmetic)
    machine = one_layer(lrnn, answers, _stepwise(arithmetic))
    return machine or StepperMachine(LayeredStepper(lrnn, _plain_format(arithmetic)), answers)


def delay_machine(form: BlockDelay, answers: Answers, arithmetic: Any) -> Machine:
    """A block delay, rounded at every token."""
    return StepperMachine(DelayStepper(form, _plain_format(arithmetic)), answers)


def blocks_machine(form: BlockRNN, answers: Answers, arithmetic: Any) -> Machine:
    """A chain of sets over blocks, rounded at every token."""
    return StepperMachine(BlockStepper(form, _plain_format(arithmetic)), answers)


def chain_machine(form: ChainRNN, answers: Answers, arithmetic: Any) -> Machine:
    """A chain of sets in exact integers, or in a format that holds them."""
    if isinstance(arithmetic, Exact):
        return StepperMachine(ChainStepper(form), answers)
    return StepperMachine(ChainStepper(form, _plain_format(arithmetic)), answers)


def decay_machine(form: DecayRNN, answers: Answers, arithmetic: Any) -> Machine:
    """A decaying number in a format that it names."""
    return StepperMachine(DecayStepper(form, _plain_format(arithmetic)), answers)


def answers_to(model: Any, automaton: Automaton, of_stepper: Answers | None = None) -> Answers:
    """How a model is held against the automaton; `of_stepper` as in `machine_of`."""
    if isinstance(model, NpzModel):
        return model.answers(automaton)
    if isinstance(model, Realisation):
        return answers_of(automaton, model.automaton, model.automaton.name)
    return of_stepper or answers_of(automaton, None)


def one_layer(model: LRNN | NpzModel, answers: Answers, arithmetic: Rounded) -> LinearMachine | None:
    """Matrices, or an LRNN of one layer, as a linear machine; None for several layers."""
    if isinstance(model, NpzModel):
        return model.machine(arithmetic, answers)
    return linear_machine(model, arithmetic, answers) if not model.is_layered else None


def _stepwise(arithmetic: Any) -> Rounded:
    if isinstance(arithmetic, PerStep | PerOp):
        return arithmetic
    raise InputError(
        f"arithmetic {arithmetic.name}: no state follows from the one before in it; write exact, per_step:..., per_op:... or "
        "kernel:recurrent:..."
    )


def _plain_format(arithmetic: Any) -> FloatFormat:
    if (
        isinstance(arithmetic, PerStep)
        and arithmetic.mode == "rne"
        and isinstance(arithmetic.values, FloatFormat)
    ):
        return arithmetic.values
    raise InputError(
        f"arithmetic {arithmetic.name}: several layers, block delays, chains and decaying numbers are run in per_step with a float format, "
        "nearest even"
    )
