(* Identities of commutative rings that Coq's tactic `ring` proves, for use with the rings of mathcomp.

   They are stated for any ring in the sense of Coq's standard library; `ring_laws` says that mathcomp's are such. *)
Set Warnings "-notation-overridden,-ambiguous-paths".
From mathcomp Require Import all_ssreflect all_algebra.
From Coq Require Import Ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.

Section Identities.
Variables (T : Type) (zero one : T) (add mul sub : T -> T -> T) (opp : T -> T).
Hypothesis laws : ring_theory zero one add mul sub opp eq.
Add Ring T_ring : laws.
Notation "x + y" := (add x y).
Notation "x * y" := (mul x y).
Notation "x - y" := (add x (opp y)).

(* |x - beta (v . x) v|^2 with d = v . x, e = |v|^2, g = |x|^2. *)
Lemma norm_identity b d e g : g - b * d * d - (b * d * d - b * d * (b * d * e)) = g - b * (one + one - b * e) * (d * d).
Proof. ring. Qed.
End Identities.

Lemma ring_laws (R : comRingType) : @ring_theory R 0%R 1%R +%R *%R (fun x y : R => x - y)%R -%R eq.
Proof.
by split=> //; [exact: add0r | exact: addrC | exact: addrA | exact: mul1r | exact: mulrC | exact: mulrA
  | exact: mulrDl | exact: subrr].
Qed.
