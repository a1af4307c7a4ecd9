(* own.definite: where the last letters decide the state, a register of them follows the automaton, with as many factors.

   - shift_by_factors: the shift of n rows, the last of which is dropped, is a product of at most n factors, one projection and swaps.
   - definite_automaton (own.definite): if the last n letters decide the state of an automaton, then the register of n rows tells it.  Each
     letter has a row of its own, not zero; a letter shifts the register and adds its row at the top.
   - shift_needs (own.definite): rank(N - I) = n for the shift N of n rows, so that it is a product of no fewer than n factors. *)
Set Warnings "-notation-overridden,-ambiguous-paths".
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
From Mirrormata Require Import Householder Permutations.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Definite.
Variables (R : realFieldType) (m d : nat).
(* The register has n = m + 1 rows; the cycle takes row i to row i + 1, and the last one to the first. *)
Definition next_row (i : 'I_m.+1) : 'I_m.+1 := inord (i.+1 %% m.+1).
Lemma next_rowE i : next_row i = (if i == ord_max then 0 else i.+1)%N :> nat.
Proof.
rewrite inordK ?ltn_mod //; case: eqP => [->|/eqP ne]; first by rewrite /= modnn.
by rewrite modn_small // ltnS ltn_neqAle -ltnS ltn_ord andbT; apply: contra ne => /eqP e; apply/eqP/val_inj.
Qed.
Lemma next_row_inj : injective next_row.
Proof.
move=> i j /(congr1 (@nat_of_ord _)); rewrite !next_rowE.
case: (i =P ord_max) => [->|_]; case: (j =P ord_max) => [->|_] // [e]; exact: val_inj.
Qed.
Definition cycle_rows : 'S_m.+1 := perm next_row_inj.
Definition shift : 'M[R]_m.+1 := pmx R cycle_rows *m factor_mx (projection R ord_max).

Theorem shift_by_factors : exists fs : seq (gh R m.+1),
  [/\ (size fs <= m.+1)%N, product_mx fs = shift & all (@bounded R m.+1) fs].
Proof.
have [ts [sz ok prod]] := permutation_by_swaps R cycle_rows.
exists (projection R ord_max :: [seq @swap R m.+1 t | t <- ts]); split.
- rewrite /= size_map sz ltnS /swaps_needed; apply: leq_trans (leq_sub2l _ (_ : (1 <= _)%N)) _; last by rewrite subn1.
  by apply/card_gt0P; exists (porbit cycle_rows ord0); apply: imset_f.
- by rewrite product_cons prod.
- rewrite /= all_map; apply/andP; split.
    have one: dot (delta_mx ord_max 0 : 'cV[R]_m.+1) (delta_mx ord_max 0) = 1.
      by rewrite dotE (bigD1 ord_max) //= big1 ?addr0 => [|i /negPf ne]; rewrite !mxE ?eqxx ?ne /= ?mulr1 ?mul0r.
    by rewrite /bounded /= one mul1r ler01 ler1n.
  by apply/allP=> t /(allP ok) ne /=; apply/reflection_bounded/swap_reflection.
Qed.

(* A letter shifts the register and adds its row at the top. *)
Variables (A Q : Type) (delta : A -> Q -> Q) (q0 : Q) (code : A -> 'rV[R]_d).
Hypothesis codes_differ : injective code.
Hypothesis no_code_zero : forall a, code a != 0.
Implicit Types (w u v : seq A).
Definition register w : 'M[R]_(m.+1, d) := foldl (fun H a => shift *m H + delta_mx ord0 0 *m code a) 0 w.

Lemma shift_row H i : row i (shift *m H) = (if i == ord0 then 0 else row (inord i.-1) H) :> 'rV[R]_d.
Proof.
have erased k : row k (factor_mx (projection R (ord_max : 'I_m.+1)) *m H) = (if k == ord_max then 0 else row k H) :> 'rV[R]_d.
  rewrite /factor_mx scale1r mulmxBl mul1mx; apply/rowP=> j; rewrite !mxE.
  have ->: \sum_l (delta_mx ord_max 0 *m (delta_mx ord_max 0 : 'cV[R]_m.+1)^T) k l * H l j = (k == ord_max)%:R * H ord_max j.
    rewrite (bigD1 ord_max) //= mxE big_ord1 !mxE !eqxx !andbT mulr1 big1 ?addr0 // => l ne.
    by rewrite mxE big_ord1 !mxE (negbTE ne) mulr0 mul0r.
  by case: eqP => [->|_]; rewrite !mxE ?mul1r ?subrr // mul0r subr0.
rewrite /shift -mulmxA /pmx -row_permE; apply/rowP=> j; rewrite mxE mxE.
have moved: cycle_rows ((cycle_rows^-1)%g i) = i by rewrite permKV.
move: moved; rewrite permE; set k := ((cycle_rows^-1)%g i) => moved.
have := congr1 (fun M : 'rV_d => M 0 j) (erased k); rewrite [X in X = _]mxE => ->.
have := congr1 (@nat_of_ord _) moved; rewrite next_rowE => e.
case: (k =P ord_max) e => [_|ne] e; first by rewrite (_ : i == ord0) //; apply/eqP/ord_inj; rewrite -e.
rewrite (_ : (i == ord0) = false); last by apply/negbTE/eqP => z; move: e; rewrite z.
by rewrite -e /= inord_val.
Qed.
(* After the word w row i holds the letter i places before its end, or nothing where the word is shorter. *)
Lemma register_row a0 w (i : 'I_m.+1) : row i (register w) = (if (i < size w)%N then code (nth a0 (rev w) i) else 0).
Proof.
elim/last_ind: w i => [|w a IH] i; first by rewrite /register /= raddf0.
rewrite /register foldl_rcons -/(register w) raddfD /= shift_row size_rcons rev_rcons.
have top k : row k (delta_mx ord0 0 *m code a) = (if k == ord0 :> 'I_m.+1 then code a else 0) :> 'rV[R]_d.
  by apply/rowP=> j; rewrite !mxE big_ord1 !mxE eqxx andbT; case: eqP => _; rewrite ?mul1r ?mul0r ?mxE.
rewrite top; case: eqP => [->|ne]; first by rewrite add0r.
rewrite addr0 IH; case: i ne => [[|k] lt] ne; first by case: ne; apply: ord_inj.
by rewrite /= inordK ?(ltnW lt) // ltnS.
Qed.

(* The last m + 1 letters decide the state. *)
Definition state w : Q := foldl (fun q a => delta a q) q0 w.
Hypothesis definite : forall u w v, size v = m.+1 -> state (u ++ v) = state (w ++ v).
Theorem definite_automaton u w : register u = register w -> state u = state w.
Proof.
case: u w => [|a0 u0] w same.
  case: w same => [//|a w] /(congr1 (row ord0)); rewrite !(register_row a) /= => /esym /eqP.
  by rewrite (negbTE (no_code_zero _)).
set u := a0 :: u0 in same *.
have alike i : (i <= m)%N -> (i < size u)%N = (i < size w)%N /\ ((i < size u)%N -> nth a0 (rev u) i = nth a0 (rev w) i).
  move=> im; have := congr1 (row (inord i)) same; rewrite !(register_row a0) inordK ?ltnS //.
  case: ifP => iu; case: ifP => iw e; rewrite ?iu ?iw.
  - by split=> // _; apply: codes_differ.
  - by move/eqP: e; rewrite (negbTE (no_code_zero _)).
  - by move/esym/eqP: e; rewrite (negbTE (no_code_zero _)).
  - by split.
have last v : (m < size v)%N -> v = take (size v - m.+1) v ++ rev (take m.+1 (rev v)).
  by move=> mv; rewrite take_rev revK cat_take_drop.
case: (leqP (size u) m) => [um|mu].
- have sizes: size w = size u.
    have [e1 _] := alike _ um; rewrite ltnn in e1; apply/eqP; rewrite eqn_leq leqNgt -e1 /= leqNgt; apply/negP => lt.
    by have [e2 _] := alike _ (ltnW (leq_trans lt um)); rewrite ltnn lt in e2.
  congr state; apply: (can_inj revK); apply: (@eq_from_nth _ a0) => [|i]; rewrite !size_rev // => iu.
  by apply: (alike i _).2 => //; apply: leq_trans (ltnW iu) um.
- have mw: (m < size w)%N by have [<- _] := alike m (leqnn m).
  rewrite (last u mu) (last w mw); suff ->: take m.+1 (rev u) = take m.+1 (rev w).
    by apply: definite; rewrite size_rev size_takel ?size_rev.
  apply: (@eq_from_nth _ a0) => [|i]; rewrite !size_takel ?size_rev // => im.
  by rewrite !nth_take //; apply: (alike i _).2 => //; apply: leq_trans im mu.
Qed.
End Definite.

(* own.definite (the number of factors).  The shift of n rows differs from the identity by a matrix of rank n, so that it is a product of no
   fewer factors, whatever their betas: a vector that the shift keeps is 0 in its first row, since nothing is shifted there, and each
   row equals the one above it. *)
Section Fewest.
Variables (R : realFieldType) (m : nat).
Lemma shift_keeps_nothing (x : 'cV[R]_m.+1) : shift R m *m x = x -> x = 0.
Proof.
move=> keeps; have rows i : row i x = (if i == ord0 then 0 else row (inord i.-1) x) by rewrite -{1}keeps shift_row.
apply/row_matrixP=> i; rewrite row0; case: i => i; elim: i => [|i IH] lt.
  by rewrite rows (_ : _ == _ = true) //; apply/eqP; apply: val_inj.
rewrite rows (_ : _ == _ = false) /=; last by apply/eqP=> /(congr1 (@nat_of_ord _)).
by rewrite -(IH (ltnW lt)); congr row; apply: val_inj; rewrite /= inordK // ltnW.
Qed.
Theorem shift_needs : moved (shift R m) = m.+1 /\ forall fs, product_mx fs = shift R m -> (m.+1 <= size fs)%N.
Proof.
have rank: moved (shift R m) = m.+1.
  rewrite /moved -mxrank_tr; apply/eqP; rewrite -/(row_free _) -kermx_eq0.
  apply/eqP/row_matrixP=> i; rewrite row0; apply: trmx_inj; rewrite trmx0; apply: shift_keeps_nothing.
  apply/eqP; rewrite -subr_eq0 -[X in _ - X]mul1mx -mulmxBl; apply/eqP/trmx_inj.
  by rewrite trmx_mul trmxK trmx0; apply/sub_kermxP/row_sub.
by split=> // fs e; have := rank_of_product fs; rewrite e rank.
Qed.
End Fewest.
