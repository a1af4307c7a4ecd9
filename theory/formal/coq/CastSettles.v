(* G.L1: what a finite format shows of a sum of powers of real numbers settles.

   Let a_k = sum_i c_i C(k, m_i) l_i^(k - m_i) over a real field (the rational or the real numbers, say), and let `cast` be a monotone map to finitely
   many values, such as one to a nearest of them, whatever it does at ties (nearest_is_monotone).  Proved: cast_powers_settle.  If no l_i is
   negative, cast(a_k) is the same for all k from some index on; with l_i of any sign cast(a_2k) is, and so is cast(a_2k+1).

   The proof needs no limits.  (S - l_1) ... (S - l_d) a = 0, where S is the shift (S a)_k = a_(k+1); and the sign of such a sequence
   settles, by induction on d (sign_settles): with c = (S - l) a of one sign from N on, say c > 0, a_(k+1) > l a_k, so that a stays positive once
   it is not negative.  The differences of a are such a sequence too, so that a is monotone from some index on, and cast(a) is monotone
   among finitely many values.

   That an index exists is the usual, classical, statement: whether a sequence will change once more is not decided.  So the theorems have excluded
   middle as a hypothesis, as far as they say that there is an index; without it the same is proved as "not not" (Lemmas with nn). *)
Set Warnings "-notation-overridden,-ambiguous-paths".
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Open Scope ring_scope.

(* ---- What is to be read. *)
Definition excluded_middle : Prop := forall P : Prop, P \/ ~ P.
(* From some index on all members are the same. *)
Definition settles (T : Type) (x : nat -> T) : Prop := exists N, forall k, (N <= k)%N -> x k = x N.
(* A monotone map to finitely many values. *)
Definition casts (R : realFieldType) (cast : R -> R) (values : seq R) : Prop :=
  (forall x, cast x \in values) /\ (forall x y, x <= y -> cast x <= cast y).
(* a_k *)
Definition powers (R : realFieldType) n (c l : 'I_n -> R) (m : 'I_n -> nat) (k : nat) : R :=
  \sum_i c i * 'C(k, m i)%:R * l i ^+ (k - m i).

(* ---- Not not, from which excluded middle leads to the statement itself *)
Definition surely (P : Prop) : Prop := ~ ~ P.
Lemma nn_pure (P : Prop) : P -> surely P. Proof. by move=> p h; apply: h. Qed.
Lemma nn_bind (P Q : Prop) : surely P -> (P -> surely Q) -> surely Q.
Proof. by move=> nnP PQ nQ; apply: nnP => p; apply: (PQ p). Qed.
Lemma nn_map (P Q : Prop) : surely P -> (P -> Q) -> surely Q.
Proof. by move=> nnP PQ nQ; apply: nnP => p; apply: nQ; apply: PQ. Qed.
Lemma nn_em (P : Prop) : surely (P \/ ~ P).
Proof. by move=> h; apply: (h); right => p; apply: h; left. Qed.
Lemma nn_elim : excluded_middle -> forall P : Prop, surely P -> P.
Proof. by move=> em P; case: (em P). Qed.

(* Finitely many indices have a common one behind them. *)
Lemma nn_common (I : finType) (P : I -> nat -> Prop) :
  (forall i, surely (exists N, forall k, (N <= k)%N -> P i k)) -> surely (exists N, forall i k, (N <= k)%N -> P i k).
Proof.
move=> each; suff: forall s : seq I, surely (exists N, forall i, i \in s -> forall k, (N <= k)%N -> P i k).
  move/(_ (enum I)); move=> nn; apply: (nn_map nn) => -[N h]; exists N => i k; apply: h; exact: mem_enum.
elim=> [|i s IH]; first by apply: nn_pure; exists 0%N.
apply: (nn_bind IH) => -[N h]; apply: (nn_map (each i)) => -[M g].
exists (maxn N M) => j; rewrite inE => /orP[/eqP->|js] k; rewrite geq_max => /andP[Nk Mk]; first exact: g.
exact: h.
Qed.

