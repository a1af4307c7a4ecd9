(* The factors of a chain's layers, over any ring: projections erase entries, swaps exchange them, and a level's layer does
   what the rule says.

   - `nth_projection`, `nth_swap`: one factor on a vector.
   - `sorting_swaps_ok`: the swaps of `sorting_swaps`, p - 1 at most, apply a permutation of p entries; `swaps_apply` is what
     the theorems need of any others, such as those of two involutions.
   - `level_step_ok`: a level whose first half is the indicator of Y in X has that of the next set in X' after the token,
     and a second half has that of Y after a reset.
   - `read_after_ok`, `read_before_ok`: the layer below reads the next sets after and before the token. *)
Require Import List Arith Bool Lia Permutation Ring. Import ListNotations.
From Mirrormata Require Import ChainSemantics ChainSets.

(* Where the exchange of i and j takes x. *)
Definition exchange (i j x : nat) : nat := if x =? i then j else if x =? j then i else x.

(* After swaps, the first applied first, entry x is the entry that was at `origin swaps x`. *)
Fixpoint origin (swaps : list (nat * nat)) (x : nat) : nat :=
  match swaps with [] => x | (i, j) :: rest => exchange i j (origin rest x) end.

(* What is needed of swaps: those of a permutation of 0, ..., p - 1 take entry j to entry `nth j images`. *)
Definition swaps_apply (swaps_of : list nat -> list (nat * nat)) : Prop := forall images,
  NoDup images -> (forall y, In y images -> y < length images) ->
  (forall ij, In ij (swaps_of images) -> fst ij < snd ij < length images) /\
  (forall j, j < length images -> origin (swaps_of images) (nth j images 0) = j).

(* Place by place: what belongs to place k is brought there by one swap. *)
Fixpoint replace (j : nat) (y : nat) (l : list nat) : list nat :=
  match l, j with [], _ => [] | _ :: l', 0 => y :: l' | x :: l', S j' => x :: replace j' y l' end.
Fixpoint sort_from (fuel k : nat) (images : list nat) : list (nat * nat) :=
  match fuel, images with
  | S fuel', x :: rest =>
    if x =? k then sort_from fuel' (S k) rest
    else let j := place k rest in (k, S k + j) :: sort_from fuel' (S k) (replace j x rest)
  | _, _ => []
  end.
Definition sorting_swaps (images : list nat) : list (nat * nat) := sort_from (length images) 0 images.

Lemma place_lt y X : In y X -> place y X < length X.
Proof.
  induction X as [|x X IH]; simpl; [easy |]. intros H. destruct (x =? y) eqn:E; [lia |].
  apply Nat.eqb_neq in E. destruct H as [H | H]; [easy |]. apply IH in H. lia.
Qed.

Lemma nth_place y X d : In y X -> nth (place y X) X d = y.
Proof.
  induction X as [|x X IH]; simpl; [easy |]. intros H. destruct (x =? y) eqn:E.
  - now apply Nat.eqb_eq in E.
  - apply Nat.eqb_neq in E. destruct H as [H | H]; [easy |]. now apply IH.
Qed.

Lemma place_nth k X d : NoDup X -> k < length X -> place (nth k X d) X = k.
Proof.
  revert k. induction X as [|x X IH]; intros [|k] D L; simpl in *; try lia.
  - now rewrite Nat.eqb_refl.
  - inversion D; subst. destruct (x =? nth k X d) eqn:E.
    + apply Nat.eqb_eq in E. subst. exfalso. apply H1, nth_In. lia.
    + f_equal. apply IH; [easy | lia].
Qed.

Lemma length_replace j y l : length (replace j y l) = length l.
Proof. revert j. induction l as [|x l IH]; intros [|j]; simpl; auto. Qed.

Lemma nth_replace i j y l d : j < length l -> nth i (replace j y l) d = if i =? j then y else nth i l d.
Proof.
  revert i j. induction l as [|x l IH]; intros i j L; simpl in *; [lia |].
  destruct j as [|j]; destruct i as [|i]; simpl; try easy. apply IH. lia.
Qed.

Lemma In_replace z j y l : In z (replace j y l) -> z = y \/ In z l.
Proof.
  revert j. induction l as [|x l IH]; intros [|j]; simpl; try tauto; try (intros [H | H]; auto; fail).
  intros [H | H]; [tauto |]. apply IH in H. tauto.
