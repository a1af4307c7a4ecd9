(* Tables whose numbers are never rounded: certificates of kind `equivalent` that hold a table.

   Proved, for a table that is accepted with its numbers:
   - per_step_right: with one rounding of each entry of A H + B that keeps the values of a set which has all entries of all codes;
   - per_op_right: with one rounding of each product and each sum, in any order, fused or not, that keeps the integers up to a bound
     which no sum of absolute values exceeds,
   the layers hold after every word what they hold in exact numbers, so that the state of the automaton is decoded.

   A rounding is any function `rounds` from numbers to numbers, the same one for all heads, letters, entries and tokens: with any one that keeps
   these numbers the theorems hold, and so with each format and mode that does.  They do not speak of a rounding that changes on the way
   (from token to token, say, or drawn at random).  Infinite numbers, NaN and signed zeros do not occur: no number but those kept ones is ever
   rounded. *)
Require Import List Arith ZArith QArith Bool Lia Permutation.
From Mirrormata Require Import Semantics Sparse Numbers Table RoundedRNN.
Import ListNotations.
Local Open Scope nat_scope.

(* ---- What layers with rounding do: that of Semantics.v with `act` in place of what a transition does in exact numbers. *)
Section Model.
Variables (K : rational_ring) (theta : list Z -> K) (act : any_head -> nat -> matrix K -> matrix K).
Fixpoint lead_by (heads : list (any_head * (nat -> nat))) (y : nat) (Hs : list (matrix K)) : list (matrix K) :=
  match heads, Hs with h :: heads', H :: Hs' => act (fst h) (snd h y) H :: lead_by heads' y Hs' | _, _ => [] end.
Fixpoint step_by (layers : list table_layer) (y : nat) (state : hidden K) : hidden K :=
  match layers, state with
  | l :: layers', Hs :: state' =>
    let new := lead_by (layer_heads l) y Hs in
    new :: step_by layers' (told l y (code_numbers K theta (layer_heads l) new)) state'
  | _, _ => []
  end.
Definition run_by (d : table) (word : list nat) : hidden K :=
  fold_left (fun state a => step_by (table_layers d) a state) word (model_begin K theta d).
End Model.

(* A rational number in K *)
Definition embed (K : rational_ring) (q : Q) : K := mul (integer K (Qnum q)) (reciprocal K (Qden q)).
(* Per step: each entry is rounded once, all by one function. *)
Definition per_step (K : rational_ring) (theta : list Z -> K) (rounds : K -> K) (h : any_head) (t : nat) (H : matrix K) : matrix K :=
  fun i j => rounds (apply_transition K (model_transition K theta h t) H i j).

(* Per operation: products and sums are rounded, in an order that a tree says.  A product may be added without being rounded itself. *)
Inductive sum_tree (K : Type) :=
| Product (a h : K) | Bias (b : K) | Plus (l r : sum_tree K) | Fused_plus (a h : K) (rest : sum_tree K).
Arguments Product {K}.
Arguments Bias {K}.
Arguments Plus {K}.
Arguments Fused_plus {K}.
Fixpoint tree_value {K : ring} (rounds : K -> K) (t : sum_tree K) : K :=
  match t with
  | Product a h => rounds (mul a h)
  | Bias b => b
  | Plus l r => rounds (add (tree_value rounds l) (tree_value rounds r))
  | Fused_plus a h rest => rounds (add (mul a h) (tree_value rounds rest))
  end.
Fixpoint products {K} (t : sum_tree K) : list (K * K) :=
  match t with
  | Product a h => [(a, h)] | Bias _ => [] | Plus l r => products l ++ products r | Fused_plus a h rest => (a, h) :: products rest
  end.
Fixpoint biases {K} (t : sum_tree K) : list K :=
  match t with Product _ _ => [] | Bias b => [b] | Plus l r => biases l ++ biases r | Fused_plus _ _ rest => biases rest end.
(* y comes of the terms and b in some order; terms with a = 0 may be left out, or their products may be added. *)
Definition comes_of {K : ring} (rounds : K -> K) (terms : list (K * K)) (b y : K) : Prop :=
  exists t left_out, Permutation (products t ++ left_out) terms /\ Forall (fun p => fst p = zero) left_out
    /\ biases t = [b] /\ y = tree_value rounds t.
(* Entry (i, k) of the matrix A of a transition: what it makes of the unit vector k *)
Definition unit_column (K : ring) (k : nat) : matrix K := fun i j => if (i =? k) && (j =? 0) then one else zero.
Definition weight (K : ring) (t : transition K) (i k : nat) : K := apply_linear K (linear_part t) (unit_column K k) i 0.
Definition head_rows (h : any_head) : nat := match h with IntegerHead h => rows h | FieldHead _ h => rows h end.
Definition head_columns (h : any_head) : nat := match h with IntegerHead h => columns h | FieldHead _ h => columns h end.
(* `act` computes each entry of A H + B in some order, the order of each entry being its own; outside of the rows and columns is 0. *)
Definition is_per_op (K : rational_ring) (theta : list Z -> K) (rounds : K -> K) (act : any_head -> nat -> matrix K -> matrix K) : Prop :=
  forall h t H i j,
    (i < head_rows h -> j < head_columns h ->
     comes_of rounds (map (fun k => (weight K (model_transition K theta h t) i k, H k j)) (seq 0 (head_rows h)))
       (Semantics.entry K (additive (model_transition K theta h t)) i j) (act h t H i j))
    /\ (head_rows h <= i \/ head_columns h <= j -> act h t H i j = zero).

