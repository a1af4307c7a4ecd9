(* The forms of own.chain, own.window and own.lookback, for every automaton and without a certificate.

   ChainCheck.v says of a certificate that the checker accepts that its linear RNN follows its automaton.  Here is what needs no checker: where
   sizes fall by one, the linear RNN of ChainSemantics.v follows every automaton.  Level i has 2 n_i coordinates, n_i for the members of X_i
   and n_i for what was there before the last reset; with look-back it has n_i.

   Proved over every ring, for every automaton, start and word:
   - every_chain: sizes n, n - 1, ..., 1, with look-back or without, with gates or without (gates need look-back: a reset by the gate 0
     erases a second half too).  No hypothesis on the automaton.
   - every_window: a register of the last letters, then sizes s, s - 1, ..., 1 of states and phantoms, where every word of m letters
     that move a state leaves at most s states; some letter takes two states to one.
   - level_is_its_factors, level_factor_count, level_factor_norms: what a level does is one product of factors: at most n_i - 1 swaps where it
     permutes; else n_i projections and n_i swaps, or with look-back n_i projections, or one factor.  Swaps have beta |v|^2 = 2 and
     projections beta |v|^2 = 1, so that the norm of their product is at most 1 (Householder.product_non_expansive). *)
Require Import List Arith Bool Lia Ring_theory. Import ListNotations.
From Mirrormata Require Import Lists ChainSemantics ChainSets ChainFactors ChainLevels ChainWindow ChainRun ChainCheck.

(* s, s - 1, ..., 1. *)
Fixpoint falling_by_one (s : nat) : list nat := match s with 0 => [] | S s' => s :: falling_by_one s' end.

Lemma all_below_true n test : (forall i, i < n -> test i = true) -> all_below n test = true.
Proof. induction n as [|n IH]; intros H; [easy |]. simpl. rewrite H by lia. apply IH. intros i L. apply H. lia. Qed.

Section Forms.
Variables (R : Type) (zero one : R) (add mul sub : R -> R -> R) (opp : R -> R) (nonzero : R -> bool).
Hypothesis laws : ring_theory zero one add mul sub opp (@eq R).
Hypothesis (nonzero_zero : nonzero zero = false) (nonzero_one : nonzero one = true).
Variables (swaps_of : list nat -> list (nat * nat)) (reset_beta : nat -> R).
Hypothesis swaps_ok : swaps_apply swaps_of.
Notation run_chain := (run_chain R zero one add mul sub nonzero swaps_of reset_beta).
Notation read_state := (read_state R zero nonzero).

Lemma levels_by_one c p s : by_one (levels_of c p (falling_by_one s)) = true.
Proof. induction s as [|[|s] IH]; [easy | easy |]. simpl in *. now rewrite Nat.eqb_refl, IH. Qed.

Lemma levels_fall_by_one c p s : sizes_fall (S s) (levels_of c p (falling_by_one (S s))) = true.
Proof.
  induction s as [|s IH]; [easy |]. change (levels_of c p (falling_by_one (S (S s)))) with
    ({| size := S (S s); next := S s;
        keeps := negb (look_back c) && negb p && (mealy c || match falling_by_one s with [] => false | _ => true end) |}
     :: levels_of c p (falling_by_one (S s))).
  cbn [sizes_fall size next]. rewrite IH, Nat.eqb_refl, (proj2 (Nat.ltb_lt (S s) (S (S s)))) by lia. easy.
Qed.

Section OneForm.
Variables (c : chain) (s : nat).
Hypothesis sizes_are : sizes c = falling_by_one s.
Hypothesis some : 1 <= s.
Hypothesis start_right : start_state c < states c.
Hypothesis step_right : forall a q, a < letter_count c -> q < states c -> step c a q < states c.
Hypothesis gates_look_back : gates c = true -> look_back c = true.
Hypothesis window_right : match window c with
  | None => s = states c
  | Some m => 1 <= m /\ bijective c = false /\ leaves (states c) (delta c) m s
  end.

Lemma right : states_right c = true.
Proof.
  unfold states_right. apply andb_true_intro. split; [now apply Nat.ltb_lt |].
  apply all_below_true. intros a A. apply all_below_true. intros q Q. apply Nat.ltb_lt. now apply step_right.
Qed.
Lemma top_is : top c = s.
Proof. unfold top. rewrite sizes_are. now destruct s. Qed.

