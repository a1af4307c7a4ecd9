(* One layer of a chain does what the rule says, over any ring.

   X and X' are the set above a level before and after a token, Y the next set before it.
   - `level_step_ok`: where the first half of the layer's state is the indicator of Y in X, it is that of `next_set` in X' after the
     token, by permuting, by resetting with or without a second half, and by the gate 0; a second half then has the old indicator.
   - `read_after_ok`, `read_before_ok`: so the layer below reads the next sets after and before the token. *)
Require Import List Arith Bool Lia Permutation Ring. Import ListNotations.
From Mirrormata Require Import ChainSemantics ChainSets ChainFactors.

Section Levels.
Variables (R : Type) (zero one : R) (add mul sub : R -> R -> R) (opp : R -> R) (nonzero : R -> bool).
Hypothesis laws : ring_theory zero one add mul sub opp (@eq R).
Hypothesis (nonzero_zero : nonzero zero = false) (nonzero_one : nonzero one = true).
Add Ring numbers : laws.
Variables (n : nat) (swaps_of : list nat -> list (nat * nat)) (reset_beta : nat -> R) (look_back gates : bool).
Hypothesis swaps_ok : swaps_apply swaps_of.
Notation apply_factor := (apply_factor R zero add mul sub).
Notation apply_step := (apply_step R zero add mul sub).
Notation projection := (projection R zero one).
Notation swap := (swap R zero one sub).
Notation indicator := (indicator R zero one).
Notation zeros := (zeros R zero).
Notation select := (select R nonzero).
Notation level_step := (level_step R zero one add mul sub n swaps_of reset_beta gates).
Notation read_after := (read_after R nonzero).
Notation read_before := (read_before R zero nonzero n look_back).
Notation permutes := (permutes n).
Notation places := (places n).
Notation goes := (goes n).
Notation left := (left n).
Notation next_set := (next_set n).
Notation entry i h := (nth i h zero).

(* The exchange of two halves of p entries: of entries s, ..., s + k - 1 and those p behind them. *)
Lemma origin_halves p k : forall s x, s + k <= p ->
  (s <= x < s + k -> origin (map (fun j => (j, p + j)) (seq s k)) x = p + x) /\
  (p + s <= x < p + s + k -> origin (map (fun j => (j, p + j)) (seq s k)) x = x - p) /\
  (x < s \/ s + k <= x < p + s \/ p + s + k <= x -> origin (map (fun j => (j, p + j)) (seq s k)) x = x).
Proof.
  induction k as [|k IH]; intros s x B; [simpl; split; [lia | split; [lia | easy]] |].
  destruct (IH (S s) x ltac:(lia)) as [H1 [H2 H3]]. cbn [seq map origin]. unfold exchange. split; [| split]; intros L.
  - destruct (Nat.eq_dec x s) as [-> | N]; [rewrite H3 by lia; now rewrite Nat.eqb_refl |]. rewrite H1 by lia.
    destruct (Nat.eqb_spec (p + x) s), (Nat.eqb_spec (p + x) (p + s)); lia.
  - destruct (Nat.eq_dec x (p + s)) as [-> | N].
    + rewrite H3 by lia. destruct (Nat.eqb_spec (p + s) s); [lia |]. rewrite Nat.eqb_refl. lia.
    + rewrite H2 by lia. destruct (Nat.eqb_spec (x - p) s), (Nat.eqb_spec (x - p) (p + s)); lia.
  - rewrite H3 by lia. destruct (Nat.eqb_spec x s), (Nat.eqb_spec x (p + s)); lia.
Qed.

