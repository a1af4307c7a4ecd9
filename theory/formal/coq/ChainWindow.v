(* The window in front of a chain: the states in which words can end, and the register that remembers the last letters.

   - `window_set m l`: the states that the letters l leave, the newest first; by claims `state_in`, `into_window`, and, where every
     word of m letters that move a state leaves at most s, `window_size`, it holds the state, goes into the next one, and is small.
   - `register_ok`: over any ring, a token's factors turn the register, so that its rows are the numbers of the last letters;
     `read_rows_ok`: and these numbers are read off.
   - `window_states_ok`: they tell the set `window_set`. *)
Require Import List Arith Bool Lia Ring. Import ListNotations.
From Mirrormata Require Import ChainSemantics ChainSets ChainFactors.

Section Sets.
Variables (n : nat) (delta : list (list nat)) (q0 : nat).
Notation row := (row delta).
Notation state_after := (state_after delta).
Notation moves := (moves n delta).
Notation maps := (maps n delta).
Notation number := (number n delta).
Notation map_of := (map_of n delta).
Notation window_states := (window_states n delta q0).
Hypothesis rows_ok : forall a, a < length delta -> length (row a) = n /\ forall q, q < n -> image (row a) q < n.
Hypothesis start_ok : q0 < n.
Definition word (w : list nat) : Prop := Forall (fun a => a < length delta) w.

Lemma row_eqb_eq f g : row_eqb f g = true <-> f = g.
Proof. unfold row_eqb. destruct (list_eq_dec Nat.eq_dec f g); split; congruence. Qed.

Lemma image_seq q : q < n -> image (seq 0 n) q = q.
Proof. intros L. unfold image. now rewrite seq_nth. Qed.

Lemma moves_false a q : moves a = false -> q < n -> image (row a) q = q.
Proof.
  unfold ChainSemantics.moves. intros E L. apply negb_false_iff, row_eqb_eq in E. rewrite E. now apply image_seq.
Qed.

Lemma state_lt w q : word w -> q < n -> state_after q w < n.
Proof.
  revert q. induction w as [|a w IH]; intros q W L; simpl; [easy |]. assert (Wa := Forall_inv W); assert (Wl := Forall_inv_tail W).
  apply IH; [easy |]. now apply rows_ok.
Qed.

Lemma state_moving w q : word w -> q < n -> state_after q (filter moves w) = state_after q w.
Proof.
  revert q. induction w as [|a w IH]; intros q W L; simpl; [easy |]. assert (Wa := Forall_inv W); assert (Wl := Forall_inv_tail W).
  destruct (moves a) eqn:M; simpl; rewrite IH; try easy; [now apply rows_ok |]. now rewrite moves_false.
Qed.

(* Letters that move a state have the number of their map, from 1. *)
Lemma distinct_In fs : forall seen f, In f (distinct n fs seen) <-> In f seen \/ (In f fs /\ f <> seq 0 n).
Proof.
  induction fs as [|g fs IH]; intros seen f; simpl; [rewrite <- in_rev; tauto |].
  destruct (row_eqb g (seq 0 n)) eqn:E; simpl.
  - apply row_eqb_eq in E. rewrite IH. split; [tauto |]. intros [G | [[G | G] N]]; try tauto. congruence.
  - destruct (existsb (row_eqb g) seen) eqn:S; rewrite IH.
    + apply existsb_exists in S. destruct S as [g' [S E']]. apply row_eqb_eq in E'. subst g'. split; [tauto |].
      intros [G | [[G | G] N]]; subst; tauto.
    + assert (g <> seq 0 n) by (intros F; apply row_eqb_eq in F; congruence).
      simpl. split; [| intuition]. intros [[G | G] | G]; subst; intuition.
Qed.