(* ---- The checker: that of tables, where a transition leads a code to a code only if the numbers fit. *)
Definition guard (fit : nat -> nat -> bool) (landings : nat -> nat -> nat) (count : nat) : nat -> nat -> nat :=
  fun t c => if fit t c then landings t c else count.
Definition guarded (fits : any_head -> nat -> nat -> bool) (h : any_head) : nat -> nat -> nat :=
  guard (fits h) (any_landings h (any_images h)) (any_count h).
Definition prepare_guarded (fits : any_head -> nat -> nat -> bool) (l : table_layer) : prepared :=
  (map (fun h => (guarded fits (fst h), snd h)) (layer_heads l), told l).
Definition check_guarded (fits : any_head -> nat -> nat -> bool) (d : table) : bool :=
  check_heads d && check_rows d (map (prepare_guarded fits) (table_layers d)).

Section Generic.
Variables (K : rational_ring) (theta : list Z -> K) (act : any_head -> nat -> matrix K -> matrix K).
Variables (fits : any_head -> nat -> nat -> bool) (d : table).
Hypothesis act_right : forall h t c H, numbers_of K theta h -> any_right h = true -> fits h t c = true -> holds K theta h c H ->
  any_landings h (any_images h) t c < any_count h ->
  same (act h t H) (code_matrix K theta h (any_landings h (any_images h) t c)).
Hypothesis numbers_right : Forall (fun l => Forall (fun h => numbers_of K theta (fst h)) (layer_heads l)) (table_layers d).
Hypothesis accepted : check_guarded fits d = true.

Lemma all_layers_right : Forall (fun l => heads_right K theta (layer_heads l)) (table_layers d).
Proof. apply layers_right; [exact numbers_right|]. now apply andb_prop in accepted. Qed.
Lemma lead_by_holds heads y : forall cs Hs, heads_right K theta heads -> hold_heads K theta heads cs Hs ->
  heads_in_range heads (move (map (fun h => (guarded fits (fst h), snd h)) heads) y cs) = true ->
  hold_heads K theta heads (move (map (fun h => (guarded fits (fst h), snd h)) heads) y cs) (lead_by K act heads y Hs).
