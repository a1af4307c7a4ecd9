(* The repaired wiring of cascades (G.T4), for every cascade of permutation-reset automata.

   A cascade has components 0, 1, 2, ...; component k has n_k + 1 points.  On a letter it permutes its points or is reset to one of them,
   and which of these it does depends on the letter and on the points *before* the letter of the components below it: rule, reads_below.
   (A cascade of L components is the first L of these: no component depends on later ones.)

   The wiring as printed lets a layer read the *new* points of the layers below.  Cascades.v has a cascade that it does not follow.  The
   repair: a layer has two halves (u, v), each of one entry a point.  It holds the present point in u, as a unit vector, and in v the
   point before the last reset.  A permutation acts on u by swaps; a reset to c erases v while it writes the unit vector of c there, and then
   exchanges the halves.  So after the token the point before it can be told: by the inverse permutation from u, or after a reset from v.

   Proved for every cascade, of any number of components of any sizes, every start and every word, over any ring:
   - told_before: on each token a layer is told the points before it of the layers below.
   - repaired_wiring: after every word each layer holds the point of its component.
   - wiring_follows: so the layers follow every automaton that the cascade covers: one whose states the points tell.
   - factor_count: a permutation takes n - #cycles factors, a reset 2n, n the number of points; with gates a reset takes one.

   Where no later component reads a component's points, its reset may be the gate 0 and one factor (DP.T2); its layer then needs no second
   half, and what is told of its old points means nothing.  With no such component this is G.T4's form, without gates.

   The factors are those of ChainLRNN.v: swaps with the key e_i - e_j, and writes with the key e_i, all with beta = 1. *)
Set Warnings "-notation-overridden,-ambiguous-paths".
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
From Mirrormata Require Import Chain ChainLRNN.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Cascade.
Variables (R : ringType) (A : Type) (n : nat -> nat).

