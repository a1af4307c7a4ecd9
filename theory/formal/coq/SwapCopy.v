(* DP.T6: every map of n points is a product of n - #components swaps and copies, and of no fewer matrices that differ from I by rank 1.

   A factor of RWKV-7 with c = 2 and diag(w) = I is I - 2 k (k a)^T, where k a is the product entry by entry.  With the unit key
   k = (e_i - e_j)/sqrt 2 this is I - (e_i - e_j) ((e_i - e_j) a)^T, which needs no root.  With all entries of a equal to 1 it exchanges i and
   j; with a = e_j it is the copy that sends e_j to e_i and keeps every other e_q.

   Proved over every real field, for every n and every map f of n points, P_f e_q = e_(f q):
   - step_is_map: what swaps and copies do.
   - copy_norm: the norm of a copy is the root of 2.
   - rank_of_map: rank(P_f - I) = n - #components, of the graph whose edges join q and f q: the rows that P_f keeps are
     constant on components.
   - swaps_and_copies: P_f is a product of as many swaps and copies, at most n - 1.  If some point q is no image, then a copy can be the
     last step: f is g with q kept, and then q is sent to f q; and g has one component more.  If all are images then f is a
     permutation, which swaps make.
   - fewest_of_rank_one: it is a product of no fewer matrices that differ from I by a matrix of rank at most 1.
   - swap_copy_automaton, at_most_one_less: so any automaton of n states takes one layer with at most n - 1 such factors a letter. *)
