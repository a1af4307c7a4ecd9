(* The checker of tables: certificates that list the codes of each head, and the joint codes of all heads with their
   states.

   Proved: check_table_right.  If the checker says true, then after every word, of any length, the hidden state of the
   linear RNN is decoded to the state of the automaton; with several layers the read-out of the last layer says that
   state as well (check_table_said).

   A table is given with functions in place of arrays.  Some of these functions only search (`find_code`, `guess_image`,
   `find_row`): what they find is compared before it is used, so nothing is assumed of them. *)
Require Import List Arith ZArith Bool Lia.
From Mirrormata Require Import Semantics Sparse Numbers.
From Mirrormata Require Export Lists.
Import ListNotations.

(* A function as it is.  The extracted program keeps its values for 0, ..., n - 1 in an array. *)
Definition tabulate {X : Type} (n : nat) (f : nat -> X) : nat -> X := f.

(* ---- What a certificate gives.  Transitions share factors, which are numbered. *)
Inductive movement (N : Type) :=
| Shared (gate : N) (numbers : list nat) (plus : entries N)
| Weights (weights plus : entries N).
Arguments Shared {N}.
Arguments Weights {N}.
Record table_head (N : Type) := TableHead {
  rows : nat;
  columns : nat;
  factor_count : nat;
  transition_count : nat;
  code_count : nat;
  shared_factor : nat -> factor N;
  movements : nat -> movement N;
  codes : nat -> entries N;
  find_code : entries N -> nat;
  guess_image : nat -> nat -> nat       (* the number of the code after a factor, `code_count` where none is known *)
}.
Arguments TableHead {N}.
Arguments rows {N}.
Arguments columns {N}.
Arguments transition_count {N}.
Arguments code_count {N}.
Arguments factor_count {N}.
Arguments shared_factor {N}.
Arguments movements {N}.
Arguments codes {N}.
Arguments find_code {N}.
Arguments guess_image {N}.
Definition transitions {N} (h : table_head N) (t : nat) : transition N :=
  match movements h t with
  | Shared gate numbers plus => Transition (Factors gate (map (shared_factor h) numbers)) plus
  | Weights weights plus => Transition (Matrix weights) plus
  end.

(* A head with integers; or with numbers of Q(theta), where `modulus` is the minimal polynomial of theta without its
   leading 1.  The rational numbers are Q(theta) with modulus x. *)
Inductive any_head := IntegerHead (h : table_head Z) | FieldHead (modulus : list Z) (h : table_head element).

(* Heads, each with the transition for each letter that the layer reads; and the next layer's letter, from the letter and
   the numbers of the new codes. *)
Record table_layer := TableLayer { layer_heads : list (any_head * (nat -> nat)); told : nat -> list nat -> nat }.

Record table := Table {
  table_layers : list table_layer;
  row_count : nat;
  row_codes : nat -> list (list nat);        (* for each layer and head the number of its code *)
  row_state : nat -> nat;
  find_row : list (list nat) -> nat;
  table_automaton : automaton;
  says_state : bool                          (* whether the last read-out is to say the state *)
}.

(* ---- The checker. *)
Section Head.
Variable A : arithmetic.
Variable h : table_head A.
(* The number of the code that a matrix is, `code_count` if it is none *)
Definition settle (after : entries A) : nat :=
  let r := find_code h after in
  if (r <? code_count h) && equal_entries after (codes h r) then r else code_count h.
