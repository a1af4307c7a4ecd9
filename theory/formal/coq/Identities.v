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

(* Products of points of the unit circle lie on it. *)
Lemma circle_identity d t x y :
  (d * x - t * y) * (d * x - t * y) + (d * y + t * x) * (d * y + t * x) = (d * d + t * t) * (x * x + y * y).
Proof. ring. Qed.

(* The key (-t, 1 + d) of a reflection. *)
Lemma key_identity d t : opp t * opp t + (one + d) * (one + d) = t * t + d * d + one + (d + d).
Proof. ring. Qed.
Lemma square_identity d : one - d * d = (one + d) * (one - d).
Proof. ring. Qed.
End Identities.

Lemma ring_laws (R : comRingType) : @ring_theory R 0%R 1%R +%R *%R (fun x y : R => x - y)%R -%R eq.
Proof.
by split=> //; [exact: add0r | exact: addrC | exact: addrA | exact: mul1r | exact: mulrC | exact: mulrA
  | exact: mulrDl | exact: subrr].
Qed.

(* Equations between sums and products of mathcomp's integers: the tactic int_ring.  The definitions hide mathcomp's
   structures from `ring`, which compares operations by their names. *)
Definition int_add (x y : int) : int := (x + y)%R.
Definition int_mul (x y : int) : int := (x * y)%R.
Definition int_opp (x : int) : int := (- x)%R.
Definition int_zero : int := 0%R.
Definition int_one : int := 1%R.
Lemma int_addE (x y : int) : (x + y)%R = int_add x y.
Proof. by []. Qed.
Lemma int_mulE (x y : int) : (x * y)%R = int_mul x y.
Proof. by []. Qed.
Lemma int_oppE (x : int) : (- x)%R = int_opp x.
Proof. by []. Qed.
Lemma int_zeroE : 0%R = int_zero.
Proof. by []. Qed.
Lemma int_oneE : 1%R = int_one.
Proof. by []. Qed.
Lemma int_laws : ring_theory int_zero int_one int_add int_mul (fun x y => int_add x (int_opp y)) int_opp eq.
Proof. exact: (ring_laws int_comRing). Qed.
Add Ring int_ring : int_laws.
Ltac int_ring :=
  rewrite ?int_addE ?int_mulE ?int_oppE ?int_zeroE ?int_oneE;
  match goal with |- @eq _ ?x ?y => change (@eq int x y) end; ring.
