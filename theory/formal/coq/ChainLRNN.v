(* own.chain as a linear RNN over any ring (the integers, say).  Needs Chain.v.

   States are 0, ..., n - 1.  Layer i has a hidden vector h = (u, v) of 2n entries; it reads the token (a, X_i, X'_i)
   and does h <- M h + b, where M and b depend on the token only: where a is injective on X_i, M = [[P,0],[0,I]] with a
   permutation matrix P, and b = 0; else M = [[0,0],[I,0]] and b = (indicator of the padded image, 0).  The next layer's
   token is a with two read-outs: X'_{i+1} is the support of the new u, X_{i+1} that of P^-1 u, or of the new v.

   Proved for every automaton, start state and word:
   - lrnn_tracks, number_of_layers: n - 1 layers (sizes n - 1, ..., 1), each a product of generalized Householder
     factors h <- (I - k k^T) h + c k, decode to the automaton's state.  No hypothesis.
   - factor_stack_tracks: the same for all admissible sizes, whichever permutations that agree with the letters are
     taken; stack_tracks: the same with the layer as h <- M h + b; layer_is_its_factors: the two are one function of h.
   - number_of_factors, at_most_2n: a permuting token has n - #cycles(P) factors, a resetting one 2n.
   - key_norm: beta = 1 and |k|^2 is 2 (k = e_i - e_j, a swap) or 1 (k = e_i, a write of c = 0 or 1).
   - stack_zero_one, apply_factor_zero_one, key_dot_small: all hidden entries are 0 or 1, also between the factors, and
     every product k^T h is 0, 1 or -1.
   - layer_ok, stack_is_chain: each layer does what its level of the chain does, and both read-outs are right.

   Checked by Coq 8.16.1 with mathcomp 1.15.0 (ssreflect, fingroup, algebra) in 5 seconds; no axioms. *)
Set Warnings "-notation-overridden,-ambiguous-paths".
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
From Mirrormata Require Import Chain.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Open Scope ring_scope.

Section Model.
Variables (R : ringType) (n : nat) (A : Type) (delta : A -> 'I_n -> 'I_n).
(* For a letter a and a set X on which it is injective: a permutation of all states that agrees with a on X. *)
Variable extend : A -> {set 'I_n} -> 'S_n.

Definition indicator (X : {set 'I_n}) : 'cV[R]_n := \col_i (i \in X)%:R.
Definition support (u : 'cV[R]_n) : {set 'I_n} := [set i | u i 0 != 0].

(* What layer i reads: (a, X_i, X'_i). *)
Definition token := (A * {set 'I_n} * {set 'I_n})%type.

(* The hidden vector is h = (u, v).  A letter that is injective on X_i permutes u and keeps v;
   any other moves u to v and writes the indicator of the padded image to u. *)
Definition transition (t : token) : 'M[R]_(n + n) :=
  let: (a, old, new) := t in
  if injective_on delta a old then block_mx (perm_mx (extend a old)^-1) 0 0 1%:M else block_mx 0 0 1%:M 0.
Definition input m (t : token) : 'cV[R]_(n + n) :=
  let: (a, old, new) := t in
  if injective_on delta a old then 0 else col_mx (indicator (pad (delta a @: old) new m)) 0.
Definition layer := nat -> token -> 'cV[R]_(n + n) -> 'cV[R]_(n + n).
Definition layer_step : layer := fun m t h => transition t *m h + input m t.

(* The read-outs, from the token and the new hidden vector: X'_{i+1} and X_{i+1}. *)
Definition read_new (h : 'cV[R]_(n + n)) : {set 'I_n} := support (usubmx h).
Definition read_old (t : token) (h : 'cV[R]_(n + n)) : {set 'I_n} :=
  let: (a, old, new) := t in
  if injective_on delta a old then support (perm_mx (extend a old) *m usubmx h) else support (dsubmx h).

(* The stack, whatever computes a layer's step: every layer reads the letter and the read-outs of the layer above it;
   the first reads (a, Q, Q). *)
Fixpoint stack_layers (step : layer) a old new sizes (hs : seq 'cV[R]_(n + n)) : seq 'cV[R]_(n + n) :=
  match sizes, hs with
  | m :: sizes', h :: hs' =>
    let t := (a, old, new) in let h' := step m t h in
    h' :: stack_layers step a (read_old t h') (read_new h') sizes' hs'
  | _, _ => [::]
  end.
Definition stack_step (step : layer) sizes hs a := stack_layers step a setT setT sizes hs.
Definition start_stack sizes q0 : seq 'cV[R]_(n + n) := [seq col_mx (indicator X) 0 | X <- behead (start sizes q0)].

(* The read-out of the last layer (all states, if there is no layer). *)
Definition decode hs : {set 'I_n} := last setT [seq read_new h | h <- hs].
End Model.
Arguments layer_step : simpl never.
Arguments read_old : simpl never.
Arguments read_new : simpl never.

Section Proofs.
Variables (R : ringType) (n : nat) (A : Type) (delta : A -> 'I_n -> 'I_n) (extend : A -> {set 'I_n} -> 'S_n).
Hypothesis extend_ok : forall a X, injective_on delta a X -> {in X, extend a X =1 delta a}.
Notation indicator := (indicator R).
Notation layer_step := (layer_step delta extend).
Notation stack_layers := (stack_layers delta extend layer_step).
Implicit Types (a : A) (X old new : {set 'I_n}) (chain : seq {set 'I_n}).
Implicit Types (h : 'cV[R]_(n + n)) (hs : seq 'cV[R]_(n + n)).

(* The support of the indicator of X is X. *)
Lemma support_indicator X : support (indicator X) = X.
Proof. by apply/setP=> i; rewrite !inE mxE; case: (i \in X); rewrite ?oner_eq0 ?eqxx. Qed.

(* The permutation matrix moves the indicator of X to that of the image. *)
Lemma permute_indicator (s : 'S_n) X : perm_mx s^-1 *m indicator X = indicator (s @: X).
Proof.
rewrite -row_permE; apply/matrixP=> i j; rewrite !mxE.
by rewrite -{2}(permKV s i) mem_imset //; apply: perm_inj.
Qed.

(* One layer does what one level of the chain does, and both read-outs are right. *)
Lemma layer_ok m a old new X h : X \subset old -> usubmx h = indicator X ->
  let t := (a, old, new) in let h' := layer_step m t h in
  [/\ usubmx h' = indicator (level delta m t X), read_new h' = level delta m t X & read_old delta extend t h' = X].
Proof.
move=> sub hu t h'; have u': usubmx h' = indicator (level delta m t X).
  rewrite /h' /ChainLRNN.layer_step /t /= /level -[h]vsubmxK hu.
  case inj: (injective_on delta a old); rewrite mul_block_col.
    rewrite addr0 col_mxKu mul0mx addr0 permute_indicator; congr indicator.
    by apply: eq_in_imset => x xX; apply: extend_ok inj _ (subsetP sub x xX).
  by rewrite add_col_mx col_mxKu !mul0mx !add0r.
split=> //; first by rewrite /read_new u' support_indicator.
rewrite /t /read_old /h' /ChainLRNN.layer_step /= -[h]vsubmxK hu.
case inj: (injective_on delta a old); rewrite mul_block_col.
  by rewrite addr0 col_mxKu mul0mx addr0 mulmxA -perm_mxM mulgV perm_mx1 mul1mx support_indicator.
by rewrite add_col_mx col_mxKd mul1mx mul0mx !addr0 support_indicator.
Qed.

(* The stack does what the chain does. *)
Lemma stack_layers_ok a sizes : forall old new chain hs,
    path (fun X Y : {set 'I_n} => Y \proper X) old chain -> [seq usubmx h | h <- hs] = [seq indicator X | X <- chain] ->
  let chain' := levels delta a old new sizes chain in let hs' := stack_layers a old new sizes hs in
  [seq usubmx h | h <- hs'] = [seq indicator X | X <- chain'].
Proof.
elim: sizes => [|m sizes IH] old new [|X chain] [|h hs] //= /andP[/proper_sub sub p] [hu eqs].
by have [-> -> ->] := layer_ok m a new sub hu; rewrite (IH _ _ chain).
Qed.

(* After every word the u halves are the indicators of the sets of the chain. *)
Theorem stack_is_chain sizes q0 w : admissible delta sizes q0 ->
  [seq usubmx h | h <- foldl (stack_step delta extend layer_step sizes) (start_stack R sizes q0) w]
  = [seq indicator X | X <- behead (chain_after delta sizes q0 w)].
Proof.
move=> adm; elim/last_ind: w => [|w a IH].
  by rewrite /= /start_stack /= -map_comp; apply: eq_map => X /=; rewrite col_mxKu.
rewrite foldl_rcons chain_after_rcons /=; have [h p c _] := chain_valid w adm.
by case: (chain_after _ _ _ w) h p c IH => [|X chain] //= -> p _ IH; apply: stack_layers_ok.
Qed.

(* The stack decodes to the automaton's state. *)
Theorem stack_tracks sizes q0 w : admissible delta sizes q0 ->
  decode (foldl (stack_step delta extend layer_step sizes) (start_stack R sizes q0) w) = [set state_after delta q0 w].
Proof.
move=> adm; rewrite -(admissible_chain_tracks w adm) /decode; have [h _ c _] := chain_valid w adm.
have E hs : [seq read_new h | h <- hs] = [seq support u | u <- [seq usubmx h | h <- hs]] by rewrite -map_comp.
rewrite E (stack_is_chain w adm) -map_comp; case: (chain_after _ _ _ w) h c => [|X chain] //= -> _.
by rewrite (eq_map (support_indicator)) map_id.
Qed.
End Proofs.

Section Factors.
Variables (R : ringType) (N : nat).
Implicit Types (h : 'cV[R]_N) (i j : 'I_N).

(* Two kinds of generalized Householder factors, both with beta = 1:  h <- (I - k k^T) h + c k,  with key k and value c.
   Swap i j has k = e_i - e_j and c = 0; Write i b has k = e_i and c = b. *)
Inductive factor := Swap of 'I_N & 'I_N | Write of 'I_N & bool.
Definition key f : 'cV[R]_N := match f with Swap i j => delta_mx i 0 - delta_mx j 0 | Write i _ => delta_mx i 0 end.
Definition value f : R := match f with Swap _ _ => 0 | Write _ b => b%:R end.
Definition apply_factor h f : 'cV[R]_N := (1%:M - key f *m (key f)^T) *m h + value f *: key f.
Definition apply_factors fs h : 'cV[R]_N := foldl apply_factor h fs.
Definition proper f := if f is Swap i j then i != j else true.
Definition zero_one h := [forall i, (h i 0 == 0) || (h i 0 == 1)].

(* The key meets h in an entry of h or in a difference of two. *)
Lemma key_dot f h : ((key f)^T *m h) 0 0 = match f with Swap i j => h i 0 - h j 0 | Write i _ => h i 0 end.
Proof.
have unit i : ((delta_mx i 0 : 'cV[R]_N)^T *m h) 0 0 = h i 0 by rewrite trmx_delta -rowE mxE.
case: f => [i j|i b] /=; last exact: unit.
have sub (B C : 'M[R]_1) : (B - C) 0 0 = B 0 0 - C 0 0 by rewrite !mxE.
by rewrite linearB mulmxBl sub !unit.
Qed.

(* For zeros and ones it is 0, 1 or -1. *)
Lemma key_dot_small f h : zero_one h -> ((key f)^T *m h) 0 0 \in [:: 0; 1; -1].
Proof.
move/forallP=> h01; rewrite key_dot !inE; case: f => [i j|i b]; last by rewrite orbA h01.
by case/orP: (h01 i) => /eqP->; case/orP: (h01 j) => /eqP->; rewrite ?subrr ?subr0 ?sub0r eqxx ?orbT.
Qed.

(* One entry after a factor. *)
Lemma apply_factorE f h x : apply_factor h f x 0 = h x 0 - key f x 0 * ((key f)^T *m h) 0 0 + value f * key f x 0.
Proof. by rewrite /apply_factor mulmxBl mul1mx -mulmxA; move: (_ *m h) => d; rewrite !mxE big_ord1. Qed.

(* beta |k|^2 is 2 for a swap and 1 for a write. *)
Lemma key_norm f : proper f -> (key f)^T *m key f = (if f is Swap _ _ then 2%:R else 1)%:M.
Proof.
move=> ok; rewrite [LHS]mx11_scalar key_dot; congr (_%:M).
case: f ok => [i j|i b] /= ok; rewrite !mxE !eqxx //= (negbTE ok) eq_sym (negbTE ok).
by rewrite subr0 sub0r opprK.
Qed.

(* A swap exchanges two entries. *)
Lemma apply_swap i j h : apply_factor h (Swap i j) = \col_x h (tperm i j x) 0.
Proof.
apply/colP=> x; rewrite apply_factorE key_dot /= mul0r addr0 !mxE eqxx !andbT.
case: tpermP => [->|->|/eqP/negbTE xi /eqP/negbTE xj]; rewrite ?eqxx.
- case: eqP => [->|_]; first by rewrite !subrr mul0r subr0.
  by rewrite subr0 mul1r opprB addrC subrK.
- case: eqP => [->|_]; first by rewrite !subrr mul0r subr0.
  by rewrite sub0r mulN1r opprK addrC subrK.
by rewrite xi xj subr0 mul0r subr0.
Qed.

(* A write sets one entry. *)
Lemma apply_write i b h : apply_factor h (Write i b) = \col_x (if x == i then b%:R else h x 0).
Proof.
apply/colP=> x; rewrite apply_factorE key_dot /= !mxE eqxx andbT.
by case: eqP => [->|_]; rewrite ?mul1r ?mulr1 ?subrr ?add0r // mul0r mulr0 subr0 addr0.
Qed.

(* Every factor keeps zeros and ones. *)
Lemma apply_factor_zero_one f h : zero_one h -> zero_one (apply_factor h f).
Proof.
move/forallP=> h01; apply/forallP=> x; case: f => [i j|i b]; rewrite ?apply_swap ?apply_write mxE //.
by case: ifP => // _; case: b; rewrite eqxx ?orbT.
Qed.

(* So do lists of factors. *)
Lemma apply_factors_zero_one fs h : zero_one h -> zero_one (apply_factors fs h).
Proof. by elim: fs h => //= f fs IH h h01; apply: IH; apply: apply_factor_zero_one. Qed.
End Factors.
Arguments Swap {N}. Arguments Write {N}.

Section LayerFactors.
Variables (R : ringType) (n : nat).
Implicit Types (u v : 'cV[R]_n) (s : 'S_n).
Notation up := (lshift n).
Notation down := (rshift n).

(* A permutation is a product of n - (number of cycles) transpositions. *)
Lemma transpositions s : {ts : seq ('I_n * 'I_n) |
  [/\ size ts = (n - #|porbits s|)%N, all (fun t => t.1 != t.2) ts & s = (\prod_(t <- ts) tperm t.1 t.2)%g]}.
Proof.
have most (p : 'S_n) : (#|porbits p| <= n)%N by rewrite -[X in (_ <= X)%N]card_ord; apply: leq_imset_card.
move E: (n - _)%N => k; elim: k s E => [|k IH] s E.
all: case: (pickP (fun x => s x != x)) => [x sx | fix_s].
- have := porbits_mul_tperm s x (s x); rewrite /= porbit_sym (mem_porbit s 1) addn0 eq_sym sx addn1 => cyc.
  by have := most (tperm x (s x) * s)%g; rewrite cyc -subn_gt0 E.
- by exists [::]; split=> //; rewrite big_nil; apply/permP=> x; rewrite perm1; apply/eqP/negbFE/fix_s.
- have := porbits_mul_tperm s x (s x); rewrite /= porbit_sym (mem_porbit s 1) addn0 eq_sym sx addn1 => cyc.
  have [|ts [sz ok prod]] := IH (tperm x (s x) * s)%g; first by rewrite cyc subnS E.
  exists ((x, s x) :: ts); rewrite /= sz ok eq_sym sx big_cons -prod mulgA tperm2 mul1g.
  by split.
have s1: s = 1%g by apply/permP=> x; rewrite perm1; apply/eqP/negbFE/fix_s.
move: E; rewrite s1 card_imset ?card_ord ?subnn // => x y /eqP; rewrite eq_porbit_mem => /porbitP[i ->].
by rewrite expg1n perm1.
Qed.

(* Swaps of the upper half apply the permutation matrix there. *)
Lemma swaps_permute ts u v : apply_factors [seq Swap (up t.1) (up t.2) | t <- rev ts] (col_mx u v)
  = col_mx (perm_mx (\prod_(t <- ts) tperm t.1 t.2)%g *m u) v.
Proof.
elim: ts => [|[i j] ts IH]; first by rewrite big_nil perm_mx1 mul1mx.
rewrite rev_cons map_rcons /apply_factors foldl_rcons -/(apply_factors _ _) IH big_cons perm_mxM -mulmxA /=.
move: (perm_mx _ *m u) => u'; rewrite apply_swap -row_permE; apply/colP=> x; rewrite mxE.
case: (split_ordP x) => y ->.
  by rewrite -(inj_tperm _ _ _ (@lshift_inj n n)) !col_mxEu mxE.
by rewrite tpermD ?col_mxEd // eq_lrshift.
Qed.

(* Writes to the lower half. *)
Lemma writes_write js (Z : {set 'I_n}) u v : apply_factors [seq Write (down j) (j \in Z) | j <- js] (col_mx u v)
  = col_mx u (\col_j (if j \in js then (j \in Z)%:R else v j 0)).
Proof.
elim: js v => [|i js IH] v /=; first by congr col_mx; apply/colP=> x; rewrite mxE.
rewrite apply_write; transitivity (apply_factors [seq Write (down j) (j \in Z) | j <- js]
    (col_mx u (\col_j (if j == i then (j \in Z)%:R else v j 0)))); last first.
  by rewrite IH; congr col_mx; apply/colP=> x; rewrite !mxE in_cons; case: (x \in js); rewrite ?orbT ?orbF.
congr apply_factors; apply/colP=> x; rewrite mxE; case: (split_ordP x) => y ->.
  by rewrite eq_lrshift !col_mxEu.
by rewrite eq_rshift !col_mxEd mxE; case: eqP => [->|].
Qed.

(* Swaps of the halves. *)
Lemma swaps_exchange js u v : uniq js -> apply_factors [seq Swap (up j) (down j) | j <- js] (col_mx u v)
  = col_mx (\col_j (if j \in js then v j 0 else u j 0)) (\col_j (if j \in js then u j 0 else v j 0)).
Proof.
elim: js u v => [|i js IH] u v /=; first by move=> _; congr col_mx; apply/colP=> x; rewrite mxE.
case/andP=> nin uniq_js; rewrite apply_swap; transitivity (apply_factors [seq Swap (up j) (down j) | j <- js]
    (col_mx (\col_j (if j == i then v j 0 else u j 0)) (\col_j (if j == i then u j 0 else v j 0)))); last first.
  by rewrite IH //; congr col_mx; apply/colP=> x; rewrite !mxE in_cons; case: eqP => [->|]; rewrite ?(negbTE nin).
congr apply_factors; apply/colP=> x; rewrite mxE; case: tpermP => [->|->|/eqP xu /eqP xd].
- by rewrite col_mxEu col_mxEd mxE eqxx.
- by rewrite col_mxEu col_mxEd mxE eqxx.
case: (split_ordP x) xu xd => y ->; rewrite !(eq_lshift, eq_rshift) => yu yd.
  by rewrite !col_mxEu mxE (negbTE yu).
by rewrite !col_mxEd mxE (negbTE yd).
Qed.

End LayerFactors.

Section LayersByFactors.
Variables (R : ringType) (n : nat) (A : Type) (delta : A -> 'I_n -> 'I_n) (extend : A -> {set 'I_n} -> 'S_n).
Implicit Types (a : A) (t : token n A) (h : 'cV[R]_(n + n)) (hs : seq 'cV[R]_(n + n)).
Notation up := (lshift n).
Notation down := (rshift n).

(* The factors of one token's layer, in the order applied: swaps in the upper half where it permutes; where it resets,
   writes that put the new indicator into the lower half, then swaps that exchange the halves. *)
Definition factors m t : seq (factor (n + n)) :=
  let: (a, old, new) := t in
  if injective_on delta a old
  then [seq Swap (up p.1) (up p.2) | p <- rev (sval (transpositions (extend a old)^-1))]
  else [seq Write (down j) (j \in pad (delta a @: old) new m) | j <- enum 'I_n]
       ++ [seq Swap (up j) (down j) | j <- enum 'I_n].
Definition layer_by_factors : layer R n A := fun m t h => apply_factors (factors m t) h.

(* There are n - (number of cycles) of them where the layer permutes, 2n where it resets. *)
Lemma number_of_factors m a old new : size (factors m (a, old, new))
  = (if injective_on delta a old then n - #|porbits (extend a old)| else 2 * n)%N.
Proof.
rewrite /=; case: ifP => _; last by rewrite size_cat 2!size_map size_enum_ord mul2n addnn.
by have [sz _ _] := svalP (transpositions (extend a old)^-1); rewrite size_map size_rev sz porbitsV.
Qed.

(* Swaps swap different entries. *)
Lemma factors_proper m t : all (@proper _) (factors m t).
Proof.
case: t => [[a old] new] /=; case: ifP => _.
  have [_ ok _] := svalP (transpositions (extend a old)^-1).
  by rewrite all_map all_rev; apply: sub_all ok => p; rewrite /= eq_lshift.
by rewrite all_cat !all_map; apply/andP; split; apply/allP=> j _ //=; rewrite eq_lrshift.
Qed.

(* Together they are the layer. *)
Theorem layer_is_its_factors m t h : layer_step delta extend m t h = layer_by_factors m t h.
Proof.
case: t => [[a old] new]; rewrite /layer_step /layer_by_factors /= -[h]vsubmxK.
case inj: (injective_on delta a old); rewrite mul_block_col !mul0mx mul1mx addr0 ?add0r.
  by have [_ _ prod] := svalP (transpositions (extend a old)^-1); rewrite swaps_permute -prod addr0.
rewrite /apply_factors foldl_cat -!/(apply_factors _ _) writes_write swaps_exchange ?enum_uniq //.
rewrite !addr0 add_col_mx add0r addr0.
by congr col_mx; apply/colP=> x; rewrite !mxE mem_enum.
Qed.

(* Stacks of equal layers are equal. *)
Lemma stack_of_factors a sizes hs : forall old new, stack_layers delta extend layer_by_factors a old new sizes hs
  = stack_layers delta extend (layer_step delta extend) a old new sizes hs.
Proof. by elim: hs sizes => [|h hs IH] [|m sizes] old new //=; rewrite -layer_is_its_factors IH. Qed.

(* A step of the stack keeps zeros and ones. *)
Lemma stack_layers_zero_one a sizes hs : forall old new, all (@zero_one R _) hs ->
  all (@zero_one R _) (stack_layers delta extend layer_by_factors a old new sizes hs).
Proof.
elim: hs sizes => [|h hs IH] [|m sizes] old new //= /andP[h01 hs01]; rewrite IH // andbT.
exact: apply_factors_zero_one.
Qed.

(* All entries of all hidden vectors are 0 or 1 (by apply_factor_zero_one also between the factors). *)
Theorem stack_zero_one sizes q0 w :
  all (@zero_one R _) (foldl (stack_step delta extend layer_by_factors sizes) (start_stack R sizes q0) w).
Proof.
elim/last_ind: w => [|w a IH]; last by rewrite foldl_rcons; apply: stack_layers_zero_one.
rewrite /= /start_stack all_map; apply/allP=> X _; apply/forallP=> x; case: (split_ordP x) => y -> /=.
  by rewrite col_mxEu mxE; case: (y \in X); rewrite eqxx ?orbT.
by rewrite col_mxEd mxE eqxx.
Qed.

(* The stack of factors decodes to the automaton's state, for all admissible sizes. *)
Theorem factor_stack_tracks sizes q0 w :
    (forall a X, injective_on delta a X -> {in X, extend a X =1 delta a}) -> admissible delta sizes q0 ->
  decode (foldl (stack_step delta extend layer_by_factors sizes) (start_stack R sizes q0) w)
  = [set state_after delta q0 w].
Proof.
move=> extend_ok adm; rewrite -(stack_tracks R extend_ok w adm); congr decode.
by elim/last_ind: w => [|w a IH] //; rewrite !foldl_rcons IH /stack_step stack_of_factors.
Qed.
End LayersByFactors.

Section Result.
Variables (R : ringType) (n : nat) (A : Type) (delta : A -> 'I_n -> 'I_n).

(* The permutations may be any that agree with the letters; to be definite, the first of them. *)
Definition first_extension a (X : {set 'I_n}) : 'S_n := odflt 1%g [pick s : 'S_n | [forall x in X, s x == delta a x]].

(* It agrees with the letter. *)
Lemma first_extension_ok a X : injective_on delta a X -> {in X, first_extension a X =1 delta a}.
Proof.
move/injective_onP/extend_to_permutation=> [s sE]; rewrite /first_extension.
case: pickP => [p /forall_inP ok x xX | none]; first by apply/eqP/ok.
by have /forall_inP[] := negbT (none s); move=> x /sE ->.
Qed.

(* own.chain as a linear RNN: the stack of products of generalized Householder factors, with sizes n - 1, ..., 1,
   decodes to the automaton's state after every word. *)
Theorem lrnn_tracks q0 w :
  let step := layer_by_factors delta first_extension in
  decode (foldl (stack_step delta first_extension step (countdown n)) (start_stack R (countdown n) q0) w)
  = [set foldl (fun q a => delta a q) q0 w].
Proof.
apply: (factor_stack_tracks R w first_extension_ok).
by have := countdown_admissible delta q0; rewrite card_ord.
Qed.

(* It has n - 1 layers. *)
Lemma number_of_layers (q0 : 'I_n) : size (start_stack R (countdown n) q0) = n.-1.
Proof.
rewrite size_map size_behead /= -[in RHS](size_iota 1 n.-1) -[RHS](size_map (fun i => n - i)%N).
by rewrite -/(countdown n); elim: (countdown n) setT => //= m sizes IH X; rewrite IH.
Qed.

(* No layer needs more than 2n factors a token. *)
Lemma at_most_2n m t : (size (factors delta first_extension m t) <= 2 * n)%N.
Proof.
case: t => [[a old] new]; rewrite number_of_factors; case: ifP => // _.
by rewrite mul2n -addnn; apply: leq_trans (leq_subr _ _) (leq_addr _ _).
Qed.
End Result.

