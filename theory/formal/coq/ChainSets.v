(* The rule of own.chain on sets alone: one level keeps its invariants.

   X and X' are the set of a level before and after a token, Y the next set before it, f the letter.  `next_set` is the next
   set after it.  Proved for lists without repetition, X' as long as X, such that f takes the states of X into X', and Y
   a part of X with fewer members:
   - `next_set_part`, `next_set_length`, `next_set_into`: if f is injective on the states of X, or takes them to at most |Y| states,
     then the next set is a part of X', has as many members as Y, and f takes the states of Y into it.
   - `goes_permutation`: where f is injective on the states of X, the members of X go one to one to those of X'.
   - `hits_fewer`: sizes that fall by one always have room, also with phantoms. *)
Require Import List Arith Bool Lia Permutation. Import ListNotations.
From Mirrormata Require Import ChainSemantics.

Lemma mem_In x X : mem x X = true <-> In x X.
Proof.
  unfold mem. rewrite existsb_exists. split.
  - intros [y [H E]]. apply Nat.eqb_eq in E. now subst.
  - intros H. exists x. split; [easy | apply Nat.eqb_refl].
Qed.

Lemma mem_false x X : mem x X = false <-> ~ In x X.
Proof. rewrite <- mem_In. now destruct (mem x X). Qed.

Lemma filter_ext_on (A : Type) (f g : A -> bool) l : (forall x, In x l -> f x = g x) -> filter f l = filter g l.
Proof.
  induction l as [|x l IH]; simpl; intros H; [easy |].
  rewrite (H x) by auto. rewrite IH by auto. easy.
Qed.

Lemma filter_length_le (A : Type) (g : A -> bool) l : length (filter g l) <= length l.
Proof. induction l as [|x l IH]; simpl; [easy |]. destruct (g x); simpl; lia. Qed.

(* Y is the list of some members of X, in the order of X. *)
Definition part (Y X : list nat) : Prop := Y = filter (fun x => mem x Y) X.

Lemma filter_part g X : part (filter g X) X.
Proof.
  unfold part. apply filter_ext_on. intros x H.
  destruct (g x) eqn:E; symmetry.
  - apply mem_In, filter_In. auto.
  - apply mem_false. intros F. apply filter_In in F. destruct F. congruence.
Qed.

Lemma part_incl Y X : part Y X -> incl Y X.
Proof. intros P x H. rewrite P in H. now apply filter_In in H. Qed.

Lemma part_NoDup Y X : part Y X -> NoDup X -> NoDup Y.
Proof. intros P D. rewrite P. now apply NoDup_filter. Qed.

Lemma filter_partition (A : Type) (g : A -> bool) l :
  Permutation (filter g l ++ filter (fun x => negb (g x)) l) l.
Proof.
  induction l as [|x l IH]; simpl; [easy |].
  destruct (g x); simpl; [now apply perm_skip |].
  symmetry. apply Permutation_cons_app. now symmetry.
Qed.

Lemma NoDup_map_filter (A B : Type) (f : A -> B) g l : NoDup (map f l) -> NoDup (map f (filter g l)).
Proof.
  induction l as [|x l IH]; simpl; intros D; [easy |].
  inversion D; subst. destruct (g x); simpl; [| auto].
  constructor; [| auto]. intros F. apply in_map_iff in F. destruct F as [y [E F]].
  apply filter_In in F. apply H1. rewrite <- E. now apply in_map.
Qed.

Lemma length_filter_fst (A B : Type) (g : A -> bool) l (k : list B) : length k = length l ->
  length (filter (fun xy => g (fst xy)) (combine l k)) = length (filter g l).
Proof.
  revert k. induction l as [|x l IH]; intros [|y k]; simpl; try easy.
  intros E. injection E as E. destruct (g x); simpl; now rewrite IH.
Qed.

Lemma map_snd_combine (A B : Type) (l : list A) (k : list B) : length k = length l -> map snd (combine l k) = k.
Proof.
  revert k. induction l as [|x l IH]; intros [|y k]; simpl; try easy. intros E. injection E as E. now rewrite IH.
Qed.

Section Rule.
Variable n : nat.
Notation real := (real n).
Notation hit := (hit n).
Notation hits := (hits n).
Notation left := (left n).
Notation goes := (goes n).
Notation permutes := (permutes n).
Notation target := (target n).

