(* The rounding of RoundedRNN.v is that of Flocq, in every binary format and mode.

   Proved: round_is_flocq.  Let r be the rounding of a rational number x by Flocq (`Generic_fmt.round` of the real number x) to p digits
   with gradual underflow below the least normal exponent and without a largest number.  If |r| is at most `largest`, `round` gives r.
   If it is larger, `round` gives `largest` with r's sign where `stays` says so, and None elsewhere: this rule is that of RoundedRNN.v, which the
   theorem repeats, and nothing is compared with what Flocq does beyond the largest number of a format.

   The theorem is about values: numbers are rational, so that there is one zero, without a sign, and no NaN; infinite numbers are None, after
   which RoundedRNN.v has no next state.  `Exact` and `Grid` are no formats of Flocq, and it says nothing about them.  That the modes are those
   of Flocq is `flocq_mode`: nearest with ties to even, nearest with ties down, toward zero, up, down. *)
From Coq Require Import ZArith QArith Qreals Reals Lia Lra.
From Flocq Require Import Core.
From Mirrormata Require Import RoundedRNN.
Local Open Scope R_scope.

Definition flocq_mode (m : mode) : R -> Z :=
  match m with
  | Nearest_even => ZnearestE
  | Nearest_low => Znearest (fun _ => false)
  | Toward_zero => Ztrunc
  | Up => Zceil
  | Down => Zfloor
  end.

Lemma less_spec x y : less x y = true <-> Q2R x < Q2R y.
Proof.
  unfold less. rewrite Z.ltb_lt. split; [apply Qlt_Rlt|apply Rlt_Qlt].
Qed.
Lemma less_false x y : less x y = false <-> Q2R y <= Q2R x.
Proof.
  rewrite <- Bool.not_true_iff_false, less_spec. split; [apply Rnot_lt_le|apply Rle_not_lt].
