(* CK.S5: how few factors can follow the group S_5 in one layer, and where a turned plane is one too few.

   The claim: a layer with |A| <= 1 and finitely many hidden states that follows the word problem of S_5 over all elements needs four
   factors a token.  Its proof in words has four steps, which are theorems here, and a fifth, which is proved here for one kind of layer.

   1. Several heads (the argument by commutators): some_head_reads.  Let G be the finite group of what words do to all heads, f what they do
      to the automaton, and K_i the words that do nothing in head i, so that only the identity is in all K_i.  If f covers a simple group
      E that is not abelian (A_5), then in some head f(K_i) meets E in the identity: this head alone tells the elements of E.
      For E = [E, E], and [K_i, K_j] lies in K_i and in K_j, so if E were in every f(K_i) it would be in the image of their meet.
   2. Isometry: short_letter.  A matrix that lengthens no vector, and permutes finitely many states, lengthens no difference of
      them and shortens none, since the sum over all pairs of states stays the same; by contraction_keeps A^T A is then the identity there.
   3. One plane: three_turn_one_plane.  An isometry with rank(A - I) = 3 has the eigenvalue -1, so that rank(A^2 - I) <= 2: three
      factors turn one plane at most, and an even power of a letter turns this plane and does nothing else.
   4. The fifth roots: fifth_root.  If rank(r - I) <= 2 and r^5 = I, over a real field, and r is not I, then r and r^2 have different
      traces, so that they are not conjugate: a turn by 72 degrees is none by 144.
   5. In S_5 an element a of order 5 is conjugate to its square, and so a word r over a is to a word over a^2, up to a word that keeps all answers.
      five_divides_keepers: these words, as maps of the hidden states, form a group, whose order 5 divides; were it otherwise, by Sylow's
      theorem (conjugate_lifts) r itself would be conjugate to r^2.  three_factors_leave_five: the same of S_5 and of layers given by
      their factors; five_states_of_an_element: such a layer has five hidden states or more for one of the elements.

   So no layer of three factors has four hidden states or fewer for each element.  What is left of the claim: layers with more, in which
   words that keep the answers permute the hidden states by a group whose order 5 divides.
   For these the claim takes A_5 in place of one element, and the finite groups of rotations of three and four dimensions; that is not proved here.

   Hypotheses of 5, in words: the heads' numbers are in a real field (the real numbers, say); the hidden states, T, are finitely many, different
   ones differ in some head, and each letter permutes them (they are those that come back, not those that are left for good); every
   letter is H <- A H + B in each head, with |A x| <= |x| and rank(A - I) <= 3; `answer` tells the product of the letters so far.  Gates are 1. *)
Set Warnings "-notation-overridden,-ambiguous-paths".
From Coq Require Import Ring.
From mathcomp Require Import all_ssreflect all_fingroup all_algebra all_solvable.
From Mirrormata Require Import Identities Chain ChainLRNN Householder.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.

Section Groups.
Local Open Scope group_scope.
Variables (gT hT : finGroupType) (G : {group gT}) (f : {morphism G >-> hT}).

(* Two elements of prime order p with the same image are conjugate, if p does not divide the order of the kernel K: both generate a Sylow
   subgroup of K <v>, and these are conjugate; by the images it is the elements that are, not powers of them. *)
Lemma conjugate_lifts p u v : prime p -> ~~ (p %| #|'ker f|)%N -> u \in G -> v \in G -> #[u] = p -> #[v] = p ->
  f u = f v -> exists2 m, m \in G & u ^ m = v.
Proof.
move=> pr ndvd uG vG ou ov e.
have nK: <[v]> \subset 'N('ker f) by rewrite cycle_subG (subsetP (normal_norm (ker_normal f))).
have coKv: 'ker f :&: <[v]> = 1.
  by apply: coprime_TIg; rewrite -orderE ov coprime_sym prime_coprime.
