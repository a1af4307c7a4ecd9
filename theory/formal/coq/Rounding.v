(* PT.R1 and PT.R2: limit cycles under monotone rounding (Poljak and Turzik, On an application of convexity to discrete
   systems, Discrete Applied Mathematics 13 (1986) 27-32, for separable monotone maps).

   The layer is h_i <- Q_i(sum_j A_ij h_j + B_i) with non-decreasing maps Q_i of the integers.  Rational data scale to
   integers: if A and B have the denominator d and the values of Q the denominator e, then d A, d e B and the map
   x -> e Q(x / (d e)) are those of a layer on e h.  Proved for every number n of entries and every period p:
   - symmetric_period_two: with A symmetric every limit cycle has at most two states.
   - psd_fixed_point: with A also positive semidefinite it has one.

   The proof sums along the cycle: `cyclic` says that
   sum Q(x_k) (x_k - x_(k+1)) >= 0 around every cyclic list, with equality only if Q is constant on it; `total` says it for
   the terms of a periodic sequence that are d apart; E_b rewrites the sum over all entries by the bilinear form
   b s t = h_s^T A h_t, which symmetry makes 0 for d = 2, and positive semidefiniteness at most 0 for d = 1.

   Coq's standard library only; no axioms. *)
Require Import List ZArith Lia Arith. Import ListNotations. Open Scope Z_scope.

(* Sums around a cyclic list, and when they are 0. *)
Section Cyc.
Variable q : Z -> Z. Hypothesis qm : forall x y, x <= y -> q x <= q y.
Fixpoint lst (x : Z) (l : list Z) : Z := match l with y :: l' => lst y l' | [] => x end.
Fixpoint ps (x : Z) (l : list Z) : Z := match l with y :: l' => q x * (x - y) + ps y l' | [] => 0 end.
Definition csum (l : list Z) : Z := match l with x :: l' => ps x (l' ++ [x]) | [] => 0 end.
Lemma ps_app x l1 l2 : ps x (l1 ++ l2) = ps x l1 + ps (lst x l1) l2.
Proof. revert x; induction l1; intros; simpl; auto. rewrite IHl1; ring. Qed.
Lemma lst_app x l1 l2 : lst x (l1 ++ l2) = lst (lst x l1) l2.
Proof. revert x; induction l1; intros; simpl; auto. Qed.
Lemma lst_in x l : lst x l = x \/ In (lst x l) l.
Proof. revert x; induction l; intros; simpl; auto. destruct (IHl a) as [H|H]; auto. Qed.
Lemma csum_split l1 m l2 : csum (l1 ++ m :: l2) = csum (m :: l2 ++ l1).
Proof. destruct l1 as [|x l1]; simpl. now rewrite app_nil_r.
  rewrite <- !app_assoc. repeat (rewrite ?ps_app, ?lst_app; simpl). ring. Qed.
Lemma maximum l : l <> [] -> exists m, In m l /\ forall z, In z l -> z <= m.
Proof. induction l as [|x l IH]; intros H; [congruence|]. destruct l as [|y l].
  exists x; split; simpl; auto. intros z [->|[]]; lia.
  destruct IH as [m [Hm Hx]]; [congruence|]. destruct (Z.le_gt_cases x m).
  exists m; split; [simpl in *; tauto|]. intros z [->|Hz]; auto.
  exists x; split; [simpl; auto|]. intros z [->|Hz]; [lia|]. specialize (Hx z Hz); lia. Qed.
Lemma cyclic n : forall l, (length l <= n)%nat ->
  0 <= csum l /\ (csum l = 0 -> forall a b, In a l -> In b l -> q a = q b).
