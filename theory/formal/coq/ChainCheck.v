(* The checker of certificates of kind `chain`: own.chain, own.window and own.lookback.

   Proved: `check_chain_right`.  If the checker says true, then over every ring, after every word, of any length, the state that is
   read off the linear RNN of ChainSemantics is the automaton's state; `check_chain_before`: for a Mealy machine the
   state before the last token is read off as well.

   A listing comes with a certificate where the sizes alone do not suffice: the chains of sets that words lead to, or with a window the
   image sets of more than n_1 states with the longest path of letters from each.  Whoever made it only searched: that it is closed
   under letters is checked, so nothing is assumed of it. *)
Require Import List Arith Bool Lia Ring_theory. Import ListNotations.
From Mirrormata Require Import Lists ChainSemantics ChainSets ChainFactors ChainLevels ChainWindow ChainRun.

(* Whether a state is the image of a member of X.  The extracted program marks the images in an array of n entries. *)
Definition marks (n : nat) (g : nat -> nat) (X : list nat) : nat -> bool := fun y => mem y (map g X).

(* What a certificate of this kind says; step a q is the state after letter a. *)
Record chain := Chain {
  states : nat; letter_count : nat; start_state : nat; step : nat -> nat -> nat;
  mealy : bool;                        (* the outputs belong to the state before a token *)
  window : option nat; sizes : list nat; look_back : bool; gates : bool
}.
Record listing := Listing {
  count : nat;
  chains : nat -> list (list nat);     (* of each chain the sets below all states, as far as they are listed *)
  sets : nat -> list nat;              (* with a window: the sets *)
  rank : nat -> nat;                   (* of a set: the longest path of letters from it among the sets *)
  after : nat -> nat -> nat            (* after a i: where letter a leads from number i *)
}.

Section Checker.
Variable c : chain.
Notation n := (states c).
Definition delta : list (list nat) := map (fun a => map (step c a) (seq 0 n)) (seq 0 (letter_count c)).
Definition states_right : bool :=
  (start_state c <? n) && all_below (letter_count c) (fun a => all_below n (fun q => step c a q <? n)).

(* All letters permute the states. *)
Definition bijective : bool :=
  all_below (letter_count c) (fun a => length (filter (marks n (step c a) (seq 0 n)) (seq 0 n)) =? n).

(* A level keeps a second half where it may reset and somebody reads the set before a token: the level below, or Mealy outputs. *)
Fixpoint levels_of (permuting : bool) (ns : list nat) : list chain_level :=
  match ns with
  | p :: ((q :: rest) as below) =>
    {| size := p; next := q;
       keeps := negb (look_back c) && negb permuting && (mealy c || match rest with [] => false | _ => true end) |}
      :: levels_of permuting below
  | _ => []
  end.
Definition levels : list chain_level := levels_of bijective (sizes c).
Definition top : nat := hd 0 (sizes c).
Fixpoint sizes_fall (p : nat) (ls : list chain_level) : bool :=
  match ls with [] => p =? 1 | l :: ls' => (size l =? p) && (1 <=? next l) && (next l <? p) && sizes_fall (next l) ls' end.
Definition by_one (ls : list chain_level) : bool := forallb (fun l => size l =? S (next l)) ls.

Definition reads_before : bool := negb bijective && (mealy c || match levels with [] => false | _ => true end).
Definition register_rows : nat :=
  match window c with Some m => m + (if reads_before && negb (look_back c) then 1 else 0) | None => 0 end.
Definition register_bits : nat := S (Nat.log2 (length (maps n delta))).

