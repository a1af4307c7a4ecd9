(* The chains of sets that words lead to, as a tree: chains that begin with the same sets share them.

   Proved: `check_chain_tree_listing`.  If this checker says true, then check_chain of ChainCheck.v does for a listing of the chains; so its
   theorems hold.  A chain is a path of the tree from its root, the set of all states, and each set is looked at once for each letter
   instead of once for each chain that goes through it.

   Whoever made the tree only searched: that it is closed under letters is checked, so nothing is assumed of it. *)
Require Import List Arith Bool Lia. Import ListNotations.
From Mirrormata Require Import Lists ChainSemantics ChainSets ChainRun ChainCheck.

Record set_tree := SetTree {
  node_count : nat;
  node_set : nat -> list nat;           (* node 0 is the root *)
  parent : nat -> nat;
  level_of : nat -> nat;                (* how many sets lie between a node and the root, itself counted *)
  moved : nat -> nat -> nat;            (* moved a i: the node to which letter a leads from node i *)
  start_leaf : nat
}.

Section Tree.
Variable c : chain.
Notation n := (states c).

(* How many members of X' are hit, and whether they fit: all are from different states, or they are few enough. *)
Fixpoint count_hits (hit : nat -> bool) (X : list nat) (found : nat) : nat :=
  match X with [] => found | y :: X' => count_hits hit X' (if hit y then S found else found) end.
(* `fill` of ChainCheck.v, with tests in place of a match *)
Fixpoint fill_up (hit : nat -> bool) (X' : list nat) (others : nat) : list nat :=
  match X' with
  | [] => []
  | y :: X1 => if hit y then y :: fill_up hit X1 others
               else if others =? 0 then filter hit X1 else y :: fill_up hit X1 (others - 1)
  end.
Definition room_below (g : nat -> nat) (X X' : list nat) (l : chain_level) : bool :=
  let number := count_hits (marks n g X) X' 0 in (number =? length X) || (number <=? next l).
(* The set after a letter, if the sizes fit it: what next_chain makes of Y *)
Definition next_below (g : nat -> nat) (X X' : list nat) (l : chain_level) (Y : list nat) : option (list nat) :=
  let hit := marks n g X in
  let number := count_hits hit X' 0 in
  let one_to_one := number =? length X in
  if one_to_one || (number <=? next l)
  then Some (if one_to_one then filter (marks n g Y) X' else fill_up hit X' (next l - number)) else None.

Variable t : set_tree.
Notation ls := (levels c).
Notation d := (depth (levels c)).
Notation all := (all_states c).
Fixpoint path (k i : nat) : list (list nat) := match k with O => [] | S k' => path k' (parent t i) ++ [node_set t i] end.

Definition node_right (lv : list chain_level) (a i : nat) : bool :=
  let i' := moved t a i in
  if i =? 0 then i' =? 0 else
  let p := parent t i in
  let p' := moved t a p in
  (i' <? node_count t) && (level_of t i' =? level_of t i) && (parent t i' =? p') &&
  match nth_error lv (level_of t p) with
  | Some l =>
    match next_below (step c a) (node_set t p) (node_set t p') l (node_set t i) with
    | Some Y' => equal_numbers Y' (node_set t i')
    | None => false
    end
  | None => false
  end.
Definition leaf_right (last : option chain_level) (a i : nat) : bool :=
  match last with Some l => room_below (step c a) (node_set t i) (node_set t (moved t a i)) l | None => false end.
Definition tree_right : bool :=
  let lv := ls in
  let below := depth lv in
  let last := nth_error lv below in
  (start_leaf t <? node_count t) && (level_of t (start_leaf t) =? below)
  && equal_codes (path below (start_leaf t)) (firstn below (start_sets (start_state c) lv all))
  && (level_of t 0 =? 0) && equal_numbers (node_set t 0) all
  && all_below (node_count t) (fun i =>
    (if level_of t i =? 0 then i =? 0 else (parent t i <? node_count t) && (S (level_of t (parent t i)) =? level_of t i))
    && all_below (letter_count c) (fun a => node_right lv a i && (negb (level_of t i =? below) || leaf_right last a i))).

Definition check_chain_tree (known : listing) : bool :=
  states_right c && sizes_fall (top c) ls && (negb (gates c) || look_back c) &&
  match window c with
  | None => (top c =? n) && (by_one ls || tree_right)
  | Some m => (1 <=? m) && negb (bijective c) && by_one ls && window_right c known m
  end.

(* ------------------------------------------------------------------------------------------------------------------ *)
Lemma count_hits_ok hit X : forall found, count_hits hit X found = found + length (filter hit X).
Proof. induction X as [|y X IH]; intros found; simpl; [lia |]. rewrite IH. destruct (hit y); simpl; lia. Qed.

Lemma fill_up_ok hit X : forall others, fill_up hit X others = fill hit X others.
Proof.
  assert (none : forall X, fill hit X 0 = filter hit X).
  { intros Y. induction Y as [|y Y IH]; [easy |]. simpl. now rewrite IH. }
  induction X as [|y X IH]; intros others; [easy |]. cbn [fill_up fill]. rewrite IH. destruct (hit y); [easy |].
  destruct others as [|others]; [now rewrite none |]. cbn [Nat.eqb]. rewrite IH. now rewrite Nat.sub_succ, Nat.sub_0_r.
Qed.

Lemma last_cons (X : Type) (l : list X) : forall x y, last (x :: l) y = last l x.
Proof. induction l as [|z l IH]; intros x y; [easy |]. change (last (x :: z :: l) y) with (last (z :: l) y). now rewrite !IH. Qed.

(* The chain after a letter without what comes below it *)
Fixpoint steps (g : nat -> nat) (X X' : list nat) (lv : list chain_level) (Ys : list (list nat)) {struct Ys} : option (list (list nat)) :=
  match Ys, lv with
  | [], _ => Some []
  | Y :: Ys', l :: lv' =>
    match next_below g X X' l Y with
    | Some Y' => match steps g Y Y' lv' Ys' with Some below => Some (Y' :: below) | None => None end
    | None => None
    end
  | _, [] => None
  end.

Lemma steps_last g Y Y' l Ys : forall X X' lv Zs, steps g X X' lv Ys = Some Zs -> nth_error lv (length Ys) = Some l ->
  next_below g (last Ys X) (last Zs X') l Y = Some Y' -> steps g X X' lv (Ys ++ [Y]) = Some (Zs ++ [Y']).
Proof.
  induction Ys as [|Z Ys IH]; intros X X' [|l' lv] Zs E N B; try easy.
  - injection E as <-. injection N as ->. cbn [last] in B. cbn [app steps]. now rewrite B.
  - cbn [steps app] in *. destruct (next_below g X X' l' Z) as [Z'|]; [| easy]. destruct (steps g Z Z' lv Ys) as [Zs'|] eqn:E'; [| easy].
    injection E as <-. rewrite !last_cons in B. now rewrite (IH Z Z' lv Zs' E' N B).
Qed.

Lemma steps_chain g l Ys : forall X X' lv Zs, steps g X X' lv Ys = Some Zs -> nth_error lv (length Ys) = Some l ->
  room_below g (last Ys X) (last Zs X') l = true -> by_one (skipn (S (length Ys)) lv) = true -> next_chain c g X X' lv Ys = Some Zs.
Proof.
  induction Ys as [|Z Ys IH]; intros X X' [|l' lv] Zs E N B O; try easy.
  - injection E as <-. injection N as ->. unfold room_below in B. rewrite count_hits_ok in B. cbn [last plus] in B.
    cbn [next_chain]. rewrite B. cbn [length skipn] in O. now rewrite O.
  - cbn [steps] in E. unfold next_below in E. rewrite count_hits_ok in E. cbn [plus] in E. cbn [next_chain].
    destruct (_ || _); [| easy]. rewrite fill_up_ok in E. set (Z' := if _ =? _ then _ else _) in *.
    destruct (steps g Z Z' lv Ys) as [Zs'|] eqn:E'; [| easy]. injection E as <-. rewrite !last_cons in B.
    now rewrite (IH Z Z' lv Zs' E' N B O).
Qed.

Lemma below_depth l : by_one l = false -> by_one (skipn (S (depth l)) l) = true.
Proof.
  induction l as [|x l IH]; intros E; [easy |]. cbn [depth]. destruct (by_one l) eqn:O; [easy |]. exact (IH eq_refl).
Qed.

Lemma path_length k : forall i, length (path k i) = k.
Proof. induction k as [|k IH]; intros i; [easy |]. cbn [path]. rewrite app_length, IH. simpl. lia. Qed.

Definition leaf (i : nat) : nat := if level_of t i =? d then i else start_leaf t.
Definition listing_of : listing :=
  {| count := node_count t; chains := fun i => path d (leaf i); sets := fun _ => []; rank := fun _ => 0;
     after := fun a i => moved t a (leaf i) |}.

Hypothesis right : tree_right = true.

Lemma tree_parts : (start_leaf t < node_count t /\ level_of t (start_leaf t) = d) /\
  equal_codes (path d (start_leaf t)) (firstn d (start_sets (start_state c) ls all)) = true /\
  (level_of t 0 = 0 /\ node_set t 0 = all) /\
  (forall i, i < node_count t -> (level_of t i = 0 -> i = 0) /\
    (level_of t i <> 0 -> parent t i < node_count t /\ S (level_of t (parent t i)) = level_of t i) /\
    forall a, a < letter_count c -> node_right ls a i = true /\ (level_of t i = d -> leaf_right (nth_error ls d) a i = true)).
Proof.
  unfold tree_right in right. cbv zeta in right. apply andb_prop in right as [H H6]. apply andb_prop in H as [H H5]. apply andb_prop in H as [H H4].
  apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
  apply Nat.ltb_lt in H1. apply Nat.eqb_eq in H2, H4. apply equal_numbers_eq in H5. repeat split; try easy;
    pose proof (all_below_spec _ _ H6 i H) as F; cbv beta in F; apply andb_prop in F as [F1 F2].
  - intros E. rewrite E in F1. now apply Nat.eqb_eq.
  - destruct (Nat.eqb_spec (level_of t i) 0); [easy |]. apply andb_prop in F1 as [F1 _]. now apply Nat.ltb_lt.
  - destruct (Nat.eqb_spec (level_of t i) 0); [easy |]. apply andb_prop in F1 as [_ F1]. now apply Nat.eqb_eq.
  - pose proof (all_below_spec _ _ F2 a H0) as F. now apply andb_prop in F.
  - intros E. pose proof (all_below_spec _ _ F2 a H0) as F. cbv beta in F. apply andb_prop in F as [_ F]. rewrite E, Nat.eqb_refl in F. exact F.
Qed.

Lemma path_steps a : a < letter_count c -> forall k i, i < node_count t -> level_of t i = k ->
  (moved t a i < node_count t /\ level_of t (moved t a i) = k) /\
  (last (path k i) all = node_set t i /\ last (path k (moved t a i)) all = node_set t (moved t a i)) /\
  steps (step c a) all all ls (path k i) = Some (path k (moved t a i)).
Proof.
  intros A. destruct tree_parts as (_ & _ & [Z0 S0] & P). induction k as [|k IH]; intros i Li E.
  - destruct (P i Li) as (R & _ & N). specialize (R E). subst i. destruct (N a A) as [M _]. cbn in M. apply Nat.eqb_eq in M.
    rewrite M. cbn. now rewrite Z0, S0.
  - destruct (P i Li) as (_ & Up & N). destruct Up as [Lp Ep]; [lia |]. assert (Ek : level_of t (parent t i) = k) by lia.
    destruct (N a A) as [M _]. unfold node_right in M. cbv zeta in M.
    destruct (Nat.eqb_spec i 0) as [->|]; [lia |].
    apply andb_prop in M as [M M4]. apply andb_prop in M as [M M3]. apply andb_prop in M as [M1 M2].
    apply Nat.ltb_lt in M1. apply Nat.eqb_eq in M2, M3. destruct (nth_error ls (level_of t (parent t i))) as [l|] eqn:L; [| easy].
    destruct (next_below _ _ _ _ _) as [Y'|] eqn:B; [| easy]. apply equal_numbers_eq in M4. subst Y'.
    destruct (IH (parent t i) Lp Ek) as (_ & [V1 V2] & St). cbn [path]. rewrite !last_last, M3. split; [lia |]. split; [easy |].
    apply (steps_last _ _ _ l); [exact St | now rewrite path_length, <- Ek | now rewrite V1, V2].
Qed.

Lemma tree_drops : by_one ls = false -> drops_right c listing_of = true.
Proof.
  intros O. destruct tree_parts as ([Ls Es] & C & [Z0 S0] & P).
  assert (Lf : forall i, i < node_count t -> leaf i < node_count t /\ level_of t (leaf i) = d).
  { intros i Li. unfold leaf. now destruct (Nat.eqb_spec (level_of t i) d). }
  assert (Every : forall m test, (forall i, i < m -> test i = true) -> all_below m test = true).
  { induction m as [|m IH]; intros test T; [easy |]. simpl. rewrite (T m), IH; auto. }
  unfold drops_right. cbn [count chains after listing_of]. apply andb_true_intro. split; [apply andb_true_intro; split |].
  - apply Nat.ltb_lt. lia.
  - replace (leaf 0) with (start_leaf t); [exact C |]. unfold leaf. destruct (Nat.eqb_spec (level_of t 0) d) as [E|]; [| easy].
    apply (P _ Ls). lia.
  - apply Every. intros i Li. apply Every. intros a A. destruct (Lf i Li) as [L1 L2].
    destruct (path_steps a A d (leaf i) L1 L2) as ([M1 M2] & [V1 V2] & St).
    destruct (P _ L1) as (_ & _ & N). destruct (N a A) as [_ F]. specialize (F L2). unfold leaf_right in F.
    destruct (nth_error ls d) as [l|] eqn:E; [| easy].
    rewrite (steps_chain (step c a) l (path d (leaf i)) all all ls _ St); rewrite ?path_length, ?V1, ?V2; try easy; [| now apply below_depth].
    apply andb_true_intro. split; [now apply Nat.ltb_lt |].
    replace (leaf (moved t a (leaf i))) with (moved t a (leaf i)); [apply equal_codes_refl |].
    unfold leaf at 2. now rewrite M2, Nat.eqb_refl.
Qed.
End Tree.

(* What this checker accepts, check_chain accepts with a listing. *)
Theorem check_chain_tree_listing c t known : check_chain_tree c t known = true ->
  check_chain c (match window c with None => listing_of c t | Some _ => known end) = true.
Proof.
  unfold check_chain_tree, check_chain. intros H. apply andb_prop in H as [-> H]. destruct (window c) as [m|]; [exact H |].
  apply andb_prop in H as [-> H]. destruct (by_one (levels c)) eqn:O; [easy |]. rewrite (tree_drops c t H O). easy.
Qed.