Qed.

(* Replacing the one occurrence of k by a new member keeps a list without repetition, and k is gone. *)
Lemma replace_once k y l : NoDup l -> In k l -> ~ In y l ->
  NoDup (replace (place k l) y l) /\ (y <> k -> ~ In k (replace (place k l) y l)).
Proof.
  induction l as [|x l IH]; simpl; intros D H N; [easy |]. inversion D; subst.
  destruct (x =? k) eqn:E; simpl.
  - apply Nat.eqb_eq in E. subst. split; [constructor; tauto |]. intros F [G | G]; tauto.
  - apply Nat.eqb_neq in E. destruct H as [H | H]; [easy |].
    destruct (IH H3 H (fun F => N (or_intror F))) as [D' G]. split.
    + constructor; [| easy]. intros F. apply In_replace in F. destruct F as [-> | F]; tauto.
    + intros F [K | K]; [tauto |]. now apply G.
Qed.

Lemma sort_from_ok : forall fuel k l, length l = fuel -> NoDup l -> (forall y, In y l -> k <= y < k + length l) ->
  (forall ij, In ij (sort_from fuel k l) -> k <= fst ij < snd ij /\ snd ij < k + length l) /\
  (forall x, x < k -> origin (sort_from fuel k l) x = x) /\
  (forall j, j < length l -> origin (sort_from fuel k l) (nth j l 0) = k + j).
Proof.
  induction fuel as [|fuel IH]; intros k [|x rest] E D B; simpl in E; try easy.
  injection E as E. inversion D; subst. simpl. destruct (x =? k) eqn:X.
  - apply Nat.eqb_eq in X. subst x.
    destruct (IH (S k) rest eq_refl) as [I1 [I2 I3]]; [easy | |].
    { intros y H. assert (G := B y (or_intror H)). simpl in G. assert (y <> k) by (intros ->; tauto). lia. }
    split; [| split].
    + intros ij H. apply I1 in H. lia.
    + intros y L. apply I2. lia.
    + intros [|j] L; [rewrite I2; lia |]. rewrite I3; lia.
  - apply Nat.eqb_neq in X.
    (* k occurs in the rest: all of k, ..., k + length rest occur *)
    assert (K : In k rest).
    { assert (P : incl (seq k (S (length rest))) (x :: rest)).
      { apply NoDup_length_incl; [easy | rewrite seq_length; simpl; lia |].
        intros y H. apply in_seq. apply B in H. simpl in H. lia. }
      destruct (P k) as [H | H]; [apply in_seq; lia | lia | easy]. }
    set (j0 := place k rest). assert (J := place_lt _ _ K). fold j0 in J.
    destruct (replace_once k x rest H2 K H1) as [D' G]. specialize (G X). fold j0 in D', G.
    destruct (IH (S k) (replace j0 x rest)) as [I1 [I2 I3]]; [apply length_replace | easy | |].
    { intros y H. rewrite length_replace. assert (y <> k) by (intros ->; tauto).
      apply In_replace in H. assert (In y (x :: rest)) by (simpl; intuition). apply B in H3. simpl in H3. lia. }
    rewrite length_replace in I1, I3.
    split; [| split].
    + intros ij [<- | H]; simpl; [lia |]. apply I1 in H. lia.
    + intros y L. simpl. rewrite I2 by lia. unfold exchange.
      destruct (y =? k) eqn:F; [apply Nat.eqb_eq in F; lia |].
      destruct (y =? S (k + j0)) eqn:F'; [apply Nat.eqb_eq in F'; lia | easy].
    + intros j L. simpl in L. destruct j as [|j]; simpl.
      * assert (F := I3 j0 J). rewrite nth_replace, Nat.eqb_refl in F by easy. rewrite F. unfold exchange.
        destruct (S k + j0 =? k) eqn:F'; [apply Nat.eqb_eq in F'; lia |]. simpl. rewrite Nat.eqb_refl. lia.
      * assert (J' : j < length rest) by lia. destruct (Nat.eq_dec j j0) as [-> | N].
        -- replace (nth j0 rest 0) with k by (unfold j0; now rewrite nth_place). rewrite I2 by lia. unfold exchange. rewrite Nat.eqb_refl. lia.
        -- assert (F := I3 j J'). rewrite nth_replace in F by easy.
           rewrite (proj2 (Nat.eqb_neq j j0) N) in F. rewrite F. unfold exchange.
           destruct (S k + j =? k) eqn:F1; [apply Nat.eqb_eq in F1; lia |].
           destruct (S k + j =? S (k + j0)) eqn:F2; [apply Nat.eqb_eq in F2; lia |]. lia.
Qed.

Theorem sorting_swaps_ok : swaps_apply sorting_swaps.
Proof.
  intros images D B. destruct (sort_from_ok (length images) 0 images eq_refl D) as [H1 [_ H3]].
  { intros y H. apply B in H. lia. }
  split; [intros ij H; apply H1 in H; simpl in H; lia | easy].
Qed.

(* ------------------------------------------------------------------------------------------------------------------ *)
Section Vectors.
Variables (R : Type) (zero one : R) (add mul sub : R -> R -> R) (opp : R -> R) (nonzero : R -> bool).
Hypothesis laws : ring_theory zero one add mul sub opp (@eq R).
Hypothesis (nonzero_zero : nonzero zero = false) (nonzero_one : nonzero one = true).
Add Ring numbers : laws.
Notation vector := (vector R).
Notation dot := (dot R zero add mul).
Notation apply_factor := (apply_factor R zero add mul sub).
Notation apply_step := (apply_step R zero add mul sub).
Notation unit := (unit R zero one).
Notation vector_of := (vector_of R).
Notation projection := (projection R zero one).
Notation swap := (swap R zero one sub).
Notation indicator := (indicator R zero one).
Notation zeros := (zeros R zero).
Notation select := (select R nonzero).
Notation entry i h := (nth i h zero).
Implicit Types (h v u : vector) (p i j x : nat).

Lemma length_map2 (A B C : Type) (f : A -> B -> C) l k : length l = length k -> length (map2 A B C f l k) = length k.
Proof. revert k. induction l as [|x l IH]; intros [|y k]; simpl; try easy. intros E. now rewrite IH by lia. Qed.

Lemma nth_map2 (A B C : Type) (f : A -> B -> C) l k i a b c : length l = length k -> i < length k ->
  nth i (map2 A B C f l k) c = f (nth i l a) (nth i k b).
Proof.
  revert k i. induction l as [|x l IH]; intros [|y k] [|i]; simpl; try easy; try lia. intros E L. apply IH; lia.
Qed.

Lemma nth_vector_of p f i : i < p -> entry i (vector_of p f) = f i.
Proof.
  intros L. unfold ChainSemantics.vector_of. rewrite (nth_indep _ zero (f 0)) by now rewrite map_length, seq_length.
  rewrite map_nth. f_equal. now apply seq_nth.
Qed.

Lemma length_vector_of p f : length (vector_of p f) = p.
Proof. unfold ChainSemantics.vector_of. now rewrite map_length, seq_length. Qed.

(* e_i . h is entry i. *)
Lemma dot_unit_from i h : forall s, dot (map (unit i) (seq s (length h))) h = if i <? s then zero else entry (i - s) h.
Proof.
  induction h as [|y h IH]; intros s; simpl; [destruct (i <? s); destruct (i - s); easy |].
  rewrite IH. unfold ChainSemantics.unit. destruct (s =? i) eqn:E.
  - apply Nat.eqb_eq in E. subst. rewrite (proj2 (Nat.ltb_lt i (S i))) by lia.
    rewrite (proj2 (Nat.ltb_ge i i)) by lia. rewrite Nat.sub_diag. ring.
  - apply Nat.eqb_neq in E. destruct (i <? s) eqn:L; [apply Nat.ltb_lt in L | apply Nat.ltb_ge in L].
    + rewrite (proj2 (Nat.ltb_lt i (S s))) by lia. ring.
    + rewrite (proj2 (Nat.ltb_ge i (S s))) by lia. replace (i - s) with (S (i - S s)) by lia. ring.
Qed.

Lemma dot_unit i h : dot (vector_of (length h) (unit i)) h = entry i h.
Proof. unfold ChainSemantics.vector_of. rewrite dot_unit_from. simpl. now rewrite Nat.sub_0_r. Qed.

Lemma dot_difference f g (l : list nat) h :
  dot (map (fun x => sub (f x) (g x)) l) h = sub (dot (map f l) h) (dot (map g l) h).
Proof. revert h. induction l as [|x l IH]; intros [|y h]; simpl; try ring. rewrite IH. ring. Qed.

Lemma length_factor p f b h : length h = p -> length (apply_factor h (b, vector_of p f)) = p.
Proof. intros <-. unfold ChainSemantics.apply_factor. simpl. apply length_map2, length_vector_of. Qed.

Lemma nth_factor p f b h x : length h = p -> x < p ->
  entry x (apply_factor h (b, vector_of p f)) = sub (entry x h) (mul (mul b (dot (vector_of p f) h)) (f x)).
Proof.
  intros <- L. unfold ChainSemantics.apply_factor. simpl.
  rewrite (nth_map2 _ _ _ _ _ _ _ zero zero) by (rewrite ?length_vector_of; auto). now rewrite nth_vector_of.
Qed.

(* I - e_i e_i^T erases entry i. *)
Lemma nth_projection p i h x : length h = p -> x < p ->
  entry x (apply_factor h (projection p i)) = if x =? i then zero else entry x h.
Proof.
  intros E L. unfold ChainSemantics.projection. rewrite nth_factor by easy. subst p. rewrite dot_unit.
  unfold ChainSemantics.unit. destruct (x =? i) eqn:X; [apply Nat.eqb_eq in X; subst |]; ring.
Qed.

(* I - (e_i - e_j)(e_i - e_j)^T exchanges entries i and j. *)
Lemma nth_swap p i j h x : length h = p -> x < p -> i <> j ->
  entry x (apply_factor h (swap p i j)) = entry (exchange i j x) h.
Proof.
  intros E L N. unfold ChainSemantics.swap. rewrite nth_factor by easy. subst p. unfold ChainSemantics.vector_of.
  rewrite dot_difference. fold (vector_of (length h) (unit i)). fold (vector_of (length h) (unit j)). rewrite !dot_unit.
  unfold exchange, ChainSemantics.unit. destruct (x =? i) eqn:X; [apply Nat.eqb_eq in X; subst |].
  - rewrite (proj2 (Nat.eqb_neq i j) N). ring.
  - destruct (x =? j) eqn:X'; [apply Nat.eqb_eq in X'; subst |]; ring.
Qed.

Lemma exchange_lt i j x p : i < p -> j < p -> x < p -> exchange i j x < p.
Proof. intros. unfold exchange. destruct (x =? i), (x =? j); easy. Qed.

Definition swaps_within (p : nat) (swaps : list (nat * nat)) : Prop := forall ij, In ij swaps -> fst ij < snd ij < p.

Lemma origin_lt p swaps x : swaps_within p swaps -> x < p -> origin swaps x < p.
Proof.
  intros W L. induction swaps as [|[i j] swaps IH]; simpl; [easy |].
  assert (H := W (i, j) (or_introl eq_refl)). simpl in H. apply exchange_lt; try lia. apply IH.
  intros ij I. apply W. now right.
Qed.

Lemma origin_outside p swaps x : swaps_within p swaps -> p <= x -> origin swaps x = x.
Proof.
  intros W L. induction swaps as [|[i j] swaps IH]; simpl; [easy |].
  assert (H := W (i, j) (or_introl eq_refl)). simpl in H. rewrite IH by (intros ij I; apply W; now right).
  unfold exchange. destruct (x =? i) eqn:E; [apply Nat.eqb_eq in E; lia |].
  destruct (x =? j) eqn:E'; [apply Nat.eqb_eq in E'; lia | easy].
