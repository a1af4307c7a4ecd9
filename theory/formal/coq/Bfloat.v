(* own.R4: one factor with beta = 1 and every operation rounded to nearest even in bf16, in Flocq's binary floats.

   bf16 is the format of 8 significant bits and exponents as of fp32: Flocq's binary_float 8 128.  The layer is
   s = k_1 h_1 + k_2 h_2, e = v - s, h_i <- h_i + k_i e.  Its keys have |k| < 1, so that its exact eigenvalues are 1 and
   1 - |k|^2, which lie in [0, 1]; rounded, it has a limit cycle of two states, and one of three. *)
From Coq Require Import ZArith List.
From Flocq Require Import Core BinarySingleNaN.
Import ListNotations.
Open Scope Z_scope.

Definition bf16 := binary_float 8 128.
Definition prec_ok : Prec_gt_0 8 := eq_refl.
Definition emax_ok : Prec_lt_emax 8 128 := eq_refl.
Definition plus : bf16 -> bf16 -> bf16 := @Bplus 8 128 prec_ok emax_ok mode_NE.
Definition minus : bf16 -> bf16 -> bf16 := @Bminus 8 128 prec_ok emax_ok mode_NE.
Definition times : bf16 -> bf16 -> bf16 := @Bmult 8 128 prec_ok emax_ok mode_NE.

(* m 2^e, rounded to bf16; the numbers below are bf16 numbers. *)
Definition number (m e : Z) : bf16 := @binary_normalize 8 128 prec_ok emax_ok mode_NE m e false.

(* The dot product from left to right, and one step. *)
Fixpoint dot_from (s : bf16) (k h : list bf16) : bf16 :=
  match k, h with x :: k', y :: h' => dot_from (plus s (times x y)) k' h' | _, _ => s end.
Definition dot (k h : list bf16) : bf16 :=
  match k, h with x :: k', y :: h' => dot_from (times x y) k' h' | _, _ => number 0 0 end.
Definition layer_step (k : list bf16) (v : bf16) (h : list bf16) : list bf16 :=
  let e := minus v (dot k h) in map (fun p => plus (snd p) (times (fst p) e)) (combine k h).

(* States as sign, mantissa and exponent, without proofs of their bounds, so that they are compared by computation. *)
Definition shown (h : list bf16) := map B2SF h.
Fixpoint after (t : nat) (k : list bf16) (v : bf16) (h : list bf16) : list bf16 :=
  match t with O => h | S t' => after t' k v (layer_step k v h) end.

Definition key2 := [number 97 (-7); number 83 (-7)].
Definition key3 := [number (-201) (-9); number 51 (-6); number 233 (-9)].
Definition start2 := [number 0 0; number 0 0].
Definition start3 := [number 0 0; number 0 0; number 0 0].
Definition v2 := number (-16) 0.
Definition v3 := number (-28) 0.

(* |k|^2 < 1 for both keys. *)
Lemma keys_short : 97 * 97 + 83 * 83 < 128 * 128 /\ 201 * 201 + (8 * 51) * (8 * 51) + 233 * 233 < 512 * 512.
Proof. split; reflexivity. Qed.

Lemma shown_injective : forall h h', shown h = shown h' -> h = h'.
Proof.
  induction h as [|x h IH]; destruct h' as [|y h']; simpl; try discriminate; auto.
  intros e. injection e as e1 e2. f_equal; auto. now apply B2SF_inj.
Qed.

(* States that return after p steps return after every multiple of p. *)
Lemma after_add : forall s t k v h, after (s + t) k v h = after t k v (after s k v h).
Proof. induction s; simpl; auto. Qed.
Lemma after_multiple : forall p k v h, after p k v h = h -> forall t, after (t * p) k v h = h.
Proof. intros p k v h e. induction t; simpl; auto. now rewrite after_add, e. Qed.

(* own.R4 (all, with one_factor_counts_three).  From 0: (-12.125, -10.375) after an odd number of tokens, (-12.25, -10.4375)
   after an even one (not 0). *)
Theorem one_factor_counts_two : forall t,
  shown (after (1 + t * 2) key2 v2 start2)
    = [SpecFloat.S754_finite true 194 (-4); SpecFloat.S754_finite true 166 (-4)]
  /\ shown (after (2 + t * 2) key2 v2 start2)
    = [SpecFloat.S754_finite true 196 (-4); SpecFloat.S754_finite true 167 (-4)].
Proof.
  intros t. rewrite !after_add. split.
  - rewrite after_multiple; [vm_compute; reflexivity|]. apply shown_injective. vm_compute. reflexivity.
  - rewrite after_multiple; [vm_compute; reflexivity|]. apply shown_injective. vm_compute. reflexivity.
Qed.

(* With three coordinates: three states in turn. *)
Theorem one_factor_counts_three : forall t,
  shown (after (1 + t * 3) key3 v3 start3) = [SpecFloat.S754_finite false 176 (-4);
    SpecFloat.S754_finite true 178 (-3); SpecFloat.S754_finite true 204 (-4)]
  /\ shown (after (2 + t * 3) key3 v3 start3) = [SpecFloat.S754_finite false 178 (-4);
    SpecFloat.S754_finite true 180 (-3); SpecFloat.S754_finite true 206 (-4)]
  /\ shown (after (3 + t * 3) key3 v3 start3) = [SpecFloat.S754_finite false 177 (-4);
    SpecFloat.S754_finite true 179 (-3); SpecFloat.S754_finite true 205 (-4)].
Proof.
  intros t. rewrite !after_add. repeat split;
    (rewrite after_multiple; [vm_compute; reflexivity | apply shown_injective; vm_compute; reflexivity]).
Qed.
