(* G.T1 and G.T2: what linear RNNs in model `cast` cannot count.

   The model is written down in the first part of this file, which is to be read: products of matrices are exact, and each term and then their sum
   is cast to finitely many values, H_k = cast(sum_j cast(A(x_k) ... A(x_(j+1)) B(x_j)) + cast(A(x_k) ... A(x_1) H_0)).

   Proved, for any real field (the rational or the real numbers, say), letters of any type, layers of any dimensions, and any monotone `cast`
   with finitely many values:
   - layer_repeats: if from some token on a layer reads letters of period q, and the product of its matrices over each q of its tokens has
     only eigenvalues >= 0, its hidden states have the period q from some token on.
   - no_parity (G.T1): if on 1^k all matrices that occur have only eigenvalues >= 0, in all layers, no read-out accepts 1^k exactly if m divides
     k, for any m >= 2.  unary_settles: what is shown of 1^k is the same from some k on; regular languages over one letter of which
     this is true are the star-free ones.
   - no_counting (G.T2): if in layer i, counted from 1, products of 2^(i-1) matrices of successive tokens have only real eigenvalues, in all of the L
     layers, then what is shown of 1^k has the period 2^L from some k on (unary_repeats), and so no read-out accepts 1^k exactly if m divides k,
     unless m is a power of two.

   "Only eigenvalues >= 0" means that a product of factors M - l with l >= 0 in the field is zero, as it is where the characteristic
   polynomial is a product of factors X - l; "only real eigenvalues" the same with any l.  Heads side by side are one block-diagonal matrix.  No theorem that says "no" has a hypothesis beside these; those that say that something is so from some
   index on have excluded middle as a hypothesis, as in CastSettles.v. *)
Set Warnings "-notation-overridden,-ambiguous-paths".
From mathcomp Require Import all_ssreflect all_algebra.
From Mirrormata Require Import CastSettles.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Open Scope ring_scope.

(* ---- What is to be read. *)
(* A letter, of any type T, does H <- A H + B, and the next layer reads what `tells` makes of the new hidden state and the letter. *)
Record layer (R : realFieldType) (T : Type) := Layer {
  rows : nat;
  columns : nat;
  A : T -> 'M[R]_rows.+1;
  B : T -> 'M[R]_(rows.+1, columns);
  H0 : 'M[R]_(rows.+1, columns);
  tells : 'M[R]_(rows.+1, columns) -> T -> T
}.
Arguments tells {R T} l.

Section Model.
Variables (R : realFieldType) (cast : R -> R) (T : Type) (l : layer R T).
(* The letters are x 0, x 1, ...  The terms after k of them: A(x_k) ... A(x_1) H_0, and A(x_k) ... A(x_(j+1)) B(x_j) for each j, exactly *)
Fixpoint terms (x : nat -> T) (k : nat) : seq 'M[R]_((rows l).+1, columns l) :=
  if k is k'.+1 then B l (x k') :: [seq A l (x k') *m y | y <- terms x k'] else [:: H0 l].
Definition state (x : nat -> T) (k : nat) : 'M[R]_((rows l).+1, columns l) :=
  map_mx cast (\sum_(y <- terms x k) map_mx cast y).
(* What the next layer reads: its letter k is made of the state after letter k. *)
Definition told (x : nat -> T) (k : nat) : T := tells l (state x k.+1) (x k).
(* A(x_(s+k-1)) ... A(x_s) *)
Fixpoint product (x : nat -> T) (s k : nat) : 'M[R]_((rows l).+1) :=
  if k is k'.+1 then A l (x (s + k')%N) *m product x s k' else 1%:M.
End Model.

Section Stack.
Variables (R : realFieldType) (cast : R -> R) (T : Type).
(* What the last layer tells; the letter itself if there is no layer *)
Fixpoint stack (layers : seq (layer R T)) (x : nat -> T) : nat -> T :=
  if layers is l :: layers' then stack layers' (told cast l x) else x.
