(* The checker of layers with rounding: certificates of kind `equivalent` that list the states which words reach.

   Proved: check_states_right.  If the checker says true, then on every word, of any length, no number of the layer becomes infinite,
   and after each letter the answer of the layer is the right one.  What the layer does is written in RoundedRNN.v. *)
Require Import List Arith ZArith QArith Bool Lia.
From Mirrormata Require Import Semantics Lists Table RoundedRNN.
Import ListNotations.
Local Open Scope nat_scope.

(* ---- What a certificate gives: a layer, an automaton, the right answers, and pairs of a state of each.  `find_pair` only searches. *)
Record reached := Reached {
  the_layer : rounded_layer;
  pair_count : nat;
  pair_state : nat -> list Q;
  pair_number : nat -> nat;                   (* the automaton's state *)
  find_pair : list Q -> nat -> nat;
  the_machine : automaton;
  right_answer : nat -> nat -> nat -> Z       (* on a letter, from a state, to a state *)
}.

Definition same_number (x y : Q) : bool := Z.eqb (Qnum x) (Qnum y) && Pos.eqb (Qden x) (Qden y).
Fixpoint same_state (x y : list Q) : bool :=
  match x, y with [], [] => true | a :: x', b :: y' => same_number a b && same_state x' y' | _, _ => false end.

Definition check_letter (c : reached) (near : nat -> nat) (i a : nat) : bool :=
  match rounded_step (the_layer c) a (pair_state c i) with
  | None => false
  | Some after =>
    let q := pair_number c i in
    let q' := delta (the_machine c) a q in
    let j := find_pair c after q' in
    (j <? pair_count c) && same_state after (pair_state c j) && (pair_number c j =? q')
    && Z.eqb (says (the_layer c) (near j) a) (right_answer c a q q')
  end.
Definition check_pairs (c : reached) (near : nat -> nat) : bool :=
  (0 <? pair_count c) && same_state (initial_state (the_layer c)) (pair_state c 0)
  && (pair_number c 0 =? start (the_machine c))
  && all_below (pair_count c) (fun i => all_below (letters (the_machine c)) (check_letter c near i)).
(* The nearest code of each state, found once *)
Definition check_states (c : reached) : bool :=
  check_pairs c (tabulate (pair_count c) (fun j => nearest (state_codes (the_layer c)) (pair_state c j))).

(* ---- Proofs. *)
Lemma same_number_eq x y : same_number x y = true -> x = y.
Proof.
  destruct x as [n d], y as [n' d']. unfold same_number. cbn. intros E. apply andb_prop in E as [E1 E2].
  apply Z.eqb_eq in E1. apply Pos.eqb_eq in E2. now subst.
Qed.
Lemma same_state_eq x : forall y, same_state x y = true -> x = y.
Proof.
  induction x as [|a x IH]; intros [|b y]; cbn; try discriminate; auto. intros E. apply andb_prop in E as [E1 E2].
  apply same_number_eq in E1. now rewrite E1, (IH y E2).
Qed.

Section Right.
Variable c : reached.
Hypothesis accepted : check_states c = true.
Let L := the_layer c.
Let A := the_machine c.

Definition stands (q : nat) (state : option (list Q)) : Prop :=
  exists i, i < pair_count c /\ state = Some (pair_state c i) /\ pair_number c i = q.
Lemma stands_first : stands (start A) (Some (initial_state L)).
Proof.
  unfold check_states, check_pairs in accepted. rewrite !andb_true_iff, Nat.ltb_lt, Nat.eqb_eq in accepted.
  destruct accepted as [[[P S] Q] _]. apply same_state_eq in S. exists 0%nat. unfold L. now rewrite S.
Qed.
Lemma stands_next q h a : stands q (Some h) -> (a < letters A)%nat ->
  exists after, rounded_step L a h = Some after /\ stands (delta A a q) (Some after)
    /\ answer L a after = right_answer c a q (delta A a q).
Proof.
  intros (i & I & E & Q) La. injection E as ->. unfold check_states, check_pairs in accepted.
  rewrite !andb_true_iff in accepted. destruct accepted as [_ F]. pose proof (all_below_spec _ _ F i I) as G. cbv beta in G.
  pose proof (all_below_spec _ _ G a La) as H. clear F G. unfold check_letter in H. fold L A in H.
  destruct (rounded_step L a (pair_state c i)) as [after|]; [|discriminate]. cbv zeta in H.
  rewrite !andb_true_iff, Nat.ltb_lt, Nat.eqb_eq, Z.eqb_eq in H. destruct H as [[[J S] N] R]. apply same_state_eq in S.
  rewrite Q in *. exists after. split; [reflexivity|]. split.
  - exists (find_pair c after (delta A a q)). split; [exact J|]. split; [now rewrite <- S|exact N].
  - unfold answer. rewrite S at 1. exact R.
Qed.
Lemma stands_run word : forall q h, is_word A word -> stands q (Some h) ->
  stands (fold_left (fun q a => delta A a q) word q)
    (fold_left (fun state a => match state with Some h => rounded_step L a h | None => None end) word (Some h)).
Proof.
  induction word as [|a word IH]; intros q h W S; [exact S|]. inversion W as [|? ? La W']; subst. cbn.
  destruct (stands_next q h a S La) as (after & -> & S' & _). now apply IH.
Qed.

(* The answer after each letter of a word is the right one. *)
Theorem check_states_right word a : is_word A word -> (a < letters A)%nat ->
  exists h, rounded_run L (word ++ [a]) = Some h
    /\ answer L a h = right_answer c a (state_after A word) (state_after A (word ++ [a])).
Proof.
  intros W La. pose proof (stands_run word _ _ W stands_first) as S. fold (rounded_run L word) in S. fold (state_after A word) in S.
  destruct S as (i & I & E & Q). destruct (stands_next (state_after A word) (pair_state c i) a) as (h & N & _ & R);
    [now exists i|exact La|].
  exists h. unfold rounded_run, state_after in *. rewrite !fold_left_app. cbn [fold_left]. rewrite E. split; [exact N|exact R].
Qed.
End Right.
