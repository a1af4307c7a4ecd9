(* Cascades as printed, and recurrences of single numbers.

   - printed_wiring (G.T4.printed), gated_reset_forgets (DP.T2.printed): a cascade of two components that no later component
     follows which reads the letter and the new state of the first.
   - gated_layer (DP.L4): a permutation-reset automaton in one gated layer.
   - jordan_block (DP.B6.printed): the spectral radius is 1 and the powers grow.
   - non_negative_aperiodic, signed_two_groups (S.star-free and arXiv:2606.01765): one diagonal layer with monotone rounding.
   - wrapped_parity: integers modulo 2^p count modulo 2 with a non-negative recurrence. *)
Set Warnings "-notation-overridden,-ambiguous-paths".
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
From Mirrormata Require Import Chain ChainLRNN Householder Permutations.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.

(* A cascade of two components with one letter: the first is reset to true, the second is flipped exactly if the old state of
   the first is true.  Both start at false. *)
Definition true_step (q : bool * bool) : bool * bool := (true, if q.1 then ~~ q.2 else q.2).

(* G.T4.printed (refuted).  As printed the second component reads the letter and the new state of the first.  Whatever
   function `rule` of these and of its own state it applies, it does not follow the cascade. *)
Theorem printed_wiring (rule : bool -> bool -> bool) :
  let printed_step (q : bool * bool) := (true, rule true q.2) in
  exists t, iter t printed_step (false, false) <> iter t true_step (false, false).
Proof.
move=> step; case E: (rule true false); first by exists 1%N; rewrite /= /step /= E.
by exists 2%N; rewrite /= /step /= !E.
Qed.

Section Gated.
Local Open Scope ring_scope.
Variables (R : realFieldType) (n : nat).

(* A gated layer: h <- A (g h) + b, the gate first. *)
Definition gated (g : R) (A : 'M[R]_n) (b h : 'cV[R]_n) : 'cV[R]_n := A *m (g *: h) + b.

(* DP.L4 (all).  A permutation has the gate 1, n - #cycles swaps and nothing added; a reset to c has the gate 0, no factor, and e_c
   added. *)
Theorem gated_layer (L : Type) (letter : L -> 'S_n + 'I_n) (w : seq L) q :
  let act q a := match letter a with inl s => s q | inr c => c end in
  let step h a := match letter a with
    | inl s => gated 1 (pmx R s) 0 h
    | inr c => gated 0 1%:M (delta_mx c 0) h
    end in
  foldl step (delta_mx q 0) w = delta_mx (foldl act q w) 0.
Proof.
move=> act step; elim: w q => [|a w IH] q //=; rewrite -IH; congr foldl; rewrite /step /act /gated.
by case: (letter a) => [s|c]; rewrite ?scale1r ?pmx_unit ?addr0 // scale0r mulmx0 add0r.
Qed.

(* DP.T2.printed (refuted, with printed_wiring).  After a reset by the gate 0 the state is the same whatever it was before, so that what
   reads the letter and this state is a rule as in printed_wiring. *)