Set Warnings "-notation-overridden,-ambiguous-paths".
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
From Mirrormata Require Import Chain ChainLRNN Householder Permutations.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section SwapCopy.
Variables (R : realFieldType) (n : nat).
Implicit Types (f g : 'I_n -> 'I_n) (i j q : 'I_n).

(* The factor of RWKV-7 with the key e_i - e_j, unnormalised, and the vector a. *)
Definition rwkv7_factor i j (a : 'cV[R]_n) : 'M[R]_n :=
  let k := delta_mx i 0 - delta_mx j 0 in 1%:M - k *m (\col_q (k q 0 * a q 0))^T.
(* A step: a swap of i and j, or the copy that sends j to i; its factor, and its map. *)
Inductive step := SwapOf i j | CopyOf i j.
Definition step_mx s := match s with
  | SwapOf i j => rwkv7_factor i j (const_mx 1)
  | CopyOf i j => rwkv7_factor i j (delta_mx j 0)
  end.
Arguments step_mx : simpl never.
Definition step_map s : 'I_n -> 'I_n := match s with
  | SwapOf i j => tperm i j
  | CopyOf i j => fun q => if q == j then i else q
  end.
Definition distinct s := match s with SwapOf i j => i != j | CopyOf i j => i != j end.
Definition steps_mx (ss : seq step) : 'M[R]_n := foldl (fun M s => step_mx s *m M) 1%:M ss.

(* P_f e_q = e_(f q). *)
Definition map_mx f : 'M[R]_n := \matrix_(i, q) (i == f q)%:R.
Lemma map_mx_eq f g : f =1 g -> map_mx f = map_mx g.
Proof. by move=> e; apply/matrixP=> i q; rewrite !mxE e. Qed.
Lemma map_unit f q : map_mx f *m delta_mx q 0 = delta_mx (f q) 0 :> 'cV_n.
Proof. by rewrite -colE; apply/colP=> i; rewrite !mxE eqxx andbT. Qed.
Lemma by_units (M N : 'M[R]_n) : (forall q, M *m delta_mx q 0 = N *m delta_mx q 0 :> 'cV_n) -> M = N.
Proof. by move=> e; apply/matrixP=> i q; have /colP/(_ i) := e q; rewrite -!colE !mxE. Qed.
Lemma map_mxM f g : map_mx f *m map_mx g = map_mx (f \o g).
Proof. by apply: by_units => q; rewrite -mulmxA !map_unit. Qed.
Lemma map_perm (s : 'S_n) : map_mx s = pmx R s.
Proof. by apply: by_units => q; rewrite map_unit pmx_unit. Qed.

Theorem step_is_map s : distinct s -> step_mx s = map_mx (step_map s).
Proof.
have unit i j a q : rwkv7_factor i j a *m delta_mx q 0
    = delta_mx q 0 - ((delta_mx i 0 - delta_mx j 0 : 'cV_n) q 0 * a q 0) *: (delta_mx i 0 - delta_mx j 0) :> 'cV[R]_n.
  rewrite /rwkv7_factor mulmxBl mul1mx -mulmxA; congr (_ - _); set k := delta_mx i 0 - _.
  have -> : (\col_q (k q 0 * a q 0))^T *m delta_mx q 0 = (k q 0 * a q 0)%:M :> 'M[R]_1.
    by rewrite -colE; apply/matrixP=> x y; rewrite !ord1 !mxE eqxx.
  by rewrite mul_mx_scalar !mxE.
case: s => i j /= ij; apply: by_units => q; rewrite /step_mx unit map_unit.
  rewrite !mxE eqxx !andbT mulr1; case: tpermP => [->|->|/eqP/negbTE qi /eqP/negbTE qj].
  - by rewrite eqxx (negbTE ij) subr0 scale1r opprB addrC subrK.
  - by rewrite eqxx eq_sym (negbTE ij) sub0r scaleN1r opprK addrC subrK.
  by rewrite qi qj subr0 scale0r subr0.
rewrite !mxE eqxx !andbT; case: (eqVneq q j) => [->|qj].
  by rewrite eq_sym (negbTE ij) sub0r mulr1 scaleN1r opprK addrC subrK.
by rewrite mulr0 scale0r subr0.
Qed.

(* |C h|^2 <= 2 |h|^2 for a copy C, and = for some h that is not 0. *)
Theorem copy_norm i j : i != j -> let C := step_mx (CopyOf i j) in
  (forall h, dot (C *m h) (C *m h) <= 2%:R * dot h h) /\ exists2 h, h != 0 & dot (C *m h) (C *m h) = 2%:R * dot h h.
Proof.
move=> ij C; have CE : C = map_mx (fun q => if q == j then i else q) := step_is_map (s := CopyOf i j) ij.
have entry h q : (C *m h) q 0 = if q == j then 0 else if q == i then h i 0 + h j 0 else h q 0.
  rewrite CE mxE (eq_bigr (fun r => (q == (if r == j then i else r))%:R * h r 0)) => [|r _]; last by rewrite mxE.
  case: (eqVneq q j) => [->|qj].
    by rewrite big1 // => r _; case: (eqVneq r j) => [_|rj]; rewrite ?(eq_sym j) ?(negbTE ij) ?(negbTE rj) mul0r.
  case: (eqVneq q i) => [->|qi].
    rewrite (bigD1 i) //= (bigD1 j) 1?eq_sym //= eqxx (negbTE ij) !eqxx !mul1r big1 ?addr0 // => r /andP[ri rj].
    by rewrite (negbTE rj) eq_sym (negbTE ri) mul0r.
  rewrite (bigD1 q) //= (negbTE qj) eqxx mul1r big1 ?addr0 // => r rq.
  by case: (eqVneq r j) => [_|rj]; rewrite ?(negbTE qi) ?mul0r // eq_sym (negbTE rq) mul0r.
have split2 h : dot h h = h i 0 ^+ 2 + (h j 0 ^+ 2 + \sum_(q | (q != i) && (q != j)) h q 0 ^+ 2).
  by rewrite dotE (bigD1 i) //= (bigD1 j) 1?eq_sym //= -!expr2; congr (_ + (_ + _)); apply: eq_bigr => q _; rewrite expr2.
have size h : dot (C *m h) (C *m h) = (h i 0 + h j 0) ^+ 2 + \sum_(q | (q != i) && (q != j)) h q 0 ^+ 2.
  rewrite split2 !entry !eqxx (negbTE ij) expr0n add0r; congr (_ + _); apply: eq_bigr => q /andP[qi qj].
  by rewrite entry (negbTE qj) (negbTE qi).
split=> [h|].
  rewrite size split2; set s := \sum_(q | _) _.
  have s0: 0 <= s by apply: sumr_ge0 => q _; rewrite sqr_ge0.
  rewrite addrA mulrDr; apply: ler_add; last by rewrite mulr_natl mulr2n ler_addl.
  rewrite -subr_ge0 (_ : _ - _ = (h i 0 - h j 0) ^+ 2) ?sqr_ge0 //.
  rewrite sqrrD sqrrB mulr_natl mulr2n; move: (h i 0 ^+ 2) (h j 0 ^+ 2) (_ *+ 2) => a b c.
  by rewrite [a + c + b]addrAC opprD addrA addrK addrAC.
exists (delta_mx i 0 + delta_mx j 0).
  apply/eqP=> /colP/(_ i); rewrite !mxE !eqxx (negbTE ij) addr0 => /eqP; by rewrite oner_eq0.
rewrite size split2 !mxE !eqxx [j == i]eq_sym (negbTE ij) addr0 add0r big1 ?addr0 => [|q /andP[qi qj]]; last first.
  by rewrite !mxE (negbTE qi) (negbTE qj) addr0 expr0n.
by rewrite !expr1n -[1 + 1]/(2%:R : R) expr2.
Qed.

(* ---- The components of the graph whose edges join q and f q: each has one root. *)
Definition linked f : rel 'I_n := fun x y => (f x == y) || (f y == x).
Definition components f : nat := #|[set x | fingraph.root (linked f) x == x]|.
Lemma linked_sym f : connect_sym (linked f).
Proof. by apply: sym_connect_sym => x y; rewrite /linked orbC. Qed.
Lemma same_root f q : fingraph.root (linked f) (f q) = fingraph.root (linked f) q.
Proof. by apply/eqP; rewrite root_connect //; [apply: connect1; rewrite /linked eqxx orbT | apply: linked_sym]. Qed.

(* The rows that P_f keeps. *)
Lemma keptP f (y : 'rV[R]_n) : reflect (forall q, y 0 (f q) = y 0 q) (y <= kermx (map_mx f - 1%:M))%MS.
Proof.
have entry q : (y *m map_mx f) 0 q = y 0 (f q).
  rewrite mxE (bigD1 (f q)) //= mxE eqxx mulr1 big1 ?addr0 // => i ne; by rewrite mxE (negbTE ne) mulr0.
rewrite sub_kermx mulmxBr mulmx1 subr_eq0; apply: (iffP eqP) => [e q|e]; first by rewrite -entry e.
by apply/rowP=> q; rewrite entry e.
Qed.

Theorem rank_of_map f : moved (map_mx f) = (n - components f)%N.
Proof.
set C := [set x | fingraph.root (linked f) x == x].
pose E : 'M[R]_(#|C|, n) := \matrix_(k, i) (fingraph.root (linked f) i == enum_val k)%:R.
have rootC x : fingraph.root (linked f) x \in C by rewrite inE (eqP (roots_root (linked_sym f) x)).
have free : row_free E.
  apply/row_freeP; exists (\matrix_(i, k) (i == enum_val k)%:R); apply/matrixP=> k l; rewrite !mxE.
  rewrite (bigD1 (enum_val l)) //= !mxE eqxx mulr1 big1 ?addr0 => [|i ne]; last by rewrite !mxE (negbTE ne) mulr0.
  have /[!inE] /eqP-> := enum_valP l; by rewrite (inj_eq enum_val_inj) eq_sym.
have ker : (kermx (map_mx f - 1%:M) :=: E)%MS.
  apply/eqmxP/andP; split; last first.
    by apply/row_subP=> k; apply/keptP=> q; rewrite !mxE same_root.
  apply/row_subP=> r; move: (row_sub r (kermx (map_mx f - 1%:M))); move: (row r _) => y /keptP keeps.
  have const x z : connect (linked f) x z -> y 0 x = y 0 z.
    case/connectP=> p; elim: p x => [|u p IH] x /= => [_ -> //|/andP[xu pu] last].
    rewrite -(IH u pu last); by case/orP: xu => /eqP <-; rewrite keeps.
  apply/submxP; exists (\row_k y 0 (enum_val k)); apply/rowP=> j; rewrite mxE.
  pose k := enum_rank_in (rootC j) (fingraph.root (linked f) j).
  have kj : enum_val k = fingraph.root (linked f) j by rewrite enum_rankK_in.
  rewrite (bigD1 k) //= !mxE kj eqxx mulr1 big1 ?addr0 => [|l lk]; last first.
    rewrite !mxE; case: eqP => [e|_]; last by rewrite mulr0.
    by case/eqP: lk; apply: enum_val_inj; rewrite -e kj.
  by apply: const; apply: connect_root.
have := mxrank_ker (map_mx f - 1%:M); rewrite ker (eqP free) -/(components f) -/(moved _) => ->.
by rewrite subKn // rank_leq_row.
Qed.
Lemma some_component f : (0 < n)%N -> (0 < components f)%N.
Proof.
move=> n0; apply/card_gt0P; exists (fingraph.root (linked f) (Ordinal n0)).
by rewrite inE (eqP (roots_root (linked_sym f) _)).
Qed.

(* ---- A map by swaps and copies. *)
Lemma steps_from ss (M : 'M[R]_n) : foldl (fun M s => step_mx s *m M) M ss = steps_mx ss *m M.
Proof.
rewrite /steps_mx; elim/last_ind: ss => [|ss s IH]; first by rewrite mul1mx.
by rewrite !foldl_rcons IH mulmxA.
Qed.
Lemma rank_of_step s : (moved (step_mx s) <= 1)%N.
Proof.
have one i j a : (moved (rwkv7_factor i j a) <= 1)%N.
  rewrite /moved /rwkv7_factor addrAC subrr add0r mxrank_opp.
  by apply: leq_trans (mxrankM_maxl _ _) (rank_leq_col _).
by case: s => i j; apply: one.
Qed.
Lemma moved_mul (M N : 'M[R]_n) : (moved (M *m N) <= moved M + moved N)%N.
Proof.
rewrite /moved (_ : M *m N - 1%:M = (M - 1%:M) *m N + (N - 1%:M)).
  by apply: leq_trans (mxrank_add _ _) _; rewrite leq_add2r mxrankM_maxl.
by rewrite mulmxBl mul1mx addrA subrK.
Qed.
Lemma swap_step i j : i != j -> step_mx (SwapOf i j) = factor_mx (swap R (i, j)).
Proof. by move=> ij; rewrite (step_is_map (s := SwapOf i j) ij) map_perm /pmx tpermV swap_is_transposition. Qed.

Theorem swaps_and_copies f : exists ss : seq step,
  [/\ size ss = (n - components f)%N, all distinct ss & steps_mx ss = map_mx f].
Proof.
rewrite -rank_of_map; move E : (moved (map_mx f)) => k; elim/ltn_ind: k f E => k IH f E.
have [inj|] := boolP (injectiveb f).
  pose s := perm (injectiveP _ inj); have fs : map_mx f = pmx R s.
    by rewrite -map_perm; apply: map_mx_eq => q; rewrite permE.
  have [ts [sz ok prod]] := permutation_by_swaps R s; exists [seq SwapOf t.1 t.2 | t <- ts]; split.
  - by rewrite size_map sz -(moved_permutation R) -fs E.
  - by rewrite all_map; apply: sub_all ok.
  rewrite fs -prod /product_mx /steps_mx; elim: ts ok (1%:M : 'M[R]_n) {sz prod} => //= -[i j] ts IHt /andP[ij ok] M.
  by rewrite IHt // swap_step.
move=> ninj; have [q qf] : exists q, q \notin codom f.
  apply/existsP; apply: contraR ninj; rewrite negb_exists => /forallP onto.
  rewrite /injectiveb /dinjectiveb; apply/card_uniqP; rewrite size_map -cardE; apply: eq_card => q.
  by have /negPn/codomP[r ->] := onto q; rewrite map_f // mem_enum.
pose g r := if r == q then q else f r.
have fq r : f r != q by apply: contraNneq qf => <-; apply: codom_f.
have fg : map_mx f = step_mx (CopyOf (f q) q) *m map_mx g.
  rewrite (step_is_map (s := CopyOf (f q) q) (fq q)) map_mxM; apply: map_mx_eq => r /=; rewrite /g.
  by case: (eqVneq r q) => [->|_]; rewrite ?eqxx // (negbTE (fq r)).
have less : (moved (map_mx g) < moved (map_mx f))%N.
  have lt : (\rank (kermx (map_mx f - 1%:M)) < \rank (kermx (map_mx g - 1%:M)))%N.
    apply: rank_ltmx; rewrite /ltmx; apply/andP; split.
      apply/row_subP=> i; have /keptP keeps := row_sub i (kermx (map_mx f - 1%:M)).
      by apply/keptP=> r; rewrite /g; case: eqP => [->|].
    have inside : ((delta_mx 0 q : 'rV[R]_n) <= kermx (map_mx g - 1%:M))%MS.
      apply/keptP=> r; rewrite /g; case: (eqVneq r q) => [->//|rq]; by rewrite !mxE (negbTE (fq r)) (negbTE rq).
    apply/negP=> /(submx_trans inside)/keptP/(_ q); rewrite !mxE (negbTE (fq q)) !eqxx => /eqP.
    by rewrite eq_sym oner_eq0.
  move: lt; rewrite !mxrank_ker -!/(moved _) => lt.
  rewrite ltnNge; apply/negP=> ge; move: lt; rewrite ltnNge; by rewrite leq_sub2l.
have [|ss [sz ok prod]] := IH _ _ g erefl; first by rewrite -E.
exists (rcons ss (CopyOf (f q) q)); split.
- rewrite size_rcons sz; apply/eqP; rewrite eqn_leq -E less /=.
  by rewrite fg; apply: leq_trans (moved_mul _ _) _; rewrite -add1n leq_add2r rank_of_step.
- by rewrite all_rcons ok andbT /= fq.
by rewrite /steps_mx foldl_rcons -/(steps_mx _) prod fg.
Qed.

(* No list of matrices that each differ from I by rank 1 at most is shorter. *)
Theorem fewest_of_rank_one f (Ms : seq 'M[R]_n) : all (fun M => moved M <= 1)%N Ms ->
  foldl (fun N M => M *m N) 1%:M Ms = map_mx f -> (n - components f <= size Ms)%N.
Proof.
move=> ok e; rewrite -rank_of_map -e; elim/last_ind: Ms ok {e} => [|Ms M IH].
  by rewrite /moved subrr mxrank0.
rewrite all_rcons foldl_rcons size_rcons => /andP[one ok].
by apply: leq_trans (moved_mul _ _) _; rewrite -add1n leq_add // IH.
Qed.
Lemma steps_have_rank_one ss : all (fun M => moved M <= 1)%N [seq step_mx s | s <- ss].
Proof. by elim: ss => //= s ss ->; rewrite rank_of_step. Qed.

(* DP.T6 (all but the fewest copies).  An automaton of n states in one layer, from unit vectors, with n - #components swaps and copies for a
   letter, and n - 1 at most. *)
Theorem swap_copy_automaton (A : Type) (delta : A -> 'I_n -> 'I_n) (word : A -> seq step) :
    (forall a, steps_mx (word a) = map_mx (delta a)) ->
  forall q0 w, foldl (fun h a => foldl (fun h s => step_mx s *m h) h (word a)) (delta_mx q0 0) w
    = delta_mx (foldl (fun q a => delta a q) q0 w) 0 :> 'cV[R]_n.
Proof.
move=> right q0 w; elim: w q0 => [|a w IH] q0 //=; rewrite -IH; congr foldl; rewrite -map_unit -right.
move: (delta_mx q0 0 : 'cV[R]_n); elim/last_ind: (word a) => [|ss s IHs] h; first by rewrite mul1mx.
by rewrite /steps_mx !foldl_rcons -/(steps_mx _) -mulmxA IHs.
Qed.
Theorem at_most_one_less f : (0 < n)%N -> (n - components f < n)%N.
Proof. by move=> n0; rewrite -subn_gt0 subKn ?some_component // -[X in (_ <= X)%N]card_ord max_card. Qed.
End SwapCopy.
