(* How far rounding moves numbers, for the proof by regions (RegionsCheck.v).

   Proved: round_close and round_fine, that a number of a float format is moved by no more than is said, and not at all if it is a number of the
   format.  Both are derived from what Flocq proves about its rounding, by RoundedFloats.round_is_flocq. *)
From Coq Require Import ZArith QArith Qabs Qreals Reals Lia Lra.
From Flocq Require Import Core Relative.
From Mirrormata Require Import RoundedRNN RoundedFloats Lengths.
Local Open Scope Q_scope.

(* ---- Rounding.  Where x is rounded, it is moved by at most u |x| + eta. *)
Definition to_nearest (m : mode) : bool := match m with Nearest_even | Nearest_low => true | _ => false end.
Definition relative_error (v : values) (m : mode) : Q :=
  match v with Floats p _ _ _ => power_of_two (if to_nearest m then - p else 1 - p) | _ => 0 end.
Definition absolute_error (v : values) (m : mode) : Q :=
  match v with Floats p least _ _ => power_of_two (if to_nearest m then least - p else least - p + 1) | _ => 0 end.
(* Numbers up to half of the largest one do not become larger than that by rounding. *)
Definition format_right (v : values) (m : mode) : bool :=
  match v with
  | Exact => true
  | Floats p _ largest _ =>
    Z.ltb 0 p && negb (less largest ((1 + relative_error v m) * (largest * (1 # 2)) + absolute_error v m))
  | _ => false
  end.
Definition is_fine (v : values) (x : Q) : bool :=
  match v with
  | Floats p least largest _ => Qeq_bool (on_spacing Down (spacing p least x) x) x && negb (less largest (magnitude x))
  | _ => true
  end.
Definition not_too_large (v : values) (x : Q) : bool :=
  match v with Floats _ _ largest _ => negb (less (largest * (1 # 2)) x) | _ => true end.

(* A number of the format *)
Definition fine (v : values) (x : Q) : Prop :=
  match v with
  | Floats p least largest _ =>
    generic_format radix2 (FLT_exp (least - p + 1) p) (Q2R x) /\ (Rabs (Q2R x) <= Q2R largest)%R
  | _ => True
  end.
Lemma fine_same v x y : x == y -> fine v x -> fine v y.
Proof. destruct v; auto. cbn. intros E. now rewrite (Qeq_eqR x y E). Qed.
Lemma fine_opposite v x : fine v x -> fine v (- x).
Proof. destruct v; auto. cbn. rewrite Q2R_opp, Rabs_Ropp. intros [F L]. split; [now apply generic_format_opp|exact L]. Qed.
Lemma is_fine_right v x : is_fine v x = true -> (match v with Floats p _ _ _ => (0 < p)%Z | _ => True end) -> fine v x.
Proof.
  intros E P. destruct v as [|p least largest s|low high q|l]; try exact I. apply andb_prop in E as [E L].
  apply Qeq_bool_iff in E. apply Bool.negb_true_iff, less_false in L. rewrite magnitude_spec in L. split; [|exact L].
  rewrite <- (Qeq_eqR _ _ E), (on_spacing_spec p least Down x P). pose proof (valid_mode Down) as V.
  apply generic_format_round; [apply FLT_exp_valid; exact P|exact V].
Qed.
Lemma format_positive v m : format_right v m = true -> match v with Floats p _ _ _ => (0 < p)%Z | _ => True end.
Proof. destruct v; try exact (fun _ => I). intros E. apply andb_prop in E as [E _]. now apply Z.ltb_lt. Qed.

(* The error of Flocq's rounding *)
Lemma flocq_error p least m x : (0 < p)%Z ->
  let r := Generic_fmt.round radix2 (FLT_exp (least - p + 1) p) (flocq_mode m) x in
  (Rabs (r - x) <= bpow radix2 (if to_nearest m then - p else 1 - p) * Rabs x
    + bpow radix2 (if to_nearest m then least - p else least - p + 1))%R.
Proof.
  intros P r. assert (PP : Prec_gt_0 p) by exact P. assert (Near : forall choice, (Rabs (Generic_fmt.round radix2 (FLT_exp (least - p + 1) p) (Znearest choice) x - x)
      <= bpow radix2 (- p) * Rabs x + bpow radix2 (least - p))%R).
  { intros choice. destruct (error_N_FLT radix2 (least - p + 1) p P choice x) as (eps & eta & E1 & E2 & _ & ->).
    replace (x * (1 + eps) + eta - x)%R with (eps * x + eta)%R by ring.
    rewrite bpow_plus_1 in E1, E2. cbn [radix_val radix2] in E1, E2.
    apply Rle_trans with (1 := Rabs_triang _ _). rewrite Rabs_mult. apply Rplus_le_compat; [|lra].
    apply Rmult_le_compat_r; [apply Rabs_pos|lra]. }
  assert (Any : forall rnd, Valid_rnd rnd -> (Rabs (Generic_fmt.round radix2 (FLT_exp (least - p + 1) p) rnd x - x)
      <= bpow radix2 (1 - p) * Rabs x + bpow radix2 (least - p + 1))%R).
  { intros rnd V. assert (VE : Valid_exp (FLT_exp (least - p + 1) p)) by (apply FLT_exp_valid; exact P).
    apply Rle_trans with (1 := error_le_ulp radix2 _ rnd x).
    pose proof (bpow_ge_0 radix2 (1 - p)) as B1. pose proof (bpow_ge_0 radix2 (least - p + 1)) as B2. pose proof (Rabs_pos x) as B3.
    pose proof (Rmult_le_pos _ _ B1 B3) as B4.
    destruct (Rle_or_lt (bpow radix2 (least - p + 1 + p - 1)) (Rabs x)) as [L|L].
    - pose proof (ulp_FLT_le radix2 (least - p + 1) p x L). lra.
    - rewrite (ulp_FLT_small radix2 (least - p + 1) p); [lra|].
      apply Rlt_trans with (1 := L). apply bpow_lt. lia. }
  destruct m; cbn [to_nearest]; [apply Near|apply Near|apply Any; exact (valid_mode _)..].
Qed.

(* A number of the set is not moved. *)
Lemma round_fine v m x : format_right v m = true -> fine v x -> exists z, round v m x = Some z /\ z == x /\ fine v z.
Proof.
  intros Ok F. destruct v as [|p least largest s|low high q|l]; try discriminate.
  - exists (lowest_terms x). split; [reflexivity|]. split; [apply lowest_same|exact I].
  - pose proof (format_positive _ _ Ok) as P. destruct F as [G L]. pose proof (valid_mode m) as V.
    pose proof (round_is_flocq p least largest s m x P) as [H _]. rewrite (round_generic _ _ _ _ G) in H.
    destruct (H L) as (z & -> & E). exists z. split; [reflexivity|]. split; [now apply eqR_Qeq|]. cbn. now rewrite E.
Qed.
(* A number of at most half of the largest one is moved by no more than its error. *)
Lemma round_close v m x : format_right v m = true -> not_too_large v (Qabs x) = true ->
  exists z, round v m x = Some z /\ Qabs (z - x) <= relative_error v m * Qabs x + absolute_error v m /\ fine v z.
Proof.
  intros Ok S. destruct v as [|p least largest s|low high q|l]; try discriminate.
  - exists (lowest_terms x). split; [reflexivity|]. split; [|exact I]. cbn [relative_error absolute_error]. rewrite lowest_same.
    setoid_replace (x - x) with 0 by ring. setoid_replace (0 * Qabs x + 0) with 0 by ring. apply Qle_refl.
  - pose proof (format_positive _ _ Ok) as P. pose proof (valid_mode m) as V.
    unfold format_right in Ok. apply andb_prop in Ok as [_ Ok]. apply Bool.negb_true_iff, less_not in Ok.
    unfold not_too_large in S. apply Bool.negb_true_iff, less_not in S.
    pose proof (flocq_error p least m (Q2R x) P) as E. pose proof (round_is_flocq p least largest s m x P) as [H _]. cbv zeta in *.
    set (r := Generic_fmt.round _ _ _ _) in *. set (u := relative_error _ m) in *. set (eta := absolute_error _ m) in *.
    assert (U : Q2R u = bpow radix2 (if to_nearest m then - p else 1 - p)) by apply power_spec.
    assert (Eta : Q2R eta = bpow radix2 (if to_nearest m then least - p else least - p + 1)) by apply power_spec.
    rewrite <- U, <- Eta in E.
    assert (A : forall y, Q2R (Qabs y) = Rabs (Q2R y)) by (intros [n d]; exact (magnitude_spec (n # d))).
    apply Qle_Rle in Ok, S. repeat rewrite ?Q2R_plus, ?Q2R_mult in Ok. rewrite A, Q2R_mult in S.
    rewrite Q2R_half in *. replace (Q2R 1) with 1%R in Ok by (unfold Q2R; cbn; lra).
    assert (Pu : (0 <= Q2R u)%R) by (rewrite U; apply bpow_ge_0).
    assert (L : (Rabs r <= Q2R largest)%R).
    { replace r with (r - Q2R x + Q2R x)%R by ring. apply Rle_trans with (1 := Rabs_triang _ _). pose proof (Rabs_pos (Q2R x)). nra. }
    destruct (H L) as (z & -> & Z). exists z. split; [reflexivity|]. split.
    + apply Rle_Qle. rewrite A, Q2R_minus, Z, Q2R_plus, Q2R_mult, A. exact E.
    + cbn. rewrite Z. split; [|exact L]. apply generic_format_round; [apply FLT_exp_valid; exact P|exact V].
Qed.

Lemma power_positive v m : 0 <= relative_error v m /\ 0 <= absolute_error v m.
Proof.
  destruct v as [|p least largest s|low high q|l]; cbn [relative_error absolute_error];
    try (split; apply Qle_refl). split; apply Rle_Qle; rewrite Q2R_0, power_spec; apply bpow_ge_0.
Qed.