(* The set X' filled up: the members that `hit` names and the first others, so many. *)
Fixpoint fill (hit : nat -> bool) (X' : list nat) (others : nat) : list nat :=
  match X' with
  | [] => []
  | y :: X1 => if hit y then y :: fill hit X1 others
               else match others with O => fill hit X1 O | S others' => y :: fill hit X1 others' end
  end.

(* The chain after a letter, as far as it is listed, if the sizes fit it. *)
Fixpoint next_chain (g : nat -> nat) (X X' : list nat) (ls : list chain_level) (Ys : list (list nat)) : option (list (list nat)) :=
  match ls with
  | [] => Some []
  | l :: ls' =>
    let hit := marks n g X in
    let number := length (filter hit X') in
    let one_to_one := number =? length X in
    if one_to_one || (number <=? next l) then
      match Ys with
      | [] => if by_one ls' then Some [] else None
      | Y :: Ys' =>
        let Y' := if one_to_one then filter (marks n g Y) X' else fill hit X' (next l - number) in
        match next_chain g Y Y' ls' Ys' with Some below => Some (Y' :: below) | None => None end
      end
    else None
  end.

Variable known : listing.
(* Down to the last level whose size falls by more than one. *)
Fixpoint depth (ls : list chain_level) : nat :=
  match ls with [] => 0 | _ :: ls' => if by_one ls' then 0 else S (depth ls') end.
Definition all_states : list nat := seq 0 n.
Definition drops_right : bool :=
  let ls := levels in
  let all := all_states in
  (0 <? count known) && equal_codes (chains known 0) (firstn (depth ls) (start_sets (start_state c) ls all)) &&
  all_below (count known) (fun i => all_below (letter_count c) (fun a =>
    match next_chain (step c a) all all ls (chains known i) with
    | Some chain => (after known a i <? count known) && equal_codes chain (chains known (after known a i))
    | None => false
    end)).

Definition moves_state (a : nat) : bool := negb (forallb (fun q => step c a q =? q) all_states).
Definition window_right (m : nat) : bool :=
  let all := all_states in
  (0 <? count known) && equal_numbers (sets known 0) all && (rank known 0 <? m) &&
  all_below (letter_count c) (fun a => negb (moves_state a) ||
    all_below (count known) (fun i =>
      let image := filter (marks n (step c a) (sets known i)) all in
      (length image <=? top)
      || ((after known a i <? count known) && (rank known (after known a i) <? rank known i)
          && equal_numbers image (sets known (after known a i))))).

Definition check_chain : bool :=
  states_right && sizes_fall top levels && (negb (gates c) || look_back c) &&
  match window c with
  | None => (top =? n) && (by_one levels || drops_right)
  | Some m => (1 <=? m) && negb bijective && by_one levels && window_right m
  end.

(* ------------------------------------------------------------------------------------------------------------------ *)
Hypothesis right : states_right = true.

Lemma start_lt : start_state c < n.
Proof. apply andb_prop in right as [H _]. now apply Nat.ltb_lt. Qed.

Lemma step_lt a q : a < letter_count c -> q < n -> step c a q < n.
Proof.
  intros A Q. apply andb_prop in right as [_ H]. apply Nat.ltb_lt.
  apply (all_below_spec _ _ (all_below_spec _ _ H a A) q Q).
Qed.

Lemma delta_length : length delta = letter_count c.
Proof. unfold delta. now rewrite map_length, seq_length. Qed.

Lemma row_step a : a < letter_count c -> row delta a = map (step c a) (seq 0 n).
Proof.
  intros A. unfold row, delta. rewrite (nth_indep _ [] (map (step c 0) (seq 0 n))) by now rewrite map_length, seq_length.
  rewrite (map_nth (fun a => map (step c a) (seq 0 n))). now rewrite seq_nth.
Qed.

Lemma image_step a q : a < letter_count c -> q < n -> image (row delta a) q = step c a q.
Proof.
  intros A Q. rewrite row_step by easy. unfold image. rewrite (nth_indep _ 0 (step c a 0)) by now rewrite map_length, seq_length.
  rewrite (map_nth (step c a)). now rewrite seq_nth.
Qed.

Lemma rows_right a : a < length delta -> length (row delta a) = n /\ forall q, q < n -> image (row delta a) q < n.
Proof.
  rewrite delta_length. intros A. split; [rewrite row_step by easy; now rewrite map_length, seq_length |].
  intros q Q. rewrite image_step by easy. now apply step_lt.
Qed.

Definition small (X : list nat) : Prop := forall x, In x X -> x < n.

Lemma real_all X : small X -> real n X = X.
Proof.
  intros B. unfold real. induction X as [|x X IH]; simpl; [easy |].
  rewrite (proj2 (Nat.ltb_lt x n)) by (apply B; now left). f_equal. apply IH. intros y H. apply B. now right.
Qed.

Lemma marks_images a X y : a < letter_count c -> small X -> marks n (step c a) X y = mem y (map (image (row delta a)) X).
Proof.
  intros A B. unfold marks. f_equal. apply map_ext_in. intros x H. symmetry. apply image_step; [easy | now apply B].
Qed.

Lemma marks_hit a X y : a < letter_count c -> small X -> marks n (step c a) X y = hit n (row delta a) X y.
Proof. intros A B. rewrite marks_images by easy. unfold hit. now rewrite real_all. Qed.

Lemma fill_ok (g : nat -> bool) X' : NoDup X' -> forall k,
  fill g X' k = filter (fun y => g y || mem y (firstn k (filter (fun y => negb (g y)) X'))) X'.
Proof.
  induction X' as [|y X' IH]; intros D k; simpl; [easy |]. inversion D; subst.
  destruct (g y) eqn:G; simpl.
  - f_equal. now apply IH.
  - destruct k as [|k]; simpl.
    + rewrite IH by easy. easy.
    + rewrite Nat.eqb_refl. simpl. f_equal. rewrite IH by easy. apply filter_ext_on. intros x H.
      destruct (x =? y) eqn:E; [apply Nat.eqb_eq in E; now subst | easy].