Lemma number_in_ok f fs : In f fs -> number_in f fs < length fs /\ nth (number_in f fs) fs [] = f.
Proof.
  induction fs as [|g fs IH]; simpl; [easy |]. intros H. destruct (row_eqb f g) eqn:E.
  - apply row_eqb_eq in E. split; [lia | easy].
  - destruct H as [H | H]; [apply row_eqb_eq in H; unfold row_eqb in *; destruct (list_eq_dec _ f g), (list_eq_dec _ g f); congruence |].
    destruct (IH H). split; [lia | easy].
Qed.

Lemma number_moves a : a < length delta -> moves a = true ->
  number a <> 0 /\ number a <= length maps /\ map_of (number a) = row a.
Proof.
  intros L M. unfold ChainSemantics.number. rewrite M. simpl.
  assert (H : In (row a) maps).
  { unfold ChainSemantics.maps. apply distinct_In. right. split; [now apply nth_In |].
    intros F. unfold ChainSemantics.moves in M. apply row_eqb_eq in F. unfold ChainSemantics.row in *. now rewrite F in M. }
  apply number_in_ok in H. split; [easy |]. split; [lia | easy].
Qed.

(* Where the states of a list end by letters, the newest first. *)
Definition ends (from : list nat) (l : list nat) : list nat := fold_right (fun a X => map (image (row a)) X) from l.

Definition window_set (m : nat) (l : list nat) : list nat :=
  let from := if m <=? length l then seq 0 n else [q0] in
  filter (fun q => mem q (ends from (firstn m l))) (seq 0 n).

Lemma state_in_ends q from : forall l, In q from -> In (state_after q (rev l)) (ends from l).
Proof.
  induction l as [|a l IH]; simpl; intros H; [easy |].
  unfold ChainSemantics.state_after. rewrite fold_left_app. simpl. apply in_map, IH, H.
Qed.

Lemma ends_app from l k : ends from (l ++ k) = ends (ends from k) l.
Proof. unfold ends. now rewrite fold_right_app. Qed.

Lemma word_rev l : word l -> word (rev l).
Proof. intros W. apply Forall_forall. intros a H. apply in_rev in H. revert a H. now apply Forall_forall. Qed.

Lemma word_part l k : word (l ++ k) -> word l /\ word k.
Proof. apply Forall_app. Qed.

