(* Cascades whose numbers are never rounded: certificates of kind `equivalent` that hold a table with a covering.

   Proved, for a cascade that is accepted with its numbers:
   - cascade_per_step_right: with one rounding of each entry of A H + B that keeps the values of a set which has all entries of all codes;
   - cascade_per_op_right: with one rounding of each product and each sum, in any order, fused or not, that keeps the integers up to a bound
     which no sum of absolute values exceeds,
   the layers hold after every word what they hold in exact numbers, so that the state of the automaton is decoded along the covering.
   What a rounding is, and of which it is not spoken, is said in NeverRounded.v.

   Joint codes are too many to be listed, so that a number is looked at wherever a transition leads a code of its head: of all transitions
   and codes, whether words bring them together or not. *)
Require Import List Arith ZArith QArith Bool Lia.
From Mirrormata Require Import Semantics Sparse Numbers Table NeverRounded Covering.
Import ListNotations.
Local Open Scope nat_scope.

(* What the layers of a cascade do on a word, with `act` in place of what a transition does in exact numbers *)
Definition run_cascade_by (K : rational_ring) (theta : list Z -> K) (act : any_head -> nat -> matrix K -> matrix K) (d : cascade)
    (word : list nat) : hidden K :=
  fold_left (fun state a => step_by K theta act (cascade_tables d) a state) word (cascade_begin K theta d).

(* ---- The checker: that of cascades, and that the numbers of each head fit. *)
Definition head_fits (fit : nat -> nat -> bool) (h : any_head) : bool :=
  all_below (any_transitions h) (fun t => all_below (any_count h) (fun c => fit t c)).
Definition all_fit (fits : any_head -> nat -> nat -> bool) (layers : list table_layer) : bool :=
  forallb (fun l => forallb (fun h => head_fits (fits (fst h)) (fst h)) (layer_heads l)) layers.
