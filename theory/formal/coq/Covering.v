(* The checker of cascades: tables of several layers with a covering, whose joint codes are too many to list.

   Proved: check_cascade_right.  If the checker says true, the linear RNN follows the automaton on all words, where a hidden
   state is decoded along the covering: from node 0 down the layers, at a node of a head to the child of the point that
   this head is at, until a node names the state.  check_cascade_said: the last read-out says the new state as well.

   A situation is a letter y of the layer with the nodes P and T that the chains of the joint code before and after the
   token have reached.  The certificate's situations are closed: whatever the points of the heads that y, P and T depend
   on, those of the next layer are among them. *)
Require Import List Arith ZArith Bool Lia.
From Mirrormata Require Import Semantics Sparse Numbers Table.
Import ListNotations.

Inductive node := Branch (layer head : nat) (child : nat -> nat) | Ends (state : nat).

(* Heads and points are given by their numbers in the layer.  Codes have points; what a transition does to the points, and
   what the new code tells of the point before, is compared with the codes. *)
Record cascade_layer := CascadeLayer {
  cascade_heads : list (any_head * (nat -> nat));
  point_count : nat -> nat;
  point_of : nat -> nat -> nat;              (* head, code *)
  point_after : nat -> nat -> nat -> nat;    (* head, transition, point *)
  point_before : nat -> nat -> nat -> nat;   (* head, transition, new code *)
  tells : nat -> nat -> bool;                (* head, transition: whether the new code tells the point before *)
  reads : nat -> list nat;                   (* by the letter: the heads that are read *)
  next_letter : nat -> list nat -> nat       (* letter, and the points before of these heads *)
}.
Definition situation := (nat * nat * nat)%type.
(* The situations of a layer, for each letter of the automaton; `find_situation` only searches. *)
Record level := Level {
  situation_count : nat -> nat;
  situation_at : nat -> nat -> situation;
  find_situation : nat -> situation -> nat
}.
Record cascade := Cascade {
  cascade_layers : list cascade_layer;
  node_at : nat -> node;
  first_level : level;
  lower_levels : list level;
  begin_codes : list (list nat);
  cascade_automaton : automaton
}.

Definition action (l : cascade_layer) (k y : nat) : nat :=
  match nth_error (cascade_heads l) k with Some h => snd h y | None => 0 end.
(* The letter for the next layer, from the letter and the new codes *)
Definition told_by (l : cascade_layer) (y : nat) (new : list nat) : nat :=
  next_letter l y (map (fun k => point_before l k (action l k y) (nth k new 0)) (reads l y)).
Definition layer_of (l : cascade_layer) : table_layer := TableLayer (cascade_heads l) (told_by l).
Definition any_transitions (h : any_head) : nat :=
  match h with IntegerHead h => transition_count h | FieldHead _ h => transition_count h end.

Section Descending.
Variable node_of : nat -> node.
(* From a node of layer i to the child of the point of its head; other nodes stay. *)
Definition down (i P : nat) (point : nat -> nat) : nat :=
  match node_of P with Branch layer h child => if layer =? i then child (point h) else P | Ends _ => P end.
Definition met (i P : nat) : list nat :=
  match node_of P with Branch layer h _ => if layer =? i then [h] else [] | Ends _ => [] end.
Fixpoint descend (i : nat) (layers : list cascade_layer) (cs : list (list nat)) (P : nat) : nat :=
  match layers, cs with
  | l :: layers', c :: cs' => descend (S i) layers' cs' (down i P (fun k => point_of l k (nth k c 0)))
  | _, _ => P
  end.
End Descending.

