(* Buffers and block delays: fewer factors a token, in more layers.

   - ring_buffer (DP.L3): one projection a token keeps the last d tokens.
   - block_delay: while a block of m tokens is read, a layer applies the m parts of the product of the block before; the
     read-out multiplies by the parts still to come and by the tokens of the block read so far.
   - parts_of_permutation: n - 1 swaps are spread over m parts of at most k swaps if m k >= n - 1.
   - symmetric_group_by_blocks (DP.T1): so the products of permutations of n points are followed with k swaps a token.
   - parts_are_local: what is applied depends on t modulo m and on the last 2m tokens. *)
Set Warnings "-notation-overridden,-ambiguous-paths".
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
From Mirrormata Require Import Chain ChainLRNN Householder Permutations.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

Section RingBuffer.
Import GRing.Theory.
Local Open Scope ring_scope.
Variables (R : realFieldType) (d m : nat).
Implicit Types (w : seq 'rV[R]_m) (v : 'rV[R]_m) (H : 'M[R]_(d.+1, m)).

(* Token number t (from 0): the factor with the key e_j, j = t mod (d + 1), and beta = 1 erases row j; v is written there. *)
Definition slot (t : nat) : 'I_d.+1 := inord (t %% d.+1).
Definition buffer_step (th : nat * 'M[R]_(d.+1, m)) v : nat * 'M[R]_(d.+1, m) :=
  (th.1.+1, factor_mx (projection R (slot th.1)) *m th.2 + delta_mx (slot th.1) 0 *m v).
Definition buffer H w := foldl buffer_step (0%N, H) w.

Lemma slotE t : slot t = (t %% d.+1)%N :> nat.
Proof. by rewrite inordK // ltn_mod. Qed.
Lemma buffer_row t H v i : row i (buffer_step (t, H) v).2 = if i == slot t then v else row i H.
Proof.
rewrite /buffer_step /factor_mx /= scale1r mulmxBl mul1mx; apply/rowP=> j; rewrite !mxE big_ord1 !mxE.
have ->: \sum_k (delta_mx (slot t) 0 *m (delta_mx (slot t) 0 : 'cV[R]_d.+1)^T) i k * H k j = (i == slot t)%:R * H (slot t) j.
  rewrite (bigD1 (slot t)) //= mxE big_ord1 !mxE !eqxx !andbT mulr1 big1 ?addr0 // => k kt.
  by rewrite mxE big_ord1 !mxE (negbTE kt) mulr0 mul0r.
by rewrite ?eqxx ?andbT; case: eqP => [->|_]; rewrite ?mxE ?mul1r ?subrr ?add0r // !mul0r subr0 addr0.
Qed.

(* DP.L3 (all).  After the word w the row of slot s holds token s, for each of the last d + 1 tokens. *)
Theorem ring_buffer H w s : (s < size w)%N -> (size w <= s + d.+1)%N -> row (slot s) (buffer H w).2 = nth 0 w s.
Proof.
have time u : (buffer H u).1 = size u.
  by elim/last_ind: u => [|u x IH] //; rewrite /buffer foldl_rcons /= -/(buffer H u) IH size_rcons.
elim/last_ind: w => [|w v IH] //; rewrite size_rcons ltnS => s_w w_s.
rewrite /buffer foldl_rcons -/(buffer H w) [buffer H w]surjective_pairing buffer_row time nth_rcons.
move: s_w; rewrite leq_eqVlt => /orP[/eqP->|s_w]; first by rewrite ltnn !eqxx.
rewrite s_w; case: eqP => [e|_]; last by apply: IH => //; apply: ltnW.
have := congr1 (@nat_of_ord _) e; rewrite !slotE => /eqP; rewrite eq_sym.
rewrite eqn_mod_dvd; last exact: ltnW s_w.
move/dvdn_leq; rewrite subn_gt0 s_w => /(_ isT).
by rewrite leqNgt ltnS leq_subLR -ltnS -addnS w_s.
Qed.
End RingBuffer.

Section BlockDelay.
Local Open Scope nat_scope.
Local Open Scope group_scope.
Variables (G : finGroupType) (m : nat) (part : G -> nat -> G).
Hypothesis m_pos : 0 < m.
(* Every element is the product of its m parts, the first applied first. *)
Hypothesis parts : forall g, \prod_(0 <= j < m) part g j = g.
Implicit Types (w : seq G).

(* The product of block l, and of the block before it (nothing before block 0).  Products are read from left to right:
   in x * y, x is applied first. *)
Definition block w l : G := \prod_(x <- take m (drop (l * m) w)) x.
Definition before w l : G := if l is l'.+1 then block w l' else 1.

(* What the last layer applies at token number t, from 0. *)
Definition applied w t : G := part (before w (t %/ m)) (t %% m).
Definition layer_state w : G := \prod_(0 <= t < size w) applied w t.

(* The read-out after w: the parts still to come, then the tokens of the present block. *)
Definition read_out w (h : G) : G :=
  h * \prod_(size w %% m <= j < m) part (before w (size w %/ m)) j * \prod_(x <- drop (size w %/ m * m) w) x.

Lemma shift_product (F : nat -> G) a k : \prod_(a <= t < a + k) F t = \prod_(0 <= j < k) F (a + j)%N.
Proof. by rewrite -{1}[a]add0n big_addn addKn; apply: eq_bigr => j _; rewrite addnC. Qed.

(* Parts of whole blocks. *)
Lemma whole_blocks w l : \prod_(0 <= t < l * m) applied w t = \prod_(0 <= i < l) before w i.
Proof.
elim: l => [|l IH]; first by rewrite mul0n !big_geq.
rewrite mulSnr (big_cat_nat _ _ _ (leq0n _) (leq_addr _ _)) /= IH big_nat_recr //=; congr (_ * _).
rewrite shift_product -[RHS]parts; apply: eq_big_nat => j /andP[_ jm].
by rewrite /applied divnMDl // modnMDl divn_small // modn_small // addn0.
Qed.
Lemma blocks_take w l : \prod_(0 <= i < l) block w i = \prod_(x <- take (l * m) w) x.
Proof.
elim: l => [|l IH]; first by rewrite mul0n take0 big_geq // big_nil.
by rewrite big_nat_recr //= IH mulSnr takeD big_cat.
Qed.

(* DP.T1, own.blocks (part: the rule).  The read-out is the product of all tokens. *)
Theorem block_delay w : read_out w (layer_state w) = \prod_(x <- w) x.
Proof.
rewrite /read_out /layer_state; set l := size w %/ m; set r := size w %% m.
have E: size w = (l * m + r)%N by apply: divn_eq.
have rm: r < m by rewrite ltn_mod.
have ->: \prod_(0 <= t < size w) applied w t * \prod_(r <= j < m) part (before w l) j
    = \prod_(0 <= i < l.+1) before w i.
  rewrite {1}E (big_cat_nat _ _ _ (leq0n _) (leq_addr _ _)) /= whole_blocks big_nat_recr //= -mulgA; congr (_ * _).
  rewrite shift_product (eq_big_nat _ _ (F2 := part (before w l))) => [|j /andP[_ jr]]; last first.
    by rewrite /applied divnMDl // modnMDl divn_small ?(ltn_trans jr) // modn_small ?(ltn_trans jr) // addn0.
  by rewrite -(big_cat_nat _ _ _ (leq0n _) (ltnW rm)) parts.
rewrite big_nat_recl //= mul1g; rewrite (eq_big_nat _ _ (F2 := block w)) // blocks_take.
by rewrite -big_cat cat_take_drop.
Qed.

(* What is applied depends on t modulo m and on the last 2m tokens before t. *)
Lemma parts_are_local u w t :
  (forall s, t - 2 * m <= s < t -> nth 1 u s = nth 1 w s) -> applied u t = applied w t.
Proof.
move=> same; rewrite /applied; congr part; case E: (t %/ m) => [|l] //=.
have by_nth (v : seq G) k : \prod_(x <- take k v) x = \prod_(0 <= j < k) nth 1 v j.
  elim: k v => [|k IH] v; first by rewrite take0 big_nil big_geq.
  case: v => [|x v] /=; last by rewrite big_cons IH big_nat_recl.
  by rewrite big_nil big1 // => j _; rewrite nth_nil.
rewrite /block !by_nth; apply: eq_big_nat => j /andP[_ jm]; rewrite !nth_drop; apply: same.
have t_eq := divn_eq t m; rewrite E mulSnr in t_eq; apply/andP; split.
  rewrite leq_subLR; apply: leq_trans (_ : 2 * m + l * m <= _); last by rewrite leq_add2l leq_addr.
  rewrite [X in X <= _]t_eq mul2n -addnn [m + m + _]addnC -addnA leq_add2l leq_add2l.
  by apply: ltnW; rewrite ltn_mod.
by rewrite [X in _ < X]t_eq -addnA ltn_add2l; apply: leq_trans (leq_addr _ _).
Qed.
End BlockDelay.

Section Permutations.
Local Open Scope nat_scope.
Local Open Scope group_scope.
Variables (n k m : nat).
Hypothesis k_pos : 0 < k.
Hypothesis room : n.-1 <= m * k.
Hypothesis m_pos : 0 < m.
Implicit Types (s : 'S_n).

(* The j-th part of a permutation: swaps j k, ..., j k + k - 1 of a shortest list. *)
Definition part_swaps s j : seq ('I_n * 'I_n) := take k (drop (j * k) (sval (transpositions s))).
Definition part_perm s j : 'S_n := \prod_(t <- part_swaps s j) tperm t.1 t.2.

Lemma parts_of_permutation s : \prod_(0 <= j < m) part_perm s j = s.
Proof.
have [sz _ prod] := svalP (transpositions s).
have all_parts l : \prod_(0 <= j < l) part_perm s j
    = \prod_(t <- take (l * k) (sval (transpositions s))) tperm t.1 t.2.
  elim: l => [|l IH]; first by rewrite mul0n take0 big_geq // big_nil.
  by rewrite big_nat_recr //= IH mulSnr takeD big_cat.
rewrite all_parts take_oversize // sz; apply: leq_trans room; case: (posnP n) => [n0|n_pos].
  by apply: leq_trans (leq_subr _ _) _; rewrite n0.
by rewrite -subn1 leq_sub2l //; apply/card_gt0P; exists (porbit s (Ordinal n_pos)); apply: imset_f.
Qed.

(* DP.T1 (part: the last layer of (ii) and (iii); (i) is group_automaton).  For permutations of n points and m k >= n - 1 the
   products of all tokens are followed; a token applies at most k swaps, whose product is the part. *)
Theorem symmetric_group_by_blocks (R : realFieldType) (w : seq 'S_n) :
  read_out m part_perm w (layer_state m part_perm w) = \prod_(s <- w) s
  /\ forall s j, [/\ size (part_swaps s j) <= k, all (fun t => t.1 != t.2) (part_swaps s j)
       & product_mx [seq @swap R n t | t <- part_swaps s j] = pmx R (part_perm s j)].
Proof.
split=> [|s j]; first by apply: block_delay => //; apply: parts_of_permutation.
have ok: all (fun t => t.1 != t.2) (part_swaps s j).
  have [_ ok _] := svalP (transpositions s); apply/allP=> t /mem_take /mem_drop; exact: (allP ok).
split=> //; first by rewrite size_take_min geq_minl.
rewrite /part_perm; elim: (part_swaps s j) ok => [|[a b] ts IH] /=; first by rewrite big_nil pmx1.
case/andP=> ab ok; rewrite product_cons IH // big_cons -pmx_mul swap_is_transposition // /pmx.
by rewrite tpermV.
Qed.
End Permutations.