pose M := ('ker f <*> <[v]>)%G.
have cM: #|M| = (#|'ker f| * p)%N by rewrite /= norm_joinEr // TI_cardMg // -orderE ov.
have vM: v \in M by rewrite mem_gen // inE cycle_id orbT.
have uM: u \in M.
  rewrite -(mulgKV v u) groupM // mem_gen // inE (_ : u * v^-1 \in 'ker f) //.
  by apply/kerP; rewrite ?groupM ?groupV // morphM ?groupV // morphV // e mulgV.
have MG: M \subset G by rewrite join_subG subsetIl cycle_subG.
have syl w : w \in M -> #[w] = p -> p.-Sylow(M) <[w]>.
  move=> wM ow; rewrite pHallE cycle_subG wM -orderE ow cM /=.
  by rewrite partnM ?cardG_gt0 ?prime_gt0 // part_p'nat ?p'natE // mul1n part_pnat_id ?pnat_id.
have [m mM E] := Sylow_trans (syl v vM ov) (syl u uM ou).
have mG := subsetP MG _ mM.
have abM x y : x \in M -> y \in M -> commute (f x) (f y).
  have im x' : x' \in M -> f x' \in <[f v]>.
    rewrite /= norm_joinEr // => /mulsgP[k w kK /cycleP[i ->] ->].
    have kG: k \in G by case/setIP: (kK).
    by rewrite morphM ?groupX // (mker kK) mul1g morphX // mem_cycle.
  move=> /im xf /im yf; exact: (centsP (cycle_abelian (f v))).
have: v ^ m \in <[u]> by rewrite E memJ_conjg cycle_id.
case/cycleP=> j ej; exists m^-1; rewrite ?groupV //.
suff -> : u = v ^ m by rewrite conjgK.
have: f (v ^ m) = f v by rewrite morphJ // conjgE (abM _ _ vM mM) mulKg.
rewrite ej morphX // -e => /eqP; rewrite -{2}[f u]expg1 eq_expg_mod_order => /eqP jj.
have of_: #[f u] = p.
  have dv: (#[f u] %| p)%N by rewrite -ou morph_order.
  case/primeP: pr => _ /(_ _ dv) /orP[/eqP o1|/eqP//].
  have: u \in 'ker f by apply/kerP=> //; apply/eqP; rewrite -order_eq1 o1.
  rewrite -cycle_subG => /cardSg; rewrite -orderE ou => d; by rewrite d in ndvd.
by rewrite -{1}[u]expg1; apply/eqP; rewrite eq_expg_mod_order ou -of_ jj.
Qed.

(* A group that is its own group of commutators, and lies in the images of normal subgroups, lies in the image of their meet. *)
Lemma commutators_in_all (I : finType) (K : I -> {group gT}) (E : {group hT}) :
  (forall i, K i <| G) -> [~: E, E] = E -> (forall i, E \subset f @* K i) -> E \subset f @* G ->
  E \subset f @* (G :&: \bigcap_i K i).
Proof.
move=> nK EE inK inG; pose meet := foldr (fun i N => (K i :&: N)%G) G.
have meetE s : meet s = G :&: \bigcap_(i <- s) K i :> {set gT}.
  by elim: s => [|i s IH] /=; rewrite ?big_nil ?setIT // big_cons IH setICA.
rewrite -big_enum /= -meetE; elim: (enum I) => [|i s IH] //=.
have [KG nKG] := andP (nK i); have sub: meet s \subset G by rewrite meetE subsetIl.
rewrite -EE; apply: subset_trans (commgSS (inK i) IH) _.
rewrite -morphimR //; apply: morphimS; rewrite subsetI commg_subl (subset_trans sub nKG) commg_subr.
elim: {IH sub} s => [|j s IH] /=; first by apply: subset_trans KG (normG G).
by apply: normsI => //; apply: subset_trans KG (normal_norm (nK j)).
Qed.

(* Some head tells the elements of a simple group that is not abelian: its words that do nothing have none but the identity there. *)
Theorem some_head_reads (I : finType) (K : I -> {group gT}) (E : {group hT}) :
  (forall i, K i <| G) -> \bigcap_i K i = 1 -> E \subset f @* G -> simple E -> ~~ abelian E ->
  exists i, f @* K i :&: E = 1.
Proof.
move=> nK meet EG simE nabE; have [E1 max] := simpleP _ simE.
have EE: [~: E, E] = E.
  by case: (max _ (der_normal 1 E)) => // /commG1P; rewrite -abelianE (negbTE nabE).
have [i nEK] : exists i, ~~ (E \subset f @* K i).
  apply/existsP; rewrite -negb_forall; apply/negP => /forallP all.
  have := commutators_in_all nK EE all EG; rewrite meet (setIidPr (sub1G G)) morphim1.
  by move/trivGP => E_1; rewrite E_1 eqxx in E1.
exists i; case: (max (f @* K i :&: E)%G) => //; last first.
  by move=> e; case/negP: nEK; rewrite -e subsetIl.
rewrite /normal subsetIr normsI ?normG //.
apply: subset_trans EG _; apply: subset_trans (morphim_norms _ (normal_norm (nK i))) _ => //.
Qed.
End Groups.

Local Open Scope ring_scope.

Section Rank.
Variable R : realFieldType.

(* Coq's tactic `ring` for the numbers R: their operations under names of their own, which it compares. *)
Definition r_add (x y : R) : R := x + y.
Definition r_mul (x y : R) : R := x * y.
Definition r_opp (x : R) : R := - x.
Definition r_zero : R := 0.
Definition r_one : R := 1.
Lemma r_addE x y : x + y = r_add x y. Proof. by []. Qed.
Lemma r_mulE x y : x * y = r_mul x y. Proof. by []. Qed.
Lemma r_oppE x : - x = r_opp x. Proof. by []. Qed.
Lemma r_zeroE : 0 = r_zero. Proof. by []. Qed.
Lemma r_oneE : 1 = r_one. Proof. by []. Qed.
Lemma r_laws : ring_theory r_zero r_one r_add r_mul (fun x y => r_add x (r_opp y)) r_opp eq.
Proof. exact: (ring_laws R). Qed.
Add Ring r_ring : r_laws.
Ltac r_ring :=
  rewrite ?mulr2n ?expr2 ?r_addE ?r_mulE ?r_oppE ?r_zeroE ?r_oneE;
  match goal with |- @eq _ ?x ?y => change (@eq R x y) end; ring.

(* A contraction keeps lengths only where A^T A is the identity. *)
Lemma contraction_keeps n (A : 'M[R]_n) y : (forall x, dot (A *m x) (A *m x) <= dot x x) ->
  dot (A *m y) (A *m y) = dot y y -> A^T *m (A *m y) = y.
Proof.
move=> small keeps; apply/eqP; rewrite eq_sym -subr_eq0 -dot_eq0; move zdef: (y - _) => z.
have zE x : dot z x = dot y x - dot (A *m y) (A *m x).
  by rewrite -zdef dotBl [dot (A *m y) _]dot_mulmx.
have le: dot (A *m z) (A *m z) <= - dot z z.
  have := small (y - z); rewrite mulmxBr !(dotBl, dotBr) keeps (dotC (A *m z) (A *m y)) (dotC z y).
  rewrite -subr_ge0 => H; rewrite -subr_ge0; apply: etrans H; congr (0 <= _); move: (zE z).
  move: (dot z z) (dot y z) (dot _ _) (dot _ _) (dot y y) => a b c e f ->.
  r_ring.
by rewrite eq_le dot_ge0 andbT -oppr_ge0; apply: le_trans (dot_ge0 _) le.
Qed.

(* Row vectors of length k with the scalar product x S y^T. *)
Section Form.
Variables (k : nat) (S G : 'M[R]_k).
Hypothesis definite : forall x : 'rV[R]_k, x *m S *m x^T = 0 -> x = 0.
Hypothesis isometry : G *m S *m G^T = S.

(* G = I + C B with as many columns of C and rows of B as the rank of G - I: if this is odd, then the rank of G^2 - I is less. *)
Lemma odd_rank_falls m (C : 'M[R]_(k, m)) (B : 'M[R]_(m, k)) : G = 1%:M + C *m B -> row_full C -> row_free B -> odd m ->
  (moved (G *m G)%R < m)%N.
Proof.
move=> GE fullC freeB odd_m.
have [g Bg]: exists g, B *m G = g *m B.
  by exists (1%:M + B *m C); rewrite GE mulmxDl mulmxDr mul1mx mulmx1 !mulmxA.
pose S' := B *m S *m B^T.
have iso: g *m S' *m g^T = S'.
  by rewrite /S' !mulmxA -Bg -!mulmxA -trmx_mul -Bg trmx_mul !mulmxA -(mulmxA B G) -(mulmxA B) isometry.
have def' (x : 'rV_m) : x *m S' *m x^T = 0 -> x = 0.
  move=> e; have: x *m B = 0 by apply: definite; rewrite trmx_mul !mulmxA in e *.
  by rewrite -[0](mul0mx _ B) => /(row_free_inj freeB).
have fixed (x : 'rV_m) : x *m g = x -> x = 0.
  move=> xg; have [z zC] : exists z : 'rV_k, z *m C = x.
    have /row_fullP[L LC] := fullC.
    by exists (x *m L); rewrite -mulmxA LC mulmx1.
  pose y := x *m B; have yG: y *m G = y by rewrite /y -mulmxA Bg mulmxA xg.
  have yE: y = z *m G - z by rewrite GE mulmxDr mulmx1 addrAC subrr add0r mulmxA zC.
  have yz: (y *m G) *m S *m (z *m G)^T = y *m S *m z^T.
    by rewrite trmx_mul !mulmxA -(mulmxA y G S) -(mulmxA y (G *m S)) isometry.
  have: y *m S *m y^T = 0 by rewrite {2}yE linearB /= mulmxBr -yz yG subrr.
  by move/definite; rewrite /y -[0](mul0mx _ B) => /(row_free_inj freeB).
have kernel (N : 'M[R]_m) : \det N = 0 -> exists2 x : 'rV_m, x != 0 & x *m N = 0.
  by move/eqP/det0P=> [x x0 xN]; exists x.
have dS: \det S' != 0.
  apply/negP=> /eqP/kernel[x x0 xS]; case/eqP: x0; apply: def'; by rewrite xS mul0mx.
have d1: \det (g - 1%:M) != 0.
  apply/negP=> /eqP/kernel[x x0 xS]; case/eqP: x0; apply: fixed.
  by apply/eqP; rewrite -subr_eq0 -[X in _ - X]mulmx1 -mulmxBr xS.
have dg: \det g = -1.
  have: \det ((g - 1%:M) *m S' *m g^T) = \det (-1 *: (S' *m (g - 1%:M)^T)).
    congr (\det _); rewrite !mulmxBl mul1mx iso linearB /= trmx1 mulmxBr mulmx1 scaleN1r opprB //.
  rewrite detZ !det_mulmx !det_tr -signr_odd odd_m expr1 mulN1r => e.
  apply: (mulIf d1); apply: (mulIf dS); rewrite -mulrA mulrC e mulN1r mulNr mulrC //.
have dp: \det (g + 1%:M) = 0.
  have: \det ((g + 1%:M) *m S' *m g^T) = \det (S' *m (g + 1%:M)^T).
    by congr (\det _); rewrite !mulmxDl mul1mx iso linearD /= trmx1 mulmxDr mulmx1 addrC.
  rewrite !det_mulmx !det_tr dg mulrN1 [RHS]mulrC => /eqP; rewrite eq_sym -addr_eq0 -mulr2n mulrn_eq0 /=.
  by rewrite mulf_eq0 (negbTE dS) orbF => /eqP.
rewrite /moved; have ->: G *m G - 1%:M = C *m (g + 1%:M) *m B.
  rewrite -mulmxA mulmxDl mul1mx -Bg -{2}[B]mulmx1 -mulmxDr mulmxA (_ : C *m B = G - 1%:M); last first.
    by rewrite GE addrAC subrr add0r.
  by rewrite mulmxDr mulmx1 mulmxBl mul1mx addrA subrK.
apply: leq_ltn_trans (mxrankM_maxl _ _) _; apply: leq_ltn_trans (mxrankM_maxr _ _) _.
rewrite ltn_neqAle rank_leq_row andbT -/(row_free _) row_free_unit unitmxE dp unitr0 //.
Qed.

(* So three factors turn one plane at most. *)
Theorem three_turn_one_plane : (moved G <= 3)%N -> (moved (G *m G)%R <= 2)%N.
Proof.
rewrite leq_eqVlt => /orP[/eqP e|].
  have odd3: odd (moved G) by rewrite e.
  have GE: G = 1%:M + col_base (G - 1%:M) *m row_base (G - 1%:M) by rewrite mulmx_base addrC subrK.
  rewrite -ltnS -e; apply: (odd_rank_falls GE) => //; first exact: col_base_full.
  exact: row_base_free.
rewrite ltnS; apply: leq_trans; rewrite /moved.
have ->: G *m G - 1%:M = (G - 1%:M) *m (G + 1%:M).
  by rewrite mulmxDr mulmx1 mulmxBl mul1mx addrA subrK.
exact: mxrankM_maxl.
Qed.
End Form.

Lemma fifth_power_one (x : R) : x * (x * (x * (x * x))) = 1 -> x = 1.
Proof.
move=> e; have: x ^+ 5 == 1 by rewrite !exprS expr0 mulr1 e.
have [x0|x0] := leP 0 x; first by rewrite pexpr_eq1 // => /eqP.
by move/eqP=> e5; have: x ^+ 5 < 0 by [rewrite exprn_odd_lt0]; rewrite e5 ltNge ler01.
Qed.

(* A matrix of two rows satisfies its characteristic equation. *)
Lemma square_of_two (g : 'M[R]_2) : g *m g = \tr g *: g - (\det g)%:M.
Proof.
have one: lift ord0 ord0 = 1 :> 'I_2 by apply: val_inj.
have two (i : 'I_2) : i = 0 \/ i = 1 by case: i => [[|[|//]] lt]; [left | right]; apply: val_inj.
rewrite (expand_det_row _ 0) !big_ord_recl big_ord0 /cofactor !det_mx11 !mxE.
rewrite /mxtrace !big_ord_recl big_ord0.
have -> : lift (0 : 'I_2) 0 = 1 by apply: val_inj.
have -> : lift (1 : 'I_2) 0 = 0 by apply: val_inj.
apply/matrixP=> i j; rewrite !mxE !big_ord_recl big_ord0 one /=.
rewrite ?expr0 ?expr1 ?addr0 ?mul1r ?mulN1r.
by case: (two i) => ->; case: (two j) => -> /=; rewrite ?mulr1n ?mulr0n; move: (g 0 0) (g 0 1) (g 1 0) (g 1 1) => a b c d; r_ring.
Qed.

Definition fifth k (g : 'M[R]_k) : 'M[R]_k := g *m (g *m (g *m (g *m g))).

(* 1 + N with N^2 = 0 is no fifth root of 1 but for N = 0. *)
Lemma fifth_unipotent k (N : 'M[R]_k) : N *m N = 0 -> fifth (1%:M + N) = 1%:M -> N = 0.
Proof.
move=> N2; have step j : (1%:M + N) *m (1%:M + N *+ j) = 1%:M + N *+ j.+1.
  by rewrite mulmxDl mul1mx mulmxDr mulmx1 -[in N *m _]scaler_nat -scalemxAr N2 scaler0 addr0 -addrA mulrSr.
rewrite /fifth -{5}[N]mulr1n !step -[RHS]addr0 => /addrI/eqP; rewrite -scaler_nat scaler_eq0 pnatr_eq0 /=.
by move/eqP.
Qed.

(* In dimension 2: the determinant is 1, and the trace t of g satisfies t^2 - 2 = tr g^2 = t, so t = 2 or t = -1.  Then g = 1, or g^3 = 1,
   which is impossible with g^5 = 1 and t = -1. *)
Lemma small_fifth_root m (g : 'M[R]_m) : (m <= 2)%N -> fifth g = 1%:M -> \tr (g *m g) = \tr g -> g = 1%:M.
Proof.
case: m g => [|[|[|//]]] g _ g5 same; first by rewrite [g]flatmx0 [RHS]flatmx0.
  move: g5; rewrite [g]mx11_scalar /fifth -!scalar_mxM => /(congr1 (fun M : 'M[R]_1 => M 0 0)).
  by rewrite !mxE eqxx !mulr1n => /fifth_power_one ->.
have det1: \det g = 1.
  by apply: fifth_power_one; have := congr1 determinant g5; rewrite !det_mulmx det1.
have g2 := square_of_two g; rewrite det1 in g2.
have tt: \tr g * \tr g = \tr g + 2%:R.
  by rewrite -{3}same g2 linearB /= mxtraceZ mxtrace1 subrK.
have /eqP: (\tr g - 2%:R) * (\tr g + 1) = 0.
  rewrite mulrDr mulr1 mulrBl tt; move: (\tr g) => t; r_ring.
rewrite mulf_eq0 subr_eq0 addr_eq0 => /orP[]/eqP t.
  suff N0: g - 1%:M = 0 by apply/eqP; rewrite -subr_eq0 N0.
  apply: fifth_unipotent; last by rewrite addrC subrK.
  by rewrite mulmxBl mulmxBr mul1mx mulmx1 g2 t scaler_nat mulr2n; apply/matrixP=> i j; rewrite !mxE; move: (g i j) (_ *+ _) => a b; r_ring.
have g3: g *m (g *m g) = 1%:M.
  by rewrite g2 t scaleN1r mulmxBr mulmxN mulmx1 g2 t scaleN1r opprB opprK addrK.
have gg: g *m g = 1%:M by move: g5; rewrite /fifth g3 mulmx1 => ->.
by move: same; rewrite gg mxtrace1 t => /eqP; rewrite -addr_eq0 -[1]/(1%:R) -natrD pnatr_eq0.
Qed.

(* A fifth root of the identity that differs from it by a matrix of rank at most 2 has another trace than its square, if it is not the
   identity: with r = 1 + C B the matrix g = 1 + B C has two rows, and the traces of r^k and g^k differ by the same number for every k. *)
Theorem fifth_root k (r : 'M[R]_k) : (moved r <= 2)%N -> fifth r = 1%:M -> \tr (r *m r) = \tr r -> r = 1%:M.
Proof.
rewrite /moved => small r5 same; have := mulmx_base (r - 1%:M); have := row_base_free (r - 1%:M).
move: (col_base _) (row_base _) => C B freeB CB.
have rE: r = 1%:M + C *m B by rewrite CB addrC subrK.
move: small freeB CB rE; move: (\rank _) C B => m C B small freeB CB rE.
have [g gE Br]: exists2 g, g = 1%:M + B *m C & B *m r = g *m B.
  by exists (1%:M + B *m C) => //; rewrite rE mulmxDl mulmxDr mul1mx mulmx1 !mulmxA.
have g5: fifth g = 1%:M.
  have move_B M N : B *m M = N *m B -> B *m (r *m M) = g *m N *m B.
    by move=> e; rewrite mulmxA Br -mulmxA e mulmxA.
  apply: (row_free_inj freeB); rewrite mul1mx -[RHS]mulmx1 -r5 /fifth.
  by apply/esym; do 4!apply: (move_B).
have BC: B *m C = g - 1%:M by rewrite gE addrAC subrr add0r.
have g1: g = 1%:M.
  apply: small_fifth_root => //.
  have tr1: \tr r = k%:R + (\tr g - m%:R).
    by rewrite rE mxtraceD mxtrace1 mxtrace_mulC BC linearB /= mxtrace1.
  have tr2: \tr (r *m r) = k%:R + (\tr (g *m g) - m%:R).
    have -> : r *m r = 1%:M + C *m ((g + 1%:M) *m B).
      by rewrite {1}rE !mulmxDl !mul1mx -mulmxA Br {1}rE -addrA -mulmxDr [B + _]addrC.
    rewrite mxtraceD mxtrace1 mxtrace_mulC -mulmxA BC.
    have -> : (g + 1%:M) *m (g - 1%:M) = g *m g - 1%:M by rewrite mulmxDl mul1mx mulmxBr mulmx1 addrA subrK.
    by rewrite linearB /= mxtrace1.
  by move: same; rewrite tr1 tr2 => /addrI/addIr.
have N2: (C *m B) *m (C *m B) = 0 by rewrite mulmxA -(mulmxA C) BC g1 subrr mulmx0 mul0mx.
by rewrite rE (fifth_unipotent N2) ?addr0 // -rE.
Qed.
End Rank.

Section OneLayer.
(* The heads; head i holds a matrix of n i rows and d i columns. *)
Variables (R : realFieldType) (I : finType) (n d : I -> nat).
(* The group, whose elements are the letters. *)
Variable gT : finGroupType.
Variables (A : gT -> forall i, 'M[R]_(n i)) (B : gT -> forall i, 'M[R]_(n i, d i)).
(* The hidden states, finitely many; each letter permutes them. *)
Variables (T : finType) (state : T -> forall i, 'M[R]_(n i, d i)) (act : gT -> {perm T}) (t0 : T).
Hypothesis different : forall t t', (forall i, state t i = state t' i) -> t = t'.
Hypothesis recurrence : forall x t i, A x i *m state t i + B x i = state (act x t) i.
(* The answers: the product of the letters so far. *)
Variable answer : T -> gT.
Hypothesis answers : forall x t, answer (act x t) = (answer t * x)%g.
(* ||A|| <= 1, and A - I has at most rank 3. *)
Hypothesis short : forall x i v, dot (A x i *m v) (A x i *m v) <= dot v v.
Hypothesis few : forall x i, (moved (A x i) <= 3)%N.

(* What words do to the hidden states, and those words that keep the answers. *)
Definition words_act : {group {perm T}} := <<[set act x | x : gT]>>%G.
Definition answer_keepers : {set {perm T}} := [set s in words_act | [forall t, answer (s t) == answer t]].

Definition run_word (w : seq gT) : {perm T} := (\prod_(x <- w) act x)%g.
Definition word_mx (w : seq gT) i : 'M[R]_(n i) := foldr (fun x M => M *m A x i) 1%:M w.

Lemma run_word_cat u w : run_word (u ++ w) = (run_word u * run_word w)%g.
Proof. by rewrite /run_word big_cat. Qed.
Lemma word_mx_cat u w i : word_mx (u ++ w) i = word_mx w i *m word_mx u i.
Proof. by elim: u => [|x u IH] /=; rewrite ?mulmx1 // IH mulmxA. Qed.
Lemma run_in w : run_word w \in words_act.
Proof. by apply: group_prod => x _; apply: mem_gen; apply: imset_f. Qed.
Lemma run_onto s : s \in words_act -> exists w, s = run_word w.
Proof.
case/gen_prodgP=> k [c cx ->]; have pick i : exists x, c i == act x by have /imsetP[x _ ->] := cx i; exists x.
exists [seq xchoose (pick i) | i <- index_enum [finType of 'I_k]].
by rewrite /run_word big_map; apply: eq_bigr => i _; apply/eqP/(xchooseP (pick i)).
Qed.
Lemma answer_word w t : answer (run_word w t) = (answer t * \prod_(x <- w) x)%g.
Proof.
elim: w t => [|x w IH] t; first by rewrite /run_word !big_nil perm1 mulg1.
by rewrite /run_word !big_cons permM -/(run_word w) IH answers mulgA.
Qed.

(* Differences of states are moved by the matrix of the word. *)
Definition gap t t' i : 'M[R]_(d i, n i) := (state t i - state t' i)^T.
Lemma gap_word w t t' i : gap t t' i *m (word_mx w i)^T = gap (run_word w t) (run_word w t') i.
Proof.
elim: w t t' => [|x w IH] t t'; first by rewrite /run_word big_nil !perm1 trmx1 mulmx1.
rewrite /run_word big_cons !permM -/(run_word w) -IH /= trmx_mul mulmxA; congr (_ *m _).
rewrite /gap -trmx_mul; congr (_^T).
by rewrite -!recurrence mulmxBr opprD addrACA subrr addr0.
Qed.

(* The space of the rows of these differences, in each head. *)
Definition gaps i : 'M[R]_(n i) := (\sum_(t : T * T) <<gap t.1 t.2 i>>)%MS.
Lemma gap_in t t' i : (gap t t' i <= gaps i)%MS.
Proof. by rewrite -(genmxE (gap t t' i)); apply: (sumsmx_sup (t, t')). Qed.
Lemma gaps_under i k (M N : 'M[R]_(n i, k)) : (forall t t', gap t t' i *m M = gap t t' i *m N) -> gaps i *m M = gaps i *m N.
Proof.
move=> e; apply/eqP; rewrite -subr_eq0 -mulmxBr; apply/eqP/sub_kermxP/sumsmx_subP => -[t t'] _.
by rewrite genmxE; apply/sub_kermxP; rewrite mulmxBr e subrr.
Qed.
Definition U i : 'M[R]_(\rank (gaps i), n i) := row_base (gaps i).
Lemma U_under i k (M N : 'M[R]_(n i, k)) : (forall t t', gap t t' i *m M = gap t t' i *m N) -> U i *m M = U i *m N.
Proof.
move/gaps_under=> e; have [L ->] : exists L, U i = L *m gaps i by apply/submxP; rewrite eq_row_base.
by rewrite -!mulmxA e.
Qed.
(* The matrix of a word in this space. *)
Definition on_gaps w i : 'M[R]_(\rank (gaps i)) := U i *m (word_mx w i)^T *m pinvmx (U i).
Lemma on_gapsE w i : on_gaps w i *m U i = U i *m (word_mx w i)^T.
Proof.
apply: mulmxKpV; rewrite eq_row_base.
have: (gaps i *m (word_mx w i)^T <= gaps i)%MS.
  rewrite sumsmxMr; apply/sumsmx_subP => -[t t'] _; rewrite /= (eqmxMr _ (genmxE _)) gap_word; exact: gap_in.
by apply: submx_trans; apply: submxMr; rewrite eq_row_base.
Qed.
Lemma U_free i : row_free (U i). Proof. exact: row_base_free. Qed.
Lemma cancel_U i k (M N : 'M[R]_(k, \rank (gaps i))) : M *m U i = N *m U i -> M = N.
Proof. exact: (row_free_inj (U_free i)). Qed.
Lemma on_gaps_cat u w i : on_gaps (u ++ w) i = on_gaps u i *m on_gaps w i.
Proof.
apply: cancel_U; rewrite on_gapsE -mulmxA on_gapsE mulmxA on_gapsE.
by rewrite -mulmxA -trmx_mul -word_mx_cat.
Qed.
Lemma on_gaps_nil i : on_gaps [::] i = 1%:M.
Proof. by rewrite /on_gaps /= trmx1 mulmx1 mulmxVp // U_free. Qed.
Lemma on_gaps_same u w i : run_word u = run_word w -> on_gaps u i = on_gaps w i.
Proof.
move=> e; apply: cancel_U; rewrite !on_gapsE; apply: U_under => t t'.
by rewrite !gap_word e.
Qed.

(* Letters are isometries of this space. *)
Lemma short_letter x t t' i : gap t t' i *m (A x i)^T *m A x i = gap t t' i.
Proof.
pose size (t : T * T) (c : 'I_(d i)) := let y := col c (state t.1 i - state t.2 i) in dot y y.
pose moved_size (t : T * T) (c : 'I_(d i)) := let y := A x i *m col c (state t.1 i - state t.2 i) in dot y y.
have le u : true -> moved_size u.1 u.2 <= size u.1 u.2 by move=> _; apply: short.
have same: \sum_(u : (T * T) * 'I_(d i)) moved_size u.1 u.2 = \sum_(u : (T * T) * 'I_(d i)) size u.1 u.2.
  pose g (u : (T * T) * 'I_(d i)) := ((act x u.1.1, act x u.1.2), u.2).
  have gi: injective g by move=> [[a b] c] [[a' b'] c'] [/perm_inj-> /perm_inj-> ->].
  rewrite [RHS](reindex_inj gi) /=; apply: eq_bigr => -[[a b] c] _; rewrite /moved_size /size /=.
  rewrite -!recurrence opprD addrACA subrr addr0 -mulmxBr.
  by rewrite !colE mulmxA.
have even u : moved_size u.1 u.2 = size u.1 u.2.
  by have := leif_sum (fun u (_ : true) => leif_eq (le u isT)); rewrite same => /leif_refl/forallP/(_ u)/eqP.
have E: (A x i)^T *m (A x i *m (state t i - state t' i)) = state t i - state t' i.
  apply/matrixP=> r c; have /colP/(_ r) := contraction_keeps (@short x i) (even ((t, t'), c)).
  by rewrite /= !colE !mulmxA -!colE !mxE.
by rewrite /gap -mulmxA -{2}[A x i]trmxK -!trmx_mul -mulmxA E.
Qed.
Lemma letter_isometry x i : on_gaps [:: x] i *m (U i *m (U i)^T) *m (on_gaps [:: x] i)^T = U i *m (U i)^T.
Proof.
rewrite mulmxA -(mulmxA _ (U i)^T) -trmx_mul on_gapsE /= mul1mx trmx_mul trmxK mulmxA; congr (_ *m _).
rewrite -[RHS]mulmx1 -mulmxA; apply: U_under => t t'; rewrite mulmxA mulmx1; exact: short_letter.
Qed.
Lemma gram_definite i (y : 'rV[R]_(\rank (gaps i))) : y *m (U i *m (U i)^T) *m y^T = 0 -> y = 0.
Proof.
rewrite mulmxA -mulmxA -trmx_mul; set z := y *m U i => e.
have: z^T = 0 by apply/eqP; rewrite -dot_eq0 /dot trmxK e mxE.
by move/(congr1 trmx); rewrite trmxK trmx0 -[0](mul0mx _ (U i)) => /cancel_U.
Qed.
Lemma letter_moves x i : (moved (on_gaps [:: x] i) <= 3)%N.
Proof.
apply: leq_trans (few x i); rewrite /moved.
have -> : on_gaps [:: x] i - 1%:M = U i *m (A x i - 1%:M)^T *m pinvmx (U i).
  by rewrite linearB /= trmx1 mulmxBr mulmxBl mulmx1 mulmxVp ?U_free // /on_gaps /= mul1mx.
apply: leq_trans (mxrankM_maxl _ _) _; apply: leq_trans (mxrankM_maxr _ _) _; by rewrite mxrank_tr.
Qed.
Lemma two_letters_move x i : (moved (on_gaps [:: x; x] i) <= 2)%N.
Proof.
have := three_turn_one_plane (@gram_definite i) (letter_isometry x i) (letter_moves x i).
by rewrite -on_gaps_cat.
Qed.
Lemma many_letters_move x j i : (moved (on_gaps (flatten (nseq j [:: x; x])) i) <= 2)%N.
Proof.
apply: leq_trans (two_letters_move x i); rewrite /moved; apply: mxrankS.
elim: j => [|j IH]; first by rewrite on_gaps_nil subrr sub0mx.
have -> : flatten (nseq j.+1 [:: x; x]) = flatten (nseq j [:: x; x]) ++ [:: x; x].
  by rewrite -[j.+1]addn1 nseqD flatten_cat.
rewrite on_gaps_cat; set M := on_gaps _ i in IH *; set N := on_gaps [:: x; x] i.
have -> : M *m N - 1%:M = M *m (N - 1%:M) + (M - 1%:M).
  by rewrite mulmxBr mulmx1 addrA subrK.
by apply: addmx_sub => //; apply: submxMl.
Qed.

Definition product_of (s : {perm T}) : gT := ((answer t0)^-1 * answer (s t0))%g.
Lemma product_of_word w : product_of (run_word w) = (\prod_(x <- w) x)%g.
Proof. by rewrite /product_of answer_word mulKg. Qed.
Lemma product_of_morphism : {in words_act &, {morph product_of : s s' / (s * s')%g}}.
Proof.
move=> _ _ /run_onto[u ->] /run_onto[w ->]; rewrite -run_word_cat !product_of_word.
by rewrite big_cat.
Qed.
Canonical product_morphism := Morphism product_of_morphism.
Lemma keepers_kernel : answer_keepers = ('ker product_morphism)%g.
Proof.
apply/setP=> s; rewrite !inE; case: (boolP (s \in words_act)) => // /run_onto[w ->] /=.
rewrite product_of_word; apply/forallP/eqP=> [/(_ t0)|one t].
  by rewrite answer_word -{2}[answer t0]mulg1 (inj_eq (mulgI _)) => /eqP.
by rewrite answer_word one mulg1.
Qed.

(* A word that acts as the identity between the states, and whose fifth power does nothing, does nothing. *)
Lemma no_translation w : (forall i, on_gaps w i = 1%:M) -> (run_word w ^+ 5 = 1)%g -> (run_word w = 1)%g.
Proof.
move=> one five; set r := run_word w in five *; apply/permP=> t; rewrite perm1; apply: different => i.
have same u u' : gap (r u) (r u') i = gap u u' i.
  rewrite -gap_word; have /submxP[L ->]: (gap u u' i <= U i)%MS by rewrite eq_row_base gap_in.
  by rewrite -mulmxA -on_gapsE one mul1mx.
pose c := state (r t) i - state t i.
have step j : state ((r ^+ j.+1)%g t) i - state ((r ^+ j)%g t) i = c.
  elim: j => [|j <-]; first by rewrite expg1 expg0 perm1.
  apply: trmx_inj; rewrite -![(_ - _)^T]/(gap _ _ i) -(same ((r ^+ j.+1)%g t)).
  by rewrite -!permM -!expgSr.
have sum j : state ((r ^+ j)%g t) i = state t i + c *+ j.
  elim: j => [|j IH]; first by rewrite expg0 perm1 mulr0n addr0.
  by rewrite mulrSr addrA -IH -(step j) addrC subrK.
have /eqP := sum 5%N; rewrite five perm1 -subr_eq0 opprD addNKr oppr_eq0 -scaler_nat scaler_eq0 pnatr_eq0 /=.
by rewrite subr_eq0 => /eqP.
Qed.

(* CK.S5 (part).  Let a, an element of order 5, be conjugate to its square.  Then the words that keep all answers permute the hidden
   states by a group whose order 5 divides. *)
Theorem five_divides_keepers (a y : gT) : #[a]%g = 5%N -> (a ^ y = a ^+ 2)%g -> (5 %| #|answer_keepers|)%N.
Proof.
move=> oa ay; apply/negPn/negP; rewrite keepers_kernel => ndvd; set q := #|('ker product_morphism)%g| in ndvd.
have [c qc]: exists c, (2 * (q * c) = 1 %[mod 5])%N.
  move: ndvd; rewrite /dvdn; have: (q %% 5 < 5)%N by rewrite ltn_mod.
  case E: (q %% 5)%N => [|[|[|[|[|//]]]]] // _ _;
    [exists 3%N | exists 4%N | exists 1%N | exists 2%N]; by rewrite -modnMmr -(modnMml q) E.
have inw x : act x \in words_act by apply: mem_gen; apply: imset_f.
have pact x : product_of (act x) = x.
  by have := product_of_word [:: x]; rewrite /run_word !big_seq1.
have pX s j : s \in words_act -> product_of (s ^+ j)%g = (product_of s ^+ j)%g.
  by move=> sin; apply: (morphX product_morphism).
have ker5 s : s \in words_act -> (product_of s ^+ 5 = 1)%g -> ((s ^+ 5) ^+ q = 1)%g.
  move=> sin e; apply: expg_cardG; apply/kerP; rewrite ?groupX //=.
  by rewrite pX.
pose w := flatten (nseq (q * c) [:: a; a]); set r := run_word w.
have rE: r = (act a ^+ (2 * (q * c)))%g.
  rewrite /r /w; elim: (q * c)%N => [|j IH]; first by rewrite /run_word /= big_nil.
  by rewrite /run_word /= !big_cons -/(run_word _) IH mulnS expgD expgS expg1 mulgA.
have rin: r \in words_act by apply: run_in.
have a5: (a ^+ 5 = 1)%g by rewrite -oa expg_order.
have r5: (r ^+ 5 = 1)%g.
  rewrite rE -expgM mulnC [(2 * _)%N]mulnCA mulnA !expgM ker5 ?expg1n ?inw //.
  by rewrite pact.
have pr: product_of r = a.
  by rewrite rE pX // pact -(expg_mod _ a5) qc expg_mod // expg1.
have order5 s : s \in words_act -> (s ^+ 5 = 1)%g -> product_of s != 1%g -> #[s]%g = 5%N.
  move=> sin s5 ne; have: (#[s]%g %| 5)%N by rewrite order_dvdn s5.
  rewrite dvdn_divisors // !inE => /orP[|/eqP//]; rewrite order_eq1 => /eqP s1.
  by move: ne; rewrite s1 (morph1 product_morphism) eqxx.
have a1: a != 1%g by rewrite -order_eq1 oa.
have or: #[r]%g = 5%N by apply: order5; rewrite ?pr.
have o2: #[(r ^+ 2)%g]%g = 5%N.
  apply: order5; rewrite ?groupX // ?pX ?pr //; first by rewrite -expgM mulnC expgM r5 expg1n.
  by rewrite -order_dvdn oa.
have og: #[(r ^ act y)%g]%g = 5%N by rewrite orderJ.
have eq_images: product_morphism (r ^ act y)%g = product_morphism (r ^+ 2)%g.
  by rewrite morphJ //= ?inw // pX // pr pact ay.
have [m mG conj] := conjugate_lifts (isT : prime 5) ndvd (groupJ rin (inw y)) (groupX 2 rin) og o2 eq_images.
have [v vE] := run_onto (groupM (inw y) mG).
have [v' vE'] : exists v', ((act y * m)^-1)%g = run_word v' by apply: run_onto; rewrite groupV groupM ?inw.
have w1 i : on_gaps w i = 1%:M.
  apply: fifth_root; first exact: many_letters_move.
    rewrite /fifth -!on_gaps_cat -(on_gaps_nil i); apply: on_gaps_same.
    by rewrite !run_word_cat -/r /run_word big_nil -r5 !expgS expg0 mulg1.
  rewrite -on_gaps_cat (_ : on_gaps (w ++ w) i = on_gaps (v' ++ w ++ v) i); last first.
    apply: on_gaps_same; rewrite !run_word_cat -/r -vE -vE'.
    by rewrite -[LHS]/(r ^+ 2)%g -conj -conjgM conjgE.
  rewrite on_gaps_cat mxtrace_mulC on_gaps_cat -mulmxA -on_gaps_cat.
  rewrite (_ : on_gaps (v ++ v') i = 1%:M) ?mulmx1 // -(on_gaps_nil i); apply: on_gaps_same.
  by rewrite run_word_cat -vE -vE' mulgV /run_word big_nil.
by move: or; rewrite /r (no_translation w1 r5) order1.
Qed.
End OneLayer.

(* S_5: the turn of five points, and the doubling of their numbers, which makes it its square. *)
Section SymmetricGroup.
Definition turn5 : 'S_5 := perm (@addIr [zmodType of 'I_5] 1).
Lemma double_inj : injective (fun i : 'I_5 => i + i).
Proof. by move=> i j; case: i j => [[|[|[|[|[|//]]]]] ?] [[|[|[|[|[|//]]]]] ?] //= /(congr1 (@nat_of_ord _)) //= _; apply: val_inj. Qed.
Definition double5 : 'S_5 := perm double_inj.
Lemma turn5_doubled : (turn5 ^ double5 = turn5 ^+ 2)%g.
Proof.
apply: (mulgI double5); rewrite conjgE mulKVg; apply/permP=> i.
by rewrite expgS expg1 !permM !permE addrACA addrA.
Qed.
Lemma turn5_order : #[turn5]%g = 5%N.
Proof.
have power j i : (turn5 ^+ j)%g i = i + 1 *+ j.
  by elim: j i => [|j IH] i; rewrite ?expg0 ?perm1 ?mulr0n ?addr0 // expgS permM IH permE mulrS addrA.
have: (#[turn5]%g %| 5)%N.
  by rewrite order_dvdn; apply/eqP/permP=> i; rewrite power perm1; apply: val_inj; case: i => [[|[|[|[|[|//]]]]] ?].
rewrite dvdn_divisors // !inE => /orP[|/eqP//]; rewrite order_eq1 => /eqP/permP/(_ 0).
by rewrite permE perm1.
Qed.

Variables (R : realFieldType) (I : finType) (n d : I -> nat).
Variables (factors : 'S_5 -> forall i, seq (gh R (n i))) (added : 'S_5 -> forall i, 'M[R]_(n i, d i)).
Variables (T : finType) (state : T -> forall i, 'M[R]_(n i, d i)) (act : 'S_5 -> {perm T}) (t0 : T) (answer : T -> 'S_5).
Hypothesis different : forall t t', (forall i, state t i = state t' i) -> t = t'.
Hypothesis recurrence : forall x t i, product_mx (factors x i) *m state t i + added x i = state (act x t) i.
Hypothesis answers : forall x t, answer (act x t) = (answer t * x)%g.
Hypothesis bounded_factors : forall x i, all (@bounded R (n i)) (factors x i).
Hypothesis three_factors : forall x i, (size (factors x i) <= 3)%N.

(* CK.S5 (part).  A layer of three factors a token whose answers are the products of its letters in S_5. *)
Theorem three_factors_leave_five : (5 %| #|answer_keepers act answer|)%N.
Proof.
apply: (five_divides_keepers t0 different recurrence answers _ _ turn5_order turn5_doubled) => x i => [v|].
  exact: product_non_expansive.
exact: leq_trans (rank_of_product _) (three_factors x i).
Qed.

(* So it has five hidden states or more for one of the elements: a word that keeps all answers moves five of them in a cycle. *)
Theorem five_states_of_an_element : exists y, (5 <= #|[set t | answer t == y]|)%N.
Proof.
have [s sK os] : {s | s \in answer_keepers act answer & #[s]%g = 5%N}.
  by have := three_factors_leave_five; rewrite (keepers_kernel t0 answers); apply: Cauchy.
have [t ts|all] := pickP (fun t => s t != t); last first.
  have s1: s = 1%g by apply/permP=> t; rewrite perm1; apply/eqP/negbFE/all.
  by move: os; rewrite s1 order1.
have keeps u : answer (s u) = answer u by move: sK; rewrite inE => /andP[_ /forallP/(_ u)/eqP].
exists (answer t); have five: #|porbit s t| = 5%N.
  have: (#|porbit s t| %| 5)%N by rewrite porbitE -os; apply: dvdn_orbit.
  rewrite dvdn_divisors // !inE => /orP[/cards1P[u e]|/eqP//].
  have := mem_porbit s 0 t; have := mem_porbit s 1 t; rewrite expg0 expg1 perm1 e !inE => /eqP st /eqP tu.
  by move: ts; rewrite st tu eqxx.
apply: leq_trans (eq_leq (esym five)) _; apply: subset_leq_card; apply/subsetP=> _ /porbitP[j ->]; rewrite inE.
by elim: j => [|j IH]; rewrite ?expg0 ?perm1 // expgSr permM keeps.
Qed.
End SymmetricGroup.
