(* The theorem about certificates of kind `chain` over the numbers of Semantics.v.

   Proved: `chain_follows`, over every ring that contains the rational numbers, such as the rational and the real numbers. *)
Require Import List Arith Bool PArith. Import ListNotations.
From Mirrormata Require Import Semantics ChainSemantics ChainFactors ChainCheck.

(* The same over the numbers of Semantics.v, with swaps place by place and, with gates, beta = 2^-e for the least 2^e that is the size
   of the set or more. *)
Section Numbers.
Variable K : Semantics.rational_ring.
Definition is_nonzero (x : K) : bool := negb (Semantics.equal x Semantics.zero).
Definition beta_of (members : nat) : K := Semantics.reciprocal K (Pos.of_nat (2 ^ Nat.log2_up members)).
Definition run_of (c : chain) : list nat -> memory K :=
  run_chain K Semantics.zero Semantics.one Semantics.add Semantics.mul (fun x y => Semantics.add x (Semantics.opp y)) is_nonzero
    sorting_swaps beta_of c.
Definition state_of (c : chain) : memory K -> list nat := read_state K Semantics.zero is_nonzero c.

Lemma zero_not_nonzero : is_nonzero Semantics.zero = false.
Proof. unfold is_nonzero. now rewrite (proj2 (Semantics.equal_spec K Semantics.zero Semantics.zero) eq_refl). Qed.

Lemma one_nonzero : is_nonzero Semantics.one = true.
Proof.
  unfold is_nonzero. apply negb_true_iff, not_true_iff_false. intros H. apply Semantics.equal_spec in H.
  exact (Semantics.one_is_not_zero K H).
Qed.

Theorem chain_follows c known w : check_chain c known = true -> Forall (fun a => a < letter_count c) w ->
  state_of c (run_of c w) = [state c w].
Proof.
  intros C W. apply (check_chain_right K Semantics.zero Semantics.one Semantics.add Semantics.mul _ Semantics.opp is_nonzero
    (Semantics.laws K) zero_not_nonzero one_nonzero sorting_swaps beta_of sorting_swaps_ok c known C w W).
Qed.
End Numbers.