Section Settles.
Variable T : Type.
Lemma settles_ext (x y : nat -> T) : settles x -> x =1 y -> settles y.
Proof. by case=> N h e; exists N => k Nk; rewrite -!e h. Qed.
Lemma settles_behind N (x : nat -> T) : settles (fun k => x (N + k)%N) -> settles x.
Proof.
case=> M h; exists (N + M)%N => k le; have Nk: (N <= k)%N by apply: leq_trans le; apply: leq_addr.
by rewrite -(subnKC Nk) h // leq_subRL.
Qed.
Lemma settles_map U (f : T -> U) (x : nat -> T) : settles x -> settles (fun k => f (x k)).
Proof. by case=> N h; exists N => k Nk; rewrite h. Qed.
End Settles.
Lemma settles_both T U V (f : T -> U -> V) x y : settles x -> settles y -> settles (fun k => f (x k) (y k)).
Proof.
case=> N h [M g]; exists (maxn N M) => k; rewrite geq_max => /andP[Nk Mk].
by rewrite (h k) // (g k) // (h (maxn N M)) ?leq_maxl // (g (maxn N M)) ?leq_maxr.
Qed.
Lemma nn_settles_sum (V : zmodType) (I : Type) (s : seq I) (f : I -> nat -> V) :
  (forall i, surely (settles (f i))) -> surely (settles (fun k => \sum_(i <- s) f i k)).
Proof.
move=> each; elim: s => [|i s IH].
  by apply: nn_pure; exists 0%N => k _; rewrite !big_nil.
apply: (nn_bind IH) => h; apply: (nn_map (each i)) => g.
by apply: (settles_ext (settles_both +%R g h)) => k; rewrite big_cons.
Qed.

Section Field.
Variable R : realFieldType.
Implicit Types (a b c : nat -> R) (ls : seq R).