Qed.

Lemma next_fast a X X' Y m : a < letter_count c -> NoDup X' -> small X -> part Y X ->
  (if length (filter (marks n (step c a) X) X') =? length X then filter (marks n (step c a) Y) X'
   else fill (marks n (step c a) X) X' (m - length (filter (marks n (step c a) X) X')))
  = next_set n (row delta a) X X' Y m.
Proof.
  intros A D B P. unfold next_set, permutes, target, left, hits.
  assert (H : forall y, marks n (step c a) X y = hit n (row delta a) X y) by (intros y; now apply marks_hit).
  rewrite (filter_ext _ _ H X'). rewrite (real_all X B).
  destruct (length _ =? length X) eqn:E.
  - apply filter_ext. intros y. rewrite marks_images; [| easy | intros x Hx; apply B, (part_incl _ _ P x Hx)].
    apply eq_true_iff_eq. rewrite !mem_In, in_map_iff. unfold moved. rewrite in_map_iff.
    assert (C : forall free, combine X (goes n (row delta a) X free) = map (fun x => (x, image (row delta a) x)) X).
    { clear - B. induction X as [|x X IH]; intros free; simpl; [easy |].
      rewrite (proj2 (Nat.ltb_lt x n)) by (apply B; now left). f_equal. apply IH. intros z Hz. apply B. now right. }
    rewrite C. split.
    + intros [x [F Hx]]. exists (x, image (row delta a) x). split; [easy |]. apply filter_In. split.
      * apply (in_map (fun x => (x, image (row delta a) x))), (part_incl _ _ P), Hx.
      * now apply mem_In.
    + intros [[x z] [F Hx]]. simpl in F. subst z. apply filter_In in Hx. destruct Hx as [Hx M]. simpl in M.
      apply in_map_iff in Hx. destruct Hx as [x' [E' Hx]]. injection E' as -> E'. exists x. split; [easy | now apply mem_In].
  - rewrite fill_ok by easy. apply filter_ext. intros y. rewrite H. f_equal. f_equal. f_equal.
    apply filter_ext. intros z. now rewrite H.
Qed.

Lemma by_one_Forall ls : by_one ls = true -> Forall (fun l => size l = S (next l)) ls.
Proof. unfold by_one. rewrite forallb_forall, Forall_forall. intros H l I. now apply Nat.eqb_eq, H. Qed.

Lemma next_chain_ok a : a < letter_count c -> forall ls p X X' Ys d chain, falling false p ls ->
  length X = p -> length X' = p -> NoDup X -> NoDup X' -> small X -> into n (row delta a) X X' -> valid ls X Ys ->
  next_chain (step c a) X X' ls (firstn d Ys) = Some chain ->
  fits n (row delta a) X X' ls Ys /\ chain = firstn d (next_sets n (row delta a) X X' ls Ys).