Proof.
  induction heads as [|h heads IH]; intros [|c cs] [|H Hs] R; cbn; try tauto. intros [Hc Hr] L.
  inversion R as [|? ? [G Ok] R']; subst. apply andb_prop in L as [L1 L2]. apply Nat.ltb_lt in L1.
  split; [|apply IH; assumption]. unfold guarded, guard in *.
  destruct (fits (fst h) (snd h y) c) eqn:F; [|lia]. split; [exact L1|]. apply act_right; assumption.
Qed.
Lemma step_by_holds layers : forall y cs state, Forall (fun l => heads_right K theta (layer_heads l)) layers ->
  hold K theta layers cs state -> in_range layers (fst (code_step (map (prepare_guarded fits) layers) y cs)) = true ->
  hold K theta layers (fst (code_step (map (prepare_guarded fits) layers) y cs)) (step_by K theta act layers y state).
Proof.
  induction layers as [|l layers IH]; intros y [|c cs] [|Hs state] R; cbn; try tauto. intros [Hc Hr].
  inversion R as [|? ? R1 R2]; subst.
  set (new := move _ y c). set (new_states := lead_by K act _ y Hs).
  destruct (code_step (map (prepare_guarded fits) layers) (told l y new) cs) as [below said] eqn:Ec. cbn [fst snd].
  intros E. cbn [in_range] in E. apply andb_prop in E as [E1 E2].
  assert (Hn : hold_heads K theta (layer_heads l) new new_states) by (apply lead_by_holds; assumption).
  split; [exact Hn|]. rewrite (numbers_heads K theta _ _ _ R1 Hn).
  specialize (IH (told l y new) cs state R2 Hr). rewrite Ec in IH. exact (IH E2).
Qed.
Lemma guarded_row r : r < row_count d ->
  (in_range (table_layers d) (row_codes d r) = true /\ find_row d (row_codes d r) = r)
  /\ forall a, a < letters (table_automaton d) ->
     exists r', r' < row_count d /\ fst (code_step (map (prepare_guarded fits) (table_layers d)) a (row_codes d r)) = row_codes d r'
       /\ row_state d r' = delta (table_automaton d) a (row_state d r).
Proof.
  intros L. unfold check_guarded in accepted. apply andb_prop in accepted as [_ E]. apply andb_prop in E as [_ E].
  pose proof (all_below_spec _ _ E r L) as F. cbv beta in F. apply andb_prop in F as [F1 F2].
  apply andb_prop in F1 as [F1 Ff]. apply Nat.eqb_eq in Ff. split; [split; assumption|]. intros a La.
  pose proof (all_below_spec _ _ F2 a La) as F. cbv beta in F.
  destruct (code_step (map (prepare_guarded fits) (table_layers d)) a (row_codes d r)) as [after said]. cbv zeta in F.
  apply andb_prop in F as [F _]. apply andb_prop in F as [F Fq]. apply andb_prop in F as [Fr Fc].
  exists (find_row d after). apply Nat.ltb_lt in Fr. apply equal_codes_eq in Fc. apply Nat.eqb_eq in Fq. now repeat split.
Qed.
Theorem guarded_right word : is_word (table_automaton d) word ->
  model_decode K theta d (run_by K theta act d word) = Some (state_after (table_automaton d) word).
Proof.
  set (stands := fun q state => exists r, r < row_count d /\ row_state d r = q /\ hold K theta (table_layers d) (row_codes d r) state).
  assert (First : stands (start (table_automaton d)) (model_begin K theta d)).
  { pose proof accepted as E. unfold check_guarded in E. apply andb_prop in E as [_ E]. apply andb_prop in E as [E _].
    apply andb_prop in E as [E1 E2]. apply Nat.ltb_lt in E1. apply Nat.eqb_eq in E2. exists 0. repeat split; try assumption.
    apply begin_holds. exact (proj1 (proj1 (guarded_row 0 E1))). }
  assert (All : forall word q state, is_word (table_automaton d) word -> stands q state ->
    stands (fold_left (fun q a => delta (table_automaton d) a q) word q)
      (fold_left (fun state a => step_by K theta act (table_layers d) a state) word state)).
  { clear First word. induction word as [|a word IH]; intros q state W S; [exact S|]. inversion W as [|? ? La W']; subst. cbn.
    apply IH; [exact W'|]. destruct S as (r & L & Q & Hr). destruct (guarded_row r L) as [_ F].
    destruct (F a La) as (r' & L' & C & Q'). exists r'. rewrite Q in Q'. repeat split; try assumption.
    pose proof (step_by_holds (table_layers d) a _ _ all_layers_right Hr) as St. rewrite C in St. apply St.
    exact (proj1 (proj1 (guarded_row r' L'))). }
  intros W. destruct (All word _ _ W First) as (r & L & Q & Hr). unfold model_decode, run_by.
  rewrite (joint_code_holds K theta _ _ _ all_layers_right Hr).
  destruct (proj1 (guarded_row r L)) as [_ F]. rewrite F, equal_codes_refl. apply Nat.ltb_lt in L. rewrite L. cbn.
  f_equal. exact Q.
Qed.
End Generic.

(* ---- Per step *)
(* The rational number of a Q(theta) element, if it is rational *)
Definition rational_element (x : element) : option Q :=
  match snd x with
  | n :: rest => if forallb (fun c => Z.eqb c 0) rest then Some (n # fst x)%Q else None
  | [] => None
  end.
Definition code_kept (keeps : Q -> bool) (h : any_head) (c : nat) : bool :=
  match h with
  | IntegerHead h => forallb (fun e => keeps (snd e # 1)%Q) (codes h c)
  | FieldHead _ h => forallb (fun e => match rational_element (snd e) with Some q => keeps q | None => false end) (codes h c)
  end.
(* The entries of A, by its columns, and of B *)
Definition weights_kept (keeps : Q -> bool) (h : any_head) : bool :=
  match h with
  | IntegerHead h =>
    let kept := forallb (fun e => keeps (snd e # 1)%Q) in
    all_below (transition_count h) (fun t => kept (additive (transitions h t)) && all_below (rows h) (fun k =>
      kept (linear_sparse integers (linear_part (transitions h t)) [((k, 0), 1%Z)])))
  | FieldHead m h =>
    let kept := forallb (fun e => match rational_element (snd e) with Some q => keeps q | None => false end) in
    all_below (transition_count h) (fun t => kept (additive (transitions h t)) && all_below (rows h) (fun k =>
      kept (linear_sparse (elements m) (linear_part (transitions h t)) [((k, 0), n_one (elements m))])))
  end.
Definition fits_per_step (keeps : Q -> bool) (h : any_head) : nat -> nat -> bool :=
  let all_kept := all_below (any_count h) (code_kept keeps h) && weights_kept keeps h in fun _ _ => all_kept.
Definition check_per_step (keeps : Q -> bool) (d : table) : bool :=
  keeps (0 # 1)%Q && check_guarded (fits_per_step keeps) d.

Section PerStep.
Variables (K : rational_ring) (theta : list Z -> K).
Add Ring numbers_per_step : (laws K).
Lemma reciprocal_1 : reciprocal K 1 = one.
Proof. pose proof (reciprocal_spec K 1) as E. change (integer K (Zpos 1)) with (@one K) in E. rewrite <- E. ring. Qed.
Lemma embed_integer z : embed K (z # 1) = integer K z.
Proof. unfold embed. cbn [Qnum Qden]. rewrite reciprocal_1. ring. Qed.
Lemma rational_value m x q : rational_element x = Some q -> element_value K (theta m) x = embed K q.
Proof.
  destruct x as [p cs]. unfold rational_element. cbn [fst snd]. destruct cs as [|n rest]; [discriminate|].
  destruct (forallb _ rest) eqn:Z; [|discriminate]. intros E. injection E as <-. unfold element_value, embed.
  cbn [fst snd Qnum Qden evaluate].
  rewrite (evaluate_zero K (theta m) rest Z). ring.
Qed.

Lemma kept_meaning (A : arithmetic) (value : A -> K) (keep : A -> bool) (rounds : K -> K) rows columns (a : entries A) :
  (forall x, keep x = true -> rounds (value x) = value x) -> rounds zero = zero ->
  canonical_entries rows columns a = true -> forallb (fun e => keep (snd e)) a = true ->
  forall i j, rounds (meaning value a i j) = meaning value a i j.
Proof.
  intros Keep Zero. induction a as [|x a IH]; intros C F i j; [exact Zero|].
  apply canonical_tail in C as (Ca & B & _). cbn [forallb] in F. apply andb_prop in F as [Fx Fa].
  destruct ((fst (fst x) =? i) && (snd (fst x) =? j)) eqn:E.
  - apply andb_prop in E as [E1 E2]. apply Nat.eqb_eq in E1, E2. subst. rewrite (meaning_first A K value x a B). now apply Keep.
  - rewrite meaning_cons, E. replace (add zero (meaning value a i j)) with (meaning value a i j) by ring. now apply IH.
Qed.

Variables (rounds : K -> K) (keeps : Q -> bool).
Hypothesis keeps_right : forall q, keeps q = true -> rounds (embed K q) = embed K q.

Lemma rounds_zero : keeps (0 # 1)%Q = true -> rounds zero = zero.
Proof. intros E. apply keeps_right in E. now rewrite embed_integer in E. Qed.
Lemma code_is_kept h c i j : keeps (0 # 1)%Q = true -> any_right h = true -> c < any_count h -> code_kept keeps h c = true ->
  rounds (code_matrix K theta h c i j) = code_matrix K theta h c i j.
Proof.
  intros Zero R C F. apply rounds_zero in Zero. destruct h as [h|m h]; cbn [code_matrix code_kept any_right any_count] in *.
  - pose proof (all_below_spec _ _ R c C) as G. cbv beta in G. apply andb_prop in G as [G _].
    apply (kept_meaning integers (integer K) (fun z => keeps (z # 1)%Q) rounds _ _ _) with (2 := Zero) (3 := G); [|exact F].
    intros z Kz. rewrite <- embed_integer. now apply keeps_right.
  - pose proof (all_below_spec _ _ R c C) as G. cbv beta in G. apply andb_prop in G as [G _].
    apply (kept_meaning (elements m) (element_value K (theta m))
      (fun x => match rational_element x with Some q => keeps q | None => false end) rounds _ _ _)
      with (2 := Zero) (3 := G); [|exact F].
    intros x Kx. destruct (rational_element x) as [q|] eqn:E; [|discriminate]. rewrite (rational_value m x q E). now apply keeps_right.
Qed.
Lemma per_step_exact h t c H : keeps (0 # 1)%Q = true -> numbers_of K theta h -> any_right h = true ->
  fits_per_step keeps h t c = true -> holds K theta h c H -> any_landings h (any_images h) t c < any_count h ->
  same (per_step K theta rounds h t H) (code_matrix K theta h (any_landings h (any_images h) t c)).
Proof.
  intros Zero G R F Hc L. pose proof (landing_holds K theta h t c H G Hc L) as [_ S]. intros i j. unfold per_step.
  rewrite S. apply code_is_kept; [exact Zero|exact R|exact L|]. unfold fits_per_step in F. apply andb_prop in F as [F _].
  exact (all_below_spec _ _ F _ L).
Qed.

(* Rounded once per step, each entry by the same function, the layers follow the automaton. *)
Variable d : table.
Hypothesis numbers_right : Forall (fun l => Forall (fun h => numbers_of K theta (fst h)) (layer_heads l)) (table_layers d).
Hypothesis accepted : check_per_step keeps d = true.
Theorem per_step_right word : is_word (table_automaton d) word ->
  model_decode K theta d (run_by K theta (per_step K theta rounds) d word) = Some (state_after (table_automaton d) word).
Proof.
  pose proof accepted as E. unfold check_per_step in E. apply andb_prop in E as [Zero E].
  apply (guarded_right K theta _ (fits_per_step keeps) d); [|exact numbers_right|exact E].
  intros h t c H. now apply per_step_exact.
Qed.
End PerStep.

(* ---- Per operation *)
Definition entry_at (a : entries Z) (i j : nat) : Z :=
  fold_right (fun e s => if (fst (fst e) =? i) && (snd (fst e) =? j) then Z.add (snd e) s else s) 0%Z a.
(* Column k of the matrix A of a transition *)
Definition weight_column (h : table_head Z) (t k : nat) : entries Z :=
  linear_sparse integers (linear_part (transitions h t)) [((k, 0), 1%Z)].
(* The largest absolute value of an entry of all codes *)
Definition code_sizes (h : table_head Z) : nat -> nat -> Z :=
  tabulate (rows h) (fun i => tabulate (columns h) (fun j =>
    fold_right (fun c s => Z.max (Z.abs (entry_at (codes h c) i j)) s) 0%Z (seq 0 (code_count h)))).
Definition transition_fits (most : Z) (h : table_head Z) (sizes : nat -> nat -> Z) (t : nat) : bool :=
  let weights := tabulate (rows h) (fun k =>
    let column := weight_column h t k in tabulate (rows h) (fun i => Z.abs (entry_at column i 0))) in
  all_below (rows h) (fun i => all_below (columns h) (fun j =>
    Z.leb (fold_right (fun k s => Z.add (Z.mul (weights k i) (sizes k j)) s)
      (Z.abs (entry_at (additive (transitions h t)) i j)) (seq 0 (rows h))) most)).
Definition fits_per_op (most : Z) (h : any_head) : nat -> nat -> bool :=
  match h with
  | FieldHead _ _ => fun _ _ => false
  | IntegerHead h =>
    let fit := tabulate (transition_count h) (transition_fits most h (code_sizes h)) in fun t _ => fit t
  end.
Definition check_per_op (most : Z) (d : table) : bool := check_guarded (fits_per_op most) d.

(* ---- Sums of integers, in any order *)
Definition total (zs : list (Z * Z)) : Z := fold_right (fun p s => Z.add (Z.mul (fst p) (snd p)) s) 0%Z zs.
Definition absolute (zs : list (Z * Z)) : Z := fold_right (fun p s => Z.add (Z.abs (Z.mul (fst p) (snd p))) s) 0%Z zs.
Definition sum_of (bs : list Z) : Z := fold_right Z.add 0%Z bs.
Definition absolute_of (bs : list Z) : Z := fold_right (fun b s => Z.add (Z.abs b) s) 0%Z bs.
Lemma total_app a b : total (a ++ b) = (total a + total b)%Z.
Proof. unfold total. induction a as [|p a IH]; cbn; [reflexivity|]. rewrite IH. ring. Qed.
Lemma absolute_app a b : absolute (a ++ b) = (absolute a + absolute b)%Z.
Proof. unfold absolute. induction a as [|p a IH]; cbn; [reflexivity|]. rewrite IH. ring. Qed.
Lemma sum_of_app a b : sum_of (a ++ b) = (sum_of a + sum_of b)%Z.
Proof. unfold sum_of. induction a as [|p a IH]; cbn; [reflexivity|]. rewrite IH. ring. Qed.
Lemma absolute_of_app a b : absolute_of (a ++ b) = (absolute_of a + absolute_of b)%Z.
Proof. unfold absolute_of. induction a as [|p a IH]; cbn; [reflexivity|]. rewrite IH. ring. Qed.
Lemma total_bound a : (Z.abs (total a) <= absolute a)%Z.
Proof. unfold total, absolute. induction a as [|p a IH]; cbn [fold_right]; lia. Qed.
Lemma sum_bound a : (Z.abs (sum_of a) <= absolute_of a)%Z.
Proof. unfold sum_of, absolute_of. induction a as [|p a IH]; cbn [fold_right]; lia. Qed.
Lemma total_permutation a b : Permutation a b -> total a = total b /\ absolute a = absolute b.
Proof.
  unfold total, absolute.
  induction 1 as [|p a b _ [IH1 IH2]|p q a|a b c _ [IH1 IH2] _ [IH3 IH4]]; cbn [fold_right]; [auto| | |now rewrite IH1, IH2, IH3, IH4].
  - now rewrite IH1, IH2.
  - split; ring.
Qed.
Lemma total_zero a : Forall (fun p => fst p = 0%Z) a -> total a = 0%Z /\ absolute a = 0%Z.
Proof.
  unfold total, absolute. induction 1 as [|p a E _ [IH1 IH2]]; cbn [fold_right]; [auto|]. rewrite E, IH1, IH2. split; reflexivity.
Qed.

Section PerOp.
Variables (K : rational_ring) (theta : list Z -> K) (rounds : K -> K) (most : Z).
Variable act : any_head -> nat -> matrix K -> matrix K.
Add Ring numbers_per_op : (laws K).
Hypothesis keeps_integers : forall z, (Z.abs z <= most)%Z -> rounds (integer K z) = integer K z.
Hypothesis per_op : is_per_op K theta rounds act.

Definition inject (p : Z * Z) : K * K := (integer K (fst p), integer K (snd p)).
Lemma tree_exact t : forall zs bs, products t = map inject zs -> biases t = map (integer K) bs ->
  (absolute zs + absolute_of bs <= most)%Z -> tree_value rounds t = integer K (total zs + sum_of bs).
Proof.
  induction t as [a h|b|l IHl r IHr|a h rest IH]; intros zs bs; cbn [products biases tree_value]; intros P B W.
  - destruct zs as [|[za zh] [|? ?]]; try discriminate. destruct bs; [|discriminate]. cbn in P. injection P as -> ->.
    cbn in W. rewrite <- integer_mul, keeps_integers by lia. f_equal. cbn. lia.
  - destruct zs; [|discriminate]. destruct bs as [|zb [|? ?]]; try discriminate. cbn in B. injection B as ->. cbn. f_equal. lia.
  - symmetry in P, B. apply map_eq_app in P as (z1 & z2 & -> & P1 & P2). apply map_eq_app in B as (b1 & b2 & -> & B1 & B2).
    rewrite absolute_app, absolute_of_app in W. pose proof (total_bound z1). pose proof (total_bound z2).
    pose proof (sum_bound b1). pose proof (sum_bound b2).
    rewrite (IHl z1 b1), (IHr z2 b2) by (auto; lia). rewrite <- integer_add, keeps_integers by lia.
    rewrite total_app, sum_of_app. f_equal. lia.
  - destruct zs as [|[za zh] zs]; [discriminate|]. cbn [map inject fst snd] in P. injection P as -> -> P.
    cbn [absolute fold_right fst snd] in W. fold (absolute zs) in W. pose proof (total_bound zs). pose proof (sum_bound bs).
    rewrite (IH zs bs) by (auto; lia). rewrite <- integer_mul, <- integer_add, keeps_integers by lia. f_equal.
    cbn [total fold_right fst snd]. fold (total zs). lia.
Qed.
Lemma comes_exactly zs b y : comes_of rounds (map inject zs) (integer K b) y -> (absolute zs + Z.abs b <= most)%Z ->
  y = integer K (total zs + b).
Proof.
  intros (t & left_out & P & Z & B & ->) W. apply Permutation_map_inv in P as (all & E & P).
  destruct (total_permutation _ _ P) as [Et Ea]. symmetry in E. apply map_eq_app in E as (used & unused & -> & E1 & E2).
  assert (Zu : Forall (fun p => fst p = 0%Z) unused).
  { rewrite <- E2 in Z. rewrite Forall_map in Z. eapply Forall_impl; [|exact Z]. intros p F. cbn in F.
    change (@zero K) with (integer K 0) in F. now apply integer_injective in F. }
  destruct (total_zero _ Zu) as [T0 A0]. rewrite total_app, T0 in Et. rewrite absolute_app, A0 in Ea.
  rewrite (tree_exact t used [b]); [|auto|exact B|cbn; lia]. f_equal. cbn. lia.
Qed.

(* ---- A transition is linear *)
Fixpoint sum_over (ks : list nat) (f : nat -> K) : K := match ks with [] => zero | k :: ks' => add (f k) (sum_over ks' f) end.
Lemma sum_over_add ks f g : sum_over ks (fun k => add (f k) (g k)) = add (sum_over ks f) (sum_over ks g).
Proof. induction ks as [|k ks IH]; cbn; [ring|]. rewrite IH. ring. Qed.
Lemma sum_over_mul ks x f : sum_over ks (fun k => mul x (f k)) = mul x (sum_over ks f).
Proof. induction ks as [|k ks IH]; cbn; [ring|]. rewrite IH. ring. Qed.
Lemma sum_over_ext ks f g : (forall k, f k = g k) -> sum_over ks f = sum_over ks g.
Proof. intros E. induction ks as [|k ks IH]; cbn; [reflexivity|]. now rewrite IH, E. Qed.
Lemma sum_over_zero ks : sum_over ks (fun _ => zero) = zero.
Proof. induction ks as [|k ks IH]; cbn; [reflexivity|]. rewrite IH. ring. Qed.

(* Column j of H is a combination of the first columns of matrices X k, with the numbers c k. *)
Definition combines (ks : list nat) (X : nat -> matrix K) (c : nat -> K) (H : matrix K) (j : nat) : Prop :=
  forall i, H i j = sum_over ks (fun k => mul (c k) (X k i 0)).
Lemma read_combines ks X c H j v : combines ks X c H j ->
  read_along K v H j = sum_over ks (fun k => mul (c k) (read_along K v (X k) 0)).
Proof.
  intros C. unfold read_along, sum. induction v as [|e v IH]; cbn [map fold_right].
  - symmetry. etransitivity; [|apply (sum_over_zero ks)]. apply sum_over_ext. intros k. ring.
  - rewrite IH, C, <- sum_over_mul, <- sum_over_add. apply sum_over_ext. intros k. ring.
Qed.
Lemma factor_combines ks X c H j f : combines ks X c H j ->
  combines ks (fun k => apply_factor K f (X k)) c (apply_factor K f H) j.
Proof.
  intros C i. unfold apply_factor. rewrite C, (read_combines _ _ _ _ _ _ C).
  set (x := mul (beta f) (coordinate K (key f) i)).
  transitivity (add (sum_over ks (fun k => mul (c k) (X k i 0)))
    (mul (opp x) (sum_over ks (fun k => mul (c k) (read_along K (reading f) (X k) 0))))); [ring|].
  rewrite <- sum_over_mul, <- sum_over_add. apply sum_over_ext. intros k. ring.
Qed.
Lemma factors_combine ks c j factors : forall X H, combines ks X c H j ->
  combines ks (fun k => fold_left (fun H f => apply_factor K f H) factors (X k)) c
    (fold_left (fun H f => apply_factor K f H) factors H) j.
Proof.
  induction factors as [|f factors IH]; intros X H C; [exact C|]. cbn [fold_left].
  apply (IH (fun k => apply_factor K f (X k))). now apply factor_combines.
Qed.
Lemma linear_combines ks X c H j l : combines ks X c H j ->
  combines ks (fun k => apply_linear K l (X k)) c (apply_linear K l H) j.
Proof.
  intros C. destruct l as [gate factors|weights]; cbn [apply_linear].
  - apply (factors_combine ks c j factors (fun k i j => mul gate (X k i j))).
    intros i. rewrite C, <- sum_over_mul. apply sum_over_ext. intros k. ring.
  - intros i. unfold apply_matrix, sum. induction weights as [|e weights IH]; cbn [map fold_right].
    + symmetry. etransitivity; [|apply (sum_over_zero ks)]. apply sum_over_ext. intros k. ring.
    + rewrite IH. destruct (fst (fst e) =? i).
      * rewrite C, <- sum_over_mul, <- sum_over_add. apply sum_over_ext. intros k. ring.
      * transitivity (sum_over ks (fun k => mul (c k) (fold_right add zero
          (map (fun e0 => if fst (fst e0) =? i then mul (snd e0) (X k (snd (fst e0)) 0) else zero) weights)))); [ring|].
        apply sum_over_ext. intros k. ring.
Qed.
Lemma units_combine n H j : (forall i, n <= i -> H i j = zero) ->
  combines (seq 0 n) (unit_column K) (fun k => H k j) H j.
Proof.
  intros Z i. assert (G : forall a, sum_over (seq a n) (fun k => mul (H k j) (unit_column K k i 0))
      = if (a <=? i) && (i <? a + n) then H i j else zero).
  { clear Z. induction n as [|n IH]; intros a; cbn [seq sum_over].
    - destruct (a <=? i) eqn:E1; destruct (i <? a + 0) eqn:E2; cbn; auto. apply Nat.leb_le in E1. apply Nat.ltb_lt in E2. lia.
    - rewrite IH. unfold unit_column. cbn [Nat.eqb andb]. rewrite andb_true_r. destruct (i =? a) eqn:E.
      + apply Nat.eqb_eq in E. subst i. replace (S a <=? a) with false by (symmetry; apply Nat.leb_gt; lia). cbn [andb].
        replace (a <=? a) with true by (symmetry; apply Nat.leb_le; lia).
        replace (a <? a + S n) with true by (symmetry; apply Nat.ltb_lt; lia). cbn [andb]. ring.
      + apply Nat.eqb_neq in E. replace (S a <=? i) with (a <=? i).
        * replace (i <? S a + n) with (i <? a + S n) by (f_equal; lia). ring.
        * destruct (a <=? i) eqn:E1; symmetry; [apply Nat.leb_le in E1; apply Nat.leb_le; lia|].
          apply Nat.leb_gt in E1. apply Nat.leb_gt. lia. }
  rewrite G. cbn [Nat.leb andb]. destruct (i <? 0 + n) eqn:E; [reflexivity|]. apply Nat.ltb_ge in E. apply Z. lia.
Qed.
Lemma weights_apply t n H i j : (forall i, n <= i -> H i j = zero) ->
  apply_linear K (linear_part t) H i j = sum_over (seq 0 n) (fun k => mul (H k j) (weight K t i k)).
Proof. intros Z. exact (linear_combines _ _ _ _ _ (linear_part t) (units_combine n H j Z) i). Qed.

(* ---- The numbers of a head of integers *)
Lemma entry_at_value a i j : meaning (A := integers) (integer K) a i j = integer K (entry_at a i j).
Proof.
  induction a as [|e a IH]; [reflexivity|]. rewrite (meaning_cons integers). cbn [entry_at fold_right]. fold (entry_at a i j).
  rewrite IH. destruct (_ && _); [now rewrite integer_add|ring].
Qed.
Lemma apply_linear_same l H H' : same H H' -> same (apply_linear K l H) (apply_linear K l H').
Proof.
  intros E i j. pose proof (apply_transition_same K (Transition l []) H H' E i j) as A. unfold apply_transition in A.
  cbn [linear_part additive] in A. unfold Semantics.entry, sum in A. cbn in A.
  transitivity (add (apply_linear K l H i j) zero); [ring|]. rewrite A. ring.
Qed.
Lemma weight_value h t i k :
  weight K (map_transition (integer K) (transitions h t)) i k = integer K (entry_at (weight_column h t k) i 0).
Proof.
  rewrite <- entry_at_value. unfold weight, weight_column, map_transition. cbn [linear_part].
  rewrite (linear_meaning integers K (integer K) (integers_represent K)). apply apply_linear_same. intros a b.
  rewrite (meaning_cons integers). cbn [fst snd]. unfold unit_column. rewrite (Nat.eqb_sym k a), (Nat.eqb_sym 0 b).
  change (meaning (A := integers) (integer K) [] a b) with (@zero K). destruct (_ && _); cbn; ring.
Qed.
Lemma sizes_bound h c i j : c < code_count h -> (Z.abs (entry_at (codes h c) i j) <= code_sizes h i j)%Z.
Proof.
  intros C. unfold code_sizes, tabulate. assert (I : In c (seq 0 (code_count h))) by (apply in_seq; lia).
  induction (seq 0 (code_count h)) as [|k ks IH]; [destruct I|]. cbn [fold_right]. destruct I as [->|I]; [lia|]. specialize (IH I). lia.
Qed.

Lemma integer_head_exact h t c H : any_right (IntegerHead h) = true -> fits_per_op most (IntegerHead h) t c = true ->
  holds K theta (IntegerHead h) c H -> any_landings (IntegerHead h) (any_images (IntegerHead h)) t c < code_count h ->
  same (act (IntegerHead h) t H)
    (code_matrix K theta (IntegerHead h) (any_landings (IntegerHead h) (any_images (IntegerHead h)) t c)).
Proof.
  intros R F Hc L i j. set (c' := any_landings _ _ t c) in *.
  destruct (landing_holds K theta (IntegerHead h) t c H I Hc L) as [_ Exact]. fold c' in Exact. destruct Hc as [C S].
  assert (Canonical : forall a, a < code_count h -> canonical_entries (A:=integers) (rows h) (columns h) (codes h a) = true).
  { intros a La. pose proof (all_below_spec _ _ R a La) as G. cbv beta in G. now apply andb_prop in G as [G _]. }
  destruct (per_op (IntegerHead h) t H i j) as [Inside Outside]. cbn [head_rows head_columns] in Inside, Outside.
  destruct (Nat.lt_ge_cases i (rows h)) as [Li|Li].
  2: { rewrite Outside by now left. symmetry. apply (meaning_outside integers K (integer K) _ _ _ i j (Canonical c' L)). now left. }
  destruct (Nat.lt_ge_cases j (columns h)) as [Lj|Lj].
  2: { rewrite Outside by now right. symmetry. apply (meaning_outside integers K (integer K) _ _ _ i j (Canonical c' L)). now right. }
  specialize (Inside Li Lj).
  set (zs := map (fun k => (entry_at (weight_column h t k) i 0, entry_at (codes h c) k j)) (seq 0 (rows h))).
  set (b := entry_at (additive (transitions h t)) i j).
  assert (Terms : map (fun k => (weight K (model_transition K theta (IntegerHead h) t) i k, H k j)) (seq 0 (rows h)) = map inject zs).
  { unfold zs. rewrite map_map. apply map_ext. intros k. unfold inject. cbn [fst snd model_transition].
    rewrite weight_value, (S k j). f_equal. exact (entry_at_value (codes h c) k j). }
  assert (Plus : Semantics.entry K (additive (model_transition K theta (IntegerHead h) t)) i j = integer K b)
    by exact (entry_at_value (additive (transitions h t)) i j).
  rewrite Terms, Plus in Inside.
  assert (Bound : (absolute zs + Z.abs b <= most)%Z).
  { cbn [fits_per_op] in F. unfold tabulate at 1 in F. unfold transition_fits, tabulate in F. cbv zeta in F.
    pose proof (all_below_spec _ _ (all_below_spec _ _ F i Li) j Lj) as G. cbv beta in G. apply Z.leb_le in G. fold b in G.
    refine (Z.le_trans _ _ _ _ G). unfold zs. clear -C.
    induction (seq 0 (rows h)) as [|k ks IH]; cbn [map absolute fold_right fst snd]; [lia|].
    fold (absolute (map (fun k => (entry_at (weight_column h t k) i 0, entry_at (codes h c) k j)) ks)).
    rewrite Z.abs_mul. pose proof (sizes_bound h c k j C). nia. }
  rewrite (comes_exactly zs b _ Inside Bound). rewrite <- (Exact i j). unfold apply_transition.
  rewrite (weights_apply _ (rows h) H i j).
  2: { intros a La. rewrite (S a j). apply (meaning_outside integers K (integer K) _ _ _ a j (Canonical c C)). now left. }
  rewrite Plus, integer_add. f_equal. unfold zs. clear -S. induction (seq 0 (rows h)) as [|k ks IH]; [reflexivity|].
  cbn [map total fold_right sum_over fst snd].
  fold (total (map (fun k => (entry_at (weight_column h t k) i 0, entry_at (codes h c) k j)) ks)).
  rewrite integer_add, integer_mul, IH. cbn [model_transition]. rewrite weight_value, (S k j).
  replace (code_matrix K theta (IntegerHead h) c k j) with (integer K (entry_at (codes h c) k j))
    by (symmetry; exact (entry_at_value (codes h c) k j)).
  ring.
Qed.
Lemma per_op_exact h t c H : any_right h = true -> fits_per_op most h t c = true -> holds K theta h c H ->
  any_landings h (any_images h) t c < any_count h -> same (act h t H) (code_matrix K theta h (any_landings h (any_images h) t c)).
Proof. destruct h as [h|m h]; intros R F Hc L; [|discriminate]. now apply integer_head_exact. Qed.

(* Rounded in each operation by one function, in whatever order, the layers follow the automaton. *)
Variable d : table.
Hypothesis numbers_right : Forall (fun l => Forall (fun h => numbers_of K theta (fst h)) (layer_heads l)) (table_layers d).
Hypothesis accepted : check_per_op most d = true.
Theorem per_op_right word : is_word (table_automaton d) word ->
  model_decode K theta d (run_by K theta act d word) = Some (state_after (table_automaton d) word).
Proof.
  apply (guarded_right K theta _ (fits_per_op most) d); [|exact numbers_right|exact accepted].
  intros h t c H _. now apply per_op_exact.
Qed.
End PerOp.
