"""Names of the library: every row, nearest names, and one clear line for every mistake."""

from __future__ import annotations

import pytest

from mirrormata.constructions.library._groups import group_by_name
from mirrormata.constructions.library._names import automaton_by_name, library
from mirrormata.foundation._errors import InputError, LimitError

PATTERNS = [
    "parity", "mod:m", "Zm", "Sn", "An", "dihedral:m", "Q8", "V4", "Fn", "PSL(2,p)", "SL(n,p)", "G_x_H", "Z2^k", "G[transpositions]", "G[involutions]",
    "G[generators]", "G[up_to_k]", "G[in_k_tokens]", "cycle:m", "flipflop", "permreset:n", "Tn", "Tn[all]",
    "gridworld:n", "tomita:i", "even_pairs", "starladder:w", "dn:n", "dyck1:d", "dyck:k,d", "mod_arith:m",
    "mod_arith:m,d", "codeswap:n", "boxes:n,k", "chess", "random:states=n,letters=k,seed=s",
]  # fmt: skip


def test_every_row_of_the_table_is_there_and_its_example_works() -> None:
    entries = library()
    assert [entry.pattern for entry in entries] == PATTERNS
    for entry in entries:
        automaton = automaton_by_name(entry.example)
        assert automaton.name == entry.example
        assert entry.description
        assert "\n" not in entry.description


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("partiy", "did you mean parity?"),
        ("Parity", "did you mean parity?"),
        ("even pairs", "did you mean even_pairs?"),
        ("evenpairs", "did you mean even_pairs?"),
        ("tomta:3", "did you mean tomita:i (as in tomita:3)?"),
        ("Tomita:3", "did you mean tomita:3?"),
        ("gridwold:5", "did you mean gridworld:n (as in gridworld:5)?"),
        ("s5", "did you mean S5?"),
        ("S_5", "did you mean S5?"),
        ("Z_{12}", "did you mean Z12?"),
        ("s5[transpositions]", "did you mean S5[transpositions]?"),
        ("D5", "did you mean dihedral:5?"),
        ("C_6", "did you mean Z6?"),
        ("q8", "did you mean Q8?"),
        ("t3", "did you mean T3?"),
        ("flip-flop", "did you mean flipflop?"),
        ("dihedral", "did you mean dihedral:m (as in dihedral:4)?"),
        ("xyzzyx", "the names are parity, mod:m, Zm, "),
        ("", "the names are parity, mod:m, Zm, "),
    ],
)
def test_unknown_names_get_the_nearest(name: str, suggestion: str) -> None:
    with pytest.raises(InputError) as caught:
        automaton_by_name(name)
    message = str(caught.value)
    assert message.startswith(f"{name!r} is not a name of the library; ")
    assert suggestion in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("mod:0", ["m must be a whole number from 1 on, not '0'"]),
        ("mod:x", ["m must be a whole number from 1 on, not 'x'"]),
        ("mod:-3", ["m must be", "'-3'"]),
        ("mod:٣", ["m must be"]),  # a digit that is not ASCII
        ("mod", ["0 numbers given, 1 needed"]),
        ("mod:", ["nothing follows the colon; write mod:m"]),
        ("mod:5,6", ["2 numbers given, 1 needed"]),
        ("mod:" + "9" * 5000, ["5000 digits"]),
        ("parity:3", ["takes no numbers"]),
        ("chess:3", ["takes no numbers"]),
        ("cycle:0", ["m must be"]),
        ("permreset:0", ["n must be"]),
        ("gridworld:0", ["n must be"]),
        ("dn:x", ["n must be a whole number from 0 on"]),
        ("tomita:9", ["i must be a whole number from 1 to 7, not '9'"]),
        ("tomita:0", ["from 1 to 7"]),
        ("dyck1:0", ["d must be"]),
        ("dyck:0,3", ["k must be a whole number from 1 to 1000, not '0'"]),
        ("dyck:0,x", ["k must be", "'0'", "d must be", "'x'"]),
        ("dyck:3", ["1 number given, 2 needed: k from 1 to 1000 and d from 1 to 10000, written k,d"]),
        ("mod_arith:1", ["m must be a whole number from 2 on"]),
        ("mod_arith:", ["write mod_arith:m or mod_arith:m,d"]),
        ("mod_arith:5,0", ["d must be"]),
        ("starladder:", ["write starladder:w"]),
        ("starladder:a b", ["letters and digits"]),
        ("codeswap:1", ["n must be"]),
        ("boxes:0,0", ["n must be", "k must be"]),
        ("T0", ["n must be"]),
        ("T1", ["n must be a whole number from 2 on"]),
        ("T0[all]", ["n must be"]),
        ("S0", ["n must be a whole number from 1 to 1000, not '0'"]),
        ("A0", ["n must be"]),
        ("Z0", ["m must be"]),
        ("dihedral:0", ["m must be"]),
        ("dihedral:x", ["m must be"]),
        ("Z2^0", ["k must be"]),
        ("Z2^x", ["k must be"]),
        ("A4_x_Foo", ["'Foo' is not a group of the library"]),
        ("A4_x_", ["'' is not a group of the library"]),
        ("A4_x_Z0", ["m must be"]),
        ("S5[foo]", ["'foo' is not an alphabet; write one of [transpositions], "]),
        ("S5[transposition]", ["did you mean [transpositions]?"]),
        ("S5[transpositions", ["the bracket is not closed; write S5[transpositions]"]),
        ("S5[trans", ["write S5[transpositions]"]),
        ("S5[up_to_2", ["write S5[up_to_2]"]),
        ("S5[", ["the bracket is not closed; write S5[generators]"]),
        ("Z5[", ["the bracket is not closed; write Z5[generators]"]),
        ("Z5[trans", ["write Z5[generators]"]),
        ("Z0[", ["m must be"]),
        ("S5[]", ["'' is not an alphabet"]),
        ("Z5[transpositions]", ["Z5 is not given by permutations of points"]),
        ("A4[transpositions]", ["A4 has no transpositions"]),
        ("Z5[involutions]", ["Z5 has no involutions"]),
        ("S5[up_to_9]", ["k must be a whole number from 0 to 5, not '9'"]),
        ("Q8[up_to_2]", ["Q8 is not given by permutations of points"]),
        ("S5[in_1_tokens]", ["k must be a whole number from 2 on"]),
        ("S5[in_x_tokens]", ["k must be"]),
        ("random", ["states is missing", "letters is missing", "seed is missing"]),
        ("random:", ["write random:states=n,letters=k,seed=s"]),
        ("random:states=0", ["letters is missing", "seed is missing"]),
        ("random:states=0,letters=1,seed=-1", ["states must be", "seed must be a whole number from 0 on"]),
        ("random:states=2,letters=1,seed=1,size=3", ["'size' is not a parameter"]),
        ("random:states=2,states=3,letters=1,seed=1", ["given twice"]),
    ],
)
def test_mistakes_in_numbers_and_alphabets(name: str, parts: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        automaton_by_name(name)
    message = str(caught.value)
    assert message.startswith(name.removesuffix("["))
    assert "\n" not in message
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("S9", ["362,880 states", "`max_states`"]),
        ("S500", ["more than 10^15 states"]),
        ("A30", ["more than 10^15 states"]),
        ("Z2^60", ["more than 10^15 states"]),
        ("S8", ["40,320 letters times 40,320 states", "`max_transitions`", "S8[generators]"]),
        ("S8[involutions]", ["763 letters times 40,320 states"]),
        ("S7[in_2_tokens]", ["5,041 letters"]),
        ("mod:200000", ["200,000 states"]),
        ("cycle:999999999999", ["999,999,999,999 states"]),
        ("permreset:3000", ["6,000 letters times 3,000 states"]),
        ("T200000", ["200,000 states"]),
        ("T8[all]", ["16,777,216 letters times 8 states"]),
        ("T1000[all]", ["more than 10^15 letters"]),
        ("gridworld:200000", ["200,000 states"]),
        ("dn:200000", ["200,002 states"]),
        ("dyck:2,17", ["262,144 states"]),
        ("dyck:1000,10000", ["more than 10^15 states"]),
        ("mod_arith:5,3", ["813,801 states"]),
        ("mod_arith:999999999,1000", ["more than 10^15 states"]),
        ("codeswap:9", ["362,880 states"]),
        ("boxes:10,30", ["more than 10^15 states"]),
        ("random:states=1000000,letters=2,seed=0", ["1,000,000 states"]),
        ("random:states=1000,letters=1000000,seed=0", ["1,000,000 letters times 1,000 states"]),
    ],
)
def test_sizes_are_refused_before_the_work(name: str, parts: list[str]) -> None:
    with pytest.raises(LimitError) as caught:
        automaton_by_name(name)
    message = str(caught.value)
    assert message.startswith(name)
    assert "\n" not in message
    for part in parts:
        assert part in message


def test_limits_are_arguments() -> None:
    assert len(automaton_by_name("mod:10", max_states=10).states) == 10
    with pytest.raises(LimitError, match="11 states; the limit is 10"):
        automaton_by_name("mod:11", max_states=10)
    with pytest.raises(LimitError, match="limit is 35 transitions"):
        automaton_by_name("S3", max_transitions=35)
    with pytest.raises(LimitError, match=r"24 elements; the limit is 23 .*`max_elements`"):
        group_by_name("S4", max_elements=23)


def test_a_wrong_product_is_refused() -> None:
    with pytest.raises(InputError, match="must be 'left' or 'right'"):
        automaton_by_name("S3", "middle")  # type: ignore[arg-type]