(* ---- The checker. *)
Fixpoint check_points (l : cascade_layer) (k : nat) (heads : list (any_head * (nat -> nat)))
    (moves : list ((nat -> nat -> nat) * (nat -> nat))) : bool :=
  match heads, moves with
  | [], [] => true
  | h :: heads', m :: moves' =>
    let count := any_count (fst h) in
    all_below count (fun c => point_of l k c <? point_count l k)
    && all_below (any_transitions (fst h)) (fun t => all_below count (fun c =>
         let c' := fst m t c in
         (c' <? count) && (point_of l k c' =? point_after l k t (point_of l k c))
         && (negb (tells l k t) || (point_before l k t c' =? point_of l k c))))
    && check_points l (S k) heads' moves'
  | _, _ => false
  end.
Definition actions_right (heads : list (any_head * (nat -> nat))) (y : nat) : bool :=
  forallb (fun h => snd h y <? any_transitions (fst h)) heads.
Definition letter_right (l : cascade_layer) (y : nat) : bool :=
  actions_right (cascade_heads l) y && forallb (fun k => tells l k (action l k y)) (reads l y).

Definition add_head (k : nat) (ks : list nat) : list nat := if existsb (Nat.eqb k) ks then ks else k :: ks.
Fixpoint all_points (l : cascade_layer) (ks : list nat) (test : (nat -> nat) -> bool) (point : nat -> nat) : bool :=
  match ks with
  | [] => test point
  | k :: ks' => all_below (point_count l k)
      (fun p => all_points l ks' test (fun k' => if k' =? k then p else point k'))
  end.
Definition equal_situation (a b : situation) : bool :=
  (fst (fst a) =? fst (fst b)) && (snd (fst a) =? snd (fst b)) && (snd a =? snd b).
Definition is_listed (v : level) (x : nat) (s : situation) : bool :=
  let k := find_situation v x s in (k <? situation_count v x) && equal_situation s (situation_at v x k).

Section Levels.
Variables (node_of : nat -> node) (delta : nat -> nat -> nat) (x : nat).
(* What the situation of the next layer is, for points of the heads *)
Definition following (i : nat) (l : cascade_layer) (s : situation) (point : nat -> nat) : situation :=
  let '(y, P, T) := s in
  (next_letter l y (map point (reads l y)), down node_of i P point,
   down node_of i T (fun k => point_after l k (action l k y) (point k))).
Definition check_situation (i : nat) (l : cascade_layer) (v : level) (s : situation) : bool :=
  let '(y, P, T) := s in
  let ks := fold_right add_head [] (met node_of i P ++ met node_of i T ++ reads l y) in
  letter_right l y && forallb (fun k => k <? length (cascade_heads l)) ks
  && all_points l ks (fun point => is_listed v x (following i l s point)) (fun _ => 0).
Definition check_end (s : situation) : bool :=
  let '(y, P, T) := s in
  match node_of P, node_of T with Ends q, Ends q' => (q' =? delta x q) && (y =? q') | _, _ => false end.
Fixpoint check_levels (i : nat) (layers : list cascade_layer) (here : level) (below : list level) : bool :=
  match layers, below with
  | [], [] => all_below (situation_count here x) (fun k => check_end (situation_at here x k))
  | l :: layers', v :: below' =>
    all_below (situation_count here x) (fun k => check_situation i l v (situation_at here x k))
    && check_levels (S i) layers' v below'
  | _, _ => false
  end.
End Levels.

Definition cascade_tables (d : cascade) : list table_layer := map layer_of (cascade_layers d).
Definition covering_state (d : cascade) (cs : list (list nat)) : option nat :=
  match node_at d (descend (node_at d) 0 (cascade_layers d) cs 0) with Ends q => Some q | Branch _ _ _ => None end.
Fixpoint check_all_points (layers : list cascade_layer) (moves : list prepared) : bool :=
  match layers, moves with
  | [], [] => true
  | l :: layers', m :: moves' => check_points l 0 (cascade_heads l) (fst m) && check_all_points layers' moves'
  | _, _ => false
  end.
Definition check_codes (layers : list table_layer) : bool :=
  forallb (fun l => forallb (fun h => any_right (fst h)) (layer_heads l)) layers.
Definition check_situations (d : cascade) (moves : list prepared) : bool :=
  check_all_points (cascade_layers d) moves
  && all_below (letters (cascade_automaton d)) (fun x =>
       is_listed (first_level d) x (x, 0, 0)
       && check_levels (node_at d) (delta (cascade_automaton d)) x 0 (cascade_layers d) (first_level d) (lower_levels d))
  && in_range (cascade_tables d) (begin_codes d)
  && match covering_state d (begin_codes d) with Some q => q =? start (cascade_automaton d) | None => false end.
Definition check_cascade (d : cascade) : bool :=
  check_codes (cascade_tables d) && check_situations d (map prepare_layer (cascade_tables d)).

(* ---- Proofs about codes and points. *)
Lemma equal_situation_eq a b : equal_situation a b = true -> a = b.
Proof.
  destruct a as [[a1 a2] a3], b as [[b1 b2] b3]. unfold equal_situation. cbn. rewrite !andb_true_iff, !Nat.eqb_eq.
  intros [[-> ->] ->]. reflexivity.
Qed.
Lemma add_head_in k ks j : In j (add_head k ks) <-> j = k \/ In j ks.
Proof.
  unfold add_head. destruct (existsb (Nat.eqb k) ks) eqn:E; [|cbn; intuition].
  apply existsb_exists in E as (k' & I & E). apply Nat.eqb_eq in E. subst k'. intuition. subst. exact I.
Qed.
Lemma fold_add_in ks j : In j (fold_right add_head [] ks) <-> In j ks.
Proof. induction ks as [|k ks IH]; [reflexivity|]. cbn [fold_right]. rewrite add_head_in, IH. cbn. intuition. Qed.
Lemma all_points_spec l ks test : forall point, all_points l ks test point = true ->
  forall p, (forall k, In k ks -> p k < point_count l k) ->
  exists p', test p' = true /\ (forall k, In k ks -> p' k = p k) /\ (forall k, ~ In k ks -> p' k = point k).
Proof.
  induction ks as [|k ks IH]; intros point E p B; [exists point; cbn in *; intuition|].
  cbn [all_points] in E. pose proof (all_below_spec _ _ E (p k) (B k (or_introl eq_refl))) as F. cbv beta in F.
  destruct (IH _ F p) as (p' & Ht & Hin & Hout); [intros; apply B; right; assumption|].
  exists p'. split; [exact Ht|]. split.
  - intros j [<-|I]; [|apply Hin, I]. destruct (in_dec Nat.eq_dec k ks) as [I|N]; [apply Hin, I|].
    rewrite (Hout k N), Nat.eqb_refl. reflexivity.
  - intros j N. rewrite (Hout j) by (intros I; apply N; right; exact I).
    destruct (Nat.eqb_spec j k) as [->|]; [exfalso; apply N; left; reflexivity|reflexivity].
Qed.
(* The codes of heads may move in any way that is written down; `prepare_head` of Table.v is one. *)
Section Moving.
Variable moved : any_head -> nat -> nat -> nat.
Definition moving (heads : list (any_head * (nat -> nat))) : list ((nat -> nat -> nat) * (nat -> nat)) :=
  map (fun h => (moved (fst h), snd h)) heads.
Definition moving_layer (l : table_layer) : prepared := (moving (layer_heads l), told l).
Lemma points_right l y heads : forall o cs, check_points l o heads (moving heads) = true ->
  heads_in_range heads cs = true -> actions_right heads y = true ->
  heads_in_range heads (move (moving heads) y cs) = true
  /\ forall j h, nth_error heads j = Some h ->
     let t := snd h y in let c := nth j cs 0 in let c' := nth j (move (moving heads) y cs) 0 in
     point_of l (o + j) c < point_count l (o + j)
     /\ point_of l (o + j) c' = point_after l (o + j) t (point_of l (o + j) c)
     /\ (tells l (o + j) t = true -> point_before l (o + j) t c' = point_of l (o + j) c).
Proof.
  induction heads as [|h heads IH]; intros o [|c cs] Ep Er Ea; try discriminate.
  { split; [reflexivity|]. intros [|j] h; discriminate. }
  cbn [map check_points] in Ep. cbv zeta in Ep. apply andb_prop in Ep as [Ep Eo]. apply andb_prop in Ep as [Ec Et].
  cbn [heads_in_range] in Er. apply andb_prop in Er as [Rc Rr]. apply Nat.ltb_lt in Rc.
  unfold actions_right in Ea. cbn [forallb] in Ea. apply andb_prop in Ea as [Ah Ar]. apply Nat.ltb_lt in Ah.
  destruct (IH (S o) cs Eo Rr Ar) as [IH1 IH2].
  pose proof (all_below_spec _ _ (all_below_spec _ _ Et _ Ah) _ Rc) as F. cbv beta zeta in F. cbn [fst snd] in F.
  apply andb_prop in F as [F Fb]. apply andb_prop in F as [Fr Fa]. apply Nat.eqb_eq in Fa.
  change (move (moving (h :: heads)) y (c :: cs))
    with (moved (fst h) (snd h y) c :: move (moving heads) y cs).
  split; [cbn [heads_in_range]; rewrite Fr; exact IH1|]. intros [|j] h' E.
  - injection E as <-. rewrite Nat.add_0_r. cbn [nth]. cbv zeta. pose proof (all_below_spec _ _ Ec c Rc) as Fp.
    cbv beta in Fp. apply Nat.ltb_lt in Fp. repeat split; [exact Fp|exact Fa|]. intros Te. rewrite Te in Fb. cbn in Fb.
    apply Nat.eqb_eq in Fb. exact Fb.
  - specialize (IH2 j h' E). rewrite Nat.add_succ_r. exact IH2.
Qed.

Lemma down_same node_of i P p p' : (forall k, In k (met node_of i P) -> p k = p' k) ->
  down node_of i P p = down node_of i P p'.
Proof.
  unfold down, met. destruct (node_of P) as [layer h child|q]; [|reflexivity]. destruct (layer =? i); [|reflexivity].
  intros E. rewrite (E h (or_introl eq_refl)). reflexivity.
Qed.
Definition listed (v : level) (x : nat) (s : situation) : Prop :=
  exists k, k < situation_count v x /\ situation_at v x k = s.
Lemma is_listed_listed v x s : is_listed v x s = true -> listed v x s.
Proof.
  unfold is_listed. cbv zeta. intros E. apply andb_prop in E as [E1 E2]. apply Nat.ltb_lt in E1.
  apply equal_situation_eq in E2. exists (find_situation v x s). auto.
Qed.

(* One token, on the codes: both chains end, at a state and at the state after the letter. *)
Lemma levels_right node_of delta x layers : forall i here below y P T cs,
  check_levels node_of delta x i layers here below = true ->
  check_all_points layers (map moving_layer (map layer_of layers)) = true ->
  listed here x (y, P, T) -> in_range (map layer_of layers) cs = true ->
  let new := fst (code_step (map moving_layer (map layer_of layers)) y cs) in
  let said := snd (code_step (map moving_layer (map layer_of layers)) y cs) in
  in_range (map layer_of layers) new = true
  /\ exists q, node_of (descend node_of i layers cs P) = Ends q
     /\ node_of (descend node_of i layers new T) = Ends (delta x q) /\ said = delta x q.
Proof.
  induction layers as [|l layers IH]; intros i here below y P T cs Ec Ep (k & Lk & Ek) Er.
  - destruct cs as [|]; [|discriminate]. destruct below as [|]; [|discriminate]. cbn [check_levels] in Ec.
    pose proof (all_below_spec _ _ Ec k Lk) as F. cbv beta in F. rewrite Ek in F. cbn. split; [reflexivity|].
    unfold check_end in F. destruct (node_of P) as [|q]; [discriminate|]. destruct (node_of T) as [|q']; [discriminate|].
    apply andb_prop in F as [F1 F2]. apply Nat.eqb_eq in F1, F2. exists q. subst. auto.
  - destruct below as [|v below]; [discriminate|]. destruct cs as [|c cs]; [discriminate|].
    cbn [check_levels] in Ec. apply andb_prop in Ec as [Ec1 Ec2].
    cbn [map check_all_points] in Ep. apply andb_prop in Ep as [Ep1 Ep2].
    cbn [map in_range layer_of layer_heads] in Er. apply andb_prop in Er as [Er1 Er2].
    pose proof (all_below_spec _ _ Ec1 k Lk) as F. cbv beta in F. rewrite Ek in F.
    unfold check_situation in F. cbv zeta in F. apply andb_prop in F as [F Fp]. apply andb_prop in F as [Fl Fk].
    unfold letter_right in Fl. apply andb_prop in Fl as [Fa Ft].
    change (fst (moving_layer (layer_of l))) with (moving (cascade_heads l)) in Ep1.
    destruct (points_right l y (cascade_heads l) 0 c Ep1 Er1 Fa) as [Rn Pn]. cbv zeta in Pn. cbn [Nat.add] in Pn.
    set (new := move (moving (cascade_heads l)) y c) in *.
    set (ks := fold_right add_head [] _) in *.
    (* the points before, and what they become *)
    set (p := fun j => point_of l j (nth j c 0)).
    assert (Facts : forall j, In j ks -> p j < point_count l j
      /\ point_of l j (nth j new 0) = point_after l j (action l j y) (p j)
      /\ (tells l j (action l j y) = true -> point_before l j (action l j y) (nth j new 0) = p j)).
    { intros j I. rewrite forallb_forall in Fk. specialize (Fk j I). apply Nat.ltb_lt in Fk.
      apply nth_error_Some in Fk. unfold action. destruct (nth_error (cascade_heads l) j) as [h|] eqn:E; [|congruence].
      exact (Pn j h E). }
    destruct (all_points_spec l ks _ _ Fp p) as (p' & Hl & Hp & _); [intros j I; exact (proj1 (Facts j I))|].
    assert (Members : forall j, In j (met node_of i P ++ met node_of i T ++ reads l y) -> In j ks)
      by (intros j I; apply fold_add_in, I).
    assert (Next : following node_of i l (y, P, T) p' =
      (told_by l y new, down node_of i P p, down node_of i T (fun j => point_of l j (nth j new 0)))).
    { unfold following. f_equal; [f_equal|].
      - unfold told_by. f_equal. apply map_ext_in. intros j I.
        assert (Ij : In j ks) by (apply Members, in_or_app; right; apply in_or_app; right; exact I).
        rewrite (Hp j Ij). symmetry. apply (Facts j Ij). rewrite forallb_forall in Ft. apply Ft, I.
      - apply down_same. intros j I. apply Hp, Members, in_or_app. left. exact I.
      - apply down_same. intros j I.
        assert (Ij : In j ks) by (apply Members, in_or_app; right; apply in_or_app; left; exact I).
        rewrite (Hp j Ij). symmetry. apply (Facts j Ij). }
    rewrite Next in Hl. apply is_listed_listed in Hl.
    destruct (IH (S i) v below _ _ _ cs Ec2 Ep2 Hl Er2) as [IH1 (q & Q1 & Q2 & Q3)].
    cbn [map code_step]. change (snd (moving_layer (layer_of l))) with (told_by l).
    change (fst (moving_layer (layer_of l))) with (moving (cascade_heads l)). fold new. cbv zeta.
    destruct (code_step (map moving_layer (map layer_of layers)) (told_by l y new) cs) as [under said].
    cbn [fst snd in_range layer_of layer_heads descend] in *. split; [rewrite Rn; exact IH1|].
    exists q. auto.
Qed.
End Moving.

(* ---- The theorems. *)
Section Right.
Variables (K : rational_ring) (theta : list Z -> K) (d : cascade).
Hypothesis numbers_right :
  Forall (fun l => Forall (fun h => numbers_of K theta (fst h)) (layer_heads l)) (cascade_tables d).
Hypothesis accepted : check_cascade d = true.

Definition cascade_model : list (layer K nat) := map (model_layer K theta) (cascade_tables d).
Definition cascade_begin : hidden K := matrices K theta (cascade_tables d) (begin_codes d).
Definition cascade_decode (state : hidden K) : option nat := covering_state d (joint_code K theta (cascade_tables d) state).

Lemma cascade_layers_right : Forall (fun l => heads_right K theta (layer_heads l)) (cascade_tables d).
Proof.
  apply andb_prop in accepted as [E _]. now apply checked_heads_right.
Qed.
Definition stands_for (q : nat) (state : hidden K) : Prop := exists cs,
  in_range (cascade_tables d) cs = true /\ covering_state d cs = Some q /\ hold K theta (cascade_tables d) cs state.
Lemma stands_for_begin : stands_for (start (cascade_automaton d)) cascade_begin.
Proof.
  apply andb_prop in accepted as [_ E]. apply andb_prop in E as [E Es]. apply andb_prop in E as [_ Er].
  exists (begin_codes d). split; [exact Er|]. split; [|apply begin_holds, Er].
  destruct (covering_state d (begin_codes d)); [|discriminate]. apply Nat.eqb_eq in Es. congruence.
Qed.
Lemma stands_for_step q state x : stands_for q state -> x < letters (cascade_automaton d) ->
  stands_for (delta (cascade_automaton d) x q) (fst (step K nat cascade_model x state))
  /\ snd (step K nat cascade_model x state) = delta (cascade_automaton d) x q.
Proof.
  intros (cs & R & Q & Hh) Lx. pose proof accepted as E. apply andb_prop in E as [_ E].
  apply andb_prop in E as [E _]. apply andb_prop in E as [E _]. apply andb_prop in E as [Ep E].
  pose proof (all_below_spec _ _ E x Lx) as F. cbv beta in F. apply andb_prop in F as [Fl Fc]. apply is_listed_listed in Fl.
  destruct (levels_right (fun h => any_landings h (any_images h)) _ _ x _ 0 _ _ x 0 0 cs Fc Ep Fl R) as [Rn (q' & Q1 & Q2 & Q3)].
  destruct (step_layers K theta (cascade_tables d) x cs state cascade_layers_right Hh Rn) as [Hn Sn].
  assert (q' = q). { unfold covering_state in Q. rewrite Q1 in Q. congruence. } subst q'. split.
  - eexists. split; [exact Rn|]. split; [|exact Hn]. unfold covering_state, cascade_tables. rewrite Q2. reflexivity.
  - exact (eq_trans Sn Q3).
Qed.
Lemma stands_for_run word : forall q state, is_word (cascade_automaton d) word -> stands_for q state ->
  stands_for (fold_left (fun q a => delta (cascade_automaton d) a q) word q) (run K nat cascade_model state word).
Proof.
  induction word as [|a word IH]; intros q state W S; [exact S|]. inversion W; subst. cbn.
  apply IH; [assumption|]. apply stands_for_step; assumption.
Qed.

(* The linear RNN of an accepted cascade follows the automaton. *)
Theorem check_cascade_right : follows K nat (fun a => a) cascade_model cascade_begin cascade_decode (cascade_automaton d).
Proof.
  intros word W. rewrite map_id. destruct (stands_for_run word _ _ W stands_for_begin) as (cs & R & Q & Hh).
  unfold cascade_decode. rewrite (joint_code_holds K theta _ cs _ cascade_layers_right Hh). exact Q.
Qed.
(* The read-out of the last layer says the new state. *)
Theorem check_cascade_said word a : is_word (cascade_automaton d) word -> a < letters (cascade_automaton d) ->
  snd (step K nat cascade_model a (run K nat cascade_model cascade_begin word)) = state_after (cascade_automaton d) (word ++ [a]).
Proof.
  intros W La. unfold state_after. rewrite fold_left_app. cbn. apply stands_for_step; [|exact La].
  apply stands_for_run; [exact W|exact stands_for_begin].
Qed.
End Right.