Variables (l : chain_level) (f X X' Y : list nat).
Let p := size l.
Hypothesis (X_size : length X = p) (X'_size : length X' = p) (X_once : NoDup X) (X'_once : NoDup X').
Hypothesis into : forall x, In x X -> x < n -> In (image f x) X'.
Hypothesis (Y_part : part Y X) (Y_size : length Y = next l) (smaller : next l < p).
Let Y' := next_set f X X' Y (next l).
Let sigma := goes f X (left f X X').
Let same : length X' = length X := eq_trans X'_size (eq_sym X_size).

Lemma Y_less : length Y < length X.
Proof. rewrite X_size, Y_size. exact smaller. Qed.

Lemma sigma_length : length sigma = p.
Proof. unfold sigma. now rewrite length_goes. Qed.

(* Member j of X is in Y exactly if the member of X' that it goes to is in Y'. *)
Lemma sigma_next j : permutes f X X' = true -> j < p -> mem (nth j sigma 0) Y' = mem (nth j X 0) Y.
Proof.
  intros E L. assert (P := goes_permutation n f X X' X'_once same into E). fold sigma in P.
  assert (D := goes_once n f X X' X'_once same into E). fold sigma in D.
  unfold Y', ChainSets.next_set. rewrite E.
  assert (C : nth j (combine X sigma) (0, 0) = (nth j X 0, nth j sigma 0)).
  { apply combine_nth. rewrite sigma_length. exact X_size. }
  assert (I : In (nth j X 0, nth j sigma 0) (combine X sigma)).
  { rewrite <- C. apply nth_In. rewrite combine_length, X_size, sigma_length. lia. }
  apply eq_true_iff_eq. rewrite !mem_In, filter_In, mem_In. unfold moved. fold sigma. rewrite in_map_iff. split.
  - intros [_ [[x y] [F H]]]. simpl in F. subst y. apply filter_In in H. destruct H as [H M]. simpl in M.
    destruct (In_nth _ _ (0, 0) H) as [i [Li Ei]]. rewrite combine_length, X_size, sigma_length in Li.
    rewrite combine_nth in Ei by (rewrite sigma_length; exact X_size). injection Ei as E1 E2.
    apply (proj1 (NoDup_nth sigma 0) D) in E2; [| rewrite sigma_length; lia | rewrite sigma_length; lia].
    subst. now apply mem_In.
  - intros H. split.
    + apply (Permutation_in _ P), nth_In. now rewrite sigma_length.
    + exists (nth j X 0, nth j sigma 0). split; [easy |]. apply filter_In. split; [easy | now apply mem_In].
Qed.

Lemma places_length : length (places f X X') = p.
Proof. unfold ChainSemantics.places. now rewrite map_length, length_goes. Qed.

Lemma nth_places j : j < p -> nth j (places f X X') 0 = place (nth j sigma 0) X'.
Proof.
  intros L. unfold ChainSemantics.places. fold sigma.
  rewrite (nth_indep _ 0 (place 0 X')) by now rewrite map_length, sigma_length.
  apply (map_nth (fun y => place y X')).
Qed.

Lemma places_permutation : permutes f X X' = true ->
  NoDup (places f X X') /\ (forall y, In y (places f X X') -> y < length (places f X X')).
Proof.
  intros E. assert (P := goes_permutation n f X X' X'_once same into E). fold sigma in P.
  assert (D := goes_once n f X X' X'_once same into E). fold sigma in D. split.
  - apply (NoDup_nth _ 0). rewrite places_length. intros i j Li Lj F. rewrite !nth_places in F by easy.
    apply (proj1 (NoDup_nth sigma 0) D); rewrite ?sigma_length; try easy.
    assert (forall k, k < p -> In (nth k sigma 0) X').
    { intros k Lk. apply (Permutation_in _ P), nth_In. now rewrite sigma_length. }
    rewrite <- (nth_place (nth i sigma 0) X' 0) by auto. rewrite F. now apply nth_place; auto.
  - intros y H. rewrite places_length. unfold ChainSemantics.places in H. fold sigma in H. apply in_map_iff in H.
    destruct H as [z [<- H]]. rewrite <- X'_size. apply place_lt, (Permutation_in _ P H).
Qed.

(* Entry `place (sigma_j)` comes from entry j. *)
Lemma onto x : permutes f X X' = true -> x < p -> exists j, j < p /\ nth j (places f X X') 0 = x /\ nth j sigma 0 = nth x X' 0.
Proof.
  intros E L. assert (P := goes_permutation n f X X' X'_once same into E). fold sigma in P.
  assert (H : In (nth x X' 0) sigma).
  { apply (Permutation_in _ (Permutation_sym P)), nth_In. now rewrite X'_size. }
  destruct (In_nth _ _ 0 H) as [j [Lj Ej]]. rewrite sigma_length in Lj. exists j. split; [easy |]. split; [| easy].
  rewrite nth_places by easy. rewrite Ej. apply place_nth; [easy | now rewrite X'_size].
Qed.

Variables (h tail : list R).
Hypothesis h_holds : h = indicator X Y ++ tail.
Hypothesis tail_size : length tail = if keeps l then p else 0.
Let dim := if keeps l then p + p else p.

Lemma h_length : length h = dim.
Proof. rewrite h_holds, app_length, length_indicator, X_size, tail_size. unfold dim. destruct (keeps l); lia. Qed.

Lemma h_first x : x < p -> entry x h = entry x (indicator X Y).
Proof. intros L. rewrite h_holds. apply app_nth1. now rewrite length_indicator, X_size. Qed.

Lemma h_second x : entry (p + x) h = entry x tail.
Proof.
  rewrite h_holds, app_nth2 by (rewrite length_indicator, X_size; lia).
  f_equal. rewrite length_indicator, X_size. lia.
Qed.

Lemma step_one fs b : length (fold_left apply_factor fs h) = dim ->
  apply_step one fs b h = map2 R R R add (fold_left apply_factor fs h) b.
Proof.
  intros E. unfold ChainSemantics.apply_step.
  now rewrite (scale_one R zero one add mul sub opp laws).
Qed.

Lemma add_zeros_dim v : length v = dim -> map2 R R R add v (zeros dim) = v.
Proof. intros <-. apply (add_zeros R zero one add mul sub opp laws). Qed.

Lemma permuting : permutes f X X' = true ->
  fold_left apply_factor (map (fun ij => swap dim (fst ij) (snd ij)) (swaps_of (places f X X'))) h
  = indicator X' Y' ++ tail.
Proof.
  intros E. destruct (places_permutation E) as [D B]. destruct (swaps_ok _ D B) as [W O]. rewrite places_length in *.
  assert (W' : swaps_within dim (swaps_of (places f X X'))).
  { intros ij I. apply W in I. unfold dim. destruct (keeps l); lia. }
  destruct (nth_swaps R zero one add mul sub opp laws dim _ W' h h_length) as [Len G].
  apply (vector_ext R zero _ _ dim); [easy | |].
  - rewrite app_length, length_indicator, X'_size, tail_size. unfold dim. destruct (keeps l); lia.
  - intros x L. rewrite G by easy. destruct (Nat.lt_ge_cases x p) as [Lx | Lx].
    + rewrite app_nth1 by (rewrite length_indicator, X'_size; easy).
      rewrite nth_indicator by (rewrite X'_size; easy).
      destruct (onto x E Lx) as [j [Lj [Pj Sj]]]. rewrite <- Pj, O, h_first by easy.
      rewrite nth_indicator by (rewrite X_size; easy). rewrite Pj, <- Sj, sigma_next by easy. easy.
    + rewrite (origin_outside p) by easy. replace x with (p + (x - p)) by lia. rewrite h_second.
      rewrite app_nth2 by (rewrite length_indicator, X'_size; lia). f_equal. rewrite length_indicator, X'_size. lia.
Qed.

Hypothesis gates_alone : gates = true -> keeps l = false.

Theorem level_step_ok : exists tail', level_step l f X X' h = indicator X' Y' ++ tail' /\
  length tail' = (if keeps l then p else 0) /\
  (permutes f X X' = false -> keeps l = true -> tail' = indicator X Y).
Proof.
  unfold ChainSemantics.level_step. fold p. fold dim. case_eq (permutes f X X'); intros E.
  - exists tail. rewrite step_one.
    + rewrite permuting by easy. rewrite add_zeros_dim; [easy |].
      rewrite app_length, length_indicator, X'_size, tail_size. unfold dim. destruct (keeps l); lia.
    + rewrite permuting by easy. rewrite app_length, length_indicator, X'_size, tail_size. unfold dim. destruct (keeps l); lia.
  - assert (T : target n f X X' (next l) = Y') by (unfold Y', ChainSets.next_set; now rewrite E).
    rewrite T. set (Z := indicator X' Y'). assert (Z_length : length Z = p) by (unfold Z; now rewrite length_indicator).
    case_eq gates; intros G.
    + exists []. rewrite (gates_alone G). split; [| easy]. rewrite app_nil_r.
      unfold ChainSemantics.apply_step. simpl.
      rewrite (scale_zero R zero one add mul sub opp laws). rewrite h_length. unfold dim. rewrite (gates_alone G).
      rewrite <- Z_length. rewrite (factor_zeros R zero one add mul sub opp laws).
      apply (zeros_add R zero one add mul sub opp laws).
    + case_eq (keeps l); intros K.
      * assert (two : dim = p + p) by (unfold dim; now rewrite K).
        exists (indicator X Y). split; [| split; [now rewrite length_indicator | easy]].
        replace (map (fun j => swap dim j (p + j)) (seq 0 p))
          with (map (fun ij => swap dim (fst ij) (snd ij)) (map (fun j => (j, p + j)) (seq 0 p))) by now rewrite map_map.
        assert (W : swaps_within dim (map (fun j => (j, p + j)) (seq 0 p))).
        { intros ij I. apply in_map_iff in I. destruct I as [j [<- I]]. apply in_seq in I. simpl. lia. }
        destruct (nth_projections R zero one add mul sub opp laws dim (seq p p) h h_length) as [Len1 G1].
        destruct (nth_swaps R zero one add mul sub opp laws dim _ W _ Len1) as [Len2 G2].
        rewrite step_one by now rewrite fold_left_app.
        rewrite fold_left_app. apply (vector_ext R zero _ _ dim).
        -- rewrite length_map2; rewrite app_length, Z_length, length_zeros; congruence.
        -- rewrite app_length, Z_length, length_indicator, X_size. congruence.
        -- intros x L. rewrite (nth_map2 _ _ _ _ _ _ _ zero zero); [| rewrite app_length, Z_length, length_zeros; congruence ..].
           rewrite G2 by easy. destruct (origin_halves p p 0 x ltac:(lia)) as [O1 [O2 _]].
           destruct (Nat.lt_ge_cases x p) as [Lx | Lx].
           ++ rewrite O1 by lia. rewrite G1 by lia.
              rewrite (proj2 (mem_In (p + x) (seq p p))) by (apply in_seq; lia).
              rewrite !app_nth1 by (rewrite Z_length; easy). ring.
           ++ rewrite O2 by lia. rewrite G1 by lia. rewrite (proj2 (mem_false (x - p) (seq p p))) by (rewrite in_seq; lia).
              rewrite h_first by lia. rewrite !app_nth2 by (rewrite Z_length; easy). rewrite Z_length, nth_zeros. ring.
      * assert (dim_one : dim = p) by (unfold dim; now rewrite K).
        exists []. split; [| easy]. rewrite app_nil_r.
        destruct (nth_projections R zero one add mul sub opp laws dim (seq 0 p) h h_length) as [Len1 G1].
        rewrite step_one by easy. apply (vector_ext R zero _ _ p); [rewrite length_map2 by congruence; easy | easy |].
        intros x L. rewrite (nth_map2 _ _ _ _ _ _ _ zero zero) by congruence. rewrite G1 by lia.
        rewrite (proj2 (mem_In x (seq 0 p))) by (apply in_seq; lia). ring.
Qed.

Let h' := level_step l f X X' h.

(* The next set after the token is read. *)
Theorem read_after_ok : read_after l X' h' = Y'.
Proof.
  destruct level_step_ok as [tail' [E _]]. unfold ChainSemantics.read_after, h'. rewrite E.
  rewrite firstn_app, length_indicator, X'_size. fold p. rewrite Nat.sub_diag. simpl.
  rewrite app_nil_r, firstn_all2 by (rewrite length_indicator, X'_size; easy).
  apply select_part; [easy.. |]. unfold Y'. rewrite <- Y_size. apply next_set_part.
Qed.

(* And the one before it, where the level looks back, permutes, or keeps a second half. *)
Theorem read_before_ok : look_back = true \/ permutes f X X' = true \/ keeps l = true ->
  read_before l f X X' h h' = Y.
Proof.
  intros C. destruct level_step_ok as [tail' [E [_ S]]]. unfold ChainSemantics.read_before. fold p.
  case_eq look_back; intros B.
  - rewrite h_holds, firstn_app, length_indicator, X_size, Nat.sub_diag. simpl.
    rewrite app_nil_r, firstn_all2 by (rewrite length_indicator, X_size; easy). now apply select_part.
  - case_eq (permutes f X X'); intros P.
    + replace (map (fun j => nth j h' zero) (places f X X')) with (indicator X Y); [now apply select_part |].
      apply (vector_ext R zero _ _ p); [now rewrite length_indicator | rewrite map_length; apply places_length |].
      intros x L. rewrite nth_indicator by (rewrite X_size; easy).
      rewrite (nth_indep _ zero (nth 0 h' zero)) by (rewrite map_length, places_length; easy).
      rewrite (map_nth (fun j => nth j h' zero)). rewrite nth_places by easy.
      assert (I : In (nth x sigma 0) X').
      { apply (Permutation_in _ (goes_permutation n f X X' X'_once same into P)), nth_In. now rewrite length_goes, X_size. }
      assert (Lt := place_lt _ _ I). unfold h'. rewrite E, app_nth1 by now rewrite length_indicator.
      rewrite nth_indicator by easy. rewrite nth_place, sigma_next by easy. easy.
    + destruct C as [C | [C | C]]; try congruence. specialize (S P C). subst tail'. unfold h'. rewrite E.
      rewrite skipn_app, length_indicator, X'_size, Nat.sub_diag. fold p. simpl.
      rewrite skipn_all2 by (rewrite length_indicator, X'_size; easy). simpl. now apply select_part.
Qed.
End Levels.
