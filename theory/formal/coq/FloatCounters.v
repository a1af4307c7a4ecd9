(* own.R4: one factor with beta = 1 and every operation rounded to nearest even, in bf16 and in fp32, in Flocq's binary floats.

   bf16 and fp32 are Flocq's binary_float 8 128 and binary_float 24 128: 8 and 24 significant bits, the same exponents.  The layer is
   s = k_1 h_1 + k_2 h_2 + ..., e = v - s, h_i <- h_i + k_i e.  Its keys have |k| < 1, as each theorem says first, so that its exact
   eigenvalues are 1 and 1 - |k|^2 (Householder.v), which lie in [0, 1]; rounded, it has in each format a limit cycle of two states, and
   one of three. *)
From Coq Require Import ZArith List Reals Lra.
From Flocq Require Import Core BinarySingleNaN.
Import ListNotations.
Open Scope Z_scope.

Section Format.
Variable prec : Z.
Context (prec_ok : Prec_gt_0 prec) (emax_ok : Prec_lt_emax prec 128).
Definition float := binary_float prec 128.
Definition plus : float -> float -> float := @Bplus prec 128 prec_ok emax_ok mode_NE.
Definition minus : float -> float -> float := @Bminus prec 128 prec_ok emax_ok mode_NE.
Definition times : float -> float -> float := @Bmult prec 128 prec_ok emax_ok mode_NE.

(* m 2^e, rounded to the format; the numbers below are numbers of theirs. *)
Definition number (m e : Z) : float := @binary_normalize prec 128 prec_ok emax_ok mode_NE m e false.

(* The dot product from left to right, and one step. *)
Fixpoint dot_from (s : float) (k h : list float) : float :=
  match k, h with x :: k', y :: h' => dot_from (plus s (times x y)) k' h' | _, _ => s end.
Definition dot (k h : list float) : float :=
  match k, h with x :: k', y :: h' => dot_from (times x y) k' h' | _, _ => number 0 0 end.
Definition layer_step (k : list float) (v : float) (h : list float) : list float :=
  let e := minus v (dot k h) in map (fun p => plus (snd p) (times (fst p) e)) (combine k h).

(* |k|^2, of the exact numbers that the key holds *)
Definition squared_length (k : list float) : R := fold_right (fun x s => (B2R x * B2R x + s)%R) 0%R k.
(* The same from sign, mantissa and exponent of each entry *)
Lemma squared_length_shown : forall k,
  squared_length k = fold_right (fun x s => (SF2R radix2 x * SF2R radix2 x + s)%R) 0%R (map B2SF k).
Proof. induction k; simpl; auto. now rewrite IHk, SF2R_B2SF. Qed.

(* States as sign, mantissa and exponent, without proofs of their bounds, so that they are compared by computation. *)
Definition shown (h : list float) := map B2SF h.
Fixpoint after (t : nat) (k : list float) (v : float) (h : list float) : list float :=
  match t with O => h | S t' => after t' k v (layer_step k v h) end.

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
End Format.
Arguments after {prec prec_ok emax_ok}.
Arguments squared_length {prec}.
Arguments squared_length_shown {prec}.
Arguments shown {prec}.
Arguments shown_injective {prec}.

#[local] Instance bf16_prec : Prec_gt_0 8 := eq_refl.
#[local] Instance bf16_emax : Prec_lt_emax 8 128 := eq_refl.
#[local] Instance fp32_prec : Prec_gt_0 24 := eq_refl.
#[local] Instance fp32_emax : Prec_lt_emax 24 128 := eq_refl.
Definition bf16 (m e : Z) := number 8 bf16_prec bf16_emax m e.
Definition fp32 (m e : Z) := number 24 fp32_prec fp32_emax m e.
Definition finite := SpecFloat.S754_finite.

(* Where all entries are numbers m 2^e, |k|^2 < 1 is an inequality between fractions. *)
Ltac short :=
  rewrite squared_length_shown;
  match goal with |- context [map B2SF ?k] => let shown_key := eval vm_compute in (map B2SF k) in
    replace (map B2SF k) with shown_key by (vm_compute; reflexivity) end;
  simpl; unfold F2R; simpl; lra.
Ltac returns := rewrite after_multiple; [vm_compute; reflexivity | apply shown_injective; vm_compute; reflexivity].

(* own.R4 (all, with the three below).  bf16, from 0: (-12.125, -10.375) after an odd number of tokens, (-12.25, -10.4375) after
   an even one (not 0). *)
Theorem one_factor_counts_two : forall t,
  let key := [bf16 97 (-7); bf16 83 (-7)] in
  let state n := shown (after n key (bf16 (-16) 0) [bf16 0 0; bf16 0 0]) in
  (squared_length key < 1)%R
  /\ state (1 + t * 2)%nat = [finite true 194 (-4); finite true 166 (-4)]
  /\ state (2 + t * 2)%nat = [finite true 196 (-4); finite true 167 (-4)].
Proof. intros t key state. split; [short|]. unfold state. rewrite !after_add. repeat split; returns. Qed.

(* With three coordinates: three states in turn. *)
Theorem one_factor_counts_three : forall t,
  let key := [bf16 (-201) (-9); bf16 51 (-6); bf16 233 (-9)] in
  let state n := shown (after n key (bf16 (-28) 0) [bf16 0 0; bf16 0 0; bf16 0 0]) in
  (squared_length key < 1)%R
  /\ state (1 + t * 3)%nat = [finite false 176 (-4); finite true 178 (-3); finite true 204 (-4)]
  /\ state (2 + t * 3)%nat = [finite false 178 (-4); finite true 180 (-3); finite true 206 (-4)]
  /\ state (3 + t * 3)%nat = [finite false 177 (-4); finite true 179 (-3); finite true 205 (-4)].
Proof. intros t key state. split; [short|]. unfold state. rewrite !after_add. repeat split; returns. Qed.

(* fp32, from 0: two states in turn after four tokens. *)
Theorem one_factor_counts_two_fp32 : forall t,
  let key := [fp32 125 (-8); fp32 (-222) (-8)] in
  let state n := shown (after n key (fp32 33 0) [fp32 0 0; fp32 0 0]) in
  (squared_length key < 1)%R
  /\ state (4 + t * 2)%nat = [finite false 8529604 (-19); finite true 15148578 (-19)]
  /\ state (5 + t * 2)%nat = [finite false 8529605 (-19); finite true 15148580 (-19)].
Proof. intros t key state. split; [short|]. unfold state. rewrite !after_add. repeat split; returns. Qed.

Theorem one_factor_counts_three_fp32 : forall t,
  let key := [fp32 (-31) (-6); fp32 55 (-6); fp32 8 (-6)] in
  let state n := shown (after n key (fp32 16 0) [fp32 0 0; fp32 0 0; fp32 0 0]) in
  (squared_length key < 1)%R
  /\ state (4 + t * 3)%nat = [finite true 16437530 (-21); finite false 14581679 (-20); finite false 8483886 (-22)]
  /\ state (5 + t * 3)%nat = [finite true 16437531 (-21); finite false 14581680 (-20); finite false 8483886 (-22)]
  /\ state (6 + t * 3)%nat = [finite true 16437529 (-21); finite false 14581678 (-20); finite false 8483885 (-22)].
Proof. intros t key state. split; [short|]. unfold state. rewrite !after_add. repeat split; returns. Qed.
