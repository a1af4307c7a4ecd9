(* The whole linear RNN of a chain, with or without a window, follows the automaton, over any ring.

   - `levels_step_ok`: all levels do what the rule says, from the top.
   - `run_ok`: the invariant after every word; `follows` and `follows_before`: the state that is read off is the automaton's, and so
     is the state before the last token, which Mealy outputs need.
   They need that the sizes fit the sets that occur (`Inv_step`), which ChainCheck decides. *)
Require Import List Arith Bool Lia Permutation Ring. Import ListNotations.
From Mirrormata Require Import ChainSemantics ChainSets ChainFactors ChainLevels ChainWindow.

Section Sets.
Variables (n q0 : nat).
Notation next_set := (next_set n).

(* The sets below X after a token, and what their sizes have to be for them. *)
Fixpoint next_sets (f X X' : list nat) (ls : list chain_level) (Ys : list (list nat)) : list (list nat) :=
  match ls, Ys with
  | l :: ls', Y :: Ys' => let Y' := next_set f X X' Y (next l) in Y' :: next_sets f Y Y' ls' Ys'
  | _, _ => []
  end.
Fixpoint fits (f X X' : list nat) (ls : list chain_level) (Ys : list (list nat)) : Prop :=
  match ls, Ys with
  | l :: ls', Y :: Ys' =>
    (permutes n f X X' = false -> length (hits n f X X') <= next l) /\ fits f Y (next_set f X X' Y (next l)) ls' Ys'
  | _, _ => True
  end.
Fixpoint start_sets (ls : list chain_level) (X : list nat) : list (list nat) :=
  match ls with [] => [] | l :: ls' => let Y := start_set q0 X (next l) in Y :: start_sets ls' Y end.

(* Each set is a part of that above it, of the size of its level. *)
Fixpoint valid (ls : list chain_level) (X : list nat) (Ys : list (list nat)) : Prop :=
  match ls, Ys with
  | [], [] => True
  | l :: ls', Y :: Ys' => part Y X /\ length Y = next l /\ valid ls' Y Ys'
  | _, _ => False
  end.

(* Sizes fall from p to 1; a level with gates has no second half. *)
Variable gates : bool.
Fixpoint falling (p : nat) (ls : list chain_level) : Prop :=
  match ls with
  | [] => p = 1
  | l :: ls' => size l = p /\ 1 <= next l < p /\ (gates = true -> keeps l = false) /\ falling (next l) ls'
  end.

Definition into (f X X' : list nat) : Prop := forall x, In x X -> x < n -> In (image f x) X'.

Lemma next_sets_ok f : forall ls p X X' Ys, falling p ls -> length X = p -> length X' = p -> NoDup X -> NoDup X' -> into f X X' ->
  valid ls X Ys -> fits f X X' ls Ys ->
  valid ls X' (next_sets f X X' ls Ys) /\
  (forall q, q < n -> Forall (In q) Ys -> Forall (In (image f q)) (next_sets f X X' ls Ys)).
Proof.
  induction ls as [|l ls IH]; intros p X X' [|Y Ys] F LX LX' DX DX' I V G; simpl in *; try easy.
  destruct F as [S [N [_ F]]], V as [P [LY V]], G as [room G]. rewrite <- LY in *.
  assert (same : length X' = length X) by congruence.
  assert (less : length Y < length X) by lia.
  assert (P' := next_set_part n f X X' Y).
  assert (L' := next_set_length n f X X' DX' same I Y P less room).
  assert (I' : into f Y (next_set f X X' Y (length Y))) by (intros x H L; now apply next_set_into).
  destruct (IH (length Y) Y (next_set f X X' Y (length Y)) Ys) as [V' Q']; try easy.
  - now apply (part_NoDup Y X).
  - now apply (part_NoDup _ X').
  - split; [auto |]. intros q L H. assert (Hq := Forall_inv H). constructor; [now apply I' |].
    apply Q'; [easy | now apply Forall_inv_tail in H].
Qed.

(* Sizes that fall by one fit whatever the sets are. *)
Lemma fits_by_one f : forall ls p X X' Ys, falling p ls -> Forall (fun l => size l = S (next l)) ls ->
  length X = p -> length X' = p -> NoDup X -> NoDup X' -> into f X X' -> valid ls X Ys -> fits f X X' ls Ys.
Proof.
  induction ls as [|l ls IH]; intros p X X' [|Y Ys] F B LX LX' DX DX' I V; simpl in *; try easy.
  destruct F as [S [N [_ F]]], V as [P [LY V]]. assert (Bl := Forall_inv B). simpl in Bl. assert (Bs := Forall_inv_tail B).
  assert (same : length X' = length X) by congruence.
  assert (room : permutes n f X X' = false -> length (hits n f X X') <= next l).
  { intros E. apply hits_fewer in E; [lia | easy..]. }
  split; [easy |]. rewrite <- LY in *. assert (less : length Y < length X) by lia.
  apply (IH (length Y)); try easy.
  - apply (next_set_length n f X X'); easy.
  - now apply (part_NoDup Y X).
  - apply (part_NoDup _ X'); [apply next_set_part | easy].
  - intros x H L. apply next_set_into; easy.
Qed.

Lemma start_set_ok X m : In q0 X -> NoDup X -> 1 <= m <= length X ->
  part (start_set q0 X m) X /\ length (start_set q0 X m) = m /\ In q0 (start_set q0 X m).
Proof.
  intros H D L. unfold start_set. set (rest := filter (fun x => negb (x =? q0)) X).
  split; [apply filter_part |]. split.
  - assert (E : length rest = length X - 1).
    { assert (P := Permutation_length (filter_partition _ (fun x => x =? q0) X)). rewrite app_length in P. fold rest in P.
      assert (One : length (filter (fun x => x =? q0) X) = 1); [| lia].
      apply (Permutation_length (l' := [q0])), NoDup_Permutation; [now apply NoDup_filter | repeat constructor; simpl; tauto |].
      intros x. rewrite filter_In, Nat.eqb_eq. simpl. split; [intros [_ ->]; now left | intros [<- | []]; auto]. }
    assert (I : incl (firstn (m - 1) rest) rest).
    { intros y F. rewrite <- (firstn_skipn (m - 1)). apply in_or_app. now left. }
    transitivity (length (q0 :: firstn (m - 1) rest)); [| simpl; rewrite firstn_length; lia].
    apply Permutation_length, NoDup_Permutation; [now apply NoDup_filter | |].
    + constructor.
      * intros F. apply I, filter_In in F. destruct F as [_ F]. now rewrite Nat.eqb_refl in F.
      * assert (Dr : NoDup rest) by now apply NoDup_filter. rewrite <- (firstn_skipn (m - 1)) in Dr.
        clear - Dr. induction (firstn (m - 1) rest) as [|y l IH]; [constructor |]. inversion Dr; subst.
        constructor; [| auto]. intros F. apply H1, in_or_app. now left.
    + intros x. rewrite filter_In, orb_true_iff, Nat.eqb_eq, mem_In. simpl. split.
      * intros [_ [-> | F]]; auto.
      * intros [<- | F]; [auto |]. split; [| auto]. apply I, filter_In in F. tauto.
  - apply filter_In. rewrite Nat.eqb_refl. auto.
Qed.

Lemma start_sets_ok : forall ls p X, falling p ls -> In q0 X -> NoDup X -> length X = p ->
  valid ls X (start_sets ls X) /\ Forall (In q0) (start_sets ls X).
Proof.
  induction ls as [|l ls IH]; intros p X F H D L; simpl; [easy |]. destruct F as [S [N [_ F]]].
  destruct (start_set_ok X (next l) H D) as [P [E Q]]; [lia |].
  destruct (IH (next l) (start_set q0 X (next l)) F Q) as [V A]; [now apply (part_NoDup _ X) | easy |].
  auto.
Qed.

Lemma last_below (X Y : list nat) Ys : last (Y :: Ys) X = last Ys Y.
Proof.
  revert X Y. induction Ys as [|Z Ys IH]; intros X Y; [easy |].
  change (last (Y :: Z :: Ys) X) with (last (Z :: Ys) X). now rewrite !IH.
Qed.

(* The last set has one member. *)
Lemma last_one q : forall ls p X Ys, falling p ls -> length X = p -> valid ls X Ys -> In q X -> Forall (In q) Ys -> last Ys X = [q].
Proof.
  induction ls as [|l ls IH]; intros p X [|Y Ys] F L V H A; simpl in *; try easy.
  - subst p. destruct X as [|x [|y X]]; try easy. destruct H as [-> | []]. easy.
  - destruct F as [S [N [_ F]]], V as [P [LY V]]. assert (HY := Forall_inv A). assert (A' := Forall_inv_tail A).
    rewrite <- (IH (next l) Y Ys F LY V HY A'). apply (last_below X Y Ys).
Qed.
End Sets.

(* ------------------------------------------------------------------------------------------------------------------ *)
Section Run.
Variables (R : Type) (zero one : R) (add mul sub : R -> R -> R) (opp : R -> R) (nonzero : R -> bool).
Hypothesis laws : ring_theory zero one add mul sub opp (@eq R).
Hypothesis (nonzero_zero : nonzero zero = false) (nonzero_one : nonzero one = true).
Variables (swaps_of : list nat -> list (nat * nat)) (reset_beta : nat -> R).
Hypothesis swaps_ok : swaps_apply swaps_of.
Variables (n : nat) (delta : list (list nat)) (q0 : nat) (look_back gates : bool).
Hypothesis rows_ok : forall a, a < length delta -> length (row delta a) = n /\ forall q, q < n -> image (row delta a) q < n.
Hypothesis start_ok : q0 < n.
Variables (window : option nat) (bits rows top_size : nat) (ls : list chain_level).
Notation indicator := (indicator R zero one).
Notation level_step := (level_step R zero one add mul sub n swaps_of reset_beta gates).
Notation read_after := (read_after R nonzero).
Notation read_before := (read_before R zero nonzero n look_back).
Notation levels_step := (levels_step R zero one add mul sub nonzero n swaps_of reset_beta look_back gates).
Notation last_after := (last_after R nonzero).
Notation last_before := (last_before R zero nonzero n look_back).
Notation row := (row delta).
Notation moves := (moves n delta).
Notation word := (word delta).
Notation state_after := (state_after delta).
Notation run := (run R zero one add mul sub nonzero n swaps_of reset_beta look_back gates delta q0 bits rows window top_size ls).
Notation token := (token R zero one add mul sub nonzero n swaps_of reset_beta look_back gates delta q0 bits rows window top_size ls).
Notation start := (start R zero one nonzero n delta q0 bits rows window top_size ls).
Notation decode := (decode R zero nonzero n delta q0 rows window top_size ls).
Notation decode_before := (decode_before R zero nonzero n look_back delta q0 rows window top_size ls).
Notation top_after := (top_after R zero nonzero n delta q0 rows window top_size).
Notation top_before := (top_before R zero nonzero n look_back delta q0 rows window top_size).
Notation register := (register R zero one bits rows).
Notation register_step := (register_step R zero one add mul sub n delta bits rows).
Notation read_rows := (read_rows R zero nonzero rows).
Notation number := (number n delta).
Notation window_set := (window_set n delta q0).
Notation window_states := (window_states n delta q0).

(* Each layer's state: the indicator of its set, and a second half where it keeps one. *)
Fixpoint holds (ls : list chain_level) (X : list nat) (Ys : list (list nat)) (hs : list (list R)) : Prop :=
  match ls, Ys, hs with
  | [], [], [] => True
  | l :: ls', Y :: Ys', h :: hs' =>
    (exists tail, h = indicator X Y ++ tail /\ length tail = if keeps l then size l else 0) /\ holds ls' Y Ys' hs'
  | _, _, _ => False
  end.

(* A letter is injective on all states. *)
Definition injective (f : list nat) : Prop := forall x y, x < n -> y < n -> image f x = image f y -> x = y.
(* Whether a level tells the one below it the set before the token. *)
Definition tells (l : chain_level) : Prop := look_back = true \/ (forall a, a < length delta -> injective (row a)) \/ keeps l = true.
Fixpoint all_tell_below (ls : list chain_level) : Prop :=
  match ls with l :: (_ :: _) as ls' => tells l /\ all_tell_below ls' | _ => True end.

Lemma injective_permutes f X X' : injective f -> NoDup X -> NoDup X' -> length X' = length X -> into n f X X' -> permutes n f X X' = true.
Proof.
  intros J D D' S I. unfold permutes. apply Nat.eqb_eq, Nat.le_antisymm; [now apply hits_length |].
  rewrite <- (map_length (image f) (real n X)). apply NoDup_incl_length; [| now apply images_hits].
  assert (Dr : NoDup (real n X)) by now apply NoDup_filter.
  assert (B : forall x, In x (real n X) -> x < n) by (intros x H; now apply real_In in H).
  induction (real n X) as [|x l IH]; simpl; [constructor |]. inversion Dr; subst. constructor.
  - intros F. apply in_map_iff in F. destruct F as [y [E F]]. apply J in E; [now subst | | ]; apply B; simpl; auto.
  - apply IH; [easy |]. intros y H. apply B. now right.
Qed.

Lemma tells_reads l a X X' : tells l -> a < length delta -> NoDup X -> NoDup X' -> length X' = length X -> into n (row a) X X' ->
  look_back = true \/ permutes n (row a) X X' = true \/ keeps l = true.
Proof. intros [T | [T | T]] A D D' S I; [auto | | auto]. right. left. apply injective_permutes; auto. Qed.

(* All levels on a token, whose letter is a. *)
Theorem levels_step_ok a : a < length delta -> forall ls p X X' Ys hs,
  falling gates p ls -> all_tell_below ls -> length X = p -> length X' = p -> NoDup X -> NoDup X' -> into n (row a) X X' ->
  valid ls X Ys -> fits n (row a) X X' ls Ys -> holds ls X Ys hs ->
  holds ls X' (next_sets n (row a) X X' ls Ys) (levels_step ls (row a) X X' hs).
Proof.
  intros A. induction ls0 as [|l ls' IH]; intros p X X' [|Y Ys] [|h hs] F T LX LX' DX DX' I V G H; simpl in *; try easy.
  destruct F as [S [N [gate F]]], V as [P [LY V]], G as [room G], H as [[tail [Eh Lt]] H].
  assert (same : length X' = length X) by congruence. rewrite <- S in LX, LX'. assert (less_size : next l < size l) by lia.
  destruct (level_step_ok R zero one add mul sub opp laws n swaps_of reset_beta gates swaps_ok l (row a) X X' Y
    LX LX' DX' I LY less_size h tail Eh Lt gate) as [tail' [E [Lt' _]]].
  split; [now exists tail' |].
  destruct ls' as [|l2 ls']; [now destruct Ys, hs |]. destruct T as [T Ts].
  rewrite (read_after_ok R zero one add mul sub opp nonzero laws nonzero_zero nonzero_one n swaps_of reset_beta gates swaps_ok
    l (row a) X X' Y LX LX' DX' I LY less_size h tail Eh Lt gate).
  rewrite (read_before_ok R zero one add mul sub opp nonzero laws nonzero_zero nonzero_one n swaps_of reset_beta look_back gates
    swaps_ok l (row a) X X' Y LX LX' DX' I P LY less_size h tail Eh Lt gate) by (now apply tells_reads).
  rewrite <- LY in *. assert (less : length Y < length X) by lia.
  apply (IH (length Y)); try easy.
  - now apply next_set_length.
  - now apply (part_NoDup Y X).
  - apply (part_NoDup _ X'); [apply next_set_part | easy].
  - intros x Hx L. now apply next_set_into.
Qed.

(* The set before the token is read off the last level too, where all levels tell it. *)
Theorem last_before_ok a : a < length delta -> forall ls p X X' Ys hs,
  falling gates p ls -> Forall tells ls -> length X = p -> length X' = p -> NoDup X -> NoDup X' -> into n (row a) X X' ->
  valid ls X Ys -> fits n (row a) X X' ls Ys -> holds ls X Ys hs ->
  last_before ls (row a) X X' hs (levels_step ls (row a) X X' hs) = last Ys X.
Proof.
  intros A. induction ls0 as [|l ls' IH]; intros p X X' [|Y Ys] [|h hs] F T LX LX' DX DX' I V G H; simpl in *; try easy.
  destruct F as [S [N [gate F]]], V as [P [LY V]], G as [room G], H as [[tail [Eh Lt]] H].
  assert (same : length X' = length X) by congruence. rewrite <- S in LX, LX'. assert (less_size : next l < size l) by lia.
  assert (Tl := Forall_inv T). assert (Ts := Forall_inv_tail T).
  rewrite (read_after_ok R zero one add mul sub opp nonzero laws nonzero_zero nonzero_one n swaps_of reset_beta gates swaps_ok
    l (row a) X X' Y LX LX' DX' I LY less_size h tail Eh Lt gate).
  rewrite (read_before_ok R zero one add mul sub opp nonzero laws nonzero_zero nonzero_one n swaps_of reset_beta look_back gates
    swaps_ok l (row a) X X' Y LX LX' DX' I P LY less_size h tail Eh Lt gate) by (now apply tells_reads).
  rewrite <- LY in *. assert (less : length Y < length X) by lia.
  rewrite (IH (length Y) Y _ Ys hs); try easy; [symmetry; apply (last_below X Y Ys) |..].
  - now apply next_set_length.
  - now apply (part_NoDup Y X).
  - apply (part_NoDup _ X'); [apply next_set_part | easy].
  - intros x Hx L. now apply next_set_into.
Qed.

(* What is read off the states of the layers alone. *)
Lemma last_after_ok : forall ls p X Ys hs, falling gates p ls -> length X = p -> valid ls X Ys -> holds ls X Ys hs ->
  last_after ls X hs = last Ys X.
Proof.
  induction ls0 as [|l ls' IH]; intros p X [|Y Ys] [|h hs] F L V H; simpl in *; try easy.
  destruct F as [S [N [_ F]]], V as [P [LY V]], H as [[tail [-> _]] H].
  unfold ChainSemantics.read_after. rewrite firstn_app, length_indicator, L, S, Nat.sub_diag. simpl.
  rewrite app_nil_r, firstn_all2 by (rewrite length_indicator; lia).
  rewrite select_part by easy. rewrite (IH (next l) Y Ys hs); try easy. symmetry. apply (last_below X Y Ys).
Qed.

Lemma start_holds : forall ls X, holds ls X (start_sets q0 ls X) (start_levels R zero one q0 ls X).
Proof.
  induction ls0 as [|l ls' IH]; intros X; simpl; [easy |]. split; [| apply IH].
  exists (if keeps l then zeros R zero (size l) else []). split; [easy |]. destruct (keeps l); [apply length_zeros | easy].
Qed.

Lemma phantoms_once X k : NoDup X -> (forall x, In x X -> x < n) -> NoDup (X ++ seq n k).
Proof.
  intros D B. induction X as [|x X IH]; simpl; [apply seq_NoDup |]. inversion D; subst. constructor.
  - rewrite in_app_iff, in_seq. intros [F | F]; [easy |]. assert (G := B x (or_introl eq_refl)). lia.
  - apply IH; [easy |]. intros y H. apply B. now right.
Qed.

(* -------- the top set -------- *)
Definition letters_of (w : list nat) : list nat := rev (filter moves w).
Definition top (w : list nat) : list nat :=
  match window with None => seq 0 n | Some m => with_phantoms n top_size (window_set m (letters_of w)) end.
Hypothesis levels_fall : falling gates top_size ls.
Lemma top_size_positive : 1 <= top_size.
Proof. destruct ls as [|l ls']; simpl in levels_fall; lia. Qed.

Hypothesis levels_tell : all_tell_below ls.
Hypothesis window_ok : match window with
  | None => top_size = n
  | Some m => 1 <= m /\ leaves n delta m top_size /\ m <= rows /\ (ls <> [] -> look_back = true \/ rows = S m) /\ length (maps n delta) < 2 ^ bits
  end.

(* The two cases, with what is known of the window as K. *)
Ltac by_window m Ew K := assert (K := window_ok); case_eq window; [intros m Ew | intros Ew]; rewrite Ew in K; rewrite ?Ew; cbn beta iota in K |- *.

Lemma letters_moving w : word w -> Forall (fun a => a < length delta /\ moves a = true) (letters_of w).
Proof.
  intros W. apply Forall_forall. intros a H. unfold letters_of in H. apply in_rev, filter_In in H.
  destruct H as [H M]. split; [| easy]. now apply (proj1 (Forall_forall _ _) W).
Qed.

Lemma letters_word w : word w -> word (letters_of w).
Proof. intros W. eapply Forall_impl; [| now apply letters_moving]. now intros a [H _]. Qed.

Lemma letters_last w a : letters_of (w ++ [a]) = if moves a then a :: letters_of w else letters_of w.
Proof.
  unfold letters_of. rewrite filter_app. simpl. destruct (moves a); simpl; rewrite rev_app_distr; [easy | simpl; easy].
Qed.

Lemma top_ok w : word w -> length (top w) = top_size /\ NoDup (top w).
Proof.
  intros W. unfold top. by_window m Ew K; [| split; [rewrite seq_length; exact (eq_sym K) | apply seq_NoDup]].
  destruct K as [M [C _]].
  assert (L := window_size n delta q0 m top_size _ C top_size_positive (letters_moving w W)).
  unfold with_phantoms. split; [rewrite app_length, seq_length; lia |].
  apply phantoms_once; [apply NoDup_filter, seq_NoDup |]. intros x H. apply (window_set_In n delta q0 start_ok) in H. tauto.
Qed.

Lemma top_In w x : word w -> x < n -> match window with None => True | Some m => In x (window_set m (letters_of w)) end <-> In x (top w).
Proof.
  intros W L. unfold top. by_window m Ew K; [| rewrite in_seq; intuition].
  unfold with_phantoms. rewrite in_app_iff, in_seq. intuition lia.
Qed.

Lemma top_into w a : word (w ++ [a]) -> into n (row a) (top w) (top (w ++ [a])).
Proof.
  intros W x H L. assert (Wa := W). apply Forall_app in Wa. destruct Wa as [Ww Wa]. apply Forall_inv in Wa.
  assert (L' : image (row a) x < n) by now apply rows_ok.
  apply top_In; [easy | easy |]. apply top_In in H; [| easy | easy]. revert H.
  by_window m Ew K; [| easy]. intros H. rewrite letters_last. destruct (moves a) eqn:M.
  - apply into_window; try easy. constructor; [easy | now apply letters_word].
  - now rewrite (moves_false n delta a x M L).
Qed.

Lemma top_state w : word w -> In (state_after q0 w) (top w).
Proof.
  intros W. apply top_In; [easy | now apply (state_lt n delta rows_ok) |]. by_window m Ew K; [| easy].
  rewrite <- (state_moving n delta rows_ok w q0 W start_ok). rewrite <- (rev_involutive (filter moves w)).
  apply state_in; try easy. now apply letters_word.
Qed.

(* -------- the register -------- *)
Definition held (w : list nat) : list (list R) :=
  match window with None => [] | Some _ => register (map number (letters_of w)) end.

Lemma held_next w a : (match window with None => [] | Some _ => register_step a (held w) end) = held (w ++ [a]).
Proof.
  unfold held. by_window m Ew K; [| easy]. destruct K as [M [_ [Mr [_ B]]]].
  rewrite (register_ok R zero one add mul sub opp laws n delta bits rows) by (exact B || lia).
  rewrite letters_last. now destruct (moves a).
Qed.

Lemma numbers_small w : word w -> length (maps n delta) < 2 ^ bits -> Forall (fun k => k < 2 ^ bits) (map number (letters_of w)).
Proof.
  intros W B. apply Forall_forall. intros k H. apply in_map_iff in H. destruct H as [a [<- H]].
  assert (G := proj1 (Forall_forall _ _) (letters_moving w W) a H). destruct G as [G1 G2].
  destruct (number_moves n delta q0 start_ok a G1 G2) as [_ [G3 _]]. lia.
Qed.

Lemma top_after_ok w hs : word w -> top_after (held w, hs) = top w.
Proof.
  intros W. unfold ChainSemantics.top_after, top, held. by_window m Ew K; [| easy].
  destruct K as [M [_ [Mr [_ B]]]]. simpl. f_equal.
  rewrite (read_rows_ok R zero one nonzero nonzero_zero nonzero_one n delta bits rows) by (exact B || lia || now apply numbers_small).
  apply window_states_ok; try easy. now apply letters_moving.
Qed.

(* Before the token: by what the token before left, or by the rows behind the newest letter. *)
Lemma top_before_ok w a hs hs' : word (w ++ [a]) -> (window <> None -> look_back = true \/ rows = S (match window with Some m => m | None => 0 end)) ->
  top_before a (held w, hs) (held (w ++ [a]), hs') = top w.
Proof.
  intros W T. assert (Ww := proj1 (proj1 (Forall_app _ _ _) W)).
  unfold ChainSemantics.top_before, top, held. by_window m Ew K; [| easy].
  destruct K as [M [_ [Mr [_ B]]]]. simpl. f_equal.
  rewrite !(read_rows_ok R zero one nonzero nonzero_zero nonzero_one n delta bits rows) by (exact B || lia || now apply numbers_small).
  assert (Same : window_states m (map (fun r => nth r (map number (letters_of w)) 0) (seq 0 rows)) = window_set m (letters_of w)).
  { apply window_states_ok; try easy. now apply letters_moving. }
  case_eq look_back; intros LB; [exact Same |]. rewrite letters_last. destruct (moves a) eqn:Mv; [| easy].
  destruct T as [T' | T']; [congruence.. |].
  rewrite Ew in T'. change (window_states m (tl (row_numbers n delta rows (a :: letters_of w))) = window_set m (letters_of w)).
  rewrite (row_numbers_tail n delta q0 start_ok rows a (letters_of w)) by lia.
  apply window_states_ok; try easy; [lia | now apply letters_moving].
Qed.

(* -------- words -------- *)
(* What the sets that occur are known to be; the sizes have to fit them. *)
Variable Inv : list nat -> list (list nat) -> Prop.
Hypothesis Inv_start : Inv [] (start_sets q0 ls (top [])).
Hypothesis Inv_step : forall w a Ys, word (w ++ [a]) -> Inv w Ys -> valid ls (top w) Ys ->
  fits n (row a) (top w) (top (w ++ [a])) ls Ys /\ Inv (w ++ [a]) (next_sets n (row a) (top w) (top (w ++ [a])) ls Ys).

Definition right (w : list nat) (h : memory R) (Ys : list (list nat)) : Prop :=
  Inv w Ys /\ valid ls (top w) Ys /\ fst h = held w /\ holds ls (top w) Ys (snd h) /\ Forall (In (state_after q0 w)) Ys.

Lemma run_last w a : run (w ++ [a]) = token (run w) a.
Proof. unfold ChainSemantics.run. now rewrite fold_left_app. Qed.

Lemma state_last w a : state_after q0 (w ++ [a]) = image (row a) (state_after q0 w).
Proof. unfold ChainSemantics.state_after. now rewrite fold_left_app. Qed.

Lemma token_ok w a h : word (w ++ [a]) -> fst h = held w ->
  token h a = (held (w ++ [a]), levels_step ls (row a) (top w) (top (w ++ [a])) (snd h)).
Proof.
  intros W E. destruct h as [r hs]. simpl in E. subst r. unfold ChainSemantics.token. cbv zeta. cbn [fst snd].
  rewrite held_next. f_equal. destruct ls as [|l ls'] eqn:L; [now destruct hs |]. rewrite <- L in *.
  rewrite top_after_ok by easy. rewrite top_before_ok; [easy | easy |].
  intros N. by_window m Ew K; [apply K; congruence | congruence].
Qed.

Theorem run_ok w : word w -> exists Ys, right w (run w) Ys.
Proof.
  induction w as [|a w IH] using rev_ind; intros W.
  - exists (start_sets q0 ls (top [])).
    assert (E : start = (held [], start_levels R zero one q0 ls (top []))).
    { unfold ChainSemantics.start. cbv zeta.
      replace (match window with None => [] | Some _ => repeat (zeros R zero rows) bits end) with (held []).
      - now rewrite top_after_ok.
      - unfold held. by_window m Ew K; [symmetry; apply register_empty | easy]. }
    destruct (top_ok [] W) as [L D].
    destruct (start_sets_ok q0 gates ls top_size (top []) levels_fall (top_state [] W) D L) as [V A].
    unfold right, ChainSemantics.run. cbn [fold_left]. rewrite E. cbn [fst snd].
    split; [easy |]. split; [easy |]. split; [easy |]. split; [apply start_holds | easy].
  - assert (Ww := proj1 (proj1 (Forall_app _ _ _) W)). destruct (IH Ww) as [Ys [H1 [H2 [H3 [H4 H5]]]]].
    assert (A := Forall_inv (proj2 (proj1 (Forall_app _ _ _) W))).
    destruct (Inv_step w a Ys W H1 H2) as [G1 G2]. exists (next_sets n (row a) (top w) (top (w ++ [a])) ls Ys).
    destruct (top_ok w Ww) as [L D], (top_ok _ W) as [L' D'].
    destruct (next_sets_ok n gates (row a) ls top_size (top w) (top (w ++ [a])) Ys) as [V Q]; try easy; [now apply top_into |].
    unfold right. rewrite run_last, (token_ok w a (run w) W H3). cbn [fst snd].
    split; [easy |]. split; [easy |]. split; [easy |]. split.
    + apply (levels_step_ok a A ls top_size); try easy. now apply top_into.
    + rewrite state_last. apply Q; [| easy]. now apply (state_lt n delta rows_ok).
Qed.

(* The state that is read off after a word, of any length, is the automaton's. *)
Theorem follows w : word w -> decode (run w) = [state_after q0 w].
Proof.
  intros W. destruct (run_ok w W) as [Ys [H1 [H2 [H3 [H4 H5]]]]]. destruct (top_ok w W) as [L D].
  unfold ChainSemantics.decode. destruct (run w) as [r hs]. simpl in *. subst r. rewrite top_after_ok by easy.
  rewrite (last_after_ok ls top_size (top w) Ys hs) by easy.
  apply (last_one gates (state_after q0 w) ls top_size); try easy. now apply top_state.
Qed.

(* And so is the state before the last token, where all levels and the register tell it. *)
Theorem follows_before w a : word (w ++ [a]) -> Forall tells ls ->
  (window <> None -> look_back = true \/ rows = S (match window with Some m => m | None => 0 end)) ->
  decode_before a (run w) (run (w ++ [a])) = [state_after q0 w].
Proof.
  intros W T B. assert (Ww := proj1 (proj1 (Forall_app _ _ _) W)). destruct (run_ok w Ww) as [Ys [H1 [H2 [H3 [H4 H5]]]]].
  assert (A := Forall_inv (proj2 (proj1 (Forall_app _ _ _) W))).
  destruct (top_ok w Ww) as [L D], (top_ok _ W) as [L' D']. destruct (Inv_step w a Ys W H1 H2) as [G1 G2].
  rewrite run_last, (token_ok w a (run w) W H3). unfold ChainSemantics.decode_before. cbn [snd].
  destruct (run w) as [r hs]. simpl in H3. subst r. rewrite top_before_ok, top_after_ok by easy.
  rewrite (last_before_ok a A ls top_size (top w) (top (w ++ [a])) Ys) by (easy || now apply top_into).
  apply (last_one gates (state_after q0 w) ls top_size); try easy. now apply top_state.
Qed.
End Run.