Proof. induction n as [|n IH]; intros l Hl.
  destruct l; simpl in Hl; [|lia]. split; simpl; [lia|]. tauto.
  destruct l as [|x l0]; [split; simpl; [lia|tauto]|]. set (l := x :: l0) in *.
  destruct (maximum l) as [m [Hm Hx]]; [unfold l; congruence|].
  destruct (in_split m l Hm) as [l1 [l2 E]]. rewrite E in Hx, Hl |- *. rewrite csum_split.
  assert (Hin : forall a, In a (l1 ++ m :: l2) <-> In a (m :: l2 ++ l1)).
  { intros a; rewrite in_app_iff; simpl; rewrite in_app_iff; tauto. }
  assert (Hlen : length (l2 ++ l1) = pred (length (l1 ++ m :: l2))) by (rewrite !app_length; simpl; lia).
  destruct (l2 ++ l1) as [|y t] eqn:Et.
  - simpl. split; [lia|]. intros _ a b Ha Hb. apply Hin in Ha, Hb. simpl in *. destruct Ha as [<-|[]], Hb as [<-|[]]; auto.
  - set (z := lst y t). assert (Hz : z <= m). { destruct (lst_in y t) as [H|H]; fold z in H; apply Hx, Hin; simpl; rewrite ?H; auto. }
    assert (Hy : y <= m) by (apply Hx, Hin; simpl; auto).
    assert (D : csum (m :: y :: t) = csum (y :: t) + (q m - q z) * (m - y)).
    { simpl. rewrite !ps_app. fold z. simpl. ring. }
    destruct (IH (y :: t)) as [I1 I2]. { rewrite Hlen. lia. }
    pose proof (qm z m Hz) as Hq. assert (0 <= (q m - q z) * (m - y)) by nia. rewrite D. split; [lia|].
    intros H0 a b Ha Hb. assert (C0 : csum (y :: t) = 0) by lia. assert (P0 : (q m - q z) * (m - y) = 0) by lia.
    specialize (I2 C0). assert (Hzt : In z (y :: t)). { destruct (lst_in y t) as [G|G]; fold z in G; simpl; auto. }
    assert (M : forall w, In w (y :: t) -> q m = q w).
    { intros w Hw. apply Z.mul_eq_0 in P0 as [P|P]. rewrite (I2 w z Hw Hzt). lia.
      replace m with y by lia. apply I2; simpl; auto. }
    apply Hin in Ha, Hb. destruct Ha as [<-|Ha], Hb as [<-|Hb]; auto. symmetry; auto. Qed.
End Cyc.

(* Finite sums f 0 + ... + f (n - 1). *)
Fixpoint S (f : nat -> Z) (n : nat) : Z := match n with O => 0 | Datatypes.S k => S f k + f k end.
Lemma S_ext f g n : (forall i, (i < n)%nat -> f i = g i) -> S f n = S g n.
Proof. induction n; intros; simpl; auto. rewrite IHn, H; auto. Qed.
Lemma S_add f g n : S (fun i => f i + g i) n = S f n + S g n. Proof. induction n; simpl; lia. Qed.
Lemma S_sub f g n : S (fun i => f i - g i) n = S f n - S g n. Proof. induction n; simpl; lia. Qed.
Lemma S_mul c f n : S (fun i => c * f i) n = c * S f n. Proof. induction n; simpl; lia. Qed.
Lemma S_swap f n m : S (fun i => S (f i) m) n = S (fun j => S (fun i => f i j) n) m.
Proof. induction n; simpl. induction m; simpl; lia. rewrite IHn, <- S_add. reflexivity. Qed.
Lemma S_nonneg f n : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= S f n.
Proof. induction n; intros; simpl; [lia|]. assert (0 <= S f n) by auto. specialize (H n). lia. Qed.
Lemma S_zero f n : (forall i, (i < n)%nat -> 0 <= f i) -> S f n = 0 -> forall i, (i < n)%nat -> f i = 0.
Proof. induction n; intros H H0 i Hi; [lia|]. simpl in H0. assert (0 <= S f n) by (apply S_nonneg; auto).
  assert (0 <= f n) by auto. destruct (Nat.eq_dec i n); [subst; lia|]. apply IHn; auto; lia. Qed.
Lemma S_const c n : S (fun _ => c) n = Z.of_nat n * c. Proof. induction n; simpl S; lia. Qed.
Lemma S_shift1 f p : (forall t, f (t + p)%nat = f t) -> S (fun t => f (t + 1)%nat) p = S f p.
Proof. intros H. assert (G : forall n, S (fun t => f (t + 1)%nat) n = S f n + f n - f 0%nat).
  { induction n; simpl; [lia|]. rewrite IHn. replace (n + 1)%nat with (Datatypes.S n) by lia. lia. }
  rewrite G. specialize (H 0%nat). simpl in H. rewrite H. lia. Qed.
Lemma S_shift f p s : (forall t, f (t + p)%nat = f t) -> S (fun t => f (t + s)%nat) p = S f p.
Proof. intros H; induction s. apply S_ext; intros; f_equal; lia.
  rewrite <- IHs, <- (S_shift1 (fun t => f (t + s)%nat)). apply S_ext; intros; f_equal; lia.
  intros t. rewrite <- (H (t + s)%nat). f_equal; lia. Qed.