(* One point for each component. *)
Definition points := forall k, 'I_(n k).+1.
(* What a component does: permute its points, or be reset to one. *)
Definition action k := ('S_(n k).+1 + 'I_(n k).+1)%type.
Definition act k (t : action k) (q : 'I_(n k).+1) : 'I_(n k).+1 := match t with inl s => s q | inr c => c end.

(* The cascade: what component k does on a letter, from the points of the components below it. *)
Variable rule : forall k, A -> points -> action k.
(* The components that are reset by the gate 0; no later component may read their points. *)
Variable gated : pred nat.
Hypothesis reads_below : forall k a (q q' : points), (forall j, (j < k)%N -> ~~ gated j -> q j = q' j) -> rule k a q = rule k a q'.
Definition cascade_step (q : points) (a : A) : points := fun k => act (rule k a q) (q k).

(* ---- The layers.  The factors of an action, in the order applied; `up` and `down` are the places of the halves. *)
Definition hidden := forall k, 'cV[R]_((n k).+1 + (n k).+1).
Notation up k := (lshift (n k).+1).
Notation down k := (rshift (n k).+1).
Definition action_factors k (t : action k) : seq (factor ((n k).+1 + (n k).+1)) :=
  match t with
  | inl s => [seq Swap (up k p.1) (up k p.2) | p <- rev (sval (transpositions s^-1))]
  | inr c => [seq Write (down k j) (j == c) | j <- enum 'I_(n k).+1] ++ [seq Swap (up k j) (down k j) | j <- enum 'I_(n k).+1]
  end.
(* With gates a reset is the gate 0 and one factor. *)
Definition layer_step k (t : action k) (h : 'cV[R]_((n k).+1 + (n k).+1)) :=
  match t with
  | inr c => if gated k then apply_factors [:: Write (up k c) true] (0 *: h) else apply_factors (action_factors t) h
  | inl _ => apply_factors (action_factors t) h
  end.

(* The read-outs: the point at which a half is not zero; the new point; and the point before, from the action and the new state. *)
Definition place m (u : 'cV[R]_m.+1) : 'I_m.+1 := odflt ord0 [pick i | u i 0 != 0].
Definition read_new k (h : 'cV[R]_((n k).+1 + (n k).+1)) : 'I_(n k).+1 := place (usubmx h).
Definition read_before k (t : action k) (h : 'cV[R]_((n k).+1 + (n k).+1)) : 'I_(n k).+1 :=
  match t with inl s => (s^-1)%g (read_new h) | inr _ => place (dsubmx h) end.

(* What the layers below K are read to have held before the token, layer by layer: layer j is told what those below it say, steps, and
   says its point before.  (Entries from K on mean nothing, and no layer below K reads them.) *)
Fixpoint told a (h : hidden) K : points :=
  if K is K'.+1 then
    fun j => if (j < K')%N then told a h K' j else let t := rule j a (told a h K') in read_before t (layer_step t (h j))
  else fun _ => ord0.
(* One token: each layer reads the letter and what the layers below it are read to have held. *)
Definition lrnn_step (h : hidden) (a : A) : hidden := fun k => layer_step (rule k a (told a h k)) (h k).
Definition lrnn_start (q0 : points) : hidden := fun k => col_mx (delta_mx (q0 k) 0) 0.

(* ---- The proof. *)
Lemma place_unit m (i : 'I_m.+1) : place (delta_mx i 0 : 'cV[R]_m.+1) = i.
Proof.
rewrite /place; case: pickP => [j|none].
  by rewrite mxE andbT; case: (j =P i) => // _; rewrite mulr0n eqxx.
by have /negbFE/eqP := none i; rewrite mxE !eqxx /= => /eqP; rewrite oner_eq0.
Qed.

(* A layer does what its component does, and the point before the token can be told. *)
Lemma layer_right k (t : action k) h q : usubmx h = delta_mx q 0 ->
  usubmx (layer_step t h) = delta_mx (act t q) 0 /\ (~~ gated k -> read_before t (layer_step t h) = q).
Proof.
move=> u; rewrite /layer_step -[h]vsubmxK u; case: t => [s|c]; last case: (gated k); rewrite [act _ _]/= /action_factors.
- have [_ _ prod] := svalP (transpositions s^-1); rewrite swaps_permute -prod.
  have -> : perm_mx s^-1 *m delta_mx q 0 = delta_mx (s q) 0 :> 'cV[R]_(n k).+1.
    rewrite -row_permE; apply/colP=> i; rewrite !mxE; congr (_ && _)%:R.
    by rewrite -(inj_eq (@perm_inj _ s)) permKV.
  by rewrite /= /read_new !col_mxKu place_unit permK.
- by split=> //; rewrite /= apply_write scale0r; apply/colP=> i; rewrite !mxE eq_lshift andbT; case: eqP.
rewrite /apply_factors foldl_cat -!/(apply_factors _ _).
have -> : [seq Write (down k j) (j == c) | j <- enum 'I_(n k).+1] = [seq Write (down k j) (j \in [set c]) | j <- enum 'I_(n k).+1].
  by apply: eq_map => j; rewrite in_set1.
rewrite writes_write swaps_exchange ?enum_uniq // /= !(col_mxKu, col_mxKd).
split; first by apply/colP=> i; rewrite !mxE !mem_enum /= in_set1 andbT.
by rewrite (_ : \col_j _ = delta_mx q 0) ?place_unit //; apply/colP=> i; rewrite !mxE mem_enum.
Qed.

(* A state of the layers that holds the points q in its upper halves. *)
Definition holds (h : hidden) (q : points) : Prop := forall k, usubmx (h k) = delta_mx (q k) 0.

(* On each token every layer is told the points before it of the layers below. *)
Theorem told_before a h q K j : holds h q -> (j < K)%N -> ~~ gated j -> told a h K j = q j.
Proof.
move=> hq; elim: K j => //= K IH j jK gj; case: ltnP => [lt|le]; first exact: IH.
have -> : rule j a (told a h K) = rule j a q by apply: reads_below => i ij gi; apply: IH => //; apply: leq_trans ij _.
exact: (layer_right _ (hq j)).2.
Qed.

Lemma step_holds a h q : holds h q -> holds (lrnn_step h a) (cascade_step q a).
Proof.
move=> hq k; rewrite /lrnn_step.
have -> : rule k a (told a h k) = rule k a q by apply: reads_below => j; apply: told_before.
exact: (layer_right _ (hq k)).1.
Qed.
Lemma word_holds q0 w : holds (foldl lrnn_step (lrnn_start q0) w) (foldl cascade_step q0 w).
Proof.
elim/last_ind: w => [|w a IH] k; first by rewrite /= /lrnn_start col_mxKu.
by rewrite !foldl_rcons; apply: step_holds.
Qed.

(* G.T4 and DP.T2 (the wiring).  After every word each layer holds the point of its component. *)
Theorem repaired_wiring q0 w k : read_new (foldl lrnn_step (lrnn_start q0) w k) = foldl cascade_step q0 w k.
Proof. by rewrite /read_new word_holds place_unit. Qed.

(* And so the layers follow every automaton that the cascade covers: `covers` tells its state from the points of the first L components,
   and the letters act on both alike. *)
Theorem wiring_follows (Q : Type) (delta : A -> Q -> Q) (L : nat) (covers : points -> Q) q0 w :
    (forall q q', (forall k, (k < L)%N -> q k = q' k) -> covers q = covers q') ->
    (forall a q, covers (cascade_step q a) = delta a (covers q)) ->
  covers (fun k => read_new (foldl lrnn_step (lrnn_start q0) w k)) = foldl (fun q a => delta a q) (covers q0) w.
Proof.
move=> first_L cover; rewrite (first_L _ (foldl cascade_step q0 w)) => [|k _]; last exact: repaired_wiring.
by elim/last_ind: w => [|w a IH] //; rewrite !foldl_rcons cover IH.
Qed.

(* The factors of a token: n - #cycles for a permutation, 2n for a reset; swaps exchange different places, so beta |k|^2 is 2 or 1. *)
Theorem factor_count k (t : action k) :
  size (action_factors t) = (match t with inl s => (n k).+1 - #|porbits s| | inr _ => 2 * (n k).+1 end)%N
  /\ all (@proper _) (action_factors t).
Proof.
case: t => [s|c] /=.
  have [sz ok _] := svalP (transpositions s^-1); split; first by rewrite size_map size_rev sz porbitsV.
  by rewrite all_map all_rev; apply: sub_all ok => p; rewrite /= eq_lshift.
split; first by rewrite size_cat 2!size_map size_enum_ord mul2n addnn.
by rewrite all_cat !all_map; apply/andP; split; apply/allP=> j _ //=; rewrite eq_lrshift.
Qed.
End Cascade.