Lemma form_falls : falling (gates c) (top c) (levels c).
Proof.
  apply sizes_fall_ok.
  - intros E. apply levels_of_gates. now apply gates_look_back.
  - rewrite top_is. unfold levels. rewrite sizes_are. destruct s as [|s']; [lia | apply levels_fall_by_one].
Qed.
Lemma form_tells : all_tell_below (states c) (delta c) (look_back c) (levels c).
Proof. now apply levels_of_tell. Qed.
Lemma form_window : match window c with
  | None => top c = states c
  | Some m => 1 <= m /\ leaves (states c) (delta c) m (top c) /\ m <= register_rows c /\
      (levels c <> [] -> look_back c = true \/ register_rows c = S m) /\ length (maps (states c) (delta c)) < 2 ^ register_bits c
  end.
Proof.
  rewrite top_is. unfold register_rows, reads_before. destruct (window c) as [m|]; [| easy].
  destruct window_right as [M [B W]]. split; [easy |]. split; [easy |]. split; [lia |]. split.
  - intros N. rewrite B. destruct (levels c); [easy |]. rewrite orb_true_r. simpl. destruct (look_back c); [now left | right; simpl; lia].
  - unfold register_bits. destruct (length (maps (states c) (delta c))) as [|k]; [simpl; lia |].
    apply Nat.log2_spec. lia.
Qed.
Notation top_set := (ChainRun.top (states c) (delta c) (start_state c) (window c) (top c)).
Lemma form_states w : word (delta c) w -> state_after (delta c) (start_state c) w = state c w.
Proof.
  intros W. unfold state_after, state. assert (Q := start_right). revert Q. generalize (start_state c).
  induction w as [|a w IH]; intros q Q; [easy |]. assert (A := Forall_inv W). rewrite delta_length in A. simpl.
  rewrite (image_step c a q A Q). apply IH; [now apply Forall_inv_tail in W | now apply step_right].
Qed.

Theorem form_follows w : Forall (fun a => a < letter_count c) w -> read_state c (run_chain c w) = [state c w].
Proof.
  intros W. apply word_of in W. rewrite <- form_states by exact W. unfold ChainCheck.read_state, ChainCheck.run_chain.
  assert (start_ok := start_lt c right). assert (rows_ok := rows_right c right).
  apply (follows R zero one add mul sub opp nonzero laws nonzero_zero nonzero_one swaps_of reset_beta swaps_ok (states c) (delta c)
    (start_state c) (look_back c) (gates c) rows_ok start_ok (window c) (register_bits c) (register_rows c) (top c) (levels c)
    form_falls form_tells form_window (fun _ _ => True) I); [| easy].
  intros v a Ys Wv _ V. split; [| easy].
  assert (Wa := proj1 (proj1 (Forall_app _ _ _) Wv)).
  assert (size_of : forall u, word (delta c) u -> length (top_set u) = top c /\ NoDup (top_set u)).
  { intros u. apply (top_ok R reset_beta (states c) (delta c) (start_state c) (look_back c) (gates c) start_ok (window c)
      (register_bits c) (register_rows c) (top c) (levels c) form_falls form_window). }
  destruct (size_of v Wa) as [L D], (size_of _ Wv) as [L' D'].
  assert (T := top_into R reset_beta (states c) (delta c) (start_state c) (look_back c) rows_ok start_ok (window c) (register_bits c)
      (register_rows c) (top c) (levels c) form_window v a Wv).
  apply (fits_by_one (states c) (gates c) _ (levels c) (top c)); try easy; [apply form_falls |].
  apply by_one_Forall. unfold levels. rewrite sizes_are. apply levels_by_one.
Qed.
End OneForm.

(* own.chain and own.lookback (all but the larger drops of sizes): an automaton of n states, letters 0, ..., k - 1. *)
Definition chain_form (n k q0 : nat) (step : nat -> nat -> nat) (mealy look_back gates : bool) : chain :=
  Chain n k q0 step mealy None (falling_by_one n) look_back gates.
Theorem every_chain n k q0 step mealy look_back gates w : q0 < n -> (forall a q, a < k -> q < n -> step a q < n) ->
    (gates = true -> look_back = true) -> Forall (fun a => a < k) w ->
  read_state (chain_form n k q0 step mealy look_back gates) (run_chain (chain_form n k q0 step mealy look_back gates) w)
  = [fold_left (fun q a => step a q) w q0].
Proof. intros Q S G W. apply (form_follows (chain_form n k q0 step mealy look_back gates) n); simpl; auto. lia. Qed.

(* own.window, with phantoms (all but the length m): the same with a register of the last letters above sizes s, ..., 1. *)
Definition window_form (n k q0 : nat) (step : nat -> nat -> nat) (mealy look_back gates : bool) (m s : nat) : chain :=
  Chain n k q0 step mealy (Some m) (falling_by_one s) look_back gates.
Theorem every_window n k q0 step mealy look_back gates m s w : q0 < n -> (forall a q, a < k -> q < n -> step a q < n) ->
    (gates = true -> look_back = true) -> 1 <= m -> 1 <= s ->
    (* words of m letters that move a state leave at most s states *)
    leaves n (map (fun a => map (step a) (seq 0 n)) (seq 0 k)) m s ->
    (* some letter merges two states *)
    (exists a q r, a < k /\ q < n /\ r < n /\ q <> r /\ step a q = step a r) ->
    Forall (fun a => a < k) w ->
  read_state (window_form n k q0 step mealy look_back gates m s) (run_chain (window_form n k q0 step mealy look_back gates m s) w)
  = [fold_left (fun q a => step a q) w q0].
Proof.
  intros Q S G M L leave [a [q [r [A [Hq [Hr [D E]]]]]]] W.
  set (c := window_form n k q0 step mealy look_back gates m s). apply (form_follows c s); simpl; auto.
  split; [easy |]. split; [| easy]. apply not_true_iff_false. intros B. apply D.
  assert (T : states_right c = true) by (now apply (right c)).
  apply (bijective_injective c B a); [now rewrite (delta_length c) | easy | easy |].
  now rewrite !(image_step c) by easy.
Qed.

(* ---- The factors of a level. *)
Notation level_step := (level_step R zero one add mul sub).
Notation apply_step := (apply_step R zero add mul sub).
Notation swap := (swap R zero one sub).
Notation projection := (projection R zero one).
Notation dot := (dot R zero add mul).
Definition level_factors (n : nat) (gates : bool) (l : chain_level) (f X X' : list nat) : list (factor R) :=
  let p := size l in
  let dim := if keeps l then p + p else p in
  if permutes n f X X' then map (fun ij => swap dim (fst ij) (snd ij)) (swaps_of (places n f X X'))
  else if gates then [(reset_beta (length (target n f X X' (next l))), indicator R zero one X' (target n f X X' (next l)))]
  else if keeps l then map (projection dim) (seq p p) ++ map (fun j => swap dim j (p + j)) (seq 0 p)
  else map (projection dim) (seq 0 p).

Theorem level_is_its_factors n gates l f X X' h : exists g b, (g = one \/ g = zero /\ gates = true) /\
  level_step n swaps_of reset_beta gates l f X X' h = apply_step g (level_factors n gates l f X X') b h.
Proof.
  unfold ChainSemantics.level_step, level_factors. destruct (permutes n f X X'); [| destruct gates; [| destruct (keeps l)]].
  - eexists one, _. split; [now left | reflexivity].
  - eexists zero, _. split; [now right | reflexivity].
  - eexists one, _. split; [now left | reflexivity].
  - eexists one, _. split; [now left | reflexivity].
Qed.

Add Ring numbers_of_forms : laws.
Lemma unit_norm p i : i < p -> dot (vector_of R p (unit R zero one i)) (vector_of R p (unit R zero one i)) = one.
Proof.
  intros L. assert (E := dot_unit R zero one add mul sub opp laws i (vector_of R p (unit R zero one i))).
  rewrite (length_vector_of R) in E. rewrite E, (nth_vector_of R zero) by easy. unfold ChainSemantics.unit. now rewrite Nat.eqb_refl.
Qed.
Lemma projection_norm p i : i < p -> mul (fst (projection p i)) (dot (snd (projection p i)) (snd (projection p i))) = one.
Proof. intros L. simpl. rewrite unit_norm by easy. ring. Qed.
Lemma swap_norm p i j : i < p -> j < p -> i <> j ->
  mul (fst (swap p i j)) (dot (snd (swap p i j)) (snd (swap p i j))) = add one one.
Proof.
  intros I J D. set (e := fun x => sub (unit R zero one i x) (unit R zero one j x)).
  assert (E : forall y, y < p -> dot (vector_of R p (unit R zero one y)) (vector_of R p e) = e y).
  { intros y L. assert (E := dot_unit R zero one add mul sub opp laws y (vector_of R p e)).
    rewrite (length_vector_of R) in E. now rewrite E, (nth_vector_of R zero). }
  assert (F : dot (vector_of R p e) (vector_of R p e) = sub (e i) (e j)).
  { rewrite <- (E i I), <- (E j J). apply (dot_difference R zero one add mul sub opp laws). }
  simpl. fold e. rewrite F. unfold e, ChainSemantics.unit. rewrite !Nat.eqb_refl.
  rewrite (proj2 (Nat.eqb_neq i j)), (proj2 (Nat.eqb_neq j i)) by congruence. ring.
Qed.

Section OneLevel.
Variables (n : nat) (gates : bool) (l : chain_level) (f X X' : list nat).
Hypothesis (X_size : length X = size l) (X'_size : length X' = size l) (X'_once : NoDup X').
Hypothesis into : forall x, In x X -> x < n -> In (image f x) X'.

Lemma level_swaps : permutes n f X X' = true -> forall ij, In ij (swaps_of (places n f X X')) -> fst ij < snd ij < size l.
Proof.
  intros E ij H. destruct (places_permutation n l f X X' X_size X'_size X'_once into E) as [D B].
  destruct (swaps_ok _ D B) as [S _]. apply S in H. now rewrite (places_length n l f X X' X_size) in H.
Qed.

(* beta |v|^2 of the factors of a level without gates is 2 or 1. *)
Theorem level_factor_norms : gates = false -> Forall (fun b => mul (fst b) (dot (snd b) (snd b)) = one \/
  mul (fst b) (dot (snd b) (snd b)) = add one one) (level_factors n gates l f X X').
Proof.
  intros ->. apply Forall_forall. intros b H. unfold level_factors in H.
  assert (P : forall k q m, k + q <= m -> In b (map (projection m) (seq k q)) -> mul (fst b) (dot (snd b) (snd b)) = one).
  { intros k q m L I. apply in_map_iff in I. destruct I as [i [<- I]]. apply in_seq in I. apply projection_norm. lia. }
  destruct (permutes n f X X') eqn:E.
  - apply in_map_iff in H. destruct H as [ij [<- H]]. apply level_swaps in H; [| easy]. right.
    apply swap_norm; destruct (keeps l); lia.
  - destruct (keeps l); [| left; now apply (P 0 (size l) (size l))].
    apply in_app_iff in H. destruct H as [H | H]; [left; apply (P (size l) (size l) (size l + size l)); [lia | easy] |].
    right. apply in_map_iff in H. destruct H as [j [<- H]]. apply in_seq in H. apply swap_norm; lia.
Qed.
End OneLevel.
End Forms.

(* ---- The number of factors, with swaps place by place. *)
Lemma sort_from_length most : forall fuel k l, (forall ij, In ij (sort_from fuel k l) -> fst ij < most) -> length (sort_from fuel k l) <= most - k.
Proof.
  induction fuel as [|fuel IH]; intros k [|x rest] B; simpl in *; try lia. destruct (x =? k).
  - apply IH in B. lia.
  - assert (F := B _ (or_introl eq_refl)). simpl in F.
    assert (L := IH (S k) _ (fun ij H => B ij (or_intror H))). simpl. lia.
Qed.
Theorem level_factor_count R zero one sub reset_beta n gates l f X X' : length X = size l -> length X' = size l -> NoDup X' ->
    (forall x, In x X -> x < n -> In (image f x) X') ->
  length (level_factors R zero one sub sorting_swaps reset_beta n gates l f X X') <=
    if permutes n f X X' then size l - 1 else if gates then 1 else if keeps l then 2 * size l else size l.
Proof.
  intros LX LX' D I. unfold level_factors. destruct (permutes n f X X') eqn:E.
  - rewrite map_length. unfold sorting_swaps. rewrite <- (Nat.sub_0_r (size l - 1)). apply sort_from_length.
    intros ij H. apply (level_swaps sorting_swaps sorting_swaps_ok n l f X X' LX LX' D I E) in H. lia.
  - destruct gates; [easy |]. destruct (keeps l); rewrite ?app_length, !map_length, ?seq_length; lia.
Qed.