(* The same for a sequence u of period p, and terms that are d apart. *)
Section Orbit.
Variables (q u : nat -> Z) (qq : Z -> Z) (p d : nat).
Hypothesis qm : forall x y, x <= y -> qq x <= qq y.
Hypothesis per : forall t, u (t + p)%nat = u t.
Lemma per_mul t k : u (t + k * p)%nat = u t.
Proof. induction k; simpl; [f_equal; lia|]. rewrite <- IHk, <- (per (t + k * p)%nat). f_equal; lia. Qed.
Definition f t := qq (u t) * (u t - u (t + d)%nat).
Definition orb r := map (fun k => u (r + k * d)%nat) (seq 0 p).
Lemma ps_orb r : forall n s, ps qq (u (r + s * d)%nat) (map (fun k => u (r + k * d)%nat) (seq (s + 1) n))
   = S (fun k => f (r + (s + k) * d)%nat) n.
Proof. induction n as [|n IH]; intros s; simpl; auto.
  replace (Datatypes.S (s + 1)) with (s + 1 + 1)%nat by lia. rewrite IH.
  assert (G : forall m g, S g m + g m = g O + S (fun k => g (Datatypes.S k)) m). { induction m; intros; simpl; [lia|]. rewrite IHm. lia. }
  rewrite (G n (fun k => f (r + (s + k) * d)%nat)). f_equal.
  unfold f. replace (s + 0)%nat with s by lia. replace (r + s * d + d)%nat with (r + (s + 1) * d)%nat by lia. reflexivity.
  apply S_ext; intros i _. replace (s + 1 + i)%nat with (s + Datatypes.S i)%nat by lia. reflexivity. Qed.
Lemma csum_orb r : (0 < p)%nat -> csum qq (orb r) = S (fun k => f (r + k * d)%nat) p.
Proof. intros Hp. unfold orb. pose (n := pred p). assert (E : p = Datatypes.S n) by (unfold n; lia).
  replace (seq 0 p) with (0%nat :: seq 1 n) by (rewrite E; reflexivity). simpl map. unfold csum.
  transitivity (ps qq (u (r + 0 * d)%nat) (map (fun k => u (r + k * d)%nat) (seq (0 + 1) (n + 1)))).
  - rewrite seq_app, map_app. simpl. do 3 f_equal.
    rewrite <- (per_mul (r + 0) d). f_equal. rewrite E. lia.
  - rewrite ps_orb. replace (n + 1)%nat with p by lia. reflexivity. Qed.
Lemma total : (0 < p)%nat -> 0 <= S f p /\ (S f p = 0 -> forall t, qq (u (t + d)%nat) = qq (u t)).
Proof. intros Hp.
  assert (fper : forall t, f (t + p)%nat = f t).
  { intros t; unfold f. rewrite per. replace (t + p + d)%nat with (t + d + p)%nat by lia. now rewrite per. }
  assert (N : Z.of_nat p * S f p = S (fun r => csum qq (orb r)) p).
  { rewrite (S_ext (fun r => csum qq (orb r)) (fun r => S (fun k => f (r + k * d)%nat) p)) by (intros; apply csum_orb; auto).
    rewrite (S_swap (fun r k => f (r + k * d)%nat)). rewrite <- S_const. apply S_ext; intros k _. symmetry.
    apply (S_shift f p (k * d)); auto. }
  assert (P : forall r, 0 <= csum qq (orb r)) by (intros; eapply cyclic; eauto).
  assert (0 <= S (fun r => csum qq (orb r)) p) by (apply S_nonneg; auto). split; [nia|].
  intros H0 t. rewrite H0, Z.mul_0_r in N. symmetry in N.
  set (r := (t mod p)%nat). assert (Hr : (r < p)%nat) by (apply Nat.mod_upper_bound; lia).
  pose proof (S_zero _ _ (fun i _ => P i) N r Hr) as C0.
  destruct (cyclic qq qm p (orb r)) as [_ K]. { unfold orb. rewrite map_length, seq_length. lia. }
  assert (Et : forall s, u (t + s)%nat = u (r + s)%nat).
  { intros s. rewrite <- (per_mul (r + s)%nat (t / p)). f_equal. unfold r. pose proof (Nat.div_mod t p). lia. }
  rewrite Et. replace t with (t + 0)%nat by lia. rewrite Et.
  apply K; auto; unfold orb; apply in_map_iff.
  destruct (Nat.eq_dec p 1). exists 0%nat; split; [|apply in_seq; lia]. rewrite <- (per_mul (r + 0 * d)%nat d). f_equal. lia.
  exists 1%nat; split; [f_equal; lia|apply in_seq; lia].
  exists 0%nat; split; [f_equal; lia|apply in_seq; lia]. Qed.
End Orbit.