Proof.
  intros A. induction ls as [|l ls IH]; intros p X X' [|Y Ys] d chain F LX LX' DX DX' B I V E; try easy.
  - simpl in E. injection E as <-. split; [easy |]. now destruct d.
  - cbn [next_chain] in E. destruct F as [S [N [_ F]]], V as [P [LY V]].
    assert (same : length X' = length X) by congruence.
    assert (H : filter (marks n (step c a) X) X' = hits n (row delta a) X X').
    { apply filter_ext. intros y. now apply marks_hit. }
    assert (room : permutes n (row delta a) X X' = false -> length (hits n (row delta a) X X') <= next l).
    { unfold permutes. rewrite (real_all X B), <- H. intros G. apply Nat.leb_le, not_false_iff_true. intros G'.
      rewrite G, G' in E. easy. }
    destruct (_ || _) in E; [| easy].
    assert (less : length Y < length X) by lia.
    assert (IY : into n (row delta a) Y (next_set n (row delta a) X X' Y (next l))).
    { rewrite <- LY. intros x Hx L. now apply next_set_into. }
    assert (DY : NoDup (next_set n (row delta a) X X' Y (next l))).
    { rewrite <- LY. apply (part_NoDup _ X'); [apply next_set_part | easy]. }
    assert (DY0 : NoDup Y) by now apply (part_NoDup Y X).
    assert (LY' : length (next_set n (row delta a) X X' Y (next l)) = next l).
    { rewrite <- LY in *. now apply next_set_length. }
    assert (BY : small Y) by (intros x Hx; apply B, (part_incl _ _ P x Hx)).
    destruct d as [|d]; cbn [firstn] in E.
    + destruct (by_one ls) eqn:O; [| easy]. injection E as <-. simpl. split; [split; [easy |] | easy].
      apply (fits_by_one n false (row delta a) ls (next l)); try easy. now apply by_one_Forall.
    + rewrite (next_fast a X X' Y (next l)) in E by easy.
      destruct (next_chain _ Y _ ls (firstn d Ys)) as [below |] eqn:G; [| easy]. injection E as <-.
      destruct (IH (next l) Y _ Ys d below F LY LY' DY0 DY BY IY V G) as [G1 G2]. simpl. split; [easy |]. now rewrite G2.
Qed.

Lemma sizes_fall_ok g ls p : (g = true -> Forall (fun l => keeps l = false) ls) -> sizes_fall p ls = true -> falling g p ls.
Proof.
  revert p. induction ls as [|l ls IH]; intros p K; cbn [sizes_fall falling]; [apply Nat.eqb_eq |]. intros H.
  apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
  apply Nat.eqb_eq in H1. apply Nat.leb_le in H2. apply Nat.ltb_lt in H3.
  split; [easy |]. split; [easy |]. split; [intros G; now apply (Forall_inv (K G)) |].
  apply IH; [| easy]. intros G. apply (Forall_inv_tail (K G)).
Qed.

Lemma moves_step a : a < letter_count c -> moves n delta a = true -> moves_state a = true.
Proof.
  intros A. unfold moves, moves_state. rewrite row_step by easy. intros H. apply negb_true_iff. apply negb_true_iff in H.
  apply not_true_iff_false. intros F. apply not_true_iff_false in H. apply H. apply row_eqb_eq.
  rewrite <- (map_id (seq 0 n)) at 2. apply map_ext_in. intros q Q. rewrite forallb_forall in F. now apply Nat.eqb_eq, F.
Qed.

(* The states that letters leave, the newest first. *)
Definition left_by (v : list nat) : list nat := filter (fun q => mem q (ends delta (seq 0 n) v)) (seq 0 n).

Lemma left_by_next a v : a < letter_count c -> word delta v -> left_by (a :: v) = filter (marks n (step c a) (left_by v)) (seq 0 n).
Proof.
  intros A W. apply filter_ext. intros y.
  rewrite marks_images; [| easy | intros x H; apply filter_In in H; destruct H as [H _]; apply in_seq in H; lia].
  apply eq_true_iff_eq. rewrite !mem_In. cbn [ends fold_right]. fold (ends delta (seq 0 n) v). rewrite !in_map_iff.
  assert (I := ends_lt n delta (start_state c) rows_right start_lt (seq 0 n) v W (fun x H => H)).
  split; intros [x [E H]]; exists x; (split; [easy |]).
  - apply filter_In. split; [now apply I | now apply mem_In].
  - apply filter_In in H. now apply mem_In.
Qed.

Lemma window_leaves m : window_right m = true -> leaves n delta m top.
Proof.
  intros H. apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
  apply Nat.ltb_lt in H1, H3. apply equal_numbers_eq in H2.
  assert (G : forall v, Forall (fun a => a < length delta /\ moves n delta a = true) v ->
    length (left_by v) <= top \/ exists i, i < count known /\ left_by v = sets known i /\ rank known i + length v < m).
  { induction v as [|a v IH]; intros F.
    - right. exists 0. split; [easy |]. split; [| simpl; lia]. rewrite H2. unfold left_by, all_states. simpl.
      transitivity (filter (fun _ => true) (seq 0 n)).
      + apply filter_ext_on. intros x I. now apply mem_In.
      + clear. induction (seq 0 n) as [|x l IH]; simpl; [easy | now rewrite IH].
    - destruct (Forall_inv F) as [A M]. rewrite delta_length in A. assert (Fv := Forall_inv_tail F).
      assert (W : word delta v) by (eapply Forall_impl; [| exact Fv]; now intros b [Hb _]).
      destruct (IH Fv) as [S | [i [Li [Si Ri]]]].
      + left. apply Nat.le_trans with (2 := S). unfold left_by at 1. cbn [ends fold_right]. fold (ends delta (seq 0 n) v).
        rewrite <- (map_length (image (row delta a)) (left_by v)).
        apply NoDup_incl_length; [apply NoDup_filter, seq_NoDup |]. intros y Hy. apply filter_In in Hy. destruct Hy as [_ Hy].
        apply mem_In, in_map_iff in Hy. destruct Hy as [x [<- Hx]]. apply in_map. apply filter_In. split; [| now apply mem_In].
        apply (ends_lt n delta (start_state c) rows_right start_lt (seq 0 n) v W (fun x H => H)), Hx.
      + assert (T := all_below_spec _ _ H4 a A). cbv beta zeta in T. rewrite (moves_step a A M) in T. simpl in T.
        apply (fun t => all_below_spec _ _ t i Li) in T. cbv beta zeta in T. rewrite (left_by_next a v A W), Si.
        apply orb_prop in T as [T | T]; [left; now apply Nat.leb_le |].
        apply andb_prop in T as [T T3]. apply andb_prop in T as [T1 T2]. apply Nat.ltb_lt in T1, T2. apply equal_numbers_eq in T3.
        right. exists (after known a i). split; [easy |]. split; [easy |]. simpl. lia. }
  intros v L F. destruct (G v F) as [S | [i [_ [_ R]]]]; [easy | lia].
Qed.

Lemma bijective_injective : bijective = true -> forall a, a < length delta -> injective n (row delta a).
Proof.
  intros H a A. rewrite delta_length in A. assert (E := all_below_spec _ _ H a A). cbv beta in E. apply Nat.eqb_eq in E.
  assert (D : NoDup (map (step c a) (seq 0 n))).
  { apply (NoDup_incl_NoDup (l := filter (marks n (step c a) (seq 0 n)) (seq 0 n))).
    - apply NoDup_filter, seq_NoDup.
    - rewrite map_length, seq_length. lia.
    - intros y Hy. apply filter_In in Hy. now apply mem_In. }
  intros x y X Y. rewrite !image_step by easy. intros F.
  assert (G := proj1 (NoDup_nth (map (step c a) (seq 0 n)) (step c a 0)) D x y). rewrite !map_length, !seq_length in G.
  rewrite !map_nth, !seq_nth in G by easy. now apply G.
Qed.

Lemma levels_of_tell ns : (mealy c = true -> Forall (tells n delta (look_back c)) (levels_of bijective ns)) /\
  all_tell_below n delta (look_back c) (levels_of bijective ns).
Proof.
  assert (K : forall b, b = true -> tells n delta (look_back c) {| size := 0; next := 0; keeps := negb (look_back c) && negb bijective && b |}).
  { intros b ->. unfold tells. simpl. destruct (look_back c); [now left |]. destruct bijective eqn:E; [| auto].
    right. left. now apply bijective_injective. }
  assert (T : forall p q k, tells n delta (look_back c) {| size := 0; next := 0; keeps := k |} ->
                            tells n delta (look_back c) {| size := p; next := q; keeps := k |}) by (intros p q k H; exact H).
  induction ns as [|p [|q rest] [IH1 IH2]]; cbn [levels_of]; try (split; [constructor | easy]).
  split.
  - intros M. constructor; [apply T, K; now rewrite M | now apply IH1].
  - destruct rest as [|r rest]; [easy |]. cbn [levels_of] in *. split; [| apply IH2]. apply T, K. now rewrite orb_true_r.
Qed.

Lemma levels_of_gates ns : look_back c = true -> Forall (fun l => keeps l = false) (levels_of bijective ns).
Proof.
  intros L. induction ns as [|p [|q rest] IH]; cbn [levels_of]; constructor; [simpl; now rewrite L | apply IH].
Qed.
End Checker.

(* ------------------------------------------------------------------------------------------------------------------ *)
Section Theorems.
Variables (R : Type) (zero one : R) (add mul sub : R -> R -> R) (opp : R -> R) (nonzero : R -> bool).
Hypothesis laws : ring_theory zero one add mul sub opp (@eq R).
Hypothesis (nonzero_zero : nonzero zero = false) (nonzero_one : nonzero one = true).
(* Any swaps that apply permutations will do, and any beta of a reset with gates: the gate 0 leaves nothing that it could change. *)
Variables (swaps_of : list nat -> list (nat * nat)) (reset_beta : nat -> R).
Hypothesis swaps_ok : swaps_apply swaps_of.
Variables (c : chain) (known : listing).
Hypothesis checked : check_chain c known = true.

(* The linear RNN of the certificate on a word, the state that is read off it, and that before its last letter. *)
Definition run_chain (w : list nat) : memory R :=
  run R zero one add mul sub nonzero (states c) swaps_of reset_beta (look_back c) (gates c) (delta c) (start_state c)
    (register_bits c) (register_rows c) (window c) (top c) (levels c) w.
Definition read_state (h : memory R) : list nat :=
  decode R zero nonzero (states c) (delta c) (start_state c) (register_rows c) (window c) (top c) (levels c) h.
Definition read_state_before (a : nat) (h h' : memory R) : list nat :=
  decode_before R zero nonzero (states c) (look_back c) (delta c) (start_state c) (register_rows c) (window c) (top c) (levels c)
    a h h'.
(* The automaton's state after a word. *)
Definition state (w : list nat) : nat := fold_left (fun q a => step c a q) w (start_state c).

Lemma checked_parts : states_right c = true /\ sizes_fall (top c) (levels c) = true /\ (gates c = true -> look_back c = true) /\
  match window c with
  | None => top c = states c /\ (by_one (levels c) = true \/ by_one (levels c) = false /\ drops_right c known = true)
  | Some m => 1 <= m /\ bijective c = false /\ by_one (levels c) = true /\ window_right c known m = true
  end.
Proof.
  unfold check_chain in checked. apply andb_prop in checked as [H H4]. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
  split; [easy |]. split; [easy |]. split; [now destruct (gates c) |]. destruct (window c) as [m|].
  - apply andb_prop in H4 as [H4 H8]. apply andb_prop in H4 as [H4 H7]. apply andb_prop in H4 as [H5 H6].
    apply Nat.leb_le in H5. apply negb_true_iff in H6. easy.
  - apply andb_prop in H4 as [H5 H6]. apply Nat.eqb_eq in H5. split; [easy |]. destruct (by_one (levels c)); [now left | now right].
Qed.

Lemma right_states : states_right c = true.
Proof. exact (proj1 checked_parts). Qed.
Notation right := right_states.
Notation rows_ok := (rows_right c right_states).
Notation start_ok := (start_lt c right_states).

Lemma levels_fall : falling (gates c) (top c) (levels c).
Proof.
  destruct checked_parts as [_ [H [G _]]]. apply sizes_fall_ok; [| easy]. intros E. apply levels_of_gates. now apply G.
Qed.

Lemma levels_fall_plain : falling false (top c) (levels c).
Proof. destruct checked_parts as [_ [H _]]. now apply sizes_fall_ok. Qed.

Lemma levels_tell : all_tell_below (states c) (delta c) (look_back c) (levels c).
Proof. now apply levels_of_tell. Qed.

Lemma window_ok : match window c with
  | None => top c = states c
  | Some m => 1 <= m /\ leaves (states c) (delta c) m (top c) /\ m <= register_rows c /\
      (levels c <> [] -> look_back c = true \/ register_rows c = S m) /\ length (maps (states c) (delta c)) < 2 ^ register_bits c
  end.
Proof.
  destruct checked_parts as [_ [_ [_ H]]]. unfold register_rows, reads_before. destruct (window c) as [m|]; [| easy].
  destruct H as [M [B [_ W]]]. split; [easy |]. split; [now apply (window_leaves c known right) |]. split; [lia |]. split.
  - intros N. rewrite B. destruct (levels c); [easy |]. rewrite orb_true_r. simpl. destruct (look_back c); [now left | right; simpl; lia].
  - unfold register_bits. destruct (length (maps (states c) (delta c))) as [|k]; [simpl; lia |].
    apply Nat.log2_spec. lia.
Qed.

(* What the sets that occur are known to be. *)
Definition Known (Ys : list (list nat)) : Prop :=
  by_one (levels c) = true \/ exists i, i < count known /\ firstn (depth (levels c)) Ys = chains known i.
Notation top_set := (ChainRun.top (states c) (delta c) (start_state c) (window c) (top c)).

Lemma without_window : by_one (levels c) = false -> window c = None /\ top c = states c /\ drops_right c known = true.
Proof.
  intros O. destruct checked_parts as [_ [_ [_ H]]]. destruct (window c) as [m|]; [destruct H as [_ [_ [H _]]]; congruence |].
  destruct H as [H1 [H | [_ H]]]; [congruence | easy].
Qed.

Lemma known_start : Known (start_sets (start_state c) (levels c) (top_set [])).
Proof.
  unfold Known. destruct (by_one (levels c)) eqn:O; [now left |]. right. destruct (without_window O) as [W [_ H]].
  rewrite W. apply andb_prop in H as [H _]. apply andb_prop in H as [H1 H2].
  apply Nat.ltb_lt in H1. apply equal_codes_eq in H2. exists 0. split; [easy | symmetry; exact H2].
Qed.

Lemma known_step w a Ys : word (delta c) (w ++ [a]) -> Known Ys -> valid (levels c) (top_set w) Ys ->
  fits (states c) (row (delta c) a) (top_set w) (top_set (w ++ [a])) (levels c) Ys /\
  Known (next_sets (states c) (row (delta c) a) (top_set w) (top_set (w ++ [a])) (levels c) Ys).
Proof.
  intros W K V. assert (Ww := proj1 (proj1 (Forall_app _ _ _) W)).
  assert (A := Forall_inv (proj2 (proj1 (Forall_app _ _ _) W))). rewrite delta_length in A.
  assert (size_of : forall v, word (delta c) v -> length (top_set v) = top c /\ NoDup (top_set v)).
  { intros v. apply (top_ok R reset_beta (states c) (delta c) (start_state c) (look_back c) (gates c) start_ok (window c)
      (register_bits c) (register_rows c) (top c) (levels c) levels_fall window_ok). }
  destruct (size_of w Ww) as [L D], (size_of _ W) as [L' D'].
  assert (I := top_into R reset_beta (states c) (delta c) (start_state c) (look_back c) rows_ok start_ok (window c) (register_bits c)
      (register_rows c) (top c) (levels c) window_ok w a W).
  unfold Known in *. case_eq (by_one (levels c)); intros O.
  - split; [| now left]. apply (fits_by_one (states c) (gates c) _ (levels c) (top c)); try easy; [apply levels_fall | now apply by_one_Forall].
  - destruct K as [K | [i [Li Ei]]]; [congruence |]. destruct (without_window O) as [Wn [_ H]].
    apply andb_prop in H as [_ H]. assert (T := all_below_spec _ _ (all_below_spec _ _ H i Li) a A). cbv beta in T.
    rewrite <- Ei in T. destruct (next_chain c (step c a) (all_states c) (all_states c) (levels c) _) as [chain |] eqn:E; [| easy].
    assert (same : forall v, top_set v = all_states c) by (intros v; unfold ChainRun.top; now rewrite Wn).
    rewrite (same w), (same (w ++ [a])) in *.
    destruct (next_chain_ok c a A (levels c) (top c) (all_states c) (all_states c) Ys (depth (levels c)) chain
      levels_fall_plain L L' D D') as [F C]; [intros x Hx; apply in_seq in Hx; lia | easy | easy | easy |].
    split; [easy |]. right. apply andb_prop in T as [T1 T2]. apply Nat.ltb_lt in T1. apply equal_codes_eq in T2.
    exists (after known a i). split; [easy |]. now rewrite <- C.
Qed.

Lemma states_agree w : word (delta c) w -> state_after (delta c) (start_state c) w = state w.
Proof.
  intros W. unfold state_after, state. assert (Q := start_ok). revert Q. generalize (start_state c).
  induction w as [|a w IH]; intros q Q; [easy |]. assert (A := Forall_inv W). rewrite delta_length in A. simpl.
  rewrite (image_step c a q A Q). apply IH; [now apply Forall_inv_tail in W | now apply (step_lt c right)].
Qed.

Lemma word_of w : Forall (fun a => a < letter_count c) w -> word (delta c) w.
Proof. intros H. unfold word. now rewrite delta_length. Qed.

(* After every word, of any length, the state that is read off is the automaton's. *)
Theorem check_chain_right w : Forall (fun a => a < letter_count c) w -> read_state (run_chain w) = [state w].
Proof.
  intros W. apply word_of in W. rewrite <- states_agree by easy. unfold read_state, run_chain.
  apply (follows R zero one add mul sub opp nonzero laws nonzero_zero nonzero_one swaps_of reset_beta swaps_ok (states c) (delta c)
    (start_state c) (look_back c) (gates c) rows_ok start_ok (window c) (register_bits c) (register_rows c) (top c) (levels c)
    levels_fall levels_tell window_ok (fun _ => Known) known_start); [| easy].
  intros v a Ys Wv K V. now apply known_step.
Qed.

(* Where the outputs belong to the state before a token, that state is read off too. *)
Theorem check_chain_before w a : mealy c = true -> Forall (fun b => b < letter_count c) (w ++ [a]) ->
  read_state_before a (run_chain w) (run_chain (w ++ [a])) = [state w].
Proof.
  intros M W. apply word_of in W. assert (Ww := proj1 (proj1 (Forall_app _ _ _) W)).
  rewrite <- states_agree by easy. unfold read_state_before, run_chain.
  apply (follows_before R zero one add mul sub opp nonzero laws nonzero_zero nonzero_one swaps_of reset_beta swaps_ok (states c) (delta c)
    (start_state c) (look_back c) (gates c) rows_ok start_ok (window c) (register_bits c) (register_rows c) (top c) (levels c)
    levels_fall levels_tell window_ok (fun _ => Known) known_start); [| easy | now apply levels_of_tell |].
  - intros v b Ys Wv K V. now apply known_step.
  - intros N. destruct checked_parts as [_ [_ [_ H]]]. unfold register_rows, reads_before. rewrite M.
    destruct (window c) as [m|]; [| easy]. destruct H as [_ [B _]]. rewrite B. simpl.
    destruct (look_back c); [now left | right; simpl; lia].
Qed.
End Theorems.