Qed.
Lemma floor_spec x : floor x = Zfloor (Q2R x).
Proof. unfold floor, Q2R. fold (Rdiv (IZR (Qnum x)) (IZR (Zpos (Qden x)))). now rewrite Zfloor_div. Qed.
Lemma ceiling_spec x : ceiling x = Zceil (Q2R x).
Proof. unfold ceiling, Zceil. now rewrite floor_spec, Q2R_opp. Qed.
Lemma Q2R_integer z : Q2R (inject_Z z) = IZR z.
Proof. unfold Q2R, inject_Z. cbn. field. Qed.
Lemma Q2R_half : Q2R (1 # 2) = / 2.
Proof. unfold Q2R. cbn. lra. Qed.
Lemma Q2R_0 : Q2R 0 = 0.
Proof. unfold Q2R. cbn. lra. Qed.

Lemma whole_spec m x : whole m x = flocq_mode m (Q2R x).
Proof.
  destruct m; cbn [whole flocq_mode].
  - rewrite floor_spec. unfold Znearest. set (f := Zfloor (Q2R x)).
    assert (E : Q2R (x - inject_Z f) = Q2R x - IZR f) by now rewrite Q2R_minus, Q2R_integer.
    destruct (less (x - inject_Z f) (1 # 2)) eqn:L.
    + apply less_spec in L. rewrite E, Q2R_half in L. now rewrite Rcompare_Lt.
    + apply less_false in L. rewrite E, Q2R_half in L. assert (N : IZR f <> Q2R x) by lra.
      destruct (less (1 # 2) (x - inject_Z f)) eqn:G.
      * apply less_spec in G. rewrite E, Q2R_half in G. rewrite Rcompare_Gt by exact G. now rewrite Zceil_floor_neq.
      * apply less_false in G. rewrite E, Q2R_half in G. rewrite Rcompare_Eq by lra.
        rewrite Zceil_floor_neq by exact N. fold f. now destruct (Z.even f).
  - rewrite ceiling_spec, Q2R_minus, Q2R_half. unfold Znearest. set (f := Zfloor (Q2R x)).
    pose proof (Zfloor_lb (Q2R x)) as Lo. pose proof (Zfloor_ub (Q2R x)) as Hi. fold f in Lo, Hi.
    destruct (Rcompare_spec (Q2R x - IZR f) (/ 2)) as [C|C|C].
    + apply Zceil_imp. rewrite minus_IZR. split; lra.
    + apply Zceil_imp. rewrite minus_IZR. split; lra.
    + rewrite (Zceil_floor_neq (Q2R x)) by (fold f; lra). fold f. apply Zceil_imp. rewrite minus_IZR, plus_IZR. split; lra.
  - unfold Ztrunc. destruct (less x 0) eqn:L.
    + apply less_spec in L. rewrite Q2R_0 in L. rewrite Rlt_bool_true by exact L. apply ceiling_spec.
    + apply less_false in L. rewrite Q2R_0 in L. rewrite Rlt_bool_false by exact L. apply floor_spec.
  - apply ceiling_spec.
  - apply floor_spec.
Qed.

Lemma power_spec e : Q2R (power_of_two e) = bpow radix2 e.
Proof.
  unfold power_of_two. destruct (Z.leb 0 e) eqn:E.
  - apply Z.leb_le in E. rewrite Q2R_integer. rewrite <- IZR_Zpower by exact E. reflexivity.
  - apply Z.leb_gt in E. unfold Q2R. cbn [Qnum Qden]. rewrite Z2Pos.id by (apply Z.pow_pos_nonneg; lia).
    replace e with (- - e)%Z at 2 by lia. rewrite bpow_opp. rewrite <- IZR_Zpower by lia. cbn [radix_val radix2]. lra.
Qed.
Lemma magnitude_spec x : Q2R (magnitude x) = Rabs (Q2R x).
Proof.
  unfold magnitude, Q2R. cbn [Qnum Qden]. rewrite Rabs_mult, abs_IZR. f_equal. symmetry. apply Rabs_pos_eq.
  apply Rlt_le, Rinv_0_lt_compat. now apply IZR_lt.
Qed.
Lemma exponent_spec x : Qnum x <> 0%Z -> bpow radix2 (exponent x) <= Rabs (Q2R x) < bpow radix2 (exponent x + 1).
Proof.
  intros N. unfold exponent. set (n := Z.abs (Qnum x)). set (d := Zpos (Qden x)). set (a := Z.log2 n). set (b := Z.log2 d).
  assert (Pn : (0 < n)%Z) by (unfold n; lia). assert (Pd : (0 < d)%Z) by (unfold d; lia).
  destruct (Z.log2_spec n Pn) as [A1 A2]. destruct (Z.log2_spec d Pd) as [B1 B2]. fold a in A1, A2. fold b in B1, B2.
  pose proof (Z.log2_nonneg n) as A0. pose proof (Z.log2_nonneg d) as B0. fold a in A0. fold b in B0.
  apply IZR_le in A1, B1. apply IZR_lt in A2, B2.
  change 2%Z with (radix_val radix2) in A1, A2, B1, B2. rewrite IZR_Zpower in A1, A2, B1, B2 by lia.
  assert (V : Rabs (Q2R x) = IZR n / IZR d) by (rewrite <- magnitude_spec; reflexivity).
  assert (Rd : 0 < IZR d) by now apply IZR_lt.
  assert (Pb : 0 < bpow radix2 b) by apply bpow_gt_0.
  assert (Upper : Rabs (Q2R x) < bpow radix2 (a - b + 1)).
  { rewrite V. replace (a - b + 1)%Z with (Z.succ a + - b)%Z by lia. rewrite bpow_plus, bpow_opp.
    apply Rmult_lt_reg_r with (IZR d); [exact Rd|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    apply Rlt_le_trans with (1 := A2). rewrite Rmult_assoc. rewrite <- (Rmult_1_r (bpow radix2 (Z.succ a))) at 1.
    apply Rmult_le_compat_l; [apply bpow_ge_0|]. apply Rmult_le_reg_l with (bpow radix2 b); [exact Pb|].
    rewrite <- Rmult_assoc, Rinv_r, Rmult_1_r, Rmult_1_l by lra. exact B1. }
  assert (Lower : bpow radix2 (a - b - 1) <= Rabs (Q2R x)).
  { rewrite V. replace (a - b - 1)%Z with (a + - Z.succ b)%Z by lia. rewrite bpow_plus, bpow_opp.
    apply Rmult_le_reg_r with (IZR d); [exact Rd|]. unfold Rdiv. rewrite (Rmult_assoc (IZR n)), Rinv_l, Rmult_1_r by lra.
    apply Rle_trans with (2 := A1). rewrite Rmult_assoc. rewrite <- (Rmult_1_r (bpow radix2 a)) at 2.
    apply Rmult_le_compat_l; [apply bpow_ge_0|]. apply Rmult_le_reg_l with (bpow radix2 (Z.succ b)); [apply bpow_gt_0|].
    rewrite <- Rmult_assoc, Rinv_r, Rmult_1_r, Rmult_1_l by apply Rgt_not_eq, bpow_gt_0. lra. }
  destruct (less (magnitude x) (power_of_two (a - b))) eqn:S.
  - apply less_spec in S. rewrite magnitude_spec, power_spec in S. replace (a - b - 1 + 1)%Z with (a - b)%Z by lia. now split.
  - apply less_false in S. rewrite magnitude_spec, power_spec in S. now split.
Qed.
Lemma lowest_spec x : Q2R (lowest_terms x) = Q2R x.
Proof.
  apply Qeq_eqR. unfold Qeq, lowest_terms. set (g := Z.gcd (Qnum x) (Zpos (Qden x))). cbn [Qnum Qden].
  assert (G : (0 < g)%Z).
  { pose proof (Z.gcd_nonneg (Qnum x) (Zpos (Qden x))). assert (g <> 0%Z) by (intros E; now apply Z.gcd_eq_0 in E). fold g in H. lia. }
  destruct (Z.gcd_divide_l (Qnum x) (Zpos (Qden x))) as [k K]. destruct (Z.gcd_divide_r (Qnum x) (Zpos (Qden x))) as [l M].
  fold g in K, M. assert (Pl : (0 < l)%Z) by nia.
  replace (Z.div (Zpos (Qden x)) g) with l by (rewrite M; now rewrite Z.div_mul by lia).
  replace (Z.div (Qnum x) g) with k by (rewrite K; now rewrite Z.div_mul by lia).
  rewrite Z2Pos.id by exact Pl. rewrite M, K. ring.
Qed.

Lemma valid_mode m : Valid_rnd (flocq_mode m).
Proof. destruct m; cbn; typeclasses eauto. Qed.
Lemma on_spacing_spec p least m x : (0 < p)%Z ->
  Q2R (on_spacing m (spacing p least x) x) = Generic_fmt.round radix2 (FLT_exp (least - p + 1) p) (flocq_mode m) (Q2R x).
Proof.
  intros P. unfold on_spacing, spacing. set (u := (_ - p + 1)%Z).
  assert (Unit : Q2R (power_of_two u) = bpow radix2 u) by apply power_spec.
  assert (NotZero : ~ Qeq (power_of_two u) 0).
  { intros E. apply Qeq_eqR in E. rewrite Unit, Q2R_0 in E. pose proof (bpow_gt_0 radix2 u). lra. }
  rewrite Q2R_mult, Q2R_integer, whole_spec, Q2R_div, Unit by exact NotZero.
  pose proof (valid_mode m) as Valid. destruct (Z.eq_dec (Qnum x) 0) as [Z|N].
  - assert (E : Q2R x = 0) by (unfold Q2R; rewrite Z; lra). rewrite E, round_0 by exact Valid.
    unfold Rdiv. rewrite Rmult_0_l. change 0 with (IZR 0) at 1. rewrite Zrnd_IZR by exact Valid. lra.
  - destruct (exponent_spec x N) as [Lo Hi]. unfold Generic_fmt.round, F2R, scaled_mantissa, cexp. cbn [Fnum Fexp].
    assert (M : mag radix2 (Q2R x) = (exponent x + 1)%Z :> Z).
    { apply mag_unique. replace (exponent x + 1 - 1)%Z with (exponent x) by lia. now split. }
    rewrite M. replace (FLT_exp (least - p + 1) p (exponent x + 1)) with u.
    + rewrite bpow_opp. reflexivity.
    + unfold u, FLT_exp. replace (Z.eqb (Qnum x) 0) with false by (symmetry; now apply Z.eqb_neq). lia.
Qed.

(* `round` is Flocq's rounding r where |r| is at most the largest number.  Where it is more, `found` is the largest number with r's sign
   if the format saturates or the mode rounds toward zero there, and None if not. *)
Theorem round_is_flocq p least largest saturates m x : (0 < p)%Z ->
  let r := Generic_fmt.round radix2 (FLT_exp (least - p + 1) p) (flocq_mode m) (Q2R x) in
  let found := round (Floats p least largest saturates) m x in
  (Rabs r <= Q2R largest -> exists y, found = Some y /\ Q2R y = r)
  /\ (Q2R largest < Rabs r -> found = None /\ stays m saturates x = false
      \/ stays m saturates x = true /\ exists y, found = Some y /\ Q2R y = (if Rlt_bool r 0 then - Q2R largest else Q2R largest)).
Proof.
  intros P r found. unfold found, round. cbv zeta. set (y := on_spacing m (spacing p least x) x).
  assert (Y : Q2R y = r) by now apply on_spacing_spec. split; intros S; rewrite <- Y in S; rewrite <- magnitude_spec in S.
  - apply less_false in S. rewrite S. exists (lowest_terms y). split; [reflexivity|]. now rewrite lowest_spec.
  - apply less_spec in S. rewrite S. destruct (stays m saturates x); [right|now left]. split; [reflexivity|].
    destruct (less y 0) eqn:L.
    + apply less_spec in L. rewrite Q2R_0, Y in L. eexists. split; [reflexivity|]. now rewrite Rlt_bool_true, Q2R_opp.
    + apply less_false in L. rewrite Q2R_0, Y in L. eexists. split; [reflexivity|]. now rewrite Rlt_bool_false.
Qed.