(* After the word 1^k, k > 0 *)
Definition shown (layers : seq (layer R T)) (one : T) (k : nat) : T := stack layers (fun=> one) k.-1.

(* (M - l_1) ... (M - l_d) = 0 for some numbers of the field, so that every eigenvalue is one of them (eigenvalue_among).  That the
   characteristic polynomial is (X - l_1) ... (X - l_d) suffices (spectrum_factors, by Cayley and Hamilton). *)
Definition real_spectrum n (M : 'M[R]_n.+1) : Prop := exists ls, \prod_(l <- ls) (M - l%:M) = 0.
Definition non_negative_spectrum n (M : 'M[R]_n.+1) : Prop :=
  exists2 ls, all (fun l => 0 <= l) ls & \prod_(l <- ls) (M - l%:M) = 0.
(* Of all matrices of letters that occur, in all layers *)
Fixpoint non_negative_letters (layers : seq (layer R T)) (x : nat -> T) : Prop :=
  if layers is l :: layers' then
    (forall k, non_negative_spectrum (A l (x k))) /\ non_negative_letters layers' (told cast l x)
  else True.
(* Of all products of 2^i matrices of successive letters, i the number of layers before *)
Fixpoint real_products (i : nat) (layers : seq (layer R T)) (x : nat -> T) : Prop :=
  if layers is l :: layers' then
    (forall s, real_spectrum (product l x s (2 ^ i))) /\ real_products i.+1 layers' (told cast l x)
  else True.
End Stack.

(* From some index on *)
Definition repeats (T : Type) (q : nat) (x : nat -> T) : Prop := exists N, forall k, (N <= k)%N -> x (k + q)%N = x k.

(* ---- Proofs. *)
Lemma repeats_settles T (x : nat -> T) : repeats 1 x -> settles x.
Proof.
case=> N h; apply: (@settles_behind _ N); exists 0%N => k _; rewrite addn0.
by elim: k => [|k IH]; rewrite ?addn0 // addnS -addn1 h ?leq_addr.
Qed.
Lemma repeats_mul T q j (x : nat -> T) : repeats q x -> repeats (j * q) x.
Proof.
case=> N h; exists N => k Nk; elim: j => [|j IH]; first by rewrite mul0n addn0.
by rewrite mulSn addnCA addnC h // (leq_trans Nk) ?leq_addr.
Qed.

Section Spectra.
Variable R : realFieldType.

Lemma spectrum_factors n (M : 'M[R]_n.+1) ls : char_poly M = \prod_(l <- ls) ('X - l%:P) -> \prod_(l <- ls) (M - l%:M) = 0.
Proof.
move=> e; rewrite -(Cayley_Hamilton M) e rmorph_prod; apply: eq_bigr => l _.
by rewrite rmorphB /= horner_mx_X horner_mx_C.
Qed.
Lemma square_factors n (M : 'M[R]_n.+1) ls :
  \prod_(l <- ls) (M - l%:M) = 0 -> \prod_(l <- [seq l ^+ 2 | l <- ls]) (M * M - l%:M) = 0.
Proof.
move=> z; rewrite big_map.
have -> : \prod_(l <- ls) (M * M - (l ^+ 2)%:M) = horner_mx M (\prod_(l <- ls) (('X - l%:P) * ('X + l%:P))).
  rewrite rmorph_prod; apply: eq_bigr => l _; rewrite -subr_sqr rmorphB !rmorphX /= horner_mx_X horner_mx_C.
  by rewrite !expr2.
rewrite big_split rmorphM /= [X in X * _](_ : _ = 0) ?mul0r // -z rmorph_prod; apply: eq_bigr => l _.
by rewrite rmorphB /= horner_mx_X horner_mx_C.
Qed.
(* The entries of M^t Y *)
Lemma entries_killed n d ls (M : 'M[R]_n.+1) (Y : 'M[R]_(n.+1, d)) i j :
  \prod_(l <- ls) (M - l%:M) = 0 -> killed ls (fun t => (M ^+ t *m Y) i j).
Proof.
move=> z; suff gen: forall N : 'M[R]_n.+1, N * \prod_(l <- ls) (M - l%:M) = 0 -> killed ls (fun t => ((N * M ^+ t) *m Y) i j).
  by apply: (killed_ext (gen 1 _)) => [|t]; rewrite ?z ?mulr0 // mul1r.
elim: ls {z} => [|l ls IH] N /=; first by rewrite big_nil mulr1 => -> t; rewrite mul0r mul0mx mxE.
rewrite big_cons mulrA => /IH h; apply: (killed_ext h) => t.
have -> : N * (M - l%:M) * M ^+ t = N * M ^+ t.+1 - l *: (N * M ^+ t).
  by rewrite mulrBr mulrBl exprS mulrA; congr (_ - _); rewrite [N * _]mul_mx_scalar scalerAl.
by rewrite mulmxBl -scalemxAl !mxE.
Qed.
End Spectra.

Section Layer.
Variables (R : realFieldType) (cast : R -> R) (values : seq R) (T : Type) (l : layer R T).
Hypothesis cast_right : casts cast values.
Implicit Types (x : nat -> T) (s k q t : nat).

(* The terms that k letters bring, from letter s on *)
Fixpoint brought x s k : seq 'M[R]_((rows l).+1, columns l) :=
  if k is k'.+1 then B l (x (s + k')%N) :: [seq A l (x (s + k')%N) *m y | y <- brought x s k'] else [::].
Lemma terms_later x s k : terms l x (s + k)%N = brought x s k ++ [seq product l x s k *m y | y <- terms l x s].
Proof.
elim: k => [|k IH]; first by rewrite addn0 /= -[LHS]map_id; apply: eq_map => y; rewrite mul1mx.
rewrite addnS /= IH map_cat -map_comp; congr (_ :: _ ++ _); apply: eq_map => y /=.
by rewrite mulmxA.
Qed.
Lemma same_letters x s r k : (forall i, (i < k)%N -> x (s + i)%N = x (r + i)%N) ->
  brought x s k = brought x r k /\ product l x s k = product l x r k.
Proof.
elim: k => [|k IH] e //=; have [-> ->] := IH (fun i ik => e i (ltnW ik)).
by rewrite e.
Qed.

(* A sum over the terms after t periods *)
Lemma sum_after (V : zmodType) x s q t (f : 'M[R]_((rows l).+1, columns l) -> V) : (forall k, (s <= k)%N -> x (k + q)%N = x k) ->
  \sum_(y <- terms l x (s + t * q)) f y
  = \sum_(y <- terms l x s) f (product l x s q ^+ t *m y)
    + \sum_(i < t) \sum_(y <- brought x s q) f (product l x s q ^+ i *m y).
Proof.
move=> period; have same j : brought x (s + j * q) q = brought x s q /\ product l x (s + j * q) q = product l x s q.
  apply: same_letters => i _; elim: j => [|j IH]; first by rewrite mul0n addn0.
  by rewrite mulSn -IH (addnC q) addnA addnAC period // -addnA leq_addr.
elim: t f => [|t IH] f.
  by rewrite big_ord0 addr0 mul0n addn0; apply: eq_bigr => y _; rewrite expr0 mul1mx.
rewrite mulSnr addnA terms_later; have [-> ->] := same t.
rewrite big_cat big_map IH big_ord_recl /= addrCA; congr (_ + (_ + _)).
- by apply: eq_bigr => y _; rewrite mulmxA exprS.
- by apply: eq_bigr => y _; rewrite expr0 mul1mx.
by apply: eq_bigr => i _; apply: eq_bigr => y _; rewrite mulmxA exprS.
Qed.

(* Every q-th state settles. *)
Lemma phase_settles x s q ls : (forall k, (s <= k)%N -> x (k + q)%N = x k) ->
  all (fun z => 0 <= z) ls -> \prod_(z <- ls) (product l x s q - z%:M) = 0 ->
  surely (exists N, forall t, (N <= t)%N -> state cast l x (s + t * q) = state cast l x (s + N * q)).
Proof.
move=> period ls0 spectrum; set M := product l x s q.
have entry (y : 'M[R]_((rows l).+1, columns l)) i j : surely (settles (fun t => cast ((M ^+ t *m y) i j))).
  exact: (cast_settles_if_killed cast_right ls0 (entries_killed y i j spectrum)).
have all_entries i j : surely (settles (fun t => state cast l x (s + t * q) i j)).
  pose total t := \sum_(y <- terms l x (s + t * q)) cast (y i j).
  have: surely (settles (fun t => cast (total t))).
    have steps t : total t.+1 - total t = \sum_(y <- terms l x s) (cast ((M ^+ t.+1 *m y) i j) - cast ((M ^+ t *m y) i j))
        + \sum_(y <- brought x s q) cast ((M ^+ t *m y) i j).
      rewrite /total !(sum_after _ (fun y => cast (y i j)) period) big_ord_recr /= sumrB.
      by rewrite -/M opprD addrACA [X in _ + X]addrC addKr.
    have old y : surely (settles (fun t => cast ((M ^+ t.+1 *m y) i j) - cast ((M ^+ t *m y) i j))).
      apply: (nn_map (entry y i j)) => -[N h]; exists N => t Nt.
      by rewrite !h // (leq_trans Nt).
    apply: (nn_bind (nn_settles_sum (s := terms l x s) old)) => g.
    apply: (nn_bind (nn_settles_sum (s := brought x s q) (fun y => entry y i j))) => h.
    apply: (cast_settles_by_sign cast_right); apply: (@settles_map _ _ Num.sg).
    by apply: (settles_ext (settles_both +%R g h)) => t; rewrite steps.
  move=> h; apply: (nn_map h) => /settles_ext; apply => t.
  by rewrite /state mxE summxE; congr (cast _); apply: eq_bigr => y _; rewrite mxE.
have common := @nn_common [finType of ('I_(rows l).+1 * 'I_(columns l))%type]
  (fun ij t => state cast l x (s + t * q) ij.1 ij.2 = state cast l x (s + t.+1 * q) ij.1 ij.2).
have: forall ij : 'I_(rows l).+1 * 'I_(columns l), surely (exists N, forall t, (N <= t)%N ->
    state cast l x (s + t * q) ij.1 ij.2 = state cast l x (s + t.+1 * q) ij.1 ij.2).
  case=> i j; apply: (nn_map (all_entries i j)) => -[N h]; exists N => t Nt /=; by rewrite h // [RHS]h // (leq_trans Nt).
move/common => {common} h; apply: (nn_map h) => -[N g]; exists N => t Nt.
rewrite -(subnKC Nt); elim: (t - N)%N => [|k IH]; first by rewrite addn0.
by rewrite addnS -IH; apply/matrixP=> i j; apply: esym (g (i, j) (N + k)%N (leq_addr _ _)).
Qed.

Lemma nn_told_repeats x q N : (0 < q)%N -> (forall k, (N <= k)%N -> x (k + q)%N = x k) ->
  (forall s, (N <= s)%N -> non_negative_spectrum (product l x s q)) -> surely (repeats q (told cast l x)).
Proof.
move=> q0 period spectra.
have phases (r : 'I_q) : surely (exists M, forall t, (M <= t)%N -> state cast l x (N + r + t.+1 * q) = state cast l x (N + r + t * q)).
  have [ls ls0 z] := spectra (N + r)%N (leq_addr _ _).
  have := @phase_settles x (N + r) q ls (fun k le => period k (leq_trans (leq_addr _ _) le)) ls0 z.
  by move=> h; apply: (nn_map h) => -[M g]; exists M => t Mt; rewrite !g // (leq_trans Mt).
apply: (nn_map (nn_common phases)) => -[M g]; exists (N + M * q)%N => k le.
have Nk: (N <= k)%N by apply: leq_trans le; apply: leq_addr.
have back: (N <= k.+1)%N by apply: leq_trans Nk (leqnSn k).
rewrite /told (period k Nk); congr (tells l _ _).
have := g (Ordinal (ltn_pmod (k.+1 - N) q0)) ((k.+1 - N) %/ q)%N.
rewrite /= mulSnr -!addnA ![((k.+1 - N) %% q + _)%N]addnA ![((k.+1 - N) %% q + _)%N]addnC -divn_eq addnA subnKC //.
rewrite addSn; apply; rewrite leq_divRL // leq_subRL //; exact: leqW.
Qed.
End Layer.

Section Spectrum.
Variable R : realFieldType.
Lemma eigenvalue_among n (M : 'M[R]_n.+1) ls a : \prod_(l <- ls) (M - l%:M) = 0 -> eigenvalue M a -> a \in ls.
Proof.
move=> z /eigenvalueP[v vM v0].
have: v *m \prod_(l <- ls) (M - l%:M) = (\prod_(l <- ls) (a - l)) *: v.
  elim: ls {z} => [|l ls IH]; first by rewrite !big_nil mulmx1 scale1r.
  by rewrite !big_cons mulmxA mulmxBr vM mul_mx_scalar -scalerBl -scalemxAl IH scalerA.
rewrite z mulmx0 => /esym/eqP; rewrite scaler_eq0 (negbTE v0) orbF prodf_seq_eq0 => /hasP[l lls].
by rewrite subr_eq0 => /eqP->.
Qed.
End Spectrum.

Section Stacks.
Variables (R : realFieldType) (cast : R -> R) (values : seq R) (T : Type).
Hypothesis cast_right : casts cast values.
Implicit Types (layers : seq (layer R T)) (x : nat -> T).

Lemma product_add (l : layer R T) x s j k : product l x s (j + k) = product l x (s + j) k *m product l x s j.
Proof.
elim: k => [|k IH]; first by rewrite addn0 mul1mx.
by rewrite addnS /= IH mulmxA addnA.
Qed.

Lemma nn_stack_settles layers x : repeats 1 x -> non_negative_letters cast layers x -> surely (repeats 1 (stack cast layers x)).
Proof.
elim: layers x => [|l layers IH] x r /=; first by move=> _; apply: nn_pure.
case=> letters below; have [N period] := r.
have one: surely (repeats 1 (told cast l x)).
  apply: (@nn_told_repeats _ _ _ _ _ cast_right _ 1%N N) => // s _.
  by rewrite /= mulmx1.
by apply: (nn_bind one) => r'; apply: IH.
Qed.
Lemma nn_stack_repeats i layers x : repeats (2 ^ i) x -> real_products cast i layers x ->
  surely (repeats (2 ^ (i + size layers)) (stack cast layers x)).
Proof.
elim: layers i x => [|l layers IH] i x r /=; first by move=> _; rewrite addn0; apply: nn_pure.
case=> products below; have [N period] := r.
have one: surely (repeats (2 ^ i.+1) (told cast l x)).
  apply: (@nn_told_repeats _ _ _ _ _ cast_right _ _ N) => [|k Nk|s Ns]; first by rewrite expn_gt0.
    by rewrite expnS mul2n -addnn addnA !period // (leq_trans Nk) ?leq_addr.
  have [ls z] := products s; exists [seq z ^+ 2 | z <- ls]; first by apply/allP=> y /mapP[w _ ->]; apply: sqr_ge0.
  rewrite expnS mul2n -addnn product_add.
  have same j : (j < 2 ^ i)%N -> x (s + 2 ^ i + j)%N = x (s + j)%N.
    by move=> _; rewrite addnAC period // (leq_trans Ns) ?leq_addr.
  by have [_ ->] := same_letters l same; apply: square_factors.
by apply: (nn_bind one) => r'; rewrite addnS -addSn; apply: IH.
Qed.

(* A read-out that accepts 1^k exactly if m divides k: m divides every period. *)
Definition counts layers (one : T) (accepts : T -> bool) (m : nat) : Prop :=
  forall k, (0 < k)%N -> accepts (shown cast layers one k) = (m %| k)%N.
Lemma divides_period layers one accepts m q : (0 < m)%N -> counts layers one accepts m ->
  surely (repeats q (stack cast layers (fun=> one))) -> (m %| q)%N.
Proof.
move=> m0 count nn; apply/negPn/negP => ndvd; apply: nn => -[N h].
have [k ek]: exists k, (m * N.+1 = k.+1)%N by exists (m * N.+1).-1; rewrite prednK // muln_gt0 m0.
have Nk: (N <= k)%N by rewrite -ltnS -ek leq_pmull.
have := count (k + q).+1 isT; rewrite /shown /= h // -[stack _ _ _ k]/(shown cast layers one k.+1) count // -addSn -ek.
by rewrite dvdn_mulr // dvdn_addr ?dvdn_mulr // (negbTE ndvd).
Qed.

(* G.T1 (all).  With eigenvalues >= 0 only, no (1^m)* with m > 1 is recognised. *)
Theorem no_parity layers one accepts m : (1 < m)%N -> non_negative_letters cast layers (fun=> one) ->
  ~ counts layers one accepts m.
Proof.
move=> m1 letters count; have r: repeats 1 (fun _ : nat => one) by exists 0%N.
have := divides_period (ltnW m1) count (nn_stack_settles r letters).
by rewrite dvdn1 => /eqP e; rewrite e in m1.
Qed.
(* ... and what is shown of 1^k is the same from some k on. *)
Theorem unary_settles layers one : excluded_middle -> non_negative_letters cast layers (fun=> one) ->
  settles (shown cast layers one).
Proof.
move=> em letters; have r: repeats 1 (fun _ : nat => one) by exists 0%N.
apply: repeats_settles; have [N h] := nn_elim em (nn_stack_settles r letters).
by exists N.+1 => -[|k] // Nk; rewrite /shown addSn /= h.
Qed.

(* G.T2 (all).  With real eigenvalues of the products, in L layers, m divides 2^L if (1^m)* is recognised: it is a power of two. *)
Theorem counted_divides layers one accepts m : (0 < m)%N -> real_products cast 0 layers (fun=> one) ->
  counts layers one accepts m -> (m %| 2 ^ size layers)%N.
Proof.
move=> m0 products count; have r: repeats (2 ^ 0) (fun _ : nat => one) by exists 0%N.
exact: divides_period m0 count (nn_stack_repeats r products).
Qed.
Theorem no_counting layers one accepts m : (0 < m)%N -> (forall j, m <> 2 ^ j)%N -> real_products cast 0 layers (fun=> one) ->
  ~ counts layers one accepts m.
Proof.
move=> m0 power products count; have := counted_divides m0 products count.
by case/(dvdn_pfactor _ _ (isT : prime 2)) => j _ /power.
Qed.
(* ... and what is shown of 1^k has the period 2^L from some k on. *)
Theorem unary_repeats layers one : excluded_middle -> real_products cast 0 layers (fun=> one) ->
  repeats (2 ^ size layers) (shown cast layers one).
Proof.
move=> em products; have r: repeats (2 ^ 0) (fun _ : nat => one) by exists 0%N.
have [N h] := nn_elim em (nn_stack_repeats r products).
by exists N.+1 => -[|k] // Nk; rewrite /shown addSn /= h.
Qed.
End Stacks.
