(* Permutation matrices, group automata and one-hot automata.

   Proved over every real field, for every n:
   - moved_permutation, permutation_by_swaps, permutation_needs: rank(P_s - I) = n - #cycles(s); P_s is a product of that
     many swaps, and of no fewer factors.
   - cycles_and_moved: n - #cycles = k - c, where s moves k points in c cycles.
   - group_automaton (G.T3): one layer of permutation matrices follows every group automaton.
   - isometry_automaton (DP.T4): the same with orthogonal matrices.
   - one_hot_automaton (G.A3): every automaton by one layer of 0/1 matrices; merging_expands: with a norm above 1 where a
     letter merges states.
   - word_problem_right, word_problem_left, printed_word_problem (G.S32): the order of the product. *)
Set Warnings "-notation-overridden,-ambiguous-paths".
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
From Mirrormata Require Import Chain ChainLRNN Householder.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Open Scope ring_scope.

Section Permutations.
Variables (R : realFieldType) (n : nat).
Implicit Types (s : 'S_n).

(* The matrix of a permutation: P_s e_i = e_(s i), so that P_(s after t) = P_s P_t. *)
Definition pmx s : 'M[R]_n := perm_mx s^-1.
Lemma pmx_unit s i : pmx s *m delta_mx i 0 = delta_mx (s i) 0 :> 'cV_n.
Proof. by apply/colP=> j; rewrite -row_permE !mxE eqxx !andbT (can2_eq (permKV s) (permK s)). Qed.
Lemma pmx_mul s (t : 'S_n) : pmx s *m pmx t = pmx (t * s)%g.
Proof. by rewrite /pmx -perm_mxM invMg. Qed.
Lemma pmx1 : pmx 1%g = 1%:M.
Proof. by rewrite /pmx invg1 perm_mx1. Qed.

(* n - #cycles, fixed points counted as cycles. *)
Definition swaps_needed s : nat := (n - #|porbits s|)%N.

Lemma permutation_by_swaps s : exists ts : seq ('I_n * 'I_n),
  [/\ size ts = swaps_needed s, all (fun t => t.1 != t.2) ts & product_mx [seq @swap R n t | t <- ts] = pmx s].
Proof.
have [ts [sz ok prod]] := transpositions s^-1%g; exists (rev ts); split.
- by rewrite size_rev sz porbitsV.
- by rewrite all_rev.
rewrite /pmx prod map_rev; elim: ts ok {sz prod} => [|[i j] ts IH] /=; first by rewrite big_nil perm_mx1.
case/andP=> ij ok; rewrite rev_cons product_rcons IH // big_cons perm_mxM.
by rewrite swap_is_transposition.
Qed.

(* The fixed vectors of P_s are constant on cycles, so there are no more dimensions of them than cycles. *)
Lemma moved_permutation s : moved (pmx s) = swaps_needed s.
Proof.
apply/eqP; rewrite eqn_leq; apply/andP; split.
  by have [ts [<- _ <-]] := permutation_by_swaps s; rewrite -(size_map (@swap R n)); apply: rank_of_product.
rewrite /swaps_needed leq_subLR -[X in (X <= _)%N](subnK (rank_leq_row (pmx s - 1%:M))) leq_add2r -mxrank_ker.
pose E : 'M[R]_(#|porbits s|, n) := \matrix_(k, i) (porbit s i == enum_val k)%:R.
apply: leq_trans (rank_leq_row E); apply/mxrankS/row_subP=> r; move: (row_sub r (kermx (pmx s - 1%:M))).
move: (row r _) => y; rewrite sub_kermx mulmxBr mulmx1 subr_eq0 => /eqP fixed.
have shift j : y 0 (s j) = y 0 j.
  by have /rowP/(_ j) := fixed; rewrite /pmx -col_permE mxE.
have const j : {in porbit s j, forall i, y 0 i = y 0 j}.
  by move=> _ /porbitP[k ->]; elim: k => [|k IH]; rewrite ?expg0 ?perm1 // expgSr permM shift.
apply/submxP; exists (\row_k (if [pick i | porbit s i == enum_val k] is Some i then y 0 i else 0)).
apply/rowP=> j; rewrite mxE; have jP: porbit s j \in porbits s by apply: imset_f.
pose k : 'I_#|porbits s| := enum_rank_in jP (porbit s j).
have kj: enum_val k = porbit s j by rewrite enum_rankK_in.
rewrite (bigD1 k) //= !mxE kj eqxx mulr1 big1 ?addr0 => [|l lk].
  case: pickP => [i /eqP e|/(_ j)]; last by rewrite eqxx.
  by apply: const; rewrite e porbit_id.
rewrite !mxE; case: eqP => [e|_]; last by rewrite mulr0.
by case/eqP: lk; apply: enum_val_inj; rewrite -e kj.
Qed.

(* H.rank, G.T3remark, G.P1.2 (part: permutations).  P_s is a product of n - #cycles swaps and of no fewer factors. *)
Theorem permutation_needs s :
  (exists ts : seq ('I_n * 'I_n), [/\ size ts = swaps_needed s, all (fun t => t.1 != t.2) ts
     & product_mx [seq @swap R n t | t <- ts] = pmx s])
  /\ forall fs, product_mx fs = pmx s -> (swaps_needed s <= size fs)%N.
Proof.
split; first exact: permutation_by_swaps.
by move=> fs e; rewrite -moved_permutation -e; apply: rank_of_product.
Qed.

(* Where s moves k points in c cycles, n - #cycles = k - c. *)
Definition moved_points s : {set 'I_n} := [set i | s i != i].
Lemma cycles_and_moved s : swaps_needed s = (#|moved_points s| - #|porbit s @: moved_points s|)%N.
Proof.
have fixed i : i \notin moved_points s -> porbit s i = [set i].
  rewrite inE negbK => /eqP e; apply/setP=> j; rewrite inE; apply/porbitP/eqP=> [[k ->]|->].
    by elim: k => [|k IH]; rewrite ?expg0 ?perm1 // expgSr permM IH.
  by exists 0%N; rewrite expg0 perm1.
rewrite /swaps_needed; have ->: porbits s = (porbit s @: moved_points s) :|: (porbit s @: ~: moved_points s).
  by rewrite -imsetU setUCr; apply/setP=> X; apply/imsetP/imsetP=> [] [x _ ->]; exists x.
have dis: (porbit s @: moved_points s) :&: (porbit s @: ~: moved_points s) = set0.
  apply/setP=> X; rewrite !inE; apply/negP=> /andP[/imsetP[i im ->] /imsetP[j jm e]].
  have: i \in porbit s j by rewrite -e porbit_id.
  rewrite fixed -?in_setC // inE => /eqP ij; by rewrite -ij inE im in jm.
rewrite cardsU dis cards0 subn0 (card_in_imset (D := ~: _)) => [|i j]; last first.
  by move=> im jm; rewrite !fixed -?in_setC // => /set1_inj.
by rewrite -[X in (X - _)%N](card_ord n) -(cardsC (moved_points s)) subnDr.
Qed.

(* At most k - 1 factors, if a letter moves k points. *)
Lemma fewer_than_moved s : s != 1%g -> (swaps_needed s < #|moved_points s|)%N.
Proof.
move=> s1; have [i im]: exists i, i \in moved_points s.
  by apply/existsP; apply: contraR s1; rewrite negb_exists => /forallP f;
     apply/eqP/permP=> i; rewrite perm1; apply/eqP; have := f i; rewrite inE negbK.
rewrite cycles_and_moved -subn_gt0 subKn ?leq_imset_card //.
by apply/card_gt0P; exists (porbit s i); apply: imset_f.
Qed.
End Permutations.

Section GroupAutomata.
Variables (R : realFieldType) (n : nat) (Q A : Type) (delta : A -> Q -> Q) (q0 : Q).
Definition state (w : seq A) : Q := foldl (fun q a => delta a q) q0 w.
Definition action (w : seq A) (q : Q) : Q := foldl (fun q a => delta a q) q w.

(* One layer without additive terms: H <- A(x) H from H = I. *)
Definition run (M : A -> 'M[R]_n) (w : seq A) : 'M[R]_n := foldl (fun H a => M a *m H) 1%:M w.

(* The layer's states can be decoded: equal ones come from words with equal states of the automaton. *)
Definition decodes (M : A -> 'M[R]_n) : Prop := forall u w, run M u = run M w -> state u = state w.

(* What a word does to the points. *)
Definition on_points (p : A -> 'S_n) (w : seq A) : 'S_n := (\prod_(a <- w) p a)%g.
Lemma run_permutations p w : run (fun a => pmx R (p a)) w = pmx R (on_points p w).
Proof.
rewrite /on_points; elim/last_ind: w => [|w a IH]; first by rewrite big_nil pmx1.
by rewrite /run foldl_rcons -/(run _ _) IH pmx_mul -cats1 big_cat big_seq1.
Qed.

(* G.T3 (all but the signed form of a cycle of 2r points).  Let letter a permute n points by p a, faithfully: words that
   do the same to the points do the same to the states.  Then one layer of permutation matrices follows the automaton, and
   a letter that moves k points in c cycles is a product of k - c swaps (at most k - 1) and of no fewer factors. *)
Theorem group_automaton (p : A -> 'S_n) :
    (forall u w, on_points p u = on_points p w -> action u =1 action w) ->
  decodes (fun a => pmx R (p a)) /\ forall a,
  [/\ exists ts : seq ('I_n * 'I_n), [/\ size ts = (#|moved_points (p a)| - #|porbit (p a) @: moved_points (p a)|)%N,
        all (fun t => t.1 != t.2) ts & product_mx [seq @swap R n t | t <- ts] = pmx R (p a)],
      forall fs, product_mx fs = pmx R (p a) ->
        (#|moved_points (p a)| - #|porbit (p a) @: moved_points (p a)| <= size fs)%N
    & p a != 1%g -> (#|moved_points (p a)| - #|porbit (p a) @: moved_points (p a)| < #|moved_points (p a)|)%N].
Proof.
move=> faithful; split=> [u w|a].
  rewrite !run_permutations => e; apply: (faithful u w _ q0); apply/permP=> i.
  have := congr1 (fun H : 'M[R]_n => H *m delta_mx i (0 : 'I_1)) e; rewrite /= !pmx_unit.
  move/matrixP/(_ (on_points p u i) 0); rewrite !mxE !eqxx andbT; case: eqP => // _ /eqP.
  by rewrite oner_eq0.
rewrite -cycles_and_moved; have [by_swaps needs] := permutation_needs R (p a).
by split=> //; apply: fewer_than_moved.
Qed.

(* DP.T4 (part: the number of reflections).  Let letter a be an orthogonal matrix, faithfully: words with the same matrix
   do the same to the states.  Then one layer follows the automaton with at most n reflections a letter, and with at most
   n - 1 where n is odd and the determinants are 1. *)
Theorem isometry_automaton (M : A -> 'M[R]_n) :
    (forall a, orthogonal (M a)) -> (forall u w, run M u = run M w -> action u =1 action w) ->
  decodes M /\ forall a, exists fs, [/\ all (@reflection R n) fs, product_mx fs = M a, (size fs <= n)%N
    & odd n -> \det (M a) = 1 -> (size fs < n)%N].
Proof.
move=> orth faithful; split=> [u w e|a]; first exact: faithful.
have [fs [sz ref prod]] := orthogonal_by_reflections (orth a); exists fs; split=> //.
  by rewrite sz; apply: rank_leq_row.
by move=> odd_n detM; rewrite sz; apply: rotation_moves_less.
Qed.
End GroupAutomata.

Section OneHot.
Variables (R : realFieldType) (n : nat) (A : Type) (delta : A -> 'I_n -> 'I_n).

(* A(x) e_q = e_delta(x, q): a 0/1 matrix. *)
Definition one_hot_mx a : 'M[R]_n := \matrix_(i, q) (i == delta a q)%:R.
Lemma one_hot_unit a q : one_hot_mx a *m delta_mx q 0 = delta_mx (delta a q) 0 :> 'cV_n.
Proof. by rewrite -colE; apply/colP=> i; rewrite !mxE eqxx andbT. Qed.

(* G.A3 (all but the exact value of the norm; with merging_expands).  Every automaton of n states: from e_q0, the layer
   h <- A(x) h holds e_q after every word, q the automaton's state. *)
Theorem one_hot_automaton q0 w :
  foldl (fun h a => one_hot_mx a *m h) (delta_mx q0 0) w = delta_mx (foldl (fun q a => delta a q) q0 w) 0 :> 'cV[R]_n.
Proof. by elim: w q0 => [|a w IH] q0 //=; rewrite one_hot_unit IH. Qed.

(* If m states go to r by a, the sum x of their vectors has |A(a) x|^2 = m |x|^2 = m^2: the norm is at least the root of
   m, so that A(a) is no product of factors with eigenvalues in [-1, 1] where m > 1. *)
Theorem merging_expands a r : let m := #|[set q | delta a q == r]| in
  let x : 'cV[R]_n := \col_q (delta a q == r)%:R in
  [/\ dot x x = m%:R, dot (one_hot_mx a *m x) (one_hot_mx a *m x) = m%:R * dot x x
    & (1 < m)%N -> forall fs, all (@bounded R n) fs -> product_mx fs <> one_hot_mx a].
Proof.
move=> m x.
have sum1: \sum_q (delta a q == r)%:R = m%:R :> R.
  by rewrite -natr_sum /m -sum1_card; congr _%:R; rewrite [RHS]big_mkcond; apply: eq_bigr => q _; rewrite inE; case: eqP.
have xx: dot x x = m%:R.
  by rewrite dotE -sum1; apply: eq_bigr => q _; rewrite mxE; case: eqP; rewrite ?mulr1 ?mulr0.
have Ax: one_hot_mx a *m x = m%:R *: delta_mx r 0.
  apply/colP=> i; rewrite !mxE eqxx andbT -sum1; case: (eqVneq i r) => [->|ir].
    by rewrite mulr1; apply: eq_bigr => q _; rewrite !mxE eq_sym; case: eqP; rewrite ?mulr1 ?mulr0.
  rewrite mulr0 big1 // => q _; rewrite !mxE; case: (eqVneq (delta a q) r) => [->|_]; last by rewrite mulr0.
  by rewrite (negbTE ir) mul0r.
have AA: dot (one_hot_mx a *m x) (one_hot_mx a *m x) = m%:R * dot x x.
  rewrite Ax dotZl dotZr xx (_ : dot (delta_mx r 0) (delta_mx r 0) = 1) ?mulr1 // dotE (bigD1 r) //=.
  by rewrite !mxE !eqxx mulr1 big1 ?addr0 // => i ir; rewrite !mxE (negbTE ir) mul0r.
split=> // m1 fs ok e; have := product_non_expansive x ok; rewrite e AA xx -natrM ler_nat.
by rewrite leqNgt -{1}[m]mul1n ltn_pmul2r ?m1 // ltnW.
Qed.
End OneHot.

Section WordProblem.
Variable G : finGroupType.
Implicit Types (w : seq G).

(* G.S32 (all, with word_problem_left).  With delta(y, m) = y m the state after m_1 ... m_t is the product m_1 ... m_t. *)
Theorem word_problem_right w : foldl (fun y m => y * m)%g 1%g w = (\prod_(m <- w) m)%g.
Proof. by elim/last_ind: w => [|w m IH]; rewrite ?big_nil // foldl_rcons IH -cats1 big_cat big_seq1. Qed.

(* With delta(y, m) = m y it is m_t ... m_1; the two agree on all words only in abelian groups. *)
Theorem word_problem_left :
  (forall w, foldl (fun y m => m * y)%g 1%g w = (\prod_(m <- rev w) m)%g)
  /\ ((forall w, (\prod_(m <- w) m = \prod_(m <- rev w) m)%g) <-> abelian [set: G]).
Proof.
split=> [w|].
  by elim/last_ind: w => [|w m IH]; rewrite ?big_nil // foldl_rcons IH rev_rcons big_cons.
split=> [same|ab w].
  apply/centsP=> x _ y _; have := same [:: x; y].
  by rewrite /rev /= !big_cons !big_nil !mulg1.
elim: w => [|m w IH]; first by rewrite !big_nil.
rewrite rev_cons big_cons -cats1 big_cat big_seq1 IH; have /centsP := ab; apply; exact: in_setT.
Qed.
End WordProblem.

(* G.S32.printed (refuted).  In S_3, started at the identity, delta(m_1, m_2) = m_2 m_1 does not give m_1 m_2. *)
Theorem printed_word_problem : exists w : seq 'S_3, foldl (fun y m => m * y)%g 1%g w <> (\prod_(m <- w) m)%g.
Proof.
pose i0 : 'I_3 := ord0; pose i1 : 'I_3 := lift ord0 ord0; pose i2 : 'I_3 := ord_max.
exists [:: tperm i0 i1; tperm i1 i2]; rewrite /= !big_cons big_nil !mulg1.
by move/permP/(_ i0); rewrite !permM (tpermD (x := i1) (y := i2) (z := i0)) // !tpermL.
Qed.

(* G.T3.printed (refuted).  In the word problem of S_3 a swap changes the state of all 6 elements, and moves 2 points. *)
Theorem printed_count : let s : 'S_3 := tperm ord0 ord_max in
  #|[set y : 'S_3 | (y * s)%g != y]| = 6%N /\ #|moved_points s| = 2%N.
Proof.
move=> s; split; last first.
  have ->: moved_points s = [set ord0; ord_max].
    by apply/setP=> i; rewrite !inE /s; case: tpermP => [->|->|/eqP/negbTE-> /eqP/negbTE->]; rewrite ?eqxx.
  by rewrite cards2.
have ->: [set y : 'S_3 | (y * s)%g != y] = setT.
  apply/setP=> y; rewrite !inE; apply/negP=> /eqP e.
  have /permP/(_ ord0) : s = 1%g by apply: (mulgI y); rewrite e mulg1.
  by rewrite tpermL perm1.
by rewrite cardsT card_Sn.
Qed.