(* A layer on a limit cycle of period p. *)
Section Main.
Variables (n p : nat) (A : nat -> nat -> Z) (B : nat -> Z) (Q : nat -> Z -> Z) (h : nat -> nat -> Z).
Hypothesis sym : forall i j, (i < n)%nat -> (j < n)%nat -> A i j = A j i.
Hypothesis Qm : forall i x y, x <= y -> Q i x <= Q i y.
Definition u i t := S (fun j => A i j * h t j) n + B i.
Hypothesis step : forall t i, (i < n)%nat -> h (t + 1)%nat i = Q i (u i t).
Hypothesis per : forall t i, (i < n)%nat -> h (t + p)%nat i = h t i.
Hypothesis pos : (0 < p)%nat.
Definition b s t := S (fun i => S (fun j => h s i * (A i j * h t j)) n) n.
Lemma b_sym s t : b s t = b t s.
Proof. unfold b. rewrite S_swap. apply S_ext; intros j Hj. apply S_ext; intros i Hi. rewrite (sym i j); auto. ring. Qed.
Lemma b_per s t : b (s + p)%nat (t + p)%nat = b s t.
Proof. unfold b. apply S_ext; intros i Hi. apply S_ext; intros j Hj. rewrite !per; auto. Qed.
Lemma u_per i t : u i (t + p)%nat = u i t.
Proof. unfold u. f_equal. apply S_ext; intros. rewrite per; auto. Qed.
Definition E d := S (fun i => S (f (u i) (Q i) d) p) n.
Lemma E_b d : E d = S (fun t => b (t + 1)%nat t - b (t + 1)%nat (t + d)%nat) p.
Proof. unfold E. rewrite S_swap. apply S_ext; intros t _. unfold b. rewrite <- S_sub. apply S_ext; intros i Hi.
  unfold f. rewrite <- step; auto. unfold u.
  rewrite (S_mul (h (t + 1)%nat i) (fun j => A i j * h t j)), (S_mul (h (t + 1)%nat i) (fun j => A i j * h (t + d)%nat j)). ring. Qed.
Lemma E_zero d : 0 <= E d /\ (E d = 0 -> forall t i, (i < n)%nat -> h (t + d + 1)%nat i = h (t + 1)%nat i).
Proof. assert (P : forall i, 0 <= S (f (u i) (Q i) d) p). { intros i. apply total; auto. intros; apply u_per. }
  split. apply S_nonneg; auto. intros H0 t i Hi. pose proof (S_zero _ _ (fun i _ => P i) H0 i Hi) as C.
  rewrite !step; auto. apply (total (u i) (Q i) p d); auto. intros; apply u_per. Qed.
Theorem symmetric_period_two : forall t i, (i < n)%nat -> h (t + 3)%nat i = h (t + 1)%nat i.
Proof. intros t i Hi. destruct (E_zero 2) as [_ H]. replace (t + 3)%nat with (t + 2 + 1)%nat by lia. apply H; auto.
  rewrite E_b, S_sub. rewrite <- (S_shift1 (fun t => b (t + 1)%nat t)).
  rewrite <- S_sub. rewrite (S_ext _ (fun _ => 0)). rewrite S_const. lia.
  intros k _. rewrite b_sym. replace (k + 1 + 1)%nat with (k + 2)%nat by lia. lia.
  intros k. replace (k + p + 1)%nat with (k + 1 + p)%nat by lia. apply b_per. Qed.
Hypothesis psd : forall x : nat -> Z, 0 <= S (fun i => S (fun j => x i * (A i j * x j)) n) n.
Theorem psd_fixed_point : forall t i, (i < n)%nat -> h (t + 2)%nat i = h (t + 1)%nat i.
Proof. intros t i Hi. destruct (E_zero 1) as [H0 H]. replace (t + 2)%nat with (t + 1 + 1)%nat by lia. apply H; auto.
  enough (2 * E 1 <= 0) by lia.
  assert (D : forall t, S (fun i => S (fun j => (h (t + 1)%nat i - h t i) * (A i j * (h (t + 1)%nat j - h t j))) n) n
     = b (t + 1)%nat (t + 1)%nat - b (t + 1)%nat t - (b t (t + 1)%nat - b t t)).
  { intros s. unfold b. rewrite <- !S_sub. apply S_ext; intros. rewrite <- !S_sub. apply S_ext; intros. ring. }
  assert (Sh : S (fun t => b (t + 1)%nat (t + 1)%nat) p = S (fun t => b t t) p) by (apply (S_shift1 (fun t => b t t)); intros; apply b_per).
  assert (N : 0 <= S (fun t => b (t + 1)%nat (t + 1)%nat - b (t + 1)%nat t - (b t (t + 1)%nat - b t t)) p).
  { apply S_nonneg; intros k _. rewrite <- D. apply psd. }
  rewrite !S_sub in N. rewrite (S_ext (fun t => b t (t + 1)%nat) (fun t => b (t + 1)%nat t)) in N by (intros; apply b_sym).
  rewrite E_b, S_sub. lia. Qed.
End Main.
