(* A chain's linear RNN is a linear RNN in the sense of Semantics.v.

   ChainSemantics.v writes the linear RNN of a certificate of kind `chain` down on its own, with lists as columns.  Here are its layers once
   more, as layers of Semantics.v: each letter is a product of factors and an additive term, and a read-out makes the letter of the next
   layer from the letter and the new hidden state alone.  A letter between layers is (a, X, X'): the token, and the set of the level
   above before and after it.  So this is for chains without look-back (and so without gates), with a window or without.

   - `factor_stands`, `letter_stands`: columns that are lists, and matrices that are functions, are moved alike.
   - `levels_stand_step`, `token_stands`: so are all layers on a token.
   - `chain_is_layers`: over every ring that contains the rational numbers, if the checker accepts the certificate, then the layers
     `chain_layers` follow the automaton in the sense of Semantics.v. *)
Require Import List Arith Bool Lia Ring PArith. Import ListNotations.
From Mirrormata Require Import Semantics.
From Mirrormata Require Import ChainSemantics ChainSets ChainFactors ChainLevels ChainWindow ChainRun ChainCheck ChainFollows ChainForms.

Section Bridge.
Variable K : Semantics.rational_ring.
Notation zero := (@Semantics.zero K).
Notation one := (@Semantics.one K).
Notation add := (@Semantics.add K).
Notation mul := (@Semantics.mul K).
Notation opp := (@Semantics.opp K).
Notation sub := (fun x y => @Semantics.add K x (@Semantics.opp K y)).
Notation nonzero := (is_nonzero K).
Add Ring numbers_of_layers : (Semantics.laws K).
Notation matrix := (Semantics.matrix K).
Notation sum := (Semantics.sum K).
Notation dot := (ChainSemantics.dot K zero add mul).
Notation apply_factor := (ChainSemantics.apply_factor K zero add mul sub).
Notation apply_step := (ChainSemantics.apply_step K zero add mul sub).
Notation entry i v := (nth i v zero).

(* ---- A column is a list of numbers; its entries with their rows; a factor whose key is such a list; what is added to columns. *)
Definition sparse (v : list K) : Semantics.vector K := combine (seq 0 (length v)) v.
Definition layer_factor (f : K * list K) : Semantics.factor K := Semantics.Factor (fst f) (sparse (snd f)) (sparse (snd f)).
Fixpoint added_from (j : nat) (columns : list (list K)) : Semantics.entries K :=
  match columns with [] => [] | v :: rest => map (fun e => ((fst e, j), snd e)) (sparse v) ++ added_from (S j) rest end.
Definition letter (factors : list (K * list K)) (columns : list (list K)) : Semantics.transition K :=
  Semantics.Transition (Semantics.Factors one (map layer_factor factors)) (added_from 0 columns).
(* The matrix with these columns, 0 outside of them. *)
Definition matrix_of (columns : list (list K)) : matrix := fun i j => entry i (nth j columns []).
Definition stands (columns : list (list K)) (H : matrix) : Prop := forall i j, H i j = matrix_of columns i j.

Lemma sum_app a b : sum (a ++ b) = add (sum a) (sum b).
Proof. induction a as [|x a IH]; simpl; [ring |]. unfold Semantics.sum in *. simpl. rewrite IH. ring. Qed.
Lemma coordinate_from v i : forall s, sum (map (fun e => if fst e =? i then snd e else zero) (combine (seq s (length v)) v))
  = if i <? s then zero else entry (i - s) v.
Proof.
  induction v as [|x v IH]; intros s; simpl; [destruct (i <? s); destruct (i - s); easy |].
  unfold Semantics.sum in *. simpl. rewrite IH. destruct (s =? i) eqn:E.
  - apply Nat.eqb_eq in E. subst. rewrite (proj2 (Nat.ltb_lt i (S i))) by lia. rewrite (proj2 (Nat.ltb_ge i i)) by lia.
    rewrite Nat.sub_diag. ring.
  - apply Nat.eqb_neq in E. destruct (i <? s) eqn:L; [apply Nat.ltb_lt in L | apply Nat.ltb_ge in L].
    + rewrite (proj2 (Nat.ltb_lt i (S s))) by lia. ring.
    + rewrite (proj2 (Nat.ltb_ge i (S s))) by lia. replace (i - s) with (S (i - S s)) by lia. ring.
Qed.
Lemma coordinate_sparse v i : Semantics.coordinate K (sparse v) i = entry i v.
Proof. unfold Semantics.coordinate, sparse. rewrite coordinate_from. simpl. now rewrite Nat.sub_0_r. Qed.
Lemma read_from g v : forall s, sum (map (fun e => mul (snd e) (g (fst e))) (combine (seq s (length v)) v)) = dot v (map g (seq s (length v))).
Proof. induction v as [|x v IH]; intros s; simpl; [easy |]. unfold Semantics.sum in *. simpl. now rewrite IH. Qed.
Lemma map_entries (h : list K) : map (fun i => entry i h) (seq 0 (length h)) = h.
Proof.
  assert (G : forall s l, map (fun i => entry (i - s) l) (seq s (length l)) = l).
  { intros s l. revert s. induction l as [|x l IH]; intros s; simpl; [easy |]. rewrite Nat.sub_diag. f_equal.
    rewrite <- (IH (S s)) at 2. apply map_ext_in. intros i H. apply in_seq in H. now replace (i - s) with (S (i - S s)) by lia. }
  rewrite <- (G 0 h) at 2. apply map_ext. intros i. now rewrite Nat.sub_0_r.
Qed.
Lemma read_sparse v h (H : matrix) j : length h = length v -> (forall i, H i j = entry i h) ->
  Semantics.read_along K (sparse v) H j = dot v h.
Proof.
  intros L E. unfold Semantics.read_along, sparse. rewrite (read_from (fun i => H i j)), <- L. f_equal.
  rewrite (map_ext _ (fun i => entry i h)) by exact E. apply map_entries.
Qed.
Lemma read_nothing v (H : matrix) j : (forall i, H i j = zero) -> Semantics.read_along K (sparse v) H j = zero.
Proof.
  intros E. unfold Semantics.read_along. induction (sparse v) as [|e l IH]; simpl; [easy |].
  unfold Semantics.sum in *. simpl. rewrite IH, E. ring.
Qed.

(* One factor on all columns, of p entries each. *)
Lemma factor_stands p columns f H : Forall (fun h => length h = p) columns -> length (snd f) = p -> stands columns H ->
  stands (map (fun h => apply_factor h f) columns) (Semantics.apply_factor K (layer_factor f) H).
Proof.
  intros L Lf S i j. unfold Semantics.apply_factor, layer_factor, matrix_of. cbn [Semantics.beta Semantics.key Semantics.reading].
  rewrite coordinate_sparse. destruct (Nat.lt_ge_cases j (length columns)) as [J | J].
  - assert (Lj : length (nth j columns []) = p) by (apply (proj1 (Forall_forall _ _) L), nth_In, J).
    rewrite (read_sparse (snd f) (nth j columns []) H j) by (congruence || (intros r; apply S)).
    rewrite (nth_indep (map (fun h => apply_factor h f) columns) [] (apply_factor [] f)) by now rewrite map_length.
    rewrite (map_nth (fun h => apply_factor h f)). rewrite (S i j). unfold matrix_of, ChainSemantics.apply_factor. cbv zeta.
    destruct (Nat.lt_ge_cases i p) as [I | I].
    + rewrite (nth_map2 K K K (fun x y => add y (opp (mul (mul (fst f) (dot (snd f) (nth j columns []))) x))) (snd f) (nth j columns []) i zero zero)
        by (congruence || lia). ring.
    + rewrite (nth_overflow (nth j columns [])), (nth_overflow (snd f)) by lia.
      rewrite (nth_overflow (map2 K K K _ (snd f) (nth j columns []))) by (rewrite length_map2 by congruence; lia). ring.
  - assert (Z : forall r, H r j = zero).
    { intros r. rewrite (S r j). unfold matrix_of. rewrite (nth_overflow columns) by lia. now destruct r. }
    rewrite read_nothing by exact Z. rewrite (Z i). rewrite (nth_overflow (map (fun h => apply_factor h f) columns)); [| rewrite map_length; exact J].
    replace (nth i [] zero) with zero by now destruct i. ring.
Qed.

Lemma length_apply_factor p h f : length h = p -> length (snd f) = p -> length (apply_factor h f) = p.
Proof. intros L Lf. unfold ChainSemantics.apply_factor. cbv zeta. rewrite length_map2; [exact L | exact (eq_trans Lf (eq_sym L))]. Qed.
Lemma factors_stand p fs : Forall (fun f => length (snd f) = p) fs -> forall columns H,
  Forall (fun h => length h = p) columns -> stands columns H ->
  stands (map (fun h => fold_left apply_factor fs h) columns)
    (fold_left (fun H f => Semantics.apply_factor K f H) (map layer_factor fs) H).
Proof.
  induction fs as [|f fs IH]; intros Lf columns H L S; [simpl; now rewrite map_id |].
  assert (F := Forall_inv Lf). assert (Fs := Forall_inv_tail Lf). simpl.
  rewrite <- (map_map (fun h => apply_factor h f) (fun h => fold_left apply_factor fs h)).
  apply IH; [easy | | now apply (factor_stands p)].
  apply Forall_forall. intros h I. apply in_map_iff in I. destruct I as [h' [<- I]].
  apply length_apply_factor; [now apply (proj1 (Forall_forall _ _) L) | easy].
Qed.

Lemma entry_sparse j' v i j : forall s, sum (map (fun e => if ((fst (fst e) =? i) && (snd (fst e) =? j))%bool then snd e else zero)
    (map (fun e => ((fst e, j'), snd e)) (combine (seq s (length v)) v)))
  = if j' =? j then (if i <? s then zero else entry (i - s) v) else zero.
Proof.
  intros s. rewrite map_map. cbn [fst snd]. destruct (j' =? j) eqn:J.
  - rewrite <- coordinate_from. f_equal. apply map_ext. intros e. now rewrite andb_true_r.
  - induction (combine (seq s (length v)) v) as [|e l IH]; [easy |]. unfold Semantics.sum in *. simpl. rewrite IH, andb_false_r. ring.
Qed.
Lemma added_entry columns i j : forall s, Semantics.entry K (added_from s columns) i j = if j <? s then zero else matrix_of columns i (j - s).
Proof.
  induction columns as [|v columns IH]; intros s; simpl.
  - unfold matrix_of. destruct (j <? s); [easy |]. destruct (j - s); now destruct i.
  - unfold Semantics.entry in *. rewrite map_app, sum_app, IH. unfold sparse. rewrite entry_sparse. simpl. rewrite Nat.sub_0_r.
    destruct (Nat.eqb_spec s j) as [-> | N].
    + rewrite (proj2 (Nat.ltb_lt j (S j))), (proj2 (Nat.ltb_ge j j)) by lia. unfold matrix_of. rewrite Nat.sub_diag. simpl. ring.
    + destruct (j <? s) eqn:L; [apply Nat.ltb_lt in L | apply Nat.ltb_ge in L].
      * rewrite (proj2 (Nat.ltb_lt j (S s))) by lia. ring.
      * rewrite (proj2 (Nat.ltb_ge j (S s))) by lia. unfold matrix_of. replace (j - s) with (S (j - S s)) by lia. simpl. ring.
Qed.

(* A letter on all columns. *)
Lemma letter_stands p fs added columns H : Forall (fun f => length (snd f) = p) fs -> length added = length columns ->
  Forall (fun h => length h = p) added -> Forall (fun h => length h = p) columns -> stands columns H ->
  stands (map2 (list K) (list K) (list K) (fun b h => apply_step one fs b h) added columns) (Semantics.apply_transition K (letter fs added) H).
Proof.
  intros Lf E La L S i j. unfold Semantics.apply_transition, letter. cbn [Semantics.linear_part Semantics.additive Semantics.apply_linear].
  assert (S1 : stands columns (fun i j => mul one (H i j))) by (intros r c; rewrite <- (S r c); ring).
  rewrite (factors_stand p fs Lf columns _ L S1 i j), added_entry. simpl. rewrite Nat.sub_0_r. unfold matrix_of.
  destruct (Nat.lt_ge_cases j (length columns)) as [J | J].
  - rewrite (nth_map2 (list K) (list K) (list K) _ added columns j [] [] []) by lia.
    rewrite (nth_indep (map (fun h => fold_left apply_factor fs h) columns) [] (fold_left apply_factor fs [])) by now rewrite map_length.
    rewrite (map_nth (fun h => fold_left apply_factor fs h)).
    assert (Lj : length (nth j columns []) = p) by (apply (proj1 (Forall_forall _ _) L), nth_In, J).
    assert (Bj : length (nth j added []) = p) by (apply (proj1 (Forall_forall _ _) La), nth_In; lia).
    unfold ChainSemantics.apply_step. rewrite (scale_one K zero one add mul sub opp (Semantics.laws K)).
    assert (Fj : length (fold_left apply_factor fs (nth j columns [])) = p).
    { clear -Lf Lj. revert Lj. generalize (nth j columns []). induction fs as [|f fs IH]; intros h Lh; [easy |]. simpl.
      apply IH; [now apply Forall_inv_tail in Lf |]. apply length_apply_factor; [easy | now apply Forall_inv in Lf]. }
    destruct (Nat.lt_ge_cases i p) as [I | I].
    + now rewrite (nth_map2 K K K add (fold_left apply_factor fs (nth j columns [])) (nth j added []) i zero zero zero) by lia.
    + rewrite (nth_overflow (fold_left apply_factor fs (nth j columns []))), (nth_overflow (nth j added [])) by lia.
      rewrite (nth_overflow (map2 K K K _ (fold_left apply_factor fs (nth j columns [])) _)) by (rewrite length_map2 by congruence; lia). ring.
  - rewrite (nth_overflow (map (fun h => fold_left apply_factor fs h) columns)); [| rewrite map_length; exact J].
    rewrite (nth_overflow added); [| rewrite E; exact J].
    rewrite (nth_overflow (map2 _ _ _ _ added columns)); [| rewrite length_map2; [exact J | exact E]].
    replace (nth i [] zero) with zero by now destruct i. ring.
Qed.
(* ---- The layers.  A letter between them: the token, and the set of the level above before and after it. *)
Definition between := (nat * list nat * list nat)%type.
Section Layers.
Variables (n : nat) (delta : list (list nat)) (q0 : nat).
Variables (window : option nat) (bits rows top_size : nat) (ls : list chain_level).
Notation row := (ChainSemantics.row delta).
Notation level_step := (level_step K zero one add mul sub n sorting_swaps (beta_of K) false).
Notation read_after := (ChainSemantics.read_after K nonzero).
Notation read_before := (ChainSemantics.read_before K zero nonzero n false).
Notation levels_step := (ChainSemantics.levels_step K zero one add mul sub nonzero n sorting_swaps (beta_of K) false false).
Notation indicator := (ChainSemantics.indicator K zero one).
Notation zeros := (ChainSemantics.zeros K zero).
Notation token := (ChainSemantics.token K zero one add mul sub nonzero n sorting_swaps (beta_of K) false false delta q0 bits rows window top_size ls).
Notation run := (ChainSemantics.run K zero one add mul sub nonzero n sorting_swaps (beta_of K) false false delta q0 bits rows window top_size ls).
Notation start := (ChainSemantics.start K zero one nonzero n delta q0 bits rows window top_size ls).
Notation decode := (ChainSemantics.decode K zero nonzero n delta q0 rows window top_size ls).
Notation top_after := (ChainSemantics.top_after K zero nonzero n delta q0 rows window top_size).
Notation top_before := (ChainSemantics.top_before K zero nonzero n false delta q0 rows window top_size).

(* p entries of k columns of a matrix. *)
Definition columns_of (p k : nat) (H : matrix) : list (list K) := map (fun j => map (fun i => H i j) (seq 0 p)) (seq 0 k).
Definition dimension (l : chain_level) : nat := if keeps l then size l + size l else size l.
Definition level_added (l : chain_level) (f X X' : list nat) : list K :=
  let Z := indicator X' (target n f X X' (next l)) in
  if permutes n f X X' then zeros (dimension l) else if keeps l then Z ++ zeros (size l) else Z.
Definition level_head (l : chain_level) : Semantics.head K between := fun t => let '(a, X, X') := t in
  letter (level_factors K zero one sub sorting_swaps (beta_of K) n false l (row a) X X') [level_added l (row a) X X'].
(* What a level tells the next one: its sets before and after the token, read off its new state. *)
Definition level_says (l : chain_level) (t : between) (Hs : list matrix) : between := let '(a, X, X') := t in
  let h := match Hs with H :: _ => hd [] (columns_of (dimension l) 1 H) | [] => [] end in
  (a, read_before l (row a) X X' [] h, read_after l X' h).
Definition level_layer (l : chain_level) : Semantics.layer K between := Semantics.Layer [level_head l] (level_says l).

(* The register, and the sets that it tells. *)
Definition register_head : Semantics.head K between := fun t => let '(a, _, _) := t in
  if moves n delta a then
    letter (projection K zero one rows (rows - 1) :: map (fun j => swap K zero one sub rows j (S j)) (rev (seq 0 (rows - 1))))
      (map (fun c => vector_of K rows (fun x => if (x =? 0) && bit (number n delta a) c then one else zero)) (seq 0 bits))
  else letter [] [].
Definition register_says (t : between) (Hs : list matrix) : between := let '(a, _, _) := t in
  let m := (match Hs with H :: _ => columns_of rows bits H | [] => [] end, []) in (a, top_before a ([], []) m, top_after m).
Definition layers : list (Semantics.layer K between) :=
  (match window with None => [] | Some _ => [Semantics.Layer [register_head] register_says] end) ++ map level_layer ls.
Definition first_letter (a : nat) : between := (a, seq 0 n, seq 0 n).
Definition begin : Semantics.hidden K :=
  (match window with None => [] | Some _ => [[matrix_of (fst start)]] end) ++ map (fun h => [matrix_of [h]]) (snd start).

(* The state that is read off the matrices, column by column. *)
Fixpoint levels_memory (ls : list chain_level) (state : Semantics.hidden K) : list (list K) :=
  match ls, state with
  | l :: ls', Hs :: state' => match Hs with H :: _ => hd [] (columns_of (dimension l) 1 H) | [] => [] end :: levels_memory ls' state'
  | _, _ => []
  end.
Definition memory_of (state : Semantics.hidden K) : memory K :=
  match window with
  | None => ([], levels_memory ls state)
  | Some _ => (match state with (H :: _) :: _ => columns_of rows bits H | _ => [] end, levels_memory ls (tl state))
  end.
Definition decoded (state : Semantics.hidden K) : option nat := match decode (memory_of state) with [q] => Some q | _ => None end.

(* ---- The proof: matrices stand for the columns of ChainSemantics.v. *)
Lemma columns_back p k columns H : length columns = k -> Forall (fun h => length h = p) columns -> stands columns H -> columns_of p k H = columns.
Proof.
  intros <- L S. unfold columns_of. transitivity (map (fun j => nth j columns []) (seq 0 (length columns))).
  - apply map_ext_in. intros j I. apply in_seq in I. rewrite (map_ext _ (fun i => entry i (nth j columns []))) by (intros i; apply S).
    replace p with (length (nth j columns [])) by (apply (proj1 (Forall_forall _ _) L), nth_In; lia). apply map_entries.
  - clear. induction columns as [|v columns IH]; [easy |]. simpl. f_equal. rewrite <- seq_shift, map_map. exact IH.
Qed.
Lemma level_letter l f X X' h : level_step l f X X' h
  = apply_step one (level_factors K zero one sub sorting_swaps (beta_of K) n false l f X X') (level_added l f X X') h.
Proof. unfold ChainSemantics.level_step, level_factors, level_added, dimension. now destruct (permutes n f X X'), (keeps l). Qed.
Lemma level_keys l f X X' : Forall (fun b => length (snd b) = dimension l) (level_factors K zero one sub sorting_swaps (beta_of K) n false l f X X').
Proof.
  apply Forall_forall. intros b I. unfold level_factors in I. fold (dimension l) in I.
  assert (P : forall s, In b (map (projection K zero one (dimension l)) s) -> length (snd b) = dimension l).
  { intros s H. apply in_map_iff in H. destruct H as [i [<- _]]. apply length_vector_of. }
  assert (Q : forall (A : Type) (g g' : A -> nat) s, In b (map (fun x => swap K zero one sub (dimension l) (g x) (g' x)) s) -> length (snd b) = dimension l).
  { intros A g g' s H. apply in_map_iff in H. destruct H as [i [<- _]]. apply length_vector_of. }
  destruct (permutes n f X X'); [now apply Q in I |]. unfold dimension in *. destruct (keeps l); [| now apply P in I].
  apply in_app_iff in I. destruct I as [I | I]; [now apply P in I | now apply Q in I].
Qed.
Lemma level_added_length l f X X' : length X' = size l -> length (level_added l f X X') = dimension l.
Proof.
  intros L. unfold level_added, dimension. destruct (permutes n f X X'), (keeps l); rewrite ?app_length, ?length_zeros, ?length_indicator; lia.
Qed.

Fixpoint levels_stand (ls : list chain_level) (hs : list (list K)) (state : Semantics.hidden K) : Prop :=
  match ls, hs, state with
  | [], [], [] => True
  | l :: ls', h :: hs', Hs :: state' => (exists H, Hs = [H] /\ length h = dimension l /\ stands [h] H) /\ levels_stand ls' hs' state'
  | _, _, _ => False
  end.
Lemma levels_back : forall ls hs state, levels_stand ls hs state -> levels_memory ls state = hs.
Proof.
  induction ls0 as [|l ls' IH]; intros [|h hs] [|Hs state]; try easy. intros [[H [-> [L S]]] R].
  cbn [levels_memory].
  rewrite (columns_back (dimension l) 1 [h] H) by (easy || now constructor). cbn [hd]. f_equal. now apply IH.
Qed.
Lemma step_fst (l : Semantics.layer K between) layers t Hs state :
  fst (Semantics.step K between (l :: layers) t (Hs :: state))
  = let new := Semantics.lead K between (Semantics.heads l) t Hs in
    new :: fst (Semantics.step K between layers (Semantics.read_out l t new) state).
Proof. simpl. now destruct (Semantics.step K between layers _ state). Qed.

Notation laws := (Semantics.laws K).
Notation nz := (zero_not_nonzero K).
Notation n1 := (one_nonzero K).
Lemma levels_stand_step a : a < length delta -> forall ls p X X' Ys hs state,
  falling false p ls -> all_tell_below n delta false ls -> length X = p -> length X' = p -> NoDup X -> NoDup X' -> into n (row a) X X' ->
  valid ls X Ys -> fits n (row a) X X' ls Ys -> holds K zero one ls X Ys hs -> levels_stand ls hs state ->
  levels_stand ls (levels_step ls (row a) X X' hs) (fst (Semantics.step K between (map level_layer ls) (a, X, X') state)).
Proof.
  intros A. induction ls0 as [|l ls' IH]; intros p X X' [|Y Ys] [|h hs] [|Hs state] F T LX LX' DX DX' I V G H S; try easy.
  destruct S as [[M [-> [Lh Sh]]] Ss]. cbn [map]. rewrite step_fst. cbn [level_layer Semantics.heads Semantics.read_out Semantics.lead].
  simpl in F, V, G, H. destruct F as [Sz [N [gate F]]], V as [P [LY V]], G as [room G], H as [[tail [Eh Lt]] H].
  assert (same : length X' = length X) by congruence. rewrite <- Sz in LX, LX'. assert (less_size : next l < size l) by lia.
  set (new := Semantics.apply_transition K (level_head l (a, X, X')) M).
  assert (St : stands [level_step l (row a) X X' h] new).
  { rewrite level_letter. apply (letter_stands (dimension l) _ [level_added l (row a) X X'] [h] M); try easy;
      [apply level_keys | constructor; [now apply level_added_length | easy] | now constructor]. }
  destruct (level_step_ok K zero one add mul sub opp laws n sorting_swaps (beta_of K) false sorting_swaps_ok l (row a) X X' Y
    LX LX' DX' I LY less_size h tail Eh Lt gate) as [tail' [E [Lt' _]]].
  assert (Ln : length (level_step l (row a) X X' h) = dimension l).
  { rewrite E, app_length, length_indicator. unfold dimension. destruct (keeps l); lia. }
  cbn [ChainSemantics.levels_step levels_stand]. split; [exists new; split; [easy | split; [exact Ln | exact St]] |].
  cbn [level_says]. rewrite (columns_back (dimension l) 1 [level_step l (row a) X X' h] new) by (easy || now constructor). cbn [hd].
  change (read_before l (row a) X X' [] (level_step l (row a) X X' h)) with (read_before l (row a) X X' h (level_step l (row a) X X' h)).
  destruct ls' as [|l2 ls']; [now destruct Ys, hs, state |]. destruct T as [T Ts].
  rewrite (read_after_ok K zero one add mul sub opp nonzero laws nz n1 n sorting_swaps (beta_of K) false sorting_swaps_ok
    l (row a) X X' Y LX LX' DX' I LY less_size h tail Eh Lt gate).
  rewrite (read_before_ok K zero one add mul sub opp nonzero laws nz n1 n sorting_swaps (beta_of K) false false
    sorting_swaps_ok l (row a) X X' Y LX LX' DX' I P LY less_size h tail Eh Lt gate)
    by (now apply (tells_reads n delta false) with (a := a)).
  rewrite <- LY in *. assert (less : length Y < length X) by lia.
  apply (IH (length Y) _ _ Ys); try easy.
  - now apply next_set_length.
  - now apply (part_NoDup Y X).
  - apply (part_NoDup _ X'); [apply next_set_part | easy].
  - intros x Hx L. now apply next_set_into.
Qed.

Lemma map2_mapped (A B C D : Type) (g : A -> B) (f : B -> C -> D) l k :
  map2 B C D f (map g l) k = map2 A C D (fun x y => f (g x) y) l k.
Proof. revert k. induction l as [|x l IH]; intros [|y k]; simpl; try easy. now rewrite IH. Qed.
Lemma register_stands a X X' columns H : length columns = bits -> Forall (fun h => length h = rows) columns -> stands columns H ->
  stands (ChainSemantics.register_step K zero one add mul sub n delta bits rows a columns)
    (Semantics.apply_transition K (register_head (a, X, X')) H).
Proof.
  intros L Lh S. unfold ChainSemantics.register_step. cbn [register_head]. destruct (moves n delta a).
  - rewrite <- (map2_mapped nat (list K) (list K) (list K)
      (fun c => vector_of K rows (fun x => if (x =? 0) && bit (number n delta a) c then one else zero))).
    apply (letter_stands rows); try easy.
    + constructor; [apply length_vector_of |]. apply Forall_forall. intros f I. apply in_map_iff in I. destruct I as [j [<- _]].
      apply length_vector_of.
    + now rewrite map_length, seq_length.
    + apply Forall_forall. intros b I. apply in_map_iff in I. destruct I as [c [<- _]]. apply length_vector_of.
  - intros i j. rewrite <- (S i j). unfold Semantics.apply_transition, Semantics.entry. simpl. unfold Semantics.sum. simpl. ring.
Qed.

Hypothesis rows_ok : forall a, a < length delta -> length (row a) = n /\ forall q, q < n -> image (row a) q < n.
Hypothesis start_ok : q0 < n.
Hypothesis levels_fall : falling false top_size ls.
Hypothesis levels_tell : all_tell_below n delta false ls.
Hypothesis window_ok : match window with
  | None => top_size = n
  | Some m => 1 <= m /\ leaves n delta m top_size /\ m <= rows /\ (ls <> [] -> false = true \/ rows = S m) /\ length (maps n delta) < 2 ^ bits
  end.
Notation top := (ChainRun.top n delta q0 window top_size).
Notation held := (ChainRun.held K zero one n delta window bits rows).
Notation state_after := (ChainSemantics.state_after delta).
Variable Inv : list nat -> list (list nat) -> Prop.
Hypothesis Inv_start : Inv [] (start_sets q0 ls (top [])).
Hypothesis Inv_step : forall w a Ys, word delta (w ++ [a]) -> Inv w Ys -> valid ls (top w) Ys ->
  fits n (row a) (top w) (top (w ++ [a])) ls Ys /\ Inv (w ++ [a]) (next_sets n (row a) (top w) (top (w ++ [a])) ls Ys).

Definition memory_stands (m : memory K) (state : Semantics.hidden K) : Prop :=
  match window with
  | None => fst m = [] /\ levels_stand ls (snd m) state
  | Some _ => exists H rest, state = [H] :: rest /\ length (fst m) = bits /\ Forall (fun h => length h = rows) (fst m)
      /\ stands (fst m) H /\ levels_stand ls (snd m) rest
  end.
Lemma memory_back m state : memory_stands m state -> memory_of state = m.
Proof.
  unfold memory_stands, memory_of. destruct m as [r hs]. cbn [fst snd]. destruct window.
  - intros [H [rest [-> [L [Lh [S R]]]]]]. cbn [tl]. now rewrite (columns_back rows bits r H L Lh S), (levels_back ls hs rest R).
  - intros [-> R]. now rewrite (levels_back ls hs state R).
Qed.
Lemma held_lengths w m : window = Some m -> length (held w) = bits /\ Forall (fun h => length h = rows) (held w).
Proof.
  intros E. unfold ChainRun.held. rewrite E. unfold register. split; [now rewrite map_length, seq_length |].
  apply Forall_forall. intros h I. apply in_map_iff in I. destruct I as [c [<- _]]. apply length_vector_of.
Qed.
Lemma before_any a h h2 h' : top_before a h h' = top_before a h2 h'.
Proof. unfold ChainSemantics.top_before. now destruct window. Qed.

(* All layers on a token. *)
Lemma token_stands w a state : word delta (w ++ [a]) -> memory_stands (run w) state ->
  memory_stands (run (w ++ [a])) (fst (Semantics.step K between layers (first_letter a) state)).
Proof.
  intros W S. assert (Ww := proj1 (proj1 (Forall_app _ _ _) W)).
  assert (A := Forall_inv (proj2 (proj1 (Forall_app _ _ _) W))).
  destruct (run_ok K zero one add mul sub opp nonzero laws nz n1 sorting_swaps (beta_of K) sorting_swaps_ok n delta q0 false false
    rows_ok start_ok window bits rows top_size ls levels_fall levels_tell window_ok Inv Inv_start Inv_step w Ww)
    as [Ys [H1 [H2 [H3 [H4 _]]]]].
  destruct (Inv_step w a Ys W H1 H2) as [G _].
  rewrite (run_last K zero one add mul sub nonzero sorting_swaps (beta_of K) n delta q0 false false window bits rows top_size ls).
  rewrite (token_ok K zero one add mul sub opp nonzero laws nz n1 sorting_swaps (beta_of K) n delta q0 false false start_ok
    window bits rows top_size ls levels_fall levels_tell window_ok Inv Inv_start Inv_step w a (run w) W H3).
  destruct (top_ok K (beta_of K) n delta q0 false false start_ok window bits rows top_size ls levels_fall window_ok w Ww) as [L D].
  destruct (top_ok K (beta_of K) n delta q0 false false start_ok window bits rows top_size ls levels_fall window_ok _ W) as [L' D'].
  assert (T := top_into K (beta_of K) n delta q0 false rows_ok start_ok window bits rows top_size ls window_ok w a W).
  assert (Step : forall Hs, levels_stand ls (snd (run w)) Hs -> levels_stand ls
    (levels_step ls (row a) (top w) (top (w ++ [a])) (snd (run w)))
    (fst (Semantics.step K between (map level_layer ls) (a, top w, top (w ++ [a])) Hs))).
  { intros Hs R. now apply (levels_stand_step a A ls top_size _ _ Ys). }
  assert (HN := held_next K zero one add mul sub opp laws n delta q0 false start_ok window bits rows top_size ls window_ok w a).
  assert (HL := held_lengths (w ++ [a])).
  assert (TA := top_after_ok K zero one nonzero nz n1 n delta q0 false start_ok window bits rows top_size ls window_ok _ [] W).
  assert (TB : ls <> [] -> top_before a (held w, []) (held (w ++ [a]), []) = top w).
  { intros Ne. apply (top_before_ok K zero one nonzero nz n1 n delta q0 false start_ok window bits rows top_size ls window_ok); [easy |].
    intros Nw. destruct window as [m|]; [| easy]. apply window_ok. exact Ne. }
  assert (TN : window = None -> (a, top w, top (w ++ [a])) = first_letter a).
  { intros E. unfold ChainRun.top. now rewrite E. }
  rewrite (before_any a _ ([], [])) in TB. rewrite <- H3 in HN. revert S HN HL TA TB TN Step.
  unfold memory_stands, layers, register_says. cbn [fst snd].
  generalize (held (w ++ [a])) (top w) (top (w ++ [a])). intros r' X X' S HN HL TA TB TN Step.
  destruct window as [m|].
  - destruct S as [H [rest [-> [Lr [Lh [Sr R]]]]]]. destruct (HL m eq_refl) as [Lr' Lh']. cbn [app]. rewrite step_fst.
    cbn [Semantics.heads Semantics.read_out Semantics.lead]. set (new := Semantics.apply_transition K (register_head (first_letter a)) H).
    assert (Sn : stands r' new) by (rewrite <- HN; now apply register_stands).
    eexists new, _. split; [reflexivity |]. split; [exact Lr' |]. split; [exact Lh' |]. split; [exact Sn |].
    cbn [first_letter]. rewrite (columns_back rows bits r' new Lr' Lh' Sn), TA.
    destruct ls as [|l ls'] eqn:El; [now destruct (snd (run w)), rest |]. rewrite TB by easy. now apply Step.
  - destruct S as [E R]. cbn [app]. split; [now rewrite <- HN |]. rewrite <- (TN eq_refl). now apply Step.
Qed.

Lemma holds_stand : forall ls p X Ys hs, falling false p ls -> length X = p -> valid ls X Ys -> holds K zero one ls X Ys hs ->
  levels_stand ls hs (map (fun h => [matrix_of [h]]) hs).
Proof.
  induction ls0 as [|l ls' IH]; intros p X [|Y Ys] [|h hs] F L V H; simpl in *; try easy.
  destruct F as [S [_ [_ F]]], V as [_ [LY V]], H as [[tail [-> Lt]] H]. split.
  - eexists. split; [reflexivity |]. split; [| easy]. rewrite app_length, length_indicator. unfold dimension. destruct (keeps l); lia.
  - now apply (IH (next l) Y Ys).
Qed.
Lemma begin_stands : memory_stands (run []) begin.
Proof.
  destruct (run_ok K zero one add mul sub opp nonzero laws nz n1 sorting_swaps (beta_of K) sorting_swaps_ok n delta q0 false false
    rows_ok start_ok window bits rows top_size ls levels_fall levels_tell window_ok Inv Inv_start Inv_step [] (Forall_nil _))
    as [Ys [_ [H2 [H3 [H4 _]]]]].
  destruct (top_ok K (beta_of K) n delta q0 false false start_ok window bits rows top_size ls levels_fall window_ok [] (Forall_nil _)) as [L _].
  assert (S := holds_stand ls top_size (top []) Ys _ levels_fall L H2 H4). assert (HL := held_lengths []).
  change (run []) with start in *. revert HL S H3. unfold memory_stands, begin. generalize start. intros m HL S H3. revert HL H3.
  unfold ChainRun.held. destruct window as [k|]; intros HL H3.
  - destruct (HL k eq_refl) as [L1 L2]. rewrite <- H3 in L1, L2. exists (matrix_of (fst m)), (map (fun h => [matrix_of [h]]) (snd m)).
    split; [reflexivity |]. split; [exact L1 |]. split; [exact L2 |]. now split.
  - now split.
Qed.
Theorem layers_follow w : word delta w ->
  decoded (Semantics.run K between layers begin (map first_letter w)) = Some (state_after q0 w).
Proof.
  intros W. assert (S : memory_stands (run w) (Semantics.run K between layers begin (map first_letter w))).
  { induction w as [|a w IH] using rev_ind; [exact begin_stands |]. rewrite map_app. unfold Semantics.run. rewrite fold_left_app.
    apply token_stands; [easy |]. apply IH. now apply Forall_app in W. }
  unfold decoded. rewrite (memory_back _ _ S).
  now rewrite (follows K zero one add mul sub opp nonzero laws nz n1 sorting_swaps (beta_of K) sorting_swaps_ok n delta q0 false false
    rows_ok start_ok window bits rows top_size ls levels_fall levels_tell window_ok Inv Inv_start Inv_step w W).
Qed.
End Layers.

(* ---- Certificates. *)
Section Certificates.
Variable c : chain.
Definition chain_layers : list (Semantics.layer K between) :=
  layers (states c) (delta c) (start_state c) (window c) (register_bits c) (register_rows c) (top c) (levels c).
Definition chain_begin : Semantics.hidden K :=
  begin (states c) (delta c) (start_state c) (window c) (register_bits c) (register_rows c) (top c) (levels c).
Definition chain_decode : Semantics.hidden K -> option nat :=
  decoded (states c) (delta c) (start_state c) (window c) (register_bits c) (register_rows c) (top c) (levels c).
Definition chain_automaton : Semantics.automaton := Semantics.Automaton (letter_count c) (start_state c) (step c).

(* The layers of an accepted certificate without look-back follow its automaton, in the sense of Semantics.v. *)
Theorem chain_is_layers known : check_chain c known = true -> look_back c = false ->
  Semantics.follows K between (first_letter (states c)) chain_layers chain_begin chain_decode chain_automaton.
Proof.
  intros checked LB w W. assert (right := right_states c known checked).
  assert (GT : gates c = false).
  { destruct (checked_parts c known checked) as [_ [_ [G _]]]. destruct (gates c); [now rewrite G in LB | easy]. }
  assert (F := levels_fall c known checked). assert (T := levels_tell c). assert (O := window_ok c known checked).
  rewrite GT in F. rewrite LB in T, O. apply word_of in W.
  unfold chain_decode, chain_layers, chain_begin.
  rewrite (layers_follow (states c) (delta c) (start_state c) (window c) (register_bits c) (register_rows c) (top c) (levels c)
    (rows_right c right) (start_lt c right) F T O (fun _ => Known c known) (known_start c known checked)); [| | exact W].
  - f_equal. now rewrite (states_agree c known checked).
  - intros v a Ys Wv Kn V. now apply (known_step K (beta_of K) c known checked).
Qed.
End Certificates.
End Bridge.