(* Where the members of Y go. *)
Definition moved (f X X' Y : list nat) : list nat :=
  map snd (filter (fun xy => mem (fst xy) Y) (combine X (goes f X (left f X X')))).

(* The next set after the token. *)
Definition next_set (f X X' Y : list nat) (size : nat) : list nat :=
  if permutes f X X' then filter (fun y => mem y (moved f X X' Y)) X' else target f X X' size.

Lemma real_In x X : In x (real X) <-> In x X /\ x < n.
Proof. unfold ChainSemantics.real. now rewrite filter_In, Nat.ltb_lt. Qed.

Lemma length_goes f X : forall free, length (goes f X free) = length X.
Proof. induction X as [|x X IH]; intros free; simpl; [easy |]. destruct (x <? n); simpl; now rewrite IH. Qed.

Lemma goes_split f X : forall free, length free + length (real X) = length X ->
  Permutation (goes f X free) (map (image f) (real X) ++ free).
Proof.
  induction X as [|x X IH]; intros free E; simpl in *.
  - destruct free; [easy | simpl in E; lia].
  - destruct (x <? n) eqn:L; simpl in *.
    + apply perm_skip, IH. lia.
    + destruct free as [|y free]; simpl in *.
      * assert (length (real X) <= length X) by apply filter_length_le. lia.
      * apply Permutation_cons_app, IH. lia.
Qed.

Lemma goes_real f x X : In x X -> x < n -> forall free, In (x, image f x) (combine X (goes f X free)).
Proof.
  intros H L. induction X as [|z X IH]; intros free; simpl in *; [easy |].
  destruct H as [-> | H].
  - rewrite (proj2 (Nat.ltb_lt x n) L). now left.
  - destruct (z <? n); simpl; right; now apply IH.
Qed.

Lemma hits_left f X X' : Permutation (hits f X X' ++ left f X X') X'.
Proof. apply filter_partition. Qed.

Section OneToken.
Variables (f X X' : list nat).
Hypothesis (X_once : NoDup X) (X'_once : NoDup X') (same_size : length X' = length X).
Hypothesis into : forall x, In x X -> x < n -> In (image f x) X'.

Lemma hits_In y : In y (hits f X X') <-> exists x, In x X /\ x < n /\ image f x = y.
Proof.
  unfold ChainSemantics.hits. rewrite filter_In. unfold ChainSemantics.hit. rewrite mem_In, in_map_iff. split.
  - intros [_ [x [E H]]]. apply real_In in H. exists x. tauto.
  - intros [x [H [L E]]]. subst. split; [now apply into |]. exists x. split; [easy |]. now apply real_In.
Qed.

Lemma images_hits : incl (map (image f) (real X)) (hits f X X').
Proof.
  intros y H. apply in_map_iff in H. destruct H as [x [E H]]. apply hits_In. apply real_In in H. exists x. tauto.
Qed.

Lemma hits_images : incl (hits f X X') (map (image f) (real X)).
Proof.
  intros y H. apply hits_In in H. destruct H as [x [H [L E]]]. subst. apply in_map. now apply real_In.
Qed.

Lemma hits_once : NoDup (hits f X X').
Proof. now apply NoDup_filter. Qed.

Lemma hits_length : length (hits f X X') <= length (real X).
Proof. rewrite <- (map_length (image f) (real X)). apply NoDup_incl_length; [apply hits_once | apply hits_images]. Qed.

Lemma left_length : length (hits f X X') + length (left f X X') = length X.
Proof. rewrite <- app_length, <- same_size. apply Permutation_length, hits_left. Qed.

(* Sizes that fall by one have room: what is not injective loses a state. *)
Lemma hits_fewer : permutes f X X' = false -> length (hits f X X') < length X.
Proof.
  unfold ChainSemantics.permutes. intros E. apply Nat.eqb_neq in E. assert (H := hits_length).
  assert (length (real X) <= length X) by apply filter_length_le. lia.
Qed.

Lemma goes_permutation : permutes f X X' = true -> Permutation (goes f X (left f X X')) X'.
Proof.
  intros E. apply Nat.eqb_eq in E. transitivity (map (image f) (real X) ++ left f X X').
  - apply goes_split. rewrite <- E, Nat.add_comm. apply left_length.
  - transitivity (hits f X X' ++ left f X X'); [| apply hits_left]. apply Permutation_app_tail.
    assert (D : NoDup (map (image f) (real X))).
    { apply (NoDup_incl_NoDup hits_once); [rewrite map_length; lia | apply hits_images]. }
    apply NoDup_Permutation; [easy | apply hits_once |].
    intros y. split; [apply images_hits | apply hits_images].
Qed.

Lemma goes_once : permutes f X X' = true -> NoDup (goes f X (left f X X')).
Proof. intros E. apply (Permutation_NoDup (Permutation_sym (goes_permutation E))), X'_once. Qed.

Variable Y : list nat.
Hypothesis (Y_part : part Y X) (Y_smaller : length Y < length X).

Lemma moved_once : permutes f X X' = true -> NoDup (moved f X X' Y).
Proof.
  intros E. apply NoDup_map_filter. rewrite map_snd_combine by (rewrite length_goes; easy). now apply goes_once.
Qed.

Lemma moved_incl : permutes f X X' = true -> incl (moved f X X' Y) X'.
Proof.
  intros E y H. apply in_map_iff in H. destruct H as [[x z] [<- H]]. apply filter_In in H. destruct H as [H _].
  apply in_combine_r in H. now apply (Permutation_in _ (goes_permutation E)).
Qed.

Lemma next_set_part : part (next_set f X X' Y (length Y)) X'.
Proof. unfold next_set. destruct (permutes f X X'); apply filter_part. Qed.

Lemma next_set_length : (permutes f X X' = false -> length (hits f X X') <= length Y) ->
  length (next_set f X X' Y (length Y)) = length Y.
Proof.
  intros room. unfold next_set. destruct (permutes f X X') eqn:E.
  - transitivity (length (moved f X X' Y)).
    + apply Permutation_length, NoDup_Permutation; [now apply NoDup_filter | now apply moved_once |].
      intros y. rewrite filter_In, mem_In. split; [tauto |]. intros H. split; [now apply moved_incl | easy].
    + unfold moved. rewrite map_length.
      rewrite (length_filter_fst _ _ (fun x => mem x Y)) by now rewrite length_goes. now rewrite <- Y_part.
  - specialize (room eq_refl). unfold ChainSemantics.target. set (k := length Y - length (hits f X X')).
    assert (L := left_length).
    transitivity (length (hits f X X' ++ firstn k (left f X X'))).
    + assert (D : NoDup (left f X X')) by now apply NoDup_filter.
      assert (I : incl (firstn k (left f X X')) (left f X X')).
      { intros y H. rewrite <- (firstn_skipn k). apply in_or_app. now left. }
      apply Permutation_length, NoDup_Permutation.
      * now apply NoDup_filter.
      * apply (Permutation_NoDup (Permutation_app_comm _ _)). rewrite <- (firstn_skipn k) in D.
        clear - D I X'_once. assert (D1 : NoDup (firstn k (left f X X'))).
        { clear I. revert D. generalize (firstn k (left f X X')). intros l.
          induction l as [|y l IH]; simpl; intros D; [constructor |]. inversion D; subst.
          constructor; [| auto]. intros F. apply H1. apply in_or_app. now left. }
        revert I D1. generalize (firstn k (left f X X')). intros l.
        induction l as [|y l IH]; simpl; intros I D1; [now apply NoDup_filter |].
        inversion D1; subst. constructor; [| apply IH; [intros z Z; apply I; now right | easy]].
        intros F. apply in_app_or in F. destruct F as [F | F]; [easy |].
        assert (G := I y (or_introl eq_refl)). apply filter_In in F, G. destruct F as [_ F], G as [_ G].
        rewrite F in G. easy.
      * intros y. rewrite filter_In, orb_true_iff, mem_In, in_app_iff. unfold ChainSemantics.hits. rewrite filter_In.
        split; [tauto |]. intros [[H F] | H]; [tauto |]. split; [| now right].
        apply I in H. apply filter_In in H. tauto.
    + rewrite app_length, firstn_length. unfold k. lia.
Qed.

Lemma next_set_into x : In x Y -> x < n -> In (image f x) (next_set f X X' Y (length Y)).
Proof.
  intros H L. assert (HX := part_incl _ _ Y_part _ H). unfold next_set. destruct (permutes f X X') eqn:E.
  - apply filter_In. split; [now apply into |]. apply mem_In. apply in_map_iff. exists (x, image f x). split; [easy |].
    apply filter_In. split; [now apply goes_real | now apply mem_In].
  - apply filter_In. split; [now apply into |]. apply orb_true_iff. left.
    apply mem_In, in_map. now apply real_In.
Qed.
End OneToken.
End Rule.
