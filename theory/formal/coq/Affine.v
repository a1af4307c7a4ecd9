(* Affine letters: what they cannot do, and the order of the factors.

   - neutral_letter (E.neutral): an affine letter that keeps some states is the identity between them.
   - one_vector_a_state (PD.N-1): letters that generate all maps of N states need dimension N - 1.
   - open_beta (H.open-beta): with every beta |v|^2 strictly between 0 and 2, a word that permutes a finite set of states leaves
     each of them where it is.
   - token_is_affine, printed_order (DP.eq3): the factors of a token multiply to C_m ... C_1, not to C_1 ... C_m. *)
Set Warnings "-notation-overridden,-ambiguous-paths".
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
From Mirrormata Require Import Chain ChainLRNN Householder.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Open Scope ring_scope.

Section Affine.
Variables (F : fieldType) (d : nat) (Q : finType).
Implicit Types (p : Q -> 'cV[F]_d) (c : Q -> F) (A : 'M[F]_d) (b : 'cV[F]_d).

(* An affine letter acts on combinations with coefficients of sum zero. *)
Lemma affine_combination p c A b : \sum_q c q = 0 ->
  A *m (\sum_q c q *: p q) = \sum_q c q *: (A *m p q + b).
Proof.
move=> c0; rewrite mulmx_sumr; under [RHS]eq_bigr do rewrite scalerDr.
rewrite big_split /= -scaler_suml c0 scale0r addr0.
by apply: eq_bigr => q _; rewrite scalemxAr.
Qed.

(* E.neutral (all).  If A p_q + b = p_q for every q then A x = x for all x in the span of the differences of the p_q, and an
   error x in that span is kept, however often the letter is read. *)
Theorem neutral_letter p A b : (forall q, A *m p q + b = p q) ->
  forall c, \sum_q c q = 0 -> let x := \sum_q c q *: p q in
  A *m x = x /\ forall q k, iter k (fun h => A *m h + b) (p q + x) = p q + x.
Proof.
move=> keep c c0 x; have Ax: A *m x = x.
  by rewrite (affine_combination p A b c0); apply: eq_bigr => q _; rewrite keep.
split=> // q; elim=> //= k ->.
by rewrite mulmxDr Ax addrAC keep.
Qed.

(* What a word of affine letters does to a vector. *)
Definition affine_word (L : Type) (M : L -> 'M[F]_d) (b : L -> 'cV[F]_d) (w : seq L) (h : 'cV[F]_d) : 'cV[F]_d :=
  foldl (fun h a => M a *m h + b a) h w.
Lemma word_is_affine (L : Type) (M : L -> 'M[F]_d) (b : L -> 'cV[F]_d) (w : seq L) : exists N t, forall h, affine_word M b w h = N *m h + t.
Proof.
elim/last_ind: w => [|w a [N [t IH]]]; first by exists 1%:M, 0 => h; rewrite mul1mx addr0.
exists (M a *m N), (M a *m t + b a) => h.
by rewrite /affine_word foldl_rcons -/(affine_word _ _ _ _) IH mulmxDr mulmxA addrA.
Qed.

(* PD.N-1 (all).  Let distinct vectors p_q belong to the states q, and let letters act on them by affine maps as on the
   states.  If every map of the states is a word then no relation of sum zero holds but the trivial one, and the
   dimension d is at least N - 1. *)
Theorem one_vector_a_state (L : Type) (delta : L -> Q -> Q) (M : L -> 'M[F]_d) (b : L -> 'cV[F]_d) p :
    injective p -> (forall a q, M a *m p q + b a = p (delta a q)) ->
    (forall f : Q -> Q, exists w, forall q, foldl (fun q a => delta a q) q w = f q) ->
  (forall c, \sum_q c q = 0 -> \sum_q c q *: p q = 0 -> forall q, c q = 0) /\ (#|Q|.-1 <= d)%N.
Proof.
move=> injp act gen.
have word w q : affine_word M b w (p q) = p (foldl (fun q a => delta a q) q w).
  elim/last_ind: w => [|w a IH] //.
  by rewrite /affine_word !foldl_rcons -/(affine_word _ _ _ _) IH act.
have indep c : \sum_q c q = 0 -> \sum_q c q *: p q = 0 -> forall q, c q = 0.
  move=> c0 cp q0; have [r qr|only] := pickP (predC1 q0); last first.
    by move: c0; rewrite (bigD1 q0) //= big_pred0 ?addr0 // => q; apply: only.
  have [w wf] := gen (fun q => if q == q0 then q0 else r).
  have [N [t Nt]] := word_is_affine M b w.
  have: \sum_q c q *: p (if q == q0 then q0 else r) = 0.
    transitivity (\sum_q c q *: (N *m p q + t)); last by rewrite -affine_combination // cp mulmx0.
    by apply: eq_bigr => q _; rewrite -Nt word wf.
  rewrite (bigD1 q0) //= eqxx; under eq_bigr => q ne do rewrite (negbTE ne).
  rewrite -scaler_suml; have: \sum_(q | q != q0) c q = - c q0.
    by move: c0; rewrite (bigD1 q0) //= => /eqP; rewrite addrC addr_eq0 => /eqP.
  move=> ->; rewrite scaleNr -scalerBr => /eqP; rewrite scaler_eq0 => /orP[/eqP//|].
  by rewrite subr_eq0 (inj_eq injp) eq_sym (negbTE qr).
split=> //.
pose V : 'M[F]_(#|Q|, d + 1) := \matrix_i row_mx (p (enum_val i))^T 1%:M.
suff: row_free V by rewrite /row_free => /eqP rk; rewrite -subn1 leq_subLR addnC -[X in (X <= _)%N]rk rank_leq_col.
rewrite -kermx_eq0; apply/eqP/row_matrixP=> i; rewrite row0.
move: (row_sub i (kermx V)); move: (row i _) => y; rewrite sub_kermx => /eqP yV.
have sums (G : Q -> F) : \sum_q G q = \sum_(i < #|Q|) G (enum_val i).
  have bij: bijective (fun i : 'I_#|Q| => enum_val i) by exists enum_rank; [apply: enum_valK | apply: enum_rankK].
  by rewrite (reindex _ (onW_bij _ bij)).
pose c q := y 0 (enum_rank q).
have c0: \sum_q c q = 0.
  have /rowP/(_ (rshift d 0)) := yV; rewrite !mxE => e; apply: etrans e; rewrite sums; apply: eq_bigr => k _.
  by rewrite /c enum_valK !mxE (unsplitK (inr _)) mxE eqxx mulr1.
have cp: \sum_q c q *: p q = 0.
  apply/colP=> j; have /rowP/(_ (lshift 1 j)) := yV; rewrite !mxE => e; apply: etrans e.
  rewrite summxE sums; apply: eq_bigr => k _; rewrite /c enum_valK !mxE.
  by rewrite (unsplitK (inl _)) mxE.
by apply/rowP=> k; rewrite mxE; have := indep c c0 cp (enum_val k); rewrite /c enum_valK.
Qed.
End Affine.

Section OpenBeta.
Variables (R : realFieldType) (n : nat).
Implicit Types (f : gh R n) (fs : seq (gh R n)) (x : 'cV[R]_n).

(* 0 < beta |v|^2 < 2. *)
Definition strict f : bool := 0 < f.1 * dot f.2 f.2 < 2%:R.
Lemma strict_bounded f : strict f -> bounded f.
Proof. by case/andP=> l r; rewrite /bounded !ltW. Qed.

(* Such a factor keeps the length of x only if it keeps x. *)
Lemma strict_keeps f x : strict f -> dot (factor_mx f *m x) (factor_mx f *m x) = dot x x -> factor_mx f *m x = x.
Proof.
case/andP=> b0 b2; rewrite factor_norm; set t := _ * _ * _ ^+ 2 => e.
have /eqP: t = 0 by rewrite -[t]opprK -(addKr (dot x x) (- t)) e addNr oppr0.
rewrite /t !mulf_eq0 orbb subr_eq0 [2%:R == _]eq_sym (lt_eqF b2) orbF.
case/orP=> [/eqP z|/eqP o]; last exact: factor_on_complement.
by move: b0; rewrite z mul0r ltxx.
Qed.

(* The same for products. *)
Lemma strict_product_keeps fs x : all strict fs ->
  dot (product_mx fs *m x) (product_mx fs *m x) = dot x x -> all (fun f => factor_mx f *m x == x) fs /\ product_mx fs *m x = x.
Proof.
elim: fs => [|f fs IH] /=; first by rewrite mul1mx.
case/andP=> sf ss; rewrite product_cons -mulmxA => e.
have le1 := product_non_expansive (factor_mx f *m x) (sub_all strict_bounded ss).
have le2 := factor_non_expansive x (strict_bounded sf).
have fx: factor_mx f *m x = x by apply: strict_keeps => //; apply/eqP; rewrite eq_le le2 -e le1.
by rewrite fx eqxx /=; apply: IH => //; rewrite -{1 2}fx.
Qed.

(* A letter: its factors and what it adds. *)
Definition letter := (seq (gh R n) * 'cV[R]_n)%type.
Definition apply_letter (h : 'cV[R]_n) (a : letter) : 'cV[R]_n := product_mx a.1 *m h + a.2.
Lemma word_difference (w : seq letter) x y :
  foldl apply_letter x w - foldl apply_letter y w = product_mx (flatten [seq a.1 | a <- w]) *m (x - y).
Proof.
elim: w x y => [|a w IH] x y /=; first by rewrite mul1mx.
by rewrite IH product_cat -mulmxA; congr (_ *m _); rewrite /apply_letter [_ *m y + _]addrC addrKA -mulmxBr.
Qed.

(* H.open-beta (all).  Let 0 < beta |v|^2 < 2 for every factor.  If a word permutes a finite family of states then it leaves each
   of them where it is, and each of its factors keeps all their differences: no non-trivial group in finitely many states. *)
Theorem open_beta (T : finType) (p : T -> 'cV[R]_n) (s : {perm T}) (w : seq letter) :
    all (fun a : letter => all strict a.1) w -> (forall i, foldl apply_letter (p i) w = p (s i)) ->
  (forall i, p (s i) = p i)
  /\ forall i j, all (fun a : letter => all (fun f => factor_mx f *m (p i - p j) == p i - p j) a.1) w.
Proof.
move=> sw act; pose fs := flatten [seq a.1 | a <- w].
have sfs: all strict fs by elim: w sw {act} @fs => //= a w IH /andP[sa sw]; rewrite all_cat sa IH.
have diff i j : p (s i) - p (s j) = product_mx fs *m (p i - p j) by rewrite -!act word_difference.
have le (i : T * T) : dot (p (s i.1) - p (s i.2)) (p (s i.1) - p (s i.2)) <= dot (p i.1 - p i.2) (p i.1 - p i.2).
  by rewrite diff; apply: product_non_expansive (sub_all strict_bounded sfs).
have same i j : dot (p (s i) - p (s j)) (p (s i) - p (s j)) = dot (p i - p j) (p i - p j).
  pose g (i : T * T) := dot (p i.1 - p i.2) (p i.1 - p i.2) - dot (p (s i.1) - p (s i.2)) (p (s i.1) - p (s i.2)).
  have sum0: \sum_i g i = 0.
    rewrite sumrB -!(pair_bigA _ (fun i j => dot (p i - p j) (p i - p j))) /=.
    rewrite -!(pair_bigA _ (fun i j => dot (p (s i) - p (s j)) (p (s i) - p (s j)))) /=.
    rewrite (reindex_inj (@perm_inj _ s)) /=; apply/eqP; rewrite subr_eq0; apply/eqP.
    by apply: eq_bigr => k _; rewrite (reindex_inj (@perm_inj _ s)).
  have ge k : true -> 0 <= g k by rewrite subr_ge0.
  have /eqP := sum0; rewrite psumr_eq0 // => /allP/(_ (i, j) (mem_index_enum _)) /=.
  by rewrite subr_eq0 eq_sym => /eqP.
have keeps i j : all (fun f => factor_mx f *m (p i - p j) == p i - p j) fs /\ p (s i) - p (s j) = p i - p j.
  by rewrite diff; apply: strict_product_keeps => //; rewrite -diff same.
split=> [i|i j]; last first.
  by have [] := keeps i j; rewrite /fs; elim: w {sw act sfs diff le same keeps} @fs => //= a w IH; rewrite all_cat => /andP[-> /IH].
(* All states move by one vector, whose multiple by the number of states is 0. *)
have move_by j : p (s j) - p j = p (s i) - p i.
  have [_ e] := keeps j i; apply/eqP; rewrite subr_eq addrAC -addrA -e addrC addrNK.
  by [].
have: \sum_j (p (s j) - p j) = 0.
  by rewrite sumrB [X in _ - X](reindex_inj (@perm_inj _ s)) subrr.
under eq_bigr do rewrite move_by.
rewrite sumr_const => /eqP; rewrite -scaler_nat scaler_eq0 pnatr_eq0 => /orP[|/eqP e].
  by rewrite -leqn0 leqNgt => /negP[]; apply/card_gt0P; exists i.
by apply/eqP; rewrite -subr_eq0 e.
Qed.

End OpenBeta.

Section Token.
Variables (R : realFieldType) (n d : nat).
(* A token of m factors: for (beta, k) and the value v in turn, H <- (I - beta k k^T) H + beta k v^T. *)
Definition written := (gh R n * 'cV[R]_d)%type.
Implicit Types (x : written) (xs : seq written) (H : 'M[R]_(n, d)).
Definition written_mx x : 'M[R]_(n, d) := x.1.1 *: (x.1.2 *m x.2^T).
Definition delta_step H x : 'M[R]_(n, d) := factor_mx x.1 *m H + written_mx x.

(* DP.eq3 (all).  Together they do H <- A H + B with A = C_m ... C_1 and B = sum_j C_m ... C_(j+1) beta_j k_j v_j^T. *)
Theorem token_is_affine xs H : foldl delta_step H xs = product_mx (unzip1 xs) *m H
  + \sum_(j < size xs) product_mx (drop j.+1 (unzip1 xs)) *m nth 0 [seq written_mx x | x <- xs] j.
Proof.
elim: xs H => [|x xs IH] H /=; first by rewrite mul1mx big_ord0 addr0.
by rewrite IH product_cons big_ord_recl /= drop0 /delta_step mulmxDr mulmxA addrA.
Qed.
End Token.

(* DP.eq3.printed (refuted).  With the keys (1, 0) and (1, 1) and beta = 1 the product from left to right is not what the factors do one after
   the other. *)
Theorem printed_order : exists f g : gh rat_realFieldType 2, product_mx [:: f; g] <> factor_mx f *m factor_mx g.
Proof.
exists (1, delta_mx 0 0), (1, const_mx 1); rewrite product_cons /product_mx /= mulmx1.
move/matrixP/(_ 0 1)/eqP; rewrite /factor_mx !scale1r !mxE !big_ord_recl !big_ord0 !mxE !big_ord_recl !big_ord0 !mxE /=.
by [].
Qed.
