"""Mutations of `prove`: the search, the decoder, the ways around the search, and what a verdict compares."""

from __future__ import annotations

from .record import Mutation

PROOFS = "theory.proofs."
SEARCH, READER, LINEAR = (
    PROOFS + "state_search:StateSearch.",
    PROOFS + "reader:CodeReader.",
    PROOFS + "linear:",
)
MUTATIONS = [
    Mutation(
        SEARCH + "_advance",
        "np.repeat(np.arange(letters, dtype=np.int32)",
        "np.repeat(np.arange(letters, dtype=np.int32)[::-1]",
        "successors are taken for those of other letters",
    ),
    Mutation(
        SEARCH + "_advance",
        "for x in range(letters):",
        "for x in range(max(letters - 1, 1)):",
        "the last letter is not followed",
    ),
    Mutation(
        SEARCH + "_advance",
        "after = delta[x, states]",
        "after = states",
        "the automaton's state never changes",
    ),
    Mutation(
        SEARCH + "_advance",
        "(after != states) | (parents == 0)",
        "parents == 0",
        "what an idle letter does to the automaton is left out",
    ),
    Mutation(
        SEARCH + "run",
        "self.place.done < self.place.count",
        "self.place.done + 1 < self.place.count",
        "the last state found is not followed",
    ),
    Mutation(
        PROOFS + "state_search_chain:_ahead",
        "(after != guesses).any(axis=1)",
        "(after != guesses).all(axis=1)",
        "a guess that is right in one entry passes",
    ),
    Mutation(
        PROOFS + "state_search_chain:_orbit",
        "(times - first) % period",
        "(times - first + 1) % period",
        "the automaton is a letter ahead after its cycle has closed",
    ),
    Mutation(
        READER + "_within", "* SAFE", "* 2 * SAFE", "a state counts as near a code up to the other code"
    ),
    Mutation(
        "theory.running._readout:close_rows",
        "scores <= (scores.min(axis=1) + gap)[:, None]",
        "scores <= scores.min(axis=1)[:, None]",
        "float64 decides between codes that it cannot tell apart",
    ),
    Mutation(
        "theory.running._readout:nearest_exactly",
        "distances.index(min(distances))",
        "len(distances) - 1 - distances[::-1].index(min(distances))",
        "ties go to the last code",
    ),
    Mutation(
        READER + "_surely",
        "self.answers[rows, column] == expected",
        "self.answers[rows, column] >= 0",
        "where there are many codes any answer is right",
    ),
    Mutation(
        READER + "first_wrong",
        "self.decode(states[part], columns[part]) != expected[part]",
        "self.decode(states[part], columns[part]) < 0",
        "only states without an answer are wrong",
    ),
    Mutation(
        READER + "first_wrong",
        "np.logical_not(np.isfinite(states).all(axis=1))",
        "np.zeros(len(states), dtype=bool)",
        "infinite states are looked at like others",
        equivalent_because="the distance of a state that is not finite is below no margin, so that it is decoded, to nothing",
    ),
    Mutation(
        LINEAR + "LinearHead.moves",
        "(values[filled] != 1).any()",
        "(np.abs(values[filled]) != 1).any()",
        "a letter with entries -1 counts as moving entries",
    ),
    Mutation(
        LINEAR + "LinearHead.moves",
        "(filled.any(axis=0) & (b != 0).any(axis=1)).any()",
        "False",
        "a letter that moves and adds counts as moving alone",
    ),
    Mutation(
        LINEAR + "LinearMachine._head",
        "exact_product_sum(pairs, target, b)",
        "exact_product_sum(pairs, target)",
        "B is left out",
    ),
    Mutation(
        LINEAR + "Carrier.encode",
        "wide >> np.uint32(16)",
        "wide >> np.uint32(17)",
        "a bit of bf16 states is lost",
    ),
    Mutation(
        LINEAR + "_carrier",
        "largest < 2.0**127",
        "largest < 2.0**200",
        "what two bytes hold is judged too kindly",
        equivalent_because="no format of eight bits or fewer has numbers from 2^127 on but bf16, whose carrier that is",
    ),
    Mutation(
        PROOFS + "answers:Answers.right",
        "self.outputs[letters, before]",
        "self.outputs[letters, after]",
        "a Mealy output is that of the state after",
    ),
    Mutation(
        PROOFS + "answers:answers_of",
        "[place[text] for text in theirs]",
        "range(len(theirs))",
        "states are compared by their numbers, not by their names",
    ),
    Mutation(
        PROOFS + "npz_model:NpzModel.head",
        "arithmetic.round(self.H0)",
        "self.H0",
        "the initial state is not rounded",
    ),
    Mutation(
        PROOFS + "codes:_is_closed",
        "not np.array_equal(machine.step(bits[part], t), bits[images[part]])",
        "not np.array_equal(machine.step(bits[part], t)[:1], bits[images[part]][:1])",
        "only the first code is tried",
    ),
    Mutation(
        PROOFS + "codes:CodeMachine.first_wrong",
        "!= self.answers.right(letters, before, after)",
        "< 0",
        "codes that name any state are right",
    ),
    Mutation(
        PROOFS + "quick:same_automaton",
        "and np.array_equal(first.transitions, second.transitions)",
        "",
        "automata with other transitions count as the same",
    ),
    Mutation(
        PROOFS + "regions:_Layer.reach",
        "+ self.added[x]",
        "",
        "the prover leaves B's share out of what is rounded",
    ),
    Mutation(
        PROOFS + "regions:_Layer.alone",
        "Fraction(2 * radius, UNIT)",
        "Fraction(radius, UNIT)",
        "the prover lets a ball reach to another answer's code",
    ),
    Mutation(
        PROOFS + "regions:_length",
        "root if root * root >= scaled else root + 1",
        "root",
        "the prover rounds lengths down",
    ),
    Mutation(
        PROOFS + "exact:ExactNpzStepper._step_exactly", "b[j])", "0 * b[j])", "exact models lose their B"
    ),
    Mutation(
        SEARCH + "with_start",
        "np.sort(np.concatenate([unread, back]))",
        "unread",
        "the answer at the start is not looked at where a word leads back there",
    ),
    Mutation(
        PROOFS + "second_derivation:derive_again",
        "~closed | (said != right)",
        "said != right",
        "the second program does not see that the states are not closed",
    ),
    Mutation(
        PROOFS + "second_derivation:derive_again",
        "~closed | (said != right)",
        "~closed",
        "the second program does not look at the answers",
    ),
    Mutation(
        PROOFS + "second_derivation:derive_again",
        "_keys(alone.initial(), ",
        "_keys(rows[:1], ",
        "the second program takes the search's word for the start",
    ),
    Mutation(
        PROOFS + "second_derivation:StepperAlone.step",
        "rows[i : i + 1]), letters)\n            after",
        "np.repeat(rows[i : i + 1], 2, axis=0)), np.repeat(letters, 2))[:1]\n            after",
        "states are stepped again in a batch",
    ),
    Mutation(
        PROOFS + "state_search_file:resume_search",
        'str(content["search"]) != digest',
        "False",
        "the search of any model is gone on with",
        noticed_by="tests/theory/test_prove_saved.py::test_a_saved_search_is_of_one_model",
    ),
    Mutation(
        PROOFS + "state_search_file:_step_again",
        "search.machine.first_wrong(rows, *read) >= 0",
        "False",
        "answers of a saved search are not looked at",
        noticed_by="tests/theory/test_prove_saved.py::test_answers_of_a_saved_search_are_looked_at",
    ),
    Mutation(
        PROOFS + "stepper:StepperMachine.decode",
        'said.dtype.kind not in "iub"',
        "False",
        "decodings between two states are cut to one of them",
        noticed_by="tests/theory/test_prove_checked.py::test_decodings_are_whole_numbers",
    ),
    Mutation(
        PROOFS + "identity:_model_parts",
        "model.codes, model.decode]",
        "model.codes]",
        "models with another decoding have the same digest",
    ),
    Mutation(
        PROOFS + "identity:_model_parts",
        "model.A, model.B, model.H0",
        "model.A, model.H0",
        "models with another B have the same digest",
    ),
    Mutation(
        PROOFS + "identity:proof_digest",
        "[labels, automaton.transitions, outputs",
        "[labels, outputs",
        "automata with other transitions have the same digest",
    ),
    Mutation(
        PROOFS + "trial_words:_follow",
        "automaton.transitions[x, states[:, t]]",
        "automaton.transitions[x, states[:, 0]]",
        "the trial words are held to the automaton's states after single letters",
        "tests/theory/test_prove_trial_words.py::test_what_is_right_stays_so",
    ),
    Mutation(
        PROOFS + "trial_words:_follow_machine",
        "(wrong % words, first + wrong // words)",
        "(wrong // words, first + wrong % words)",
        "words and letters are exchanged where an answer is wrong",
        "tests/theory/test_prove_trial_words.py::test_a_drift_is_found",
    ),
    Mutation(
        PROOFS + "trial_words:try_words",
        "if not approximate:",
        "if approximate:",
        "what an approximation takes for wrong is not run by the model itself",
        "tests/theory/test_prove_trial_words.py::test_an_approximation_is_not_believed",
    ),
    Mutation(
        "foundation.time_limit:interrupt_after",
        "    if interrupted:\n        raise OutOfTime\n",
        "",
        "a value that comes of an interrupted step is taken",
        "tests/theory/test_trying.py::test_an_interrupt_that_compiled_code_turns_into_something_else",
    ),
]
