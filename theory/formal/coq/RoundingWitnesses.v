(* Layers whose eigenvalues lie in [0, 1] and which count, by rounding.

   Two projections and one rounding a step, in rational numbers: two_factors_count_two, two_factors_count_three (own.R3).  One
   factor with each operation rounded is in FloatCounters.v. *)
Require Import QArith ZArith List.
Import ListNotations.
Open Scope Q_scope.

(* The projection I - v v^T / |v|^2 in the plane: beta = 1 for a key of length 1. *)
Definition vec := (Q * Q)%type.
Definition project (v h : vec) : vec :=
  let c := (fst v * fst h + snd v * snd h) / (fst v * fst v + snd v * snd v) in (fst h - c * fst v, snd h - c * snd v).
(* h <- round (C_2 C_1 h + B), the grid being integers. *)
Definition affine (v1 v2 B : vec) (h : Z * Z) : vec :=
  let u := project v2 (project v1 (inject_Z (fst h), inject_Z (snd h))) in (fst u + fst B, snd u + snd B).

(* On the grid of integers, r is nearest to u and no other is as near: no tie. *)
Definition distance (u : Q) (r : Z) : Q := let d := u - inject_Z r in d * d.
Definition nearest (grid : list Z) (u : Q) (r : Z) : bool :=
  existsb (Z.eqb r) grid && forallb (fun r' => (Z.eqb r' r || negb (Qle_bool (distance u r') (distance u r)))%bool) grid.

Section Orbits.
(* Any rounding to nearest, whatever it does with ties. *)
Variables (grid : list Z) (round : Q -> Z).
Hypothesis rounds : forall u r, nearest grid u r = true -> round u = r.
Definition step (v1 v2 B : vec) (h : Z * Z) : Z * Z := let u := affine v1 v2 B h in (round (fst u), round (snd u)).
Lemma step_is v1 v2 B h r :
  nearest grid (fst (affine v1 v2 B h)) (fst r) = true -> nearest grid (snd (affine v1 v2 B h)) (snd r) = true ->
  step v1 v2 B h = r.
Proof.
  intros a b. unfold step. rewrite (rounds _ _ a), (rounds _ _ b). now destruct r.
Qed.
End Orbits.

(* own.R3 (all, with two_factors_count_three).  On {0, 1}: (0,0) -> (1,1) <-> (0,1). *)
Theorem two_factors_count_two (round : Q -> Z) : (forall u r, nearest [0; 1]%Z u r = true -> round u = r) ->
  let f := step round (1, -(1)) (2, 1) (2 # 3, 2) in
  f (0, 0)%Z = (1, 1)%Z /\ f (1, 1)%Z = (0, 1)%Z /\ f (0, 1)%Z = (1, 1)%Z.
Proof. intros r. repeat split; apply (step_is [0; 1]%Z _ r); vm_compute; reflexivity. Qed.

(* On {-1, 0, 1}: (0,0) -> (-1,0) -> (-1,1) -> (0,1) -> (-1,0). *)
Theorem two_factors_count_three (round : Q -> Z) : (forall u r, nearest [-1; 0; 1]%Z u r = true -> round u = r) ->
  let f := step round (2, 3) (2, -(1)) (-(4) # 7, 3 # 7) in
  f (0, 0)%Z = (-1, 0)%Z /\ f (-1, 0)%Z = (-1, 1)%Z /\ f (-1, 1)%Z = (0, 1)%Z /\ f (0, 1)%Z = (-1, 0)%Z.
Proof. intros r. repeat split; apply (step_is [-1; 0; 1]%Z _ r); vm_compute; reflexivity. Qed.