Lemma ends_mono from from' l : incl from from' -> incl (ends from l) (ends from' l).
Proof.
  intros I. induction l as [|a l IH]; simpl; [easy |]. intros x H. apply in_map_iff in H. destruct H as [y [<- H]].
  apply in_map, IH, H.
Qed.

Lemma ends_lt from l : word l -> incl from (seq 0 n) -> incl (ends from l) (seq 0 n).
Proof.
  intros W I. induction l as [|a l IH]; simpl; [easy |]. assert (Wa := Forall_inv W); assert (Wl := Forall_inv_tail W). intros x H.
  apply in_map_iff in H. destruct H as [y [<- H]]. apply (IH Wl) in H. apply in_seq in H.
  apply in_seq. assert (G := proj2 (rows_ok a Wa) y). lia.
Qed.

Lemma window_set_In m l x : In x (window_set m l) <->
  x < n /\ In x (ends (if m <=? length l then seq 0 n else [q0]) (firstn m l)).
Proof. unfold window_set. rewrite filter_In, mem_In, in_seq. split; intros [H G]; split; auto; lia. Qed.

Lemma from_incl m (l : list nat) : incl (if m <=? length l then seq 0 n else [q0]) (seq 0 n).
Proof. destruct (m <=? length l); [easy |]. intros x [<- | H]; [apply in_seq; lia | easy]. Qed.

(* Where there are m letters or more, the first ones may have led to any state. *)
Theorem state_in m l : word l -> In (state_after q0 (rev l)) (window_set m l).
Proof.
  intros W. apply window_set_In. split; [apply state_lt; [now apply word_rev | easy] |].
  destruct (m <=? length l) eqn:E.
  - assert (S : state_after q0 (rev l) = state_after (state_after q0 (rev (skipn m l))) (rev (firstn m l))).
    { unfold ChainSemantics.state_after. rewrite <- fold_left_app, <- rev_app_distr. now rewrite firstn_skipn. }
    rewrite S. apply state_in_ends. apply in_seq. rewrite <- (firstn_skipn m l) in W. apply word_part in W.
    split; [lia |]. simpl. apply state_lt; [now apply word_rev | easy].
  - apply Nat.leb_gt in E. rewrite firstn_all2 by lia. apply state_in_ends. now left.
Qed.

Lemma firstn_one_more (A : Type) m : forall l : list A, firstn (S m) l = firstn m l ++ firstn 1 (skipn m l).
Proof.
  induction m as [|m IH]; intros [|y l]; try easy.
  change (firstn (S (S m)) (y :: l)) with (y :: firstn (S m) l). now rewrite IH.
Qed.

(* The set before a token goes into that after it. *)
Theorem into_window m l a x : 1 <= m -> word (a :: l) -> In x (window_set m l) -> In (image (row a) x) (window_set m (a :: l)).
Proof.
  intros M W H. assert (Wa := Forall_inv W); assert (Wl := Forall_inv_tail W). apply window_set_In in H. destruct H as [L H]. apply window_set_In.
  split; [now apply rows_ok |]. destruct m as [|m]; [lia |]. cbn [length firstn]. cbn [ends fold_right]. apply in_map.
  fold (ends (if S m <=? S (length l) then seq 0 n else [q0]) (firstn m l)).
  destruct (S m <=? length l) eqn:E.
  - apply Nat.leb_le in E. rewrite (proj2 (Nat.leb_le (S m) (S (length l)))) by lia.
    (* the oldest letter is forgotten *)
    replace (firstn (S m) l) with (firstn m l ++ firstn 1 (skipn m l)) in H.
    + rewrite ends_app in H. revert x H L. assert (I : incl (ends (seq 0 n) (firstn 1 (skipn m l))) (seq 0 n)).
      { apply ends_lt; [| easy]. rewrite <- (firstn_skipn m l) in Wl. apply word_part in Wl. destruct Wl as [_ Wl].
        rewrite <- (firstn_skipn 1 (skipn m l)) in Wl. now apply word_part in Wl. }
      intros x H _. apply (ends_mono _ _ _ I _ H).
    + symmetry. apply firstn_one_more.
  - apply Nat.leb_gt in E. rewrite firstn_all2 in H by lia.
    rewrite firstn_all2 by lia. destruct (S m <=? S (length l)); [| easy].
    revert H. apply ends_mono. intros y [<- | F]; [apply in_seq; lia | easy].
Qed.

(* Every word of m letters that move a state leaves at most s. *)
Definition leaves (m s : nat) : Prop := forall v, length v = m -> Forall (fun a => a < length delta /\ moves a = true) v ->
  length (filter (fun q => mem q (ends (seq 0 n) v)) (seq 0 n)) <= s.

Theorem window_size m s l : leaves m s -> 1 <= s -> Forall (fun a => a < length delta /\ moves a = true) l ->
  length (window_set m l) <= s.
Proof.
  intros C S F. unfold window_set. destruct (m <=? length l) eqn:E.
  - apply Nat.leb_le in E. apply C; [now apply firstn_length_le |].
    rewrite <- (firstn_skipn m l) in F. now apply Forall_app in F.
  - replace 1 with (length (ends [q0] (firstn m l))) in S.
    + apply Nat.le_trans with (2 := S). apply NoDup_incl_length; [apply NoDup_filter, seq_NoDup |].
      intros x H. apply filter_In in H. now apply mem_In.
    + clear. unfold ends. induction (firstn m l) as [|a k IH]; simpl; [easy |]. now rewrite map_length.
Qed.

(* The numbers in the rows, zeros behind those of the letters so far. *)
Definition row_numbers (rows : nat) (l : list nat) : list nat := map (fun r => nth r (map number l) 0) (seq 0 rows).

Lemma constant_map (A B : Type) (d : B) (l : list A) : map (fun _ => d) l = repeat d (length l).
Proof. induction l as [|x l IH]; simpl; [easy | now rewrite IH]. Qed.

Lemma map_nth_seq (A : Type) (d : A) l k : map (fun r => nth r l d) (seq 0 k) = firstn k l ++ repeat d (k - length l).
Proof.
  revert l. induction k as [|k IH]; intros [|x l]; simpl; try easy.
  - f_equal. rewrite <- seq_shift, map_map. now rewrite constant_map, seq_length.
  - f_equal. rewrite <- seq_shift, map_map. apply IH.
Qed.

Lemma firstn_map_nth (A : Type) (d : A) l m k : m <= k -> firstn m (map (fun r => nth r l d) (seq 0 k)) = map (fun r => nth r l d) (seq 0 m).
Proof.
  intros L. rewrite firstn_map. f_equal. replace k with (m + (k - m)) by lia. rewrite seq_app, firstn_app, seq_length.
  now rewrite Nat.sub_diag, firstn_all2, app_nil_r by now rewrite seq_length.
Qed.

Lemma fold_numbers from l : Forall (fun a => a < length delta /\ moves a = true) l ->
  fold_right (fun k X => map (image (map_of k)) X) from (map number l) = ends from l.
Proof.
  induction 1 as [|a l [L M] F IH]; simpl; [easy |]. rewrite IH. now destruct (number_moves a L M) as [_ [_ ->]].
Qed.

(* The numbers in m rows or more tell the set. *)
Theorem window_states_ok m rows l : 1 <= m -> m <= rows -> Forall (fun a => a < length delta /\ moves a = true) l ->
  window_states m (row_numbers rows l) = window_set m l.
Proof.
  intros M L F. unfold ChainSemantics.window_states, window_set, row_numbers. rewrite firstn_map_nth by easy.
  rewrite map_nth_seq. rewrite map_length. destruct (m <=? length l) eqn:E.
  - apply Nat.leb_le in E. replace (m - length l) with 0 by lia. simpl. rewrite app_nil_r, firstn_map.
    rewrite map_length, firstn_length_le, Nat.eqb_refl by easy. simpl.
    assert (F' : Forall (fun a => a < length delta /\ moves a = true) (firstn m l)).
    { rewrite <- (firstn_skipn m l) in F. now apply Forall_app in F. }
    rewrite fold_numbers by easy.
    replace (forallb (fun k => negb (k =? 0)) (map number (firstn m l))) with true; [easy |].
    symmetry. apply forallb_forall. intros k H. apply in_map_iff in H. destruct H as [a [<- H]].
    assert (G := proj1 (Forall_forall _ _) F' a H). destruct G as [G1 G2]. destruct (number_moves a G1 G2) as [G3 _].
    apply negb_true_iff. now apply Nat.eqb_neq.
  - apply Nat.leb_gt in E. rewrite !firstn_all2 by (rewrite ?map_length; lia).
    replace (forallb _ (map number l ++ repeat 0 (m - length l))) with false.
    + rewrite andb_false_r. rewrite fold_right_app, fold_numbers by easy.
      replace (fold_right _ [q0] (repeat 0 (m - length l))) with [q0]; [easy |].
      generalize (m - length l). intros k. induction k as [|k IH]; simpl; [easy |]. rewrite <- IH. simpl.
      f_equal. symmetry. now apply image_seq.
    + symmetry. apply not_true_iff_false. intros H. rewrite forallb_forall in H.
      specialize (H 0). simpl in H. assert (false = true); [apply H | easy].
      apply in_or_app. right. destruct (m - length l) eqn:D; [lia | now left].
Qed.

Lemma row_numbers_tail rows a l : 1 <= rows -> tl (row_numbers rows (a :: l)) = row_numbers (rows - 1) l.
Proof.
  intros L. unfold row_numbers. destruct rows as [|rows]; [lia |]. simpl. rewrite Nat.sub_0_r, <- seq_shift, map_map. easy.
Qed.
End Sets.

(* ------------------------------------------------------------------------------------------------------------------ *)
Section Register.
Variables (R : Type) (zero one : R) (add mul sub : R -> R -> R) (opp : R -> R) (nonzero : R -> bool).
Hypothesis laws : ring_theory zero one add mul sub opp (@eq R).
Hypothesis (nonzero_zero : nonzero zero = false) (nonzero_one : nonzero one = true).
Add Ring numbers : laws.
Variables (n : nat) (delta : list (list nat)) (bits rows : nat).
Hypothesis (enough_bits : length (maps n delta) < 2 ^ bits) (some_rows : 1 <= rows).
Notation vector_of := (vector_of R).
Notation number := (number n delta).
Notation moves := (moves n delta).
Notation register_step := (register_step R zero one add mul sub n delta bits rows).
Notation read_row := (read_row R zero nonzero).
Notation read_rows := (read_rows R zero nonzero rows).
Notation entry i h := (nth i h zero).

(* Column c of a register that holds these numbers. *)
Definition column (numbers : list nat) (c : nat) : list R :=
  vector_of rows (fun x => if bit (nth x numbers 0) c then one else zero).
Definition register (numbers : list nat) : list (list R) := map (column numbers) (seq 0 bits).

Lemma origin_turn k x : origin (map (fun j => (j, S j)) (rev (seq 0 k))) x
  = if x =? 0 then k else if x <=? k then x - 1 else x.
Proof.
  induction k as [|k IH].
  - simpl. destruct x as [|x]; easy.
  - rewrite seq_S, rev_app_distr. cbn [rev app map origin]. rewrite IH, Nat.add_0_l. unfold exchange.
    destruct (Nat.eqb_spec x 0); [now rewrite Nat.eqb_refl |].
    destruct (Nat.leb_spec x k), (Nat.leb_spec x (S k)); try lia;
      repeat match goal with |- context [?a =? ?b] => destruct (Nat.eqb_spec a b) end; lia.
Qed.

Lemma map2_map (A B C D : Type) (f : B -> C -> D) (g : A -> B) (h : A -> C) l :
  map2 B C D f (map g l) (map h l) = map (fun x => f (g x) (h x)) l.
Proof. induction l as [|x l IH]; simpl; [easy | now rewrite IH]. Qed.

(* A token's factors: the last row is erased, it goes to the front past all others, and the new number is written there. *)
Theorem register_ok a numbers : register_step a (register numbers)
  = register (if moves a then number a :: numbers else numbers).
Proof.
  unfold ChainSemantics.register_step. destruct (moves a); [| easy].
  unfold register. rewrite <- (map_id (seq 0 bits)) at 1. rewrite map2_map. apply map_ext. intros c.
  set (h := column numbers c). assert (H : length h = rows) by apply length_vector_of.
  unfold ChainSemantics.apply_step. rewrite (scale_one R zero one add mul sub opp laws).
  set (fs := map (fun j => swap R zero one sub rows j (S j)) (rev (seq 0 (rows - 1)))).
  cbn [fold_left]. set (h1 := apply_factor R zero add mul sub h (projection R zero one rows (rows - 1))).
  assert (H1 : length h1 = rows) by now apply length_factor.
  assert (W : swaps_within rows (map (fun j => (j, S j)) (rev (seq 0 (rows - 1))))).
  { intros ij I. apply in_map_iff in I. destruct I as [j [<- I]]. apply in_rev, in_seq in I. simpl. lia. }
  destruct (nth_swaps R zero one add mul sub opp laws rows _ W h1 H1) as [Len G].
  rewrite map_map in Len, G. cbn [fst snd] in Len, G. fold fs in Len, G.
  apply (vector_ext R zero _ _ rows).
  - rewrite length_map2; rewrite length_vector_of; easy.
  - apply length_vector_of.
  - intros x L. rewrite (nth_map2 _ _ _ _ _ _ _ zero zero); rewrite ?length_vector_of; try easy.
    rewrite G by easy. unfold column. rewrite !nth_vector_of by easy. rewrite origin_turn.
    unfold h1. destruct x as [|x]; cbn [Nat.eqb andb nth].
    + rewrite (nth_projection R zero one add mul sub opp laws rows _ h _ H) by lia. rewrite Nat.eqb_refl.
      destruct (bit (number a) c); ring.
    + destruct (S x <=? rows - 1) eqn:E; [| apply Nat.leb_gt in E; lia].
      replace (S x - 1) with x by lia. rewrite (nth_projection R zero one add mul sub opp laws rows _ h x H) by lia.
      destruct (x =? rows - 1) eqn:F; [apply Nat.eqb_eq in F; lia |].
      unfold h, column. rewrite nth_vector_of by lia. ring.
Qed.

Lemma read_bits k : forall s b, fold_right (fun c r => 2 * r + (if bit k c then 1 else 0)) 0 (seq s b) = (k / 2 ^ s) mod 2 ^ b.
Proof.
  intros s b. revert s. induction b as [|b IH]; intros s; [now rewrite Nat.mod_1_r |].
  cbn [seq fold_right]. rewrite IH. rewrite (Nat.pow_succ_r' 2 b).
  rewrite Nat.mod_mul_r by (try apply Nat.pow_nonzero; easy).
  rewrite Nat.div_div by (try apply Nat.pow_nonzero; easy).
  replace (2 ^ s * 2) with (2 ^ S s) by (rewrite Nat.pow_succ_r'; lia).
  unfold bit. rewrite <- Nat.bit0_mod, Nat.bit0_odd. unfold Nat.b2n. lia.
Qed.

Lemma fold_right_map (A B C : Type) (f : B -> C -> C) (g : A -> B) c l :
  fold_right f c (map g l) = fold_right (fun x r => f (g x) r) c l.
Proof. induction l as [|x l IH]; simpl; [easy | now rewrite IH]. Qed.

Theorem read_rows_ok numbers : Forall (fun k => k < 2 ^ bits) numbers ->
  read_rows (register numbers) = map (fun r => nth r numbers 0) (seq 0 rows).
Proof.
  intros F. unfold ChainSemantics.read_rows. apply map_ext_in. intros r H. apply in_seq in H.
  unfold ChainSemantics.read_row, register. rewrite fold_right_map.
  assert (L : nth r numbers 0 < 2 ^ bits).
  { destruct (Nat.lt_ge_cases r (length numbers)) as [L | L].
    - apply (proj1 (Forall_forall _ _) F). now apply nth_In.
    - rewrite nth_overflow by easy. assert (2 ^ bits <> 0) by now apply Nat.pow_nonzero. lia. }
  transitivity ((nth r numbers 0 / 2 ^ 0) mod 2 ^ bits); [| now rewrite Nat.pow_0_r, Nat.div_1_r, Nat.mod_small].
  rewrite <- read_bits.
  generalize (seq 0 bits). intros l. induction l as [|c l IH]; cbn [fold_right]; [easy |]. rewrite IH.
  unfold column. rewrite nth_vector_of by lia. destruct (bit (nth r numbers 0) c);
    [rewrite nonzero_one | rewrite nonzero_zero]; easy.
Qed.

Lemma register_empty : repeat (zeros R zero rows) bits = register [].
Proof.
  unfold register. rewrite <- (seq_length bits 0) at 1. rewrite <- constant_map. apply map_ext. intros c.
  unfold column, ChainSemantics.vector_of, ChainSemantics.zeros.
  rewrite <- (seq_length rows 0) at 1. rewrite <- constant_map. apply map_ext. intros x.
  destruct x; unfold bit; simpl; rewrite Nat.div_0_l by (apply Nat.pow_nonzero; easy); easy.
Qed.
End Register.
