(* Small functions that the checkers share: tests of all numbers below a bound, and equality of lists of numbers. *)
Require Import List Arith Bool Lia.
Import ListNotations.

Fixpoint all_below (n : nat) (test : nat -> bool) : bool :=
  match n with O => true | S m => test m && all_below m test end.
Lemma all_below_spec n test : all_below n test = true -> forall i, i < n -> test i = true.
Proof.
  induction n as [|n IH]; cbn; intros E i L; [lia|]. apply andb_prop in E as [E1 E2].
  destruct (Nat.eq_dec i n); [subst; exact E1|]. apply IH; [exact E2|lia].
Qed.

Fixpoint equal_numbers (a b : list nat) : bool :=
  match a, b with [], [] => true | x :: a', y :: b' => (x =? y) && equal_numbers a' b' | _, _ => false end.
Fixpoint equal_codes (a b : list (list nat)) : bool :=
  match a, b with [], [] => true | x :: a', y :: b' => equal_numbers x y && equal_codes a' b' | _, _ => false end.
Lemma equal_numbers_eq a : forall b, equal_numbers a b = true -> a = b.
Proof.
  induction a; destruct b; cbn; try discriminate; auto. intros E. apply andb_prop in E as [E1 E2].
  apply Nat.eqb_eq in E1. f_equal; auto.
Qed.
Lemma equal_numbers_refl a : equal_numbers a a = true.
Proof. induction a; cbn; auto. rewrite Nat.eqb_refl. exact IHa. Qed.
Lemma equal_codes_eq a : forall b, equal_codes a b = true -> a = b.
Proof.
  induction a; destruct b; cbn; try discriminate; auto. intros E. apply andb_prop in E as [E1 E2].
  apply equal_numbers_eq in E1. f_equal; auto.
Qed.
Lemma equal_codes_refl a : equal_codes a a = true.
Proof. induction a; cbn; auto. rewrite equal_numbers_refl. exact IHa. Qed.
