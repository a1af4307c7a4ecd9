(* Generalized Householder factors over a real field: I - beta v v^T with an unnormalised key v.

   No square root is needed: norms are squared, |x|^2 = dot x x.  Proved for every real field (the rationals and the
   real numbers, say), every dimension n and every list of factors:
   - factor_symmetric, factor_on_key, factor_on_complement: a factor is symmetric, has the eigenvalue 1 - beta |v|^2 on
     its key and 1 on the complement of the key.
   - factor_non_expansive, product_non_expansive: with 0 <= beta |v|^2 <= 2, |C x| <= |x|, also for products.
   - swap_is_transposition: the key e_i - e_j with beta = 1 exchanges the coordinates i and j.
   - rank_of_product: rank(C_k ... C_1 - I) <= k.
   - orthogonal_by_reflections, orthogonal_needs: an orthogonal A is a product of rank(A - I) reflections (beta |v|^2 = 2)
     and of no fewer factors (Cartan and Dieudonne; Scherk's count).
   - rotation_moves_less: in odd dimension n with determinant 1 this number is at most n - 1.
   - zero_by_projections: the zero matrix is a product of n axis projections.
   Permutations are in Permutations.v. *)
Set Warnings "-notation-overridden,-ambiguous-paths".
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
From Mirrormata Require Import Identities Chain ChainLRNN.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Open Scope ring_scope.

Section Householder.
Variables (R : realFieldType) (n : nat).
Implicit Types (u v x y : 'cV[R]_n) (b : R) (A M : 'M[R]_n).

Definition dot u v : R := (u^T *m v) 0 0.

(* One factor (beta, key) and its matrix I - beta v v^T; a list of factors is in the order applied. *)
Definition gh := (R * 'cV[R]_n)%type.
Implicit Types (f : gh) (fs : seq gh).
Definition factor_mx f : 'M[R]_n := 1%:M - f.1 *: (f.2 *m f.2^T).
Definition product_mx fs : 'M[R]_n := foldl (fun M f => factor_mx f *m M) 1%:M fs.

(* beta |v|^2 lies in [0, 2]: the eigenvalue 1 - beta |v|^2 lies in [-1, 1]. *)
Definition bounded f : bool := 0 <= f.1 * dot f.2 f.2 <= 2%:R.
(* beta |v|^2 = 2: a reflection. *)
Definition reflection f : bool := f.1 * dot f.2 f.2 == 2%:R.

Lemma dotE u v : dot u v = \sum_i u i 0 * v i 0.
Proof. by rewrite /dot mxE; apply: eq_bigr => i _; rewrite mxE. Qed.
Lemma dotC u v : dot u v = dot v u.
Proof. by rewrite !dotE; apply: eq_bigr => i _; rewrite mulrC. Qed.
Lemma dotDr u v x : dot u (v + x) = dot u v + dot u x.
Proof. by rewrite /dot mulmxDr mxE. Qed.
Lemma dotNr u v : dot u (- v) = - dot u v.
Proof. by rewrite /dot mulmxN mxE. Qed.
Lemma dotBr u v x : dot u (v - x) = dot u v - dot u x.
Proof. by rewrite dotDr dotNr. Qed.
Lemma dotZr b u v : dot u (b *: v) = b * dot u v.
Proof. by rewrite /dot -scalemxAr mxE. Qed.
Lemma dotDl u v x : dot (u + v) x = dot u x + dot v x.
Proof. by rewrite dotC dotDr !(dotC x). Qed.
Lemma dotBl u v x : dot (u - v) x = dot u x - dot v x.
Proof. by rewrite dotC dotBr !(dotC x). Qed.
Lemma dotZl b u v : dot (b *: u) v = b * dot u v.
Proof. by rewrite dotC dotZr dotC. Qed.
Lemma dot_ge0 u : 0 <= dot u u.
Proof. by rewrite dotE; apply: sumr_ge0 => i _; rewrite -expr2 sqr_ge0. Qed.
Lemma dot_eq0 u : (dot u u == 0) = (u == 0).
Proof.
apply/eqP/eqP=> [|->]; last by rewrite /dot mulmx0 mxE.
rewrite dotE => /eqP; rewrite psumr_eq0 => [|i _]; last by rewrite -expr2 sqr_ge0.
move/allP=> z; apply/colP=> i; rewrite mxE; apply/eqP.
by have := z i (mem_index_enum i); rewrite /= mulf_eq0 orbb.
Qed.
Lemma dot_mulmx A u v : dot u (A *m v) = dot (A^T *m u) v.
Proof. by rewrite /dot trmx_mul trmxK mulmxA. Qed.

(* C x = x - beta (v . x) v. *)
Lemma factorE f x : factor_mx f *m x = x - (f.1 * dot f.2 x) *: f.2.
Proof.
rewrite /factor_mx mulmxBl mul1mx -scalemxAl -mulmxA [f.2^T *m x]mx11_scalar -/(dot _ _).
by rewrite mul_mx_scalar scalerA.
Qed.

(* A factor is symmetric. *)
Theorem factor_symmetric f : (factor_mx f)^T = factor_mx f.
Proof. by rewrite /factor_mx linearB /= trmx1 linearZ /= trmx_mul trmxK. Qed.

(* It has the eigenvalue 1 - beta |v|^2 on its key ... *)
Theorem factor_on_key f : factor_mx f *m f.2 = (1 - f.1 * dot f.2 f.2) *: f.2.
Proof. by rewrite factorE scalerBl scale1r. Qed.

(* ... and the eigenvalue 1 on the complement of the key. *)
Theorem factor_on_complement f x : dot f.2 x = 0 -> factor_mx f *m x = x.
Proof. by move=> o; rewrite factorE o mulr0 scale0r subr0. Qed.

(* |C x|^2 = |x|^2 - beta (2 - beta |v|^2) (v . x)^2. *)
Lemma factor_norm f x : dot (factor_mx f *m x) (factor_mx f *m x)
  = dot x x - f.1 * (2%:R - f.1 * dot f.2 f.2) * dot f.2 x ^+ 2.
Proof.
rewrite factorE; move: f.1 f.2 => b v; rewrite dotBl !dotBr !dotZl !dotZr (dotC x v) mulr2n expr2.
exact: (norm_identity (ring_laws R)).
Qed.

(* With 0 <= beta |v|^2 <= 2 a factor does not lengthen any vector. *)
Theorem factor_non_expansive f x : bounded f -> dot (factor_mx f *m x) (factor_mx f *m x) <= dot x x.
Proof.
case/andP=> b0 b2; rewrite factor_norm ler_subl_addr ler_addl; have [v0|v0] := eqVneq f.2 0.
  by rewrite v0 (_ : dot 0 x = 0) ?expr0n ?mulr0 // /dot trmx0 mul0mx mxE.
have vv: 0 < dot f.2 f.2 by rewrite lt_def dot_ge0 dot_eq0 v0.
apply: mulr_ge0; last exact: sqr_ge0.
by apply: mulr_ge0; [rewrite -(pmulr_lge0 _ vv) | rewrite subr_ge0].
Qed.

Lemma product_from fs M : foldl (fun M f => factor_mx f *m M) M fs = product_mx fs *m M.
Proof.
rewrite /product_mx; elim/last_ind: fs => [|fs f IH]; first by rewrite mul1mx.
by rewrite !foldl_rcons IH mulmxA.
Qed.
Lemma product_cons f fs : product_mx (f :: fs) = product_mx fs *m factor_mx f.
Proof. by rewrite /product_mx /= mulmx1 product_from. Qed.
Lemma product_rcons fs f : product_mx (rcons fs f) = factor_mx f *m product_mx fs.
Proof. by rewrite /product_mx foldl_rcons. Qed.
Lemma product_cat fs gs : product_mx (fs ++ gs) = product_mx gs *m product_mx fs.
Proof. by elim: fs => [|f fs IH] /=; rewrite ?mulmx1 // !product_cons IH mulmxA. Qed.

(* The matrix of a list does what its factors do one after the other. *)
Lemma product_apply fs x : product_mx fs *m x = foldl (fun x f => factor_mx f *m x) x fs.
Proof. by elim: fs x => [|f fs IH] x /=; rewrite ?mul1mx // product_cons -mulmxA IH. Qed.

(* G.P1.1 (all): products of factors with eigenvalues in [-1, 1] do not lengthen any vector: the norm is at most 1. *)
Theorem product_non_expansive fs x : all bounded fs ->
  dot (product_mx fs *m x) (product_mx fs *m x) <= dot x x.
Proof.
elim: fs x => [|f fs IH] x /=; first by rewrite mul1mx.
by case/andP=> bf bs; rewrite product_cons -mulmxA; apply: le_trans (IH _ bs) (factor_non_expansive _ bf).
Qed.

(* The key e_i - e_j with beta = 1 exchanges the coordinates i and j. *)
Definition swap (t : 'I_n * 'I_n) : gh := (1, delta_mx t.1 0 - delta_mx t.2 0).
Theorem swap_is_transposition i j : i != j -> factor_mx (swap (i, j)) = perm_mx (tperm i j).
Proof.
move=> ij; suff E x : factor_mx (swap (i, j)) *m x = perm_mx (tperm i j) *m x.
  apply/matrixP=> k l; have /colP/(_ k) := E (delta_mx l 0).
  by rewrite -!colE !mxE.
have := @apply_swap R n i j x; rewrite /apply_factor /= scale0r addr0 -row_permE => E.
apply/colP=> k; rewrite /factor_mx scale1r E; by rewrite !mxE.
Qed.
Lemma swap_reflection i j : i != j -> reflection (swap (i, j)).
Proof.
move=> ij; rewrite /reflection /= mul1r /dot.
by have := @key_norm R n (Swap i j) ij; rewrite /key => ->; rewrite mxE.
Qed.
Lemma reflection_bounded f : reflection f -> bounded f.
Proof. by move/eqP=> e; rewrite /bounded e lexx ler0n. Qed.

(* rank(A - I). *)
Definition moved A : nat := \rank (A - 1%:M).

(* H.rank (part: the lower bound).  rank(C_k ... C_1 - I) <= k, whatever the betas. *)
Theorem rank_of_product fs : (moved (product_mx fs) <= size fs)%N.
Proof.
rewrite /moved; elim: fs => [|f fs IH]; first by rewrite subrr mxrank0.
rewrite product_cons /factor_mx mulmxBr mulmx1 addrAC.
apply: leq_trans (mxrank_add _ _) _; rewrite /= -[(size fs).+1]addn1; apply: leq_add => //.
rewrite mxrank_opp -scalemxAr; apply: leq_trans (mxrank_scale _ _) _.
by rewrite mulmxA; apply: leq_trans (mxrankM_maxr _ _) (rank_leq_row _).
Qed.

(* A orthogonal: A^T A = I. *)
Definition orthogonal A := A^T *m A == 1%:M.
Lemma orthogonal_dot A x y : orthogonal A -> dot (A *m x) (A *m y) = dot x y.
Proof. by move/eqP=> o; rewrite dot_mulmx mulmxA o mul1mx. Qed.

(* A reflection that takes x to y, if they have the same length and differ. *)
Definition mirror x y : gh := (2%:R / dot (y - x) (y - x), y - x).
Lemma mirror_reflection x y : x != y -> reflection (mirror x y).
Proof. by move=> xy; rewrite /reflection /= divfK // dot_eq0 subr_eq0 eq_sym. Qed.
Lemma mirror_takes x y : x != y -> dot x x = dot y y -> factor_mx (mirror x y) *m y = x.
Proof.
move=> xy e; rewrite factorE /=; set d := y - x; have d0: dot d d != 0 by rewrite dot_eq0 subr_eq0 eq_sym.
suff ->: 2%:R / dot d d * dot d y = 1 by rewrite scale1r /d opprB addrC subrK.
have E: dot d d = 2%:R * dot d y.
  rewrite /d mulr_natl mulr2n !(dotBl, dotBr) e (dotC y x).
  by rewrite opprB.
by rewrite mulrAC -E divff.
Qed.
Lemma reflection_orthogonal f : reflection f -> orthogonal (factor_mx f).
Proof.
move/eqP=> e; rewrite /orthogonal factor_symmetric.
rewrite {1}/factor_mx mulmxBl mul1mx -scalemxAl -mulmxA.
have ->: f.2^T *m factor_mx f = - f.2^T.
  apply: trmx_inj; rewrite trmx_mul trmxK factor_symmetric factor_on_key e linearN /= trmxK.
  by rewrite -[1]/(1%:R) (_ : 2%:R = 1 + 1) // opprD addrA subrr sub0r scaleN1r.
by rewrite mulmxN scalerN opprK /factor_mx addrNK.
Qed.
Lemma orthogonalM A M : orthogonal A -> orthogonal M -> orthogonal (A *m M).
Proof. by move=> /eqP a /eqP m; rewrite /orthogonal trmx_mul mulmxA -(mulmxA M^T) a mulmx1 m. Qed.

(* H.rank, DP.T4, G.P1.2 (part: orthogonal maps).  An orthogonal A is a product of rank(A - I) reflections. *)
Theorem orthogonal_by_reflections A : orthogonal A ->
  exists fs, [/\ size fs = moved A, all reflection fs & product_mx fs = A].
Proof.
move E: (moved A) => k; elim/ltn_ind: k A E => k IH A rk oA.
have [A1|A1] := eqVneq A 1%:M.
  by exists [::]; rewrite -rk A1 /moved subrr mxrank0.
have [x xA]: exists x, x != A *m x.
  have [j /eqP ne|all] := pickP (fun j => delta_mx j 0 != A *m delta_mx j 0 :> 'cV_n).
    by exists (delta_mx j 0); apply/eqP.
  case/eqP: A1; apply/matrixP=> i j; have /negbFE/eqP/colP/(_ i) := all j.
  by rewrite -colE !mxE => <-; rewrite andbT.
pose f := mirror x (A *m x); pose M := factor_mx f *m A.
have rf: reflection f by apply: mirror_reflection.
have oM: orthogonal M by apply: orthogonalM => //; apply: reflection_orthogonal.
have Mx: M *m x = x by rewrite -mulmxA mirror_takes // orthogonal_dot.
(* Whatever A fixes, M fixes too, and M fixes x. *)
have fixed y : A *m y = y -> M *m y = y.
  move=> Ay; rewrite -mulmxA Ay; apply: factor_on_complement => /=.
  by rewrite dotBl -{1}Ay orthogonal_dot // subrr.
have less: (moved M < moved A)%N.
  (* The fixed vectors, transposed, are the row spaces kermx (M - I)^T and kermx (A - I)^T. *)
  pose fixes (B : 'M[R]_n) := kermx (B - 1%:M)^T.
  have in_fixes B (y : 'rV_n) : (y <= fixes B)%MS = (B *m y^T == y^T).
    rewrite sub_kermx -(inj_eq (@trmx_inj _ _ _)) trmx_mul trmxK trmx0 mulmxBl mul1mx subr_eq0 //.
  have dim B : (\rank (fixes B) + moved B = n)%N.
    by rewrite mxrank_ker mxrank_tr subnK // rank_leq_row.
  suff lt: (\rank (fixes A) < \rank (fixes M))%N.
    by rewrite -(ltn_add2l (\rank (fixes A))) dim; apply: leq_trans (eq_leq (dim M)); rewrite ltn_add2r.
  apply: rank_ltmx; rewrite /ltmx; apply/andP; split.
    by apply/row_subP=> i; rewrite in_fixes fixed //; apply/eqP; rewrite -in_fixes row_sub.
  apply/negP=> sub; have: (x^T <= fixes A)%MS.
    by apply: submx_trans sub; rewrite in_fixes trmxK Mx.
  by rewrite in_fixes trmxK eq_sym (negbTE xA).
have [|fs [sz ref prod]] := IH _ _ M (erefl _) oM; first by rewrite -rk.
have dropone: (moved A <= (moved M).+1)%N.
  rewrite /moved.
  have ->: A - 1%:M = (M - 1%:M) - (f.1 *: (f.2 *m f.2^T)) *m M.
    have {1}->: A = factor_mx f *m M.
      by have /eqP := reflection_orthogonal rf; rewrite factor_symmetric /M mulmxA => ->; rewrite mul1mx.
    by rewrite [factor_mx f]/factor_mx mulmxBl mul1mx addrAC.
  apply: leq_trans (mxrank_add _ _) _; rewrite -[(\rank (M - 1%:M)).+1]addn1 leq_add2l mxrank_opp -scalemxAl.
  apply: leq_trans (mxrank_scale _ _) _; rewrite -mulmxA.
  by apply: leq_trans (mxrankM_maxl _ _) (rank_leq_col _).
exists (rcons fs f); split.
- by rewrite size_rcons sz -rk; apply/eqP; rewrite eqn_leq less dropone.
- by rewrite all_rcons rf.
rewrite product_rcons prod mulmxA.
by have /eqP := reflection_orthogonal rf; rewrite factor_symmetric => ->; rewrite mul1mx.
Qed.

(* H.rank (all, with permutation_needs).  An orthogonal map is a product of rank(A - I) reflections, and of no fewer factors of any kind. *)
Theorem orthogonal_needs A : orthogonal A ->
  (exists fs, [/\ size fs = moved A, all reflection fs & product_mx fs = A])
  /\ (forall fs, product_mx fs = A -> (moved A <= size fs)%N).
Proof. by move=> oA; split=> [|fs <-]; [apply: orthogonal_by_reflections | apply: rank_of_product]. Qed.

(* H.rank, DP.T4 (part: odd dimension).  In odd dimension a rotation needs one reflection fewer than there are dimensions. *)
Theorem rotation_moves_less A : odd n -> orthogonal A -> \det A = 1 -> (moved A < n)%N.
Proof.
move=> odd_n /eqP oA detA; rewrite ltn_neqAle rank_leq_row andbT; apply/negP=> /eqP full.
have: (A - 1%:M) \in unitmx by rewrite -row_free_unit /row_free -[X in _ == X]full.
rewrite unitmxE; suff ->: \det (A - 1%:M) = 0 by rewrite unitr0.
have E: \det (A - 1%:M) = - \det (A - 1%:M).
  have ->: - \det (A - 1%:M) = \det (A^T *m (A - 1%:M)).
    rewrite mulmxBr oA mulmx1 -[RHS]det_tr linearB /= trmx1 trmxK -[X in _ = \det X]opprB -[X in _ = \det X]scaleN1r detZ.
    by rewrite -signr_odd odd_n expr1 mulN1r.
  by rewrite det_mulmx det_tr detA mul1r.
have /eqP: \det (A - 1%:M) *+ 2 = 0 by rewrite mulr2n {2}E subrr.
by rewrite mulrn_eq0 => /eqP.
Qed.

(* G.P1.2 (part: the zero matrix).  The zero matrix is the product of the projections along the n axes. *)
Definition projection (i : 'I_n) : gh := (1, delta_mx i 0).
Theorem zero_by_projections : product_mx [seq projection i | i <- enum 'I_n] = 0.
Proof.
have erase js x : product_mx [seq projection i | i <- js] *m x = \col_i (if i \in js then 0 else x i 0).
  elim: js x => [|j js IH] x /=; first by rewrite mul1mx; apply/colP=> i; rewrite mxE.
  rewrite product_cons -mulmxA IH factorE /= mul1r; apply/colP=> i; rewrite !mxE in_cons.
  rewrite eqxx andbT /dot trmx_delta -rowE mxE; case: (i \in js); rewrite ?orbT ?orbF //.
  by case: eqP => [->|_]; rewrite ?mulr1 ?subrr ?mulr0 ?subr0.
apply/matrixP=> i j; have /colP/(_ i) := erase (enum 'I_n) (delta_mx j 0).
by rewrite -colE !mxE mem_enum.
Qed.
End Householder.