(* Whether a factor leads code c where it is said to.  A reflection that leads c' to c leads c to c'. *)
Definition image_right (f : nat) (factor : ready_factor A) (c : nat) : bool :=
  let c' := guess_image h f c in
  if c' <? code_count h then
    ((c' <? c) && mirrors factor && (guess_image h f c' =? c)) || leads factor (codes h c) (codes h c')
  else true.
Definition images_right : bool :=
  let factors := tabulate (factor_count h) (fun f => ready A (shared_factor h f)) in
  all_below (code_count h) (fun c => all_below (factor_count h) (fun f => image_right f (factors f) c)).
(* The number of the code after one factor.  `tabulate` stands here so that the program looks once whether the images are right. *)
Definition factor_images : nat -> nat -> nat :=
  if images_right then tabulate (factor_count h) (fun f c =>
    if (f <? factor_count h) && (c <? code_count h) then guess_image h f c else code_count h)
  else fun _ _ => code_count h.
Fixpoint walk (images : nat -> nat -> nat) (numbers : list nat) (c : nat) : nat :=
  match numbers with
  | [] => c
  | f :: numbers' => let c' := images f c in if c' <? code_count h then walk images numbers' c' else code_count h
  end.
(* The number of the code after a transition.  Where each factor leads to a code, the codes are followed by their numbers;
   elsewhere the factors are applied to the code. *)
Definition landing (images : nat -> nat -> nat) (t c : nat) : nat :=
  match movements h t with
  | Shared gate numbers plus =>
    let c' := if n_equal A gate (n_one A) then walk images numbers c else code_count h in
    if c' <? code_count h then match plus with [] => c' | _ => settle (merge_entries A (codes h c') plus) end
    else settle (letter_sparse (transitions h t) (codes h c))
  | Weights _ _ => settle (letter_sparse (transitions h t) (codes h c))
  end.
Definition landings (images : nat -> nat -> nat) : nat -> nat -> nat :=
  tabulate (transition_count h) (fun t => tabulate (code_count h) (landing images t)).
Definition codes_right : bool := all_below (code_count h) (fun c =>
  canonical_entries (rows h) (columns h) (codes h c) && (find_code h (codes h c) =? c)).
End Head.

Definition any_count (h : any_head) : nat :=
  match h with IntegerHead h => code_count h | FieldHead _ h => code_count h end.
Definition any_images (h : any_head) : nat -> nat -> nat :=
  match h with IntegerHead h => factor_images integers h | FieldHead m h => factor_images (elements m) h end.
Definition any_landings (h : any_head) (images : nat -> nat -> nat) : nat -> nat -> nat :=
  match h with IntegerHead h => landings integers h images | FieldHead m h => landings (elements m) h images end.
Definition any_right (h : any_head) : bool :=
  match h with IntegerHead h => codes_right integers h | FieldHead m h => codes_right (elements m) h end.

(* A layer as its codes move *)
Definition prepared : Type := (list ((nat -> nat -> nat) * (nat -> nat)) * (nat -> list nat -> nat))%type.
Definition prepare_head (h : any_head * (nat -> nat)) : (nat -> nat -> nat) * (nat -> nat) :=
  (any_landings (fst h) (any_images (fst h)), snd h).
Definition prepare_layer (l : table_layer) : prepared :=
  (map prepare_head (layer_heads l), told l).
Fixpoint move (heads : list ((nat -> nat -> nat) * (nat -> nat))) (y : nat) (cs : list nat) : list nat :=
  match heads, cs with h :: heads', c :: cs' => fst h (snd h y) c :: move heads' y cs' | _, _ => [] end.
Fixpoint code_step (layers : list prepared) (y : nat) (cs : list (list nat)) : list (list nat) * nat :=
  match layers, cs with
  | l :: layers', c :: cs' =>
    let new := move (fst l) y c in
    let (below, said) := code_step layers' (snd l y new) cs' in
    (new :: below, said)
  | _, _ => ([], y)
  end.
Fixpoint heads_in_range (heads : list (any_head * (nat -> nat))) (cs : list nat) : bool :=
  match heads, cs with
  | [], [] => true
  | h :: heads', c :: cs' => (c <? any_count (fst h)) && heads_in_range heads' cs'
  | _, _ => false
  end.
Fixpoint in_range (layers : list table_layer) (cs : list (list nat)) : bool :=
  match layers, cs with
  | [], [] => true
  | l :: layers', c :: cs' => heads_in_range (layer_heads l) c && in_range layers' cs'
  | _, _ => false
  end.

Definition check_rows (d : table) (layers : list prepared) : bool :=
  (0 <? row_count d) && (row_state d 0 =? start (table_automaton d))
  && all_below (row_count d) (fun r =>
    in_range (table_layers d) (row_codes d r) && (find_row d (row_codes d r) =? r)
    && all_below (letters (table_automaton d)) (fun a =>
      let (after, said) := code_step layers a (row_codes d r) in
      let q := delta (table_automaton d) a (row_state d r) in
      let r' := find_row d after in
      (r' <? row_count d) && equal_codes after (row_codes d r') && (row_state d r' =? q)
      && (negb (says_state d) || (said =? q)))).
Definition check_heads (d : table) : bool :=
  forallb (fun l => forallb (fun h => any_right (fst h)) (layer_heads l)) (table_layers d).
Definition prepare (d : table) : list prepared := map prepare_layer (table_layers d).
Definition check_table (d : table) : bool := check_heads d && check_rows d (prepare d).

(* ---- The linear RNN that a certificate describes, in a ring K with an element theta for each minimal polynomial. *)
Section Model.
Variables (K : rational_ring) (theta : list Z -> K).

Definition numbers_of (h : any_head) : Prop :=
  match h with IntegerHead _ => True | FieldHead m _ => generates K m (theta m) end.
Definition model_transition (h : any_head) (t : nat) : transition K :=
  match h with
  | IntegerHead h => map_transition (integer K) (transitions h t)
  | FieldHead m h => map_transition (element_value K (theta m)) (transitions h t)
  end.
Definition code_matrix (h : any_head) (c : nat) : matrix K :=
  match h with
  | IntegerHead h => entry K (map_entries (integer K) (codes h c))
  | FieldHead m h => entry K (map_entries (element_value K (theta m)) (codes h c))
  end.
Definition size (h : any_head) : nat * nat :=
  match h with IntegerHead h => (rows h, columns h) | FieldHead _ h => (rows h, columns h) end.

(* The number of the code that a hidden state is, `any_count` if it is none *)
Definition is_code (h : any_head) (H : matrix K) (c : nat) : bool :=
  all_below (fst (size h)) (fun i => all_below (snd (size h)) (fun j => equal (H i j) (code_matrix h c i j))).
Definition code_number (h : any_head) (H : matrix K) : nat :=
  match find (is_code h H) (seq 0 (any_count h)) with Some c => c | None => any_count h end.

Fixpoint code_numbers (heads : list (any_head * (nat -> nat))) (Hs : list (matrix K)) : list nat :=
  match heads, Hs with h :: heads', H :: Hs' => code_number (fst h) H :: code_numbers heads' Hs' | _, _ => [] end.
Definition model_layer (l : table_layer) : layer K nat :=
  Layer (map (fun h y => model_transition (fst h) (snd h y)) (layer_heads l))
    (fun y Hs => told l y (code_numbers (layer_heads l) Hs)).
Definition model (d : table) : list (layer K nat) := map model_layer (table_layers d).

Fixpoint head_matrices (heads : list (any_head * (nat -> nat))) (cs : list nat) : list (matrix K) :=
  match heads, cs with h :: heads', c :: cs' => code_matrix (fst h) c :: head_matrices heads' cs' | _, _ => [] end.
Fixpoint matrices (layers : list table_layer) (cs : list (list nat)) : hidden K :=
  match layers, cs with l :: layers', c :: cs' => head_matrices (layer_heads l) c :: matrices layers' cs' | _, _ => [] end.
(* The hidden state before the first letter: the joint code of the first row *)
Definition model_begin (d : table) : hidden K := matrices (table_layers d) (row_codes d 0).

Fixpoint joint_code (layers : list table_layer) (state : hidden K) : list (list nat) :=
  match layers, state with
  | l :: layers', Hs :: state' => code_numbers (layer_heads l) Hs :: joint_code layers' state'
  | _, _ => []
  end.
(* The state of the row with the joint code of a hidden state *)
Definition model_decode (d : table) (state : hidden K) : option nat :=
  let cs := joint_code (table_layers d) state in
  let r := find_row d cs in
  if (r <? row_count d) && equal_codes cs (row_codes d r) then Some (row_state d r) else None.

(* ---- Proofs. *)
Definition holds (h : any_head) (c : nat) (H : matrix K) : Prop := c < any_count h /\ same H (code_matrix h c).
Fixpoint hold_heads (heads : list (any_head * (nat -> nat))) (cs : list nat) (Hs : list (matrix K)) : Prop :=
  match heads, cs, Hs with
  | [], [], [] => True
  | h :: heads', c :: cs', H :: Hs' => holds (fst h) c H /\ hold_heads heads' cs' Hs'
  | _, _, _ => False
  end.
Fixpoint hold (layers : list table_layer) (cs : list (list nat)) (state : hidden K) : Prop :=
  match layers, cs, state with
  | [], [], [] => True
  | l :: layers', c :: cs', Hs :: state' => hold_heads (layer_heads l) c Hs /\ hold layers' cs' state'
  | _, _, _ => False
  end.

Section Landing.
Variables (A : arithmetic) (value : A -> K).
Hypothesis R : represents A K value.
Variable h : table_head A.
Add Ring numbers : (laws K).
Lemma settle_eq a : settle A h a < code_count h -> codes h (settle A h a) = a.
Proof.
  unfold settle. cbv zeta. destruct (_ && _) eqn:E; [|lia]. intros _. apply andb_prop in E as [_ E].
  apply (equal_entries_eq _ _ _ R) in E. symmetry. exact E.
Qed.
Lemma image_meaning f c : factor_images A h f c < code_count h ->
  same (apply_factor K (map_factor value (shared_factor h f)) (meaning value (codes h c)))
       (meaning value (codes h (factor_images A h f c))).
Proof.
  unfold factor_images, tabulate. destruct (images_right A h) eqn:E; [|lia]. destruct (_ && _) eqn:B; [|lia].
  apply andb_prop in B as [Bf Bc]. apply Nat.ltb_lt in Bf, Bc.
  assert (I : forall c, c < code_count h -> image_right A h f (ready A (shared_factor h f)) c = true).
  { intros c' L. exact (all_below_spec _ _ (all_below_spec _ _ E c' L) f Bf). }
  intros L. pose proof (I c Bc) as Ic. unfold image_right in Ic. cbv zeta in Ic. rewrite (proj2 (Nat.ltb_lt _ _) L) in Ic.
  apply orb_prop in Ic as [Ic|Ic]; [|exact (leads_meaning _ _ _ R _ _ _ Ic)].
  apply andb_prop in Ic as [Ic Back]. apply andb_prop in Ic as [Less Mirror]. apply Nat.ltb_lt in Less. apply Nat.eqb_eq in Back.
  apply (mirror_undoes _ _ _ R _ _ _ Mirror). pose proof (I _ L) as Ib. unfold image_right in Ib. cbv zeta in Ib.
  rewrite Back, (proj2 (Nat.ltb_lt _ _) Bc) in Ib. apply orb_prop in Ib as [Ib|Ib]; [|exact (leads_meaning _ _ _ R _ _ _ Ib)].
  apply andb_prop in Ib as [Ib _]. apply andb_prop in Ib as [Ib _]. apply Nat.ltb_lt in Ib. lia.
Qed.
Lemma walk_meaning numbers : forall c H, walk A h (factor_images A h) numbers c < code_count h ->
  same H (meaning value (codes h c)) ->
  same (fold_left (fun H f => apply_factor K f H) (map (map_factor value) (map (shared_factor h) numbers)) H)
       (meaning value (codes h (walk A h (factor_images A h) numbers c))).
Proof.
  induction numbers as [|f numbers IH]; intros c H L S; [exact S|]. cbn [walk] in *. cbv zeta in *.
  destruct (_ <? _) eqn:E; [|lia]. apply Nat.ltb_lt in E. cbn [map fold_left]. apply IH; [exact L|].
  intros i j. rewrite <- (image_meaning f c E). apply apply_factor_same, S.
Qed.
Lemma settle_letter t c H : settle A h (letter_sparse (transitions h t) (codes h c)) < code_count h ->
  same H (meaning value (codes h c)) ->
  same (apply_transition K (map_transition value (transitions h t)) H)
       (meaning value (codes h (settle A h (letter_sparse (transitions h t) (codes h c))))).
Proof.
  intros L S. rewrite (settle_eq _ L). intros i j. rewrite (letter_meaning _ _ _ R). apply apply_transition_same, S.
Qed.
Lemma landing_meaning t c H : landing A h (factor_images A h) t c < code_count h ->
  same H (meaning value (codes h c)) ->
  same (apply_transition K (map_transition value (transitions h t)) H)
       (meaning value (codes h (landing A h (factor_images A h) t c))).
Proof.
  unfold landing. destruct (movements h t) as [gate numbers plus|weights plus] eqn:M; [|apply settle_letter].
  cbv zeta. destruct (n_equal A gate (n_one A)) eqn:E; [|rewrite Nat.ltb_irrefl; apply settle_letter].
  set (c' := walk A h (factor_images A h) numbers c). destruct (c' <? code_count h) eqn:L; [|apply settle_letter].
  apply Nat.ltb_lt in L. apply (value_equal _ _ _ R) in E. subst gate. intros L' S.
  (* what the factors make of H, and of it with the additive term *)
  assert (W : same (apply_linear K (map_linear value (Factors (n_one A) (map (shared_factor h) numbers))) H)
                   (meaning value (codes h c'))).
  { cbn [map_linear apply_linear]. apply walk_meaning; [exact L|]. intros i j. rewrite <- S, (value_one _ _ _ R). ring. }
  intros i j. unfold transitions. rewrite M. unfold apply_transition. cbn [map_transition linear_part additive].
  rewrite W. destruct plus as [|e plus].
  - change (entry K (map_entries value []) i j) with (@zero K). ring.
  - rewrite (settle_eq _ L'), (meaning_merge _ _ _ R). reflexivity.
Qed.
End Landing.
Lemma landing_holds h t c H : numbers_of h -> holds h c H -> any_landings h (any_images h) t c < any_count h ->
  holds h (any_landings h (any_images h) t c) (apply_transition K (model_transition h t) H).
Proof.
  intros G [_ S] L. split; [exact L|]. destruct h as [h|m h].
  - exact (landing_meaning integers _ (integers_represent K) h t c H L S).
  - exact (landing_meaning (elements m) _ (elements_represent K m (theta m) G) h t c H L S).
Qed.

Lemma code_unique (A : arithmetic) (value : A -> K) (R : represents A K value) (h : table_head A) c c' :
  codes_right A h = true -> c < code_count h -> c' < code_count h ->
  (forall i j, i < rows h -> j < columns h -> meaning value (codes h c) i j = meaning value (codes h c') i j) -> c = c'.
Proof.
  intros Ok L L' E. pose proof (all_below_spec _ _ Ok) as F. cbv beta in F.
  pose proof (F c L) as Fc. pose proof (F c' L') as Fc'. apply andb_prop in Fc as [C Fc]. apply andb_prop in Fc' as [C' Fc'].
  apply Nat.eqb_eq in Fc, Fc'. rewrite <- Fc, <- Fc'. f_equal.
  apply (entries_unique _ _ _ R _ _ _ _ C C'). intros i j.
  destruct (Nat.lt_ge_cases i (rows h)) as [Li|Li], (Nat.lt_ge_cases j (columns h)) as [Lj|Lj];
    [apply E; assumption|..]; rewrite (meaning_outside A K value _ _ _ i j C), (meaning_outside A K value _ _ _ i j C'); auto.
Qed.
Lemma is_code_spec h H c : is_code h H c = true -> forall i j, i < fst (size h) -> j < snd (size h) ->
  H i j = code_matrix h c i j.
Proof.
  intros E i j Li Lj. apply equal_spec. exact (all_below_spec _ _ (all_below_spec _ _ E i Li) j Lj).
Qed.
Lemma is_code_holds h H c : holds h c H -> is_code h H c = true.
Proof.
  intros [_ S]. unfold is_code.
  assert (T : forall n test, (forall i, test i = true) -> all_below n test = true).
  { intros n test F. induction n; cbn; auto. rewrite F. exact IHn. }
  apply T. intros i. apply T. intros j. apply equal_spec, S.
Qed.
Lemma number_holds h c H : numbers_of h -> any_right h = true -> holds h c H -> code_number h H = c.
Proof.
  intros G Ok Hc. unfold code_number. destruct (find _ _) as [c'|] eqn:E.
  2: { exfalso. assert (I : In c (seq 0 (any_count h))) by (apply in_seq; destruct Hc; lia).
       pose proof (find_none _ _ E c I) as F. rewrite is_code_holds in F; [discriminate|exact Hc]. }
  apply find_some in E as [I E]. apply in_seq in I as [_ I]. cbn in I. destruct Hc as [L S].
  pose proof (is_code_spec _ _ _ E) as Same. symmetry. destruct h as [h|m h].
  - apply (code_unique integers _ (integers_represent K) h c c' Ok L I).
    intros i j Li Lj. exact (eq_trans (eq_sym (S i j)) (Same i j Li Lj)).
  - apply (code_unique (elements m) _ (elements_represent K m (theta m) G) h c c' Ok L I).
    intros i j Li Lj. exact (eq_trans (eq_sym (S i j)) (Same i j Li Lj)).
Qed.

Definition heads_right (heads : list (any_head * (nat -> nat))) : Prop :=
  Forall (fun h => numbers_of (fst h) /\ any_right (fst h) = true) heads.
Lemma numbers_heads heads : forall cs Hs, heads_right heads -> hold_heads heads cs Hs -> code_numbers heads Hs = cs.
Proof.
  induction heads as [|h heads IH]; intros [|c cs] [|H Hs] R; cbn; try tauto. intros [Hc Hr].
  inversion R as [|? ? [G Ok] R']; subst. f_equal; [apply number_holds; assumption|apply IH; assumption].
Qed.
Lemma lead_heads heads y : forall cs Hs, heads_right heads -> hold_heads heads cs Hs ->
  heads_in_range heads (move (map prepare_head heads) y cs) = true ->
  hold_heads heads (move (map prepare_head heads) y cs)
    (lead K nat (map (fun h y => model_transition (fst h) (snd h y)) heads) y Hs).
Proof.
  induction heads as [|h heads IH]; intros [|c cs] [|H Hs] R; cbn; try tauto. intros [Hc Hr] L.
  inversion R as [|? ? [G Ok] R']; subst. apply andb_prop in L as [L1 L2]. apply Nat.ltb_lt in L1.
  split; [apply landing_holds; assumption|apply IH; assumption].
Qed.
Lemma step_layers layers : forall y cs state, Forall (fun l => heads_right (layer_heads l)) layers ->
  hold layers cs state -> in_range layers (fst (code_step (map prepare_layer layers) y cs)) = true ->
  hold layers (fst (code_step (map prepare_layer layers) y cs)) (fst (step K nat (map model_layer layers) y state))
  /\ snd (step K nat (map model_layer layers) y state) = snd (code_step (map prepare_layer layers) y cs).
Proof.
  induction layers as [|l layers IH]; intros y [|c cs] [|Hs state] R; cbn; try tauto. intros [Hc Hr].
  inversion R as [|? ? R1 R2]; subst.
  set (new := move _ y c). set (new_states := lead K nat _ y Hs).
  assert (N : forall below, heads_in_range (layer_heads l) new && in_range layers below = true ->
    hold_heads (layer_heads l) new new_states /\ told l y (code_numbers (layer_heads l) new_states) = told l y new).
  { intros below E. apply andb_prop in E as [E _].
    assert (Hn : hold_heads (layer_heads l) new new_states) by (apply lead_heads; assumption).
    split; [exact Hn|]. rewrite (numbers_heads _ _ _ R1 Hn). reflexivity. }
  destruct (code_step (map prepare_layer layers) (told l y new) cs) as [below said] eqn:Ec. cbn [fst snd].
  intros E. destruct (N _ E) as [Hn Et]. rewrite Et. apply andb_prop in E as [_ E].
  specialize (IH (told l y new) cs state R2 Hr). rewrite Ec in IH. destruct (IH E) as [IH1 IH2].
  destruct (step K nat (map model_layer layers) (told l y new) state) as [below' said'] eqn:Es.
  cbn [fst snd] in *. auto.
Qed.
Lemma joint_code_holds layers : forall cs state, Forall (fun l => heads_right (layer_heads l)) layers ->
  hold layers cs state -> joint_code layers state = cs.
Proof.
  induction layers as [|l layers IH]; intros [|c cs] [|Hs state] R; cbn; try tauto. intros [Hc Hr].
  inversion R; subst. f_equal; [apply numbers_heads; assumption|apply IH; assumption].
Qed.
Lemma heads_begin heads : forall cs, heads_in_range heads cs = true -> hold_heads heads cs (head_matrices heads cs).
Proof.
  induction heads as [|h heads IH]; intros [|c cs]; cbn; try discriminate; auto. intros E.
  apply andb_prop in E as [E1 E2]. apply Nat.ltb_lt in E1. split; [split; [exact E1|intros i j; reflexivity]|auto].
Qed.
Lemma begin_holds layers : forall cs, in_range layers cs = true -> hold layers cs (matrices layers cs).
Proof.
  induction layers as [|l layers IH]; intros [|c cs]; cbn; try discriminate; auto. intros E.
  apply andb_prop in E as [E1 E2]. split; [now apply heads_begin|auto].
Qed.

(* The heads of layers of any kind are right, if those numbers are and each head has been checked. *)
Lemma checked_heads_right (L : Type) (heads_of : L -> list (any_head * (nat -> nat))) layers :
  Forall (fun l => Forall (fun h => numbers_of (fst h)) (heads_of l)) layers ->
  forallb (fun l => forallb (fun h => any_right (fst h)) (heads_of l)) layers = true -> Forall (fun l => heads_right (heads_of l)) layers.
Proof.
  intros N E. rewrite forallb_forall in E. rewrite Forall_forall in *. intros l I. specialize (N l I). specialize (E l I).
  rewrite forallb_forall in E. unfold heads_right. rewrite Forall_forall in *. intros h Ih. split; auto.
Qed.

Section Right.
Variable d : table.
Hypothesis numbers_right :
  Forall (fun l => Forall (fun h => numbers_of (fst h)) (layer_heads l)) (table_layers d).

Lemma layers_right : check_heads d = true -> Forall (fun l => heads_right (layer_heads l)) (table_layers d).
Proof. now apply checked_heads_right. Qed.

Hypothesis accepted : check_table d = true.
Lemma heads_checked : check_heads d = true.
Proof. now apply andb_prop in accepted. Qed.
Lemma row_facts r : r < row_count d ->
  (in_range (table_layers d) (row_codes d r) = true /\ find_row d (row_codes d r) = r)
  /\ forall a, a < letters (table_automaton d) ->
     let (after, said) := code_step (prepare d) a (row_codes d r) in
     exists r', r' < row_count d /\ after = row_codes d r'
       /\ row_state d r' = delta (table_automaton d) a (row_state d r)
       /\ (says_state d = true -> said = delta (table_automaton d) a (row_state d r)).
Proof.
  intros L. apply andb_prop in accepted as [_ E]. apply andb_prop in E as [_ E].
  pose proof (all_below_spec _ _ E r L) as F. cbv beta in F. apply andb_prop in F as [F1 F2].
  apply andb_prop in F1 as [F1 Ff]. apply Nat.eqb_eq in Ff. split; [split; assumption|]. intros a La. pose proof (all_below_spec _ _ F2 a La) as F. cbv beta in F.
  destruct (code_step (prepare d) a (row_codes d r)) as [after said]. cbv zeta in F.
  apply andb_prop in F as [F Fs]. apply andb_prop in F as [F Fq]. apply andb_prop in F as [Fr Fc].
  exists (find_row d after). apply Nat.ltb_lt in Fr. apply equal_codes_eq in Fc. apply Nat.eqb_eq in Fq.
  repeat split; try assumption. intros S. rewrite S in Fs. cbn in Fs. apply Nat.eqb_eq in Fs. exact Fs.
Qed.
(* After each word the hidden state holds the joint code of a row, which stands for the right state. *)
Definition stands (q : nat) (state : hidden K) : Prop :=
  exists r, r < row_count d /\ row_state d r = q /\ hold (table_layers d) (row_codes d r) state.
Lemma stands_begin : stands (start (table_automaton d)) (model_begin d).
Proof.
  pose proof accepted as E. apply andb_prop in E as [_ E]. apply andb_prop in E as [E _]. apply andb_prop in E as [E1 E2].
  apply Nat.ltb_lt in E1. apply Nat.eqb_eq in E2. exists 0. repeat split; try assumption.
  apply begin_holds. exact (proj1 (proj1 (row_facts 0 E1))).
Qed.
Lemma stands_step q state a : stands q state -> a < letters (table_automaton d) ->
  stands (delta (table_automaton d) a q) (fst (step K nat (model d) a state))
  /\ (says_state d = true -> snd (step K nat (model d) a state) = delta (table_automaton d) a q).
Proof.
  intros (r & L & Q & Hr) La. destruct (row_facts r L) as [_ F]. specialize (F a La).
  destruct (code_step (prepare d) a (row_codes d r)) as [after said] eqn:Ec. destruct F as (r' & L' & C & Q' & S).
  pose proof (step_layers (table_layers d) a _ _ (layers_right heads_checked) Hr) as St.
  change (map prepare_layer (table_layers d)) with (prepare d) in St. rewrite Ec in St. cbn [fst snd] in St.
  rewrite C in St. destruct (St (proj1 (proj1 (row_facts r' L')))) as [Hn Sn]. subst q. split.
  - exists r'. repeat split; assumption.
  - intros Says. rewrite <- (S Says). exact Sn.
Qed.
Lemma stands_run word : forall q state, is_word (table_automaton d) word -> stands q state ->
  stands (fold_left (fun q a => delta (table_automaton d) a q) word q) (run K nat (model d) state word).
Proof.
  induction word as [|a word IH]; intros q state W S; [exact S|]. inversion W; subst. cbn.
  apply IH; [assumption|]. apply stands_step; assumption.
Qed.

(* The linear RNN of an accepted table follows the automaton. *)
Theorem check_table_right : follows K nat (fun a => a) (model d) (model_begin d) (model_decode d) (table_automaton d).
Proof.
  intros word W. rewrite map_id. destruct (stands_run word _ _ W stands_begin) as (r & L & Q & Hr).
  unfold model_decode. rewrite (joint_code_holds _ _ _ (layers_right heads_checked) Hr).
  destruct (proj1 (row_facts r L)) as [_ F]. rewrite F, equal_codes_refl. apply Nat.ltb_lt in L. rewrite L. cbn.
  f_equal. exact Q.
Qed.

(* Where it is asked for, the read-out of the last layer says the new state. *)
Theorem check_table_said word a : is_word (table_automaton d) word -> a < letters (table_automaton d) ->
  says_state d = true ->
  snd (step K nat (model d) a (run K nat (model d) (model_begin d) word)) = state_after (table_automaton d) (word ++ [a]).
Proof.
  intros W La S. unfold state_after. rewrite fold_left_app. cbn. apply stands_step; [|exact La|exact S].
  apply stands_run; [exact W|exact stands_begin].
Qed.
End Right.
End Model.