(* ---- (S - l_1) ... (S - l_d) a = 0 *)
Fixpoint killed ls a : Prop := if ls is l :: ls' then killed ls' (fun k => a k.+1 - l * a k) else forall k, a k = 0.
Lemma killed_ext ls a b : killed ls a -> a =1 b -> killed ls b.
Proof.
elim: ls a b => [|l ls IH] a b /=; first by move=> z e k; rewrite -e.
by move=> /IH h e; apply: h => k; rewrite !e.
Qed.
Lemma killed_combine ls x y a b : killed ls a -> killed ls b -> killed ls (fun k => x * a k + y * b k).
Proof.
elim: ls a b => [|l ls IH] a b /=; first by move=> za zb k; rewrite za zb !mulr0 addr0.
move=> ka kb; apply: (killed_ext (IH _ _ ka kb)) => k.
by rewrite !mulrBr mulrDr opprD !(mulrCA l) addrACA.
Qed.
Lemma killed_shift ls a : killed ls a -> killed ls (fun k => a k.+1).
Proof. by elim: ls a => [|l ls IH] a /= => [z k|]; [apply: z | apply: IH]. Qed.
Lemma killed_step ls x a : killed ls a -> killed ls (fun k => a k.+1 - x * a k).
Proof.
move=> ka; apply: (killed_ext (killed_combine 1 (- x) (killed_shift ka) ka)) => k.
by rewrite mul1r mulNr.
Qed.
Lemma killed_zero ls : killed ls (fun=> 0).
Proof. by elim: ls => //= l ls /killed_ext; apply => k; rewrite mulr0 subr0. Qed.
Lemma killed_left ls ls' a : killed ls a -> killed (ls ++ ls') a.
Proof.
elim: ls a => [|l ls IH] a /=; last exact: IH.
by move=> z; apply: (killed_ext (killed_zero ls')) => k; rewrite z.
Qed.
Lemma killed_right ls ls' a : killed ls' a -> killed (ls ++ ls') a.
Proof. by elim: ls a => //= l ls IH a ka; apply: IH; apply: killed_step. Qed.
Lemma killed_scale ls x a : killed ls a -> killed ls (fun k => x * a k).
Proof. by move=> ka; apply: (killed_ext (killed_combine x 0 ka ka)) => k; rewrite mul0r addr0. Qed.

(* Every second member: the squares take the place of the l_i. *)
Lemma killed_second ls a r : killed ls a -> killed [seq l ^+ 2 | l <- ls] (fun k => a (r + k.*2)%N).
Proof.
elim: ls a => [|l ls IH] a /=; first by move=> z k; apply: z.
move=> ka; apply: (killed_ext (IH _ (killed_step (- l) ka))) => k /=.
by rewrite doubleS !addnS mulNr opprK mulrBr addrA subrK mulrA -expr2.
Qed.

(* ---- The sign *)
Lemma sign_above l a N : 0 < l -> (forall k, (N <= k)%N -> 0 < a k.+1 - l * a k) -> surely (settles (fun k => Num.sg (a k))).
Proof.
move=> l0 up; apply: (nn_map (@nn_em (exists2 k, (N <= k)%N & 0 <= a k))) => -[[k Nk ak]|never].
  suff pos j: (k < j)%N -> 0 < a j by exists k.+1 => j kj; rewrite !gtr0_sg ?pos.
  elim: j => // j IH; rewrite ltnS => kj; have Nj := leq_trans Nk kj.
  have aj: 0 <= a j by move: kj; rewrite leq_eqVlt => /orP[/eqP<-|/IH/ltW].
  by have := up j Nj; rewrite subr_gt0; apply: le_lt_trans; rewrite mulr_ge0 // ltW.
have neg k: (N <= k)%N -> a k < 0 by rewrite ltNge => Nk; apply/negP=> ak; apply: never; exists k.
by exists N => k Nk; rewrite !ltr0_sg ?neg.
Qed.

Lemma sign_settles ls a : all (fun l => 0 <= l) ls -> killed ls a -> surely (settles (fun k => Num.sg (a k))).
Proof.
elim: ls a => [|l ls IH] a /=; first by move=> _ z; apply: nn_pure; exists 0%N => k _; rewrite !z.
case/andP=> l0 ls0 ka; apply: (nn_bind (IH _ ls0 ka)) => -[N h].
move: l0; rewrite le_eqVlt => /orP[/eqP l0|l0].
  apply: nn_pure; apply: (@settles_behind _ N.+1); exists 0%N => k _.
  rewrite addSn addn0; have := h (N + k)%N (leq_addr _ _).
  by rewrite -l0 !mul0r !subr0.
case: (ltgtP (a N.+1 - l * a N) 0) => [neg|pos|zero].
- suff: surely (settles (fun k => Num.sg (- a k))).
    by move=> nn; apply: (nn_map nn) => /(settles_map -%R)/settles_ext; apply => k; rewrite sgrN opprK.
  apply: (@sign_above l _ N) => // k Nk; rewrite mulrN -opprD oppr_gt0.
  by have := h k Nk; rewrite (ltr0_sg neg) => /eqP; rewrite sgr_cp0.
- apply: (@sign_above l _ N) => // k Nk.
  by have := h k Nk; rewrite (gtr0_sg pos) => /eqP; rewrite sgr_cp0.
apply: nn_pure; apply: (@settles_behind _ N); exists 0%N => k _; rewrite addn0.
elim: k => [|k IHk]; first by rewrite addn0.
have := h (N + k)%N (leq_addr _ _); rewrite zero sgr0 => /eqP; rewrite sgr_cp0 subr_eq0 => /eqP e.
by rewrite addnS e sgrM (gtr0_sg l0) mul1r.
Qed.

(* ---- Monotone among finitely many values *)
Lemma count_less (T : eqType) (p q : pred T) (s : seq T) v :
  (forall x, p x -> q x) -> v \in s -> q v -> ~~ p v -> (count p s < count q s)%N.
Proof.
move=> pq; elim: s => //= x s IH; rewrite inE => /orP[/eqP <-|vs] qv npv.
  by rewrite (negbTE npv) qv add0n add1n ltnS sub_count.
rewrite -addnS leq_add ?IH //.
by case px: (p x); rewrite ?(pq _ px).
Qed.
Lemma rising_settles (y : nat -> R) (values : seq R) N : (forall k, y k \in values) ->
  (forall k, (N <= k)%N -> y k <= y k.+1) -> surely (settles y).
Proof.
move=> among; have [n] := ubnP (count (fun v => y N < v) values).
elim: n N => // n IH N; rewrite ltnS => few up.
have le k: y N <= y (N + k)%N.
  by elim: k => [|k IHk]; [rewrite addn0 | rewrite addnS (le_trans IHk) // up ?leq_addr].
apply: (nn_bind (@nn_em (exists k, y N < y (N + k)%N))) => -[[k lt]|never].
  apply: (IH (N + k)%N) => [|j le_j]; last by apply: up; apply: leq_trans le_j; apply: leq_addr.
  apply: leq_trans few; apply: (@count_less _ _ _ _ (y (N + k)%N)) => //; last by rewrite ltxx.
  by move=> v; apply: lt_trans.
apply: nn_pure; apply: (@settles_behind _ N); exists 0%N => k _; rewrite addn0.
by apply/eqP; rewrite eq_le le andbT leNgt; apply/negP => lt; apply: never; exists k.
Qed.

Section Cast.
Variables (cast : R -> R) (values : seq R).
Hypothesis cast_right : casts cast values.

Lemma falling_settles a N : (forall k, (N <= k)%N -> a k.+1 <= a k) -> surely (settles (fun k => cast (a k))).
Proof.
case: cast_right => among mono down.
have: surely (settles (fun k => - cast (a k))).
  apply: (@rising_settles _ [seq - v | v <- values] N) => k; first by rewrite (mem_map oppr_inj) among.
  by move=> Nk; rewrite ler_opp2 mono ?down.
by move=> nn; apply: (nn_map nn) => /(settles_map -%R)/settles_ext; apply => k; rewrite opprK.
Qed.
(* Where the sign of the differences settles, cast(a) does. *)
Lemma cast_settles_by_sign a : settles (fun k => Num.sg (a k.+1 - a k)) -> surely (settles (fun k => cast (a k))).
Proof.
case=> N h; case: (leP (a N.+1 - a N) 0) => sign.
  apply: (@falling_settles _ N) => k Nk; rewrite -subr_le0 -sgr_le0 h // sgr_le0 //.
case: cast_right => among mono; apply: (@rising_settles _ values N) => k; first exact: among.
by move=> Nk; apply: mono; rewrite -subr_ge0 -sgr_ge0 h // sgr_ge0 ltW.
Qed.
Lemma cast_settles_if_killed ls a : all (fun l => 0 <= l) ls -> killed ls a -> surely (settles (fun k => cast (a k))).
Proof.
move=> ls0 ka; have kd: killed ls (fun k => a k.+1 - a k).
  by apply: (killed_ext (killed_step 1 ka)) => k; rewrite mul1r.
by apply: (nn_bind (sign_settles ls0 kd)); apply: cast_settles_by_sign.
Qed.
End Cast.

(* ---- Sums of powers *)
Lemma killed_power m l : killed (nseq m.+1 l) (fun k => 'C(k, m)%:R * l ^+ (k - m)).
Proof.
elim: m => [|m IH]; first by move=> k /=; rewrite !bin0 !mul1r !subn0 exprS subrr.
apply: (killed_ext IH) => k /=; rewrite binS natrD mulrDl subSS mulrCA -exprS.
case: (leqP k m) => [km|mk]; last by rewrite subnSK // addrAC subrr add0r.
by rewrite (@bin_small k m.+1) // !mul0r add0r subr0.
Qed.
Lemma killed_powers n (c l : 'I_n -> R) m :
  exists2 ls, all (fun x => x \in [seq l i | i <- enum 'I_n]) ls & killed ls (powers c l m).
Proof.
suff: forall s : seq 'I_n, exists2 ls, all (fun x => x \in [seq l i | i <- enum 'I_n]) ls
    & killed ls (fun k => \sum_(i <- s) c i * 'C(k, m i)%:R * l i ^+ (k - m i)).
  by move/(_ (enum 'I_n)) => -[ls als k]; exists ls => //; apply: (killed_ext k) => j; rewrite /powers big_enum.
elim=> [|i s [ls als k]]; first by exists [::] => // k; rewrite big_nil.
exists (nseq (m i).+1 (l i) ++ ls).
  by rewrite all_cat als andbT; apply/allP => x; rewrite mem_nseq => /andP[_ /eqP->]; rewrite map_f ?mem_enum.
have ki := killed_left ls (killed_power (m i) (l i)).
have ks := killed_right (nseq (m i).+1 (l i)) k.
by apply: (killed_ext (killed_combine (c i) 1 ki ks)) => j; rewrite big_cons mul1r mulrA.
Qed.

Section Lemma1.
Variables (cast : R -> R) (values : seq R) (n : nat) (c l : 'I_n -> R) (m : 'I_n -> nat).
Hypothesis cast_right : casts cast values.
Let a := powers c l m.
Lemma nn_powers_settle : (forall i, 0 <= l i) -> surely (settles (fun k => cast (a k))).
Proof.
move=> l0; have [ls als k] := killed_powers c l m; apply: (cast_settles_if_killed cast_right _ k).
by apply/allP=> x /(allP als)/mapP[i _ ->].
Qed.
Lemma nn_second_powers_settle r : surely (settles (fun k => cast (a (r + k.*2)%N))).
Proof.
have [ls _ k] := killed_powers c l m; apply: (cast_settles_if_killed cast_right _ (killed_second r k)).
by apply/allP=> x /mapP[y _ ->]; apply: sqr_ge0.
Qed.

(* G.L1 (all).  What is shown of a settles on the even and on the odd indices, and on all of them if no l_i is negative. *)
Theorem cast_powers_settle : excluded_middle ->
  [/\ settles (fun k => cast (a k.*2)), settles (fun k => cast (a k.*2.+1))
    & (forall i, 0 <= l i) -> settles (fun k => cast (a k))].
Proof.
move=> em; split=> [||l0]; apply: (nn_elim em).
- exact: (@nn_second_powers_settle 0).
- exact: (@nn_second_powers_settle 1).
exact: nn_powers_settle.
Qed.
End Lemma1.

(* A map to a nearest of some values is monotone, whatever it does where two are as near. *)
Theorem nearest_is_monotone (cast : R -> R) (values : seq R) : (forall x, cast x \in values) ->
  (forall x v, v \in values -> `|x - cast x| <= `|x - v|) -> casts cast values.
Proof.
move=> among nearest; split=> // x y; rewrite le_eqVlt => /orP[/eqP->//|xy].
rewrite leNgt; apply/negP => uv; set u := cast y in uv; set v := cast x in uv.
(* y is not beyond the middle of u and v, and x is not before it *)
have squares (z w t : R) : `|z - w| <= `|z - t| -> 0 <= (w - t) * (z + z - (w + t)).
  move=> h; have: (z - w) ^+ 2 <= (z - t) ^+ 2.
    by rewrite -(real_normK (num_real (z - w))) -(real_normK (num_real (z - t))) ler_expn2r // nnegrE normr_ge0.
  rewrite -subr_ge0 subr_sqr; congr (_ <= _ * _); first by rewrite opprB addrC addrA subrK.
  by rewrite addrACA -opprD [t + w]addrC.
have hx := squares x v u (nearest x u (among y)); have hy := squares y u v (nearest y v (among x)).
have d0: 0 < v - u by rewrite subr_gt0.
move: hx hy; rewrite -[u - v]opprB mulNr oppr_ge0 (pmulr_rge0 _ d0) (pmulr_rle0 _ d0) [u + v]addrC subr_ge0 subr_le0 => hx hy.
by have := le_trans hy hx; rewrite leNgt ltr_add.
Qed.
End Field.