Qed.

(* A product of swaps takes to entry x the entry at its origin. *)
Lemma nth_swaps p swaps : swaps_within p swaps -> forall h, length h = p ->
  length (fold_left apply_factor (map (fun ij => swap p (fst ij) (snd ij)) swaps) h) = p /\
  forall x, x < p ->
    entry x (fold_left apply_factor (map (fun ij => swap p (fst ij) (snd ij)) swaps) h) = entry (origin swaps x) h.
Proof.
  induction swaps as [|[i j] swaps IH]; intros W h E; simpl; [easy |].
  assert (H := W (i, j) (or_introl eq_refl)). simpl in H.
  assert (W' : swaps_within p swaps) by (intros ij I; apply W; now right).
  destruct (IH W' (apply_factor h (swap p i j))) as [E' G]; [now apply length_factor |].
  split; [easy |]. intros x L. rewrite G by easy. apply nth_swap; [easy | now apply origin_lt | lia].
Qed.

(* Projections erase their entries. *)
Lemma nth_projections p places : forall h, length h = p ->
  length (fold_left apply_factor (map (projection p) places) h) = p /\
  forall x, x < p -> entry x (fold_left apply_factor (map (projection p) places) h) = if mem x places then zero else entry x h.
Proof.
  induction places as [|i places IH]; intros h E; simpl; [easy |].
  destruct (IH (apply_factor h (projection p i))) as [E' G]; [now apply length_factor |].
  split; [easy |]. intros x L. rewrite G by easy. rewrite nth_projection by easy.
  destruct (x =? i), (mem x places); easy.
Qed.

Lemma scale_one h : map (mul one) h = h.
Proof. induction h as [|y h IH]; simpl; [easy |]. rewrite IH. f_equal. ring. Qed.

Lemma scale_zero h : map (mul zero) h = zeros (length h).
Proof. induction h as [|y h IH]; simpl; [easy |]. unfold ChainSemantics.zeros in *. simpl. rewrite IH. f_equal. ring. Qed.

Lemma add_zeros h : map2 R R R add h (zeros (length h)) = h.
Proof. unfold ChainSemantics.zeros. induction h as [|y h IH]; simpl; [easy |]. rewrite IH. f_equal. ring. Qed.

Lemma zeros_add h : map2 R R R add (zeros (length h)) h = h.
Proof. unfold ChainSemantics.zeros. induction h as [|y h IH]; simpl; [easy |]. rewrite IH. f_equal. ring. Qed.

Lemma nth_zeros p x : entry x (zeros p) = zero.
Proof. unfold ChainSemantics.zeros. revert x. induction p as [|p IH]; intros [|x]; simpl; auto. Qed.

Lemma length_zeros p : length (zeros p) = p.
Proof. apply repeat_length. Qed.

(* A factor keeps the zero vector, whatever its key and beta. *)
Lemma dot_zeros v p : dot v (zeros p) = zero.
Proof.
  unfold ChainSemantics.zeros. revert v. induction p as [|p IH]; intros [|y v]; simpl; try easy. rewrite IH. ring.
Qed.

Lemma factor_zeros b v : apply_factor (zeros (length v)) (b, v) = zeros (length v).
Proof.
  unfold ChainSemantics.apply_factor. simpl. rewrite dot_zeros. unfold ChainSemantics.zeros. clear nonzero_zero nonzero_one.
  induction v as [|y v IH]; simpl; [easy |]. rewrite IH. f_equal. ring.
Qed.

(* -------- indicators -------- *)
Lemma length_indicator X Y : length (indicator X Y) = length X.
Proof. apply map_length. Qed.

Lemma nth_indicator X Y x : x < length X -> entry x (indicator X Y) = if mem (nth x X 0) Y then one else zero.
Proof.
  intros L. unfold ChainSemantics.indicator.
  rewrite (nth_indep _ zero (if mem 0 Y then one else zero)) by now rewrite map_length.
  now rewrite (map_nth (fun x => if mem x Y then one else zero)).
Qed.

Lemma select_indicator X Y : select X (indicator X Y) = filter (fun x => mem x Y) X.
Proof.
  unfold ChainSemantics.select, ChainSemantics.indicator. induction X as [|x X IH]; simpl; [easy |].
  destruct (mem x Y); simpl; rewrite ?nonzero_one, ?nonzero_zero; simpl; now rewrite IH.
Qed.

Lemma select_part X Y : part Y X -> select X (indicator X Y) = Y.
Proof. intros P. rewrite select_indicator. now symmetry. Qed.

Lemma vector_ext h v p : length h = p -> length v = p -> (forall x, x < p -> entry x h = entry x v) -> h = v.
Proof. intros E F H. apply (nth_ext h v zero zero); [congruence |]. intros x L. apply H. lia. Qed.
End Vectors.