Theorem gated_reset_forgets (c : 'I_n) (h h' : 'cV[R]_n) :
  gated 0 1%:M (delta_mx c 0) h = gated 0 1%:M (delta_mx c 0) h'.
Proof. by rewrite /gated !scale0r. Qed.
End Gated.

Section Stability.
Local Open Scope ring_scope.
Variable R : realFieldType.

(* DP.B6.printed (refuted).  A = [[1, 1], [0, 1]] has no eigenvalue but 1, and A^t has the entry t. *)
Definition jordan : 'M[R]_2 := \matrix_(i, j) (if (i == 1) && (j == 0) then 0 else 1).
Theorem jordan_block : (forall a, eigenvalue jordan a -> a = 1) /\ forall t, (jordan ^+ t) 0 1 = t%:R.
Proof.
split=> [a /eigenvalueP[v va v0]|t].
  have e0: v 0 0 = a * v 0 0.
    by have /rowP/(_ 0) := va; rewrite !mxE !big_ord_recl big_ord0 !mxE /= mulr1 mulr0 !addr0.
  have e1: v 0 0 + v 0 1 = a * v 0 1.
    have /rowP/(_ 1) := va; rewrite !mxE !big_ord_recl big_ord0 !mxE /= !mulr1 addr0 => <-.
    by congr (_ + v _ _); apply: val_inj.
  have [z0|n0] := eqVneq (v 0 0) 0; last by apply/esym/(mulIf n0); rewrite mul1r.
  have n1: v 0 1 != 0.
    apply: contraNneq v0 => z1; apply/eqP/rowP=> -[[|[|//]] lt]; rewrite [RHS]mxE.
      by rewrite (_ : Ordinal lt = 0) //; apply: val_inj.
    by rewrite (_ : Ordinal lt = 1) //; apply: val_inj.
  by apply/esym/(mulIf n1); rewrite mul1r -e1 z0 add0r.
suff [_ //]: (jordan ^+ t) 0 0 = 1 /\ (jordan ^+ t) 0 1 = t%:R.
elim: t => [|t [a b]]; first by rewrite expr0 !mxE.
have one: lift ord0 ord0 = 1 :> 'I_2 by apply: val_inj.
by rewrite exprSr !mxE !big_ord_recl !big_ord0 !one a b !mxE /= !mulr1 ?mulr0 ?addr0 -[t.+1]addn1 natrD addrC.
Qed.
End Stability.

Section Diagonal.
Local Open Scope ring_scope.
Variables (R : realDomainType) (n : nat) (L : Type).
(* One diagonal layer: on letter l, h_i <- Q_i (a_li h_i + b_li) with a non-decreasing Q_i. *)
Variables (Q : 'I_n -> R -> R) (a b : L -> 'I_n -> R).
Hypothesis monotone : forall i x y, x <= y -> Q i x <= Q i y.
Definition channel (i : 'I_n) (w : seq L) (x : R) : R := foldl (fun x l => Q i (a l i * x + b l i)) x w.

Lemma channel_cat i u w x : channel i (u ++ w) x = channel i w (channel i u x).
Proof. exact: foldl_cat. Qed.

(* A channel with non-negative numbers is monotone; with numbers of any sign it is monotone or antitone. *)
Lemma channel_monotone i w : (forall l, 0 <= a l i) -> {homo channel i w : x y / x <= y}.
Proof.
move=> pos; elim: w => [|l w IH] x y xy //=; apply: IH; apply: monotone.
by rewrite ler_add2r ler_wpmul2l.
Qed.
Lemma channel_signed i w : {homo channel i w : x y / x <= y} \/ {homo channel i w : x y /~ x <= y}.
Proof.
elim: w => [|l w IH]; first by left.
have [pos|/ltW neg] := leP 0 (a l i); case: IH => IH.
- by left=> x y xy /=; apply: IH; apply: monotone; rewrite ler_add2r ler_wpmul2l.
- by right=> x y xy /=; apply: IH; apply: monotone; rewrite ler_add2r ler_wpmul2l.
- by right=> x y xy /=; apply: IH; apply: monotone; rewrite ler_add2r ler_wnmul2l.
by left=> x y xy /=; apply: IH; apply: monotone; rewrite ler_add2r ler_wnmul2l.
Qed.

(* A monotone map that returns to x after k > 0 steps keeps x. *)
Lemma monotone_returns (f : R -> R) k x : {homo f : x y / x <= y} -> iter k.+1 f x = x -> f x = x.
Proof.
move=> mono e; have [le|lt] := leP (f x) x; apply/eqP; rewrite eq_le.
  have down j : iter j.+1 f x <= f x by elim: j => //= j IH; apply: mono; apply: le_trans IH le.
  by rewrite le /= -{1}e down.
have up j : f x <= iter j.+1 f x by elim: j => //= j IH; apply: mono; apply: le_trans (ltW lt) IH.
by have := up k; rewrite e leNgt lt.
Qed.

Variables (T : finType) (p : T -> 'I_n -> R).
Lemma returns (s : {perm T}) w : (forall t i, channel i w (p t i) = p (s t) i) ->
  forall t i, iter #[s]%g.-1.+1 (channel i w) (p t i) = p t i.
Proof.
move=> act t i; have it k : iter k (channel i w) (p t i) = p ((s ^+ k)%g t) i.
  by elim: k => [|k IH]; rewrite ?expg0 ?perm1 //= IH act expgSr permM.
by rewrite it prednK ?order_gt0 // expg_order perm1.
Qed.

(* S.star-free (part: one layer of non-negative channels is aperiodic).  A word that permutes a finite family of states keeps each of them. *)
Theorem non_negative_aperiodic (s : {perm T}) w : (forall l i, 0 <= a l i) ->
  (forall t i, channel i w (p t i) = p (s t) i) -> forall t i, p (s t) i = p t i.
Proof.
move=> pos act t i; rewrite -act; apply: (@monotone_returns _ #[s]%g.-1); last exact: returns.
exact: channel_monotone.
Qed.

(* The same with numbers of any sign: such a word, read twice, keeps each state, so that the words that permute the
   family form an elementary abelian 2-group. *)
Theorem signed_two_groups (s : {perm T}) w :
  (forall t i, channel i w (p t i) = p (s t) i) -> forall t i, p (s (s t)) i = p t i.
Proof.
move=> act t i; rewrite -!act -channel_cat.
have act2 t' i' : channel i' (w ++ w) (p t' i') = p ((s * s)%g t') i' by rewrite channel_cat !act permM.
apply: (@monotone_returns _ #[s * s]%g.-1); last exact: returns.
by case: (channel_signed i w) => mono x y xy; rewrite !channel_cat; do 2!apply: (mono).
Qed.
End Diagonal.

(* Integers modulo 2^p are not monotone: h <- h + 2^(p-1) b counts modulo 2. *)
Theorem wrapped_parity p (w : seq bool) : (0 < p)%N ->
  foldl (fun h (b : bool) => (h + 2 ^ p.-1 * b) %% 2 ^ p)%N 0%N w = (odd (count id w) * 2 ^ p.-1)%N.
Proof.
case: p => //= p _; elim/last_ind: w => [|w b IH] //; rewrite foldl_rcons IH -cats1 count_cat /= addn0 oddD oddb.
rewrite [(2 ^ p * b)%N]mulnC -mulnDl expnS -muln_modl; congr (_ * _)%N.
by case: odd; case: b.
Qed.