Definition check_cascade_per_step (keeps : Q -> bool) (d : cascade) : bool :=
  keeps (0 # 1)%Q && check_cascade d && all_fit (fits_per_step keeps) (cascade_tables d).
Definition check_cascade_per_op (most : Z) (d : cascade) : bool :=
  check_cascade d && all_fit (fits_per_op most) (cascade_tables d).

(* ---- Proofs. *)
(* Where the numbers fit, codes move as they do where a transition that does not fit leads to no code. *)
Lemma all_below_all n test : (forall i, i < n -> test i = true) -> all_below n test = true.
Proof. induction n as [|n IH]; intros F; [reflexivity|]. cbn [all_below]. rewrite F, IH by (auto; lia). reflexivity. Qed.
Lemma points_guarded fits l heads : forall k, forallb (fun h => head_fits (fits (fst h)) (fst h)) heads = true ->
  check_points l k heads (map prepare_head heads) = true -> check_points l k heads (moving (guarded fits) heads) = true.
Proof.
  induction heads as [|h heads IH]; intros k F E; [reflexivity|]. cbn [forallb] in F. apply andb_prop in F as [Fh F].
  cbn [map moving check_points] in *. cbv zeta in *. apply andb_prop in E as [E Eo]. apply andb_prop in E as [Ec Et].
  apply andb_true_intro. split; [|exact (IH (S k) F Eo)]. apply andb_true_intro. split; [exact Ec|].
  apply all_below_all. intros t Lt. apply all_below_all. intros c Lc. unfold guarded, guard. cbn [fst snd].
  unfold head_fits in Fh. pose proof (all_below_spec _ _ (all_below_spec _ _ Fh t Lt) c Lc) as Fc. cbv beta in Fc. rewrite Fc.
  exact (all_below_spec _ _ (all_below_spec _ _ Et t Lt) c Lc).
Qed.
Lemma all_points_guarded fits layers : all_fit fits (map layer_of layers) = true ->
  check_all_points layers (map prepare_layer (map layer_of layers)) = true ->
  check_all_points layers (map (moving_layer (guarded fits)) (map layer_of layers)) = true.
Proof.
  induction layers as [|l layers IH]; intros F E; [reflexivity|]. unfold all_fit in F. cbn [map forallb] in F.
  apply andb_prop in F as [Fl F]. cbn [map check_all_points] in *. apply andb_prop in E as [E1 E2].
  apply andb_true_intro. split; [exact (points_guarded fits l _ 0 Fl E1)|exact (IH F E2)].
Qed.

Section Generic.
Variables (K : rational_ring) (theta : list Z -> K) (act : any_head -> nat -> matrix K -> matrix K).
Variables (fits : any_head -> nat -> nat -> bool) (d : cascade).
Hypothesis act_right : forall h t c H, numbers_of K theta h -> any_right h = true -> fits h t c = true -> holds K theta h c H ->
  any_landings h (any_images h) t c < any_count h ->
  same (act h t H) (code_matrix K theta h (any_landings h (any_images h) t c)).
Hypothesis numbers_right :
  Forall (fun l => Forall (fun h => numbers_of K theta (fst h)) (layer_heads l)) (cascade_tables d).
Hypothesis accepted : check_cascade d = true.
Hypothesis fit : all_fit fits (cascade_tables d) = true.

Lemma stands_for_step_by q state x : stands_for K theta d q state -> x < letters (cascade_automaton d) ->
  stands_for K theta d (delta (cascade_automaton d) x q) (step_by K theta act (cascade_tables d) x state).
Proof.
  intros (cs & R & Q & Hh) Lx. pose proof accepted as E. apply andb_prop in E as [_ E].
  apply andb_prop in E as [E _]. apply andb_prop in E as [E _]. apply andb_prop in E as [Ep E].
  pose proof (all_below_spec _ _ E x Lx) as F. cbv beta in F. apply andb_prop in F as [Fl Fc]. apply is_listed_listed in Fl.
  apply (all_points_guarded fits _ fit) in Ep.
  destruct (levels_right (guarded fits) _ _ x _ 0 _ _ x 0 0 cs Fc Ep Fl R) as [Rn (q' & Q1 & Q2 & _)].
  assert (q' = q). { unfold covering_state in Q. rewrite Q1 in Q. congruence. } subst q'.
  eexists. split; [exact Rn|]. split; [unfold covering_state, cascade_tables; rewrite Q2; reflexivity|].
  apply (step_by_holds K theta act fits act_right); [|exact Hh|exact Rn].
  now apply cascade_layers_right.
Qed.
Theorem cascade_guarded_right word : is_word (cascade_automaton d) word ->
  cascade_decode K theta d (run_cascade_by K theta act d word) = Some (state_after (cascade_automaton d) word).
Proof.
  assert (All : forall q state, is_word (cascade_automaton d) word -> stands_for K theta d q state ->
    stands_for K theta d (fold_left (fun q a => delta (cascade_automaton d) a q) word q)
      (fold_left (fun state a => step_by K theta act (cascade_tables d) a state) word state)).
  { induction word as [|a word' IH]; intros q state W S; [exact S|]. inversion W; subst. cbn.
    apply IH; [assumption|]. apply stands_for_step_by; assumption. }
  intros W. destruct (All _ _ W (stands_for_begin K theta d accepted)) as (cs & R & Q & Hh). unfold cascade_decode, run_cascade_by.
  rewrite (joint_code_holds K theta _ cs _ (cascade_layers_right K theta d numbers_right accepted) Hh). exact Q.
Qed.
End Generic.

Section Right.
Variables (K : rational_ring) (theta : list Z -> K) (rounds : K -> K) (d : cascade).
Hypothesis numbers_right :
  Forall (fun l => Forall (fun h => numbers_of K theta (fst h)) (layer_heads l)) (cascade_tables d).

(* Rounded once per step, each entry by the same function, the layers of the cascade follow the automaton. *)
Theorem cascade_per_step_right keeps word : (forall q, keeps q = true -> rounds (embed K q) = embed K q) ->
  check_cascade_per_step keeps d = true -> is_word (cascade_automaton d) word ->
  cascade_decode K theta d (run_cascade_by K theta (per_step K theta rounds) d word) = Some (state_after (cascade_automaton d) word).
Proof.
  intros Keeps E. apply andb_prop in E as [E Fit]. apply andb_prop in E as [Zero E].
  apply (cascade_guarded_right K theta _ (fits_per_step keeps) d); [|exact numbers_right|exact E|exact Fit].
  intros h t c H. now apply per_step_exact.
Qed.
(* Rounded in each operation by one function, in whatever order, the layers of the cascade follow the automaton. *)
Theorem cascade_per_op_right most act word : (forall z, (Z.abs z <= most)%Z -> rounds (integer K z) = integer K z) ->
  is_per_op K theta rounds act -> check_cascade_per_op most d = true -> is_word (cascade_automaton d) word ->
  cascade_decode K theta d (run_cascade_by K theta act d word) = Some (state_after (cascade_automaton d) word).
Proof.
  intros Keeps PerOp E. apply andb_prop in E as [E Fit].
  apply (cascade_guarded_right K theta _ (fits_per_op most) d); [|exact numbers_right|exact E|exact Fit].
  intros h t c H _. now apply (per_op_exact K theta rounds most).
Qed.
End Right.
