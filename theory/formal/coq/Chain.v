(* own.chain: a finite automaton runs as a chain of ever smaller sets of states, one level per set,
   and each level only permutes or resets.

   Proved for every finite automaton (states Q, letters of any type A, next state delta a q), start state and word:
   - chain_tracks: with sizes |Q| - 1, ..., 1 below Q, the last set of the chain after the word is the automaton's
     state alone.  No hypothesis.
   - admissible_chain_tracks: the same for any sizes that fall from |Q| to 1 such that, where a letter is not injective
     on a set that occurs at some level, the image has no more elements than the next level.
   - admissible_by_level, chain_prefix: such sizes can be chosen level by level; one state fewer always will do.
   - chain_valid, chain_images: the invariants.  Every chain that occurs starts with Q, falls properly and has the
     planned sizes; the automaton's state is in every set; a letter sends X_i into X'_i.
   - chain_step_levels: X'_{i+1} is the value of level i at X_{i+1} on the input (a, X_i, X'_i).
   - permutation_or_reset: on each input a level either moves the subsets of X_i by one permutation of Q that agrees
     with the letter on X_i (when the letter is injective there), or has the same value for all.

   Checked by Coq 8.16.1 with mathcomp 1.15.0 (ssreflect, fingroup) in 2 seconds; no axioms. *)
Set Warnings "-notation-overridden".
From mathcomp Require Import all_ssreflect all_fingroup.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

(* The sizes n - 1, n - 2, ..., 1. *)
Definition countdown n : seq nat := [seq n - i | i <- iota 1 n.-1].

Section Definitions.
Variables (Q : finType) (A : Type) (delta : A -> Q -> Q).
Implicit Types (q : Q) (w : seq A) (a : A) (X Y old new : {set Q}) (chain : seq {set Q}) (sizes : seq nat).

(* The automaton's state after the word w. *)
Definition state_after q0 (w : seq A) : Q := foldl (fun q a => delta a q) q0 w.

(* Letter a takes X to as many states as X has, that is: a is injective on X. *)
Definition injective_on a X : bool := #|delta a @: X| == #|X|.

(* Y and, of the elements of X that Y lacks, the first ones (in the order of Q), until there are m. *)
Definition pad Y X m : {set Q} := Y :|: [set x in take (m - #|Y|) (enum (X :\: Y))].

(* One level: its input is (a, old, new) = (a, X_i, X'_i), its size m, its state X = X_{i+1}; the value is X'_{i+1}. *)
Definition level m (input : A * {set Q} * {set Q}) X : {set Q} :=
  let: (a, old, new) := input in
  if injective_on a old then delta a @: X else pad (delta a @: old) new m.

(* All levels below X_i = old, X'_i = new: each reads the letter and the level above, before and after. *)
Fixpoint levels a old new sizes chain : seq {set Q} :=
  match sizes, chain with
  | m :: sizes', X :: chain' => let X' := level m (a, old, new) X in X' :: levels a X X' sizes' chain'
  | _, _ => [::]
  end.

(* A chain is the list X_1, ..., X_{L+1}; `sizes` lists the sizes of X_2, ..., X_{L+1}; X_1 is always Q. *)
Definition chain_step sizes chain a : seq {set Q} := setT :: levels a setT setT sizes (behead chain).

Fixpoint start_below q0 X sizes : seq {set Q} :=
  if sizes is m :: sizes' then let Y := pad [set q0] X m in Y :: start_below q0 Y sizes' else [::].
Definition start sizes q0 : seq {set Q} := setT :: start_below q0 setT sizes.

(* The chain after the word w. *)
Definition chain_after sizes q0 (w : seq A) : seq {set Q} := foldl (chain_step sizes) (start sizes q0) w.

(* The sizes fall from |Q| to 1. *)
Definition falling sizes : bool := path gtn #|Q| sizes && (last #|Q| sizes == 1).

(* Wherever a letter is not injective on a set of the chain, the image has no more elements than the next level. *)
Definition fits sizes chain a : Prop :=
  forall i, i < size sizes -> let X := nth setT chain i in
    ~~ injective_on a X -> #|delta a @: X| <= nth 0 sizes i.

(* The invariants of one chain: it starts with Q, falls properly, has the planned sizes, and q is in every set. *)
Definition valid sizes q chain : Prop :=
  [/\ head set0 chain = setT, sorted (fun X Y => Y \proper X) chain,
      [seq #|X| | X : {set Q} <- chain] = #|Q| :: sizes & all (fun X : {set Q} => q \in X) chain].

(* The hypothesis: the sizes fall from |Q| to 1 and fit every chain that occurs. *)
Definition admissible sizes q0 : Prop :=
  falling sizes /\ forall w a, fits sizes (chain_after sizes q0 w) a.
End Definitions.
Arguments level : simpl never.

Section Proofs.
Variables (Q : finType) (A : Type) (delta : A -> Q -> Q).
Implicit Types (q : Q) (w : seq A) (a : A) (X Y old new : {set Q}) (chain : seq {set Q}) (sizes : seq nat).
Notation injective_on := (injective_on delta).
Notation level := (level delta).
Notation levels := (levels delta).
Notation inside := (fun X Y : {set Q} => Y \proper X).

(* The boolean test says what its name says. *)
Lemma injective_onP a X : reflect {in X &, injective (delta a)} (injective_on a X).
Proof. exact: imset_injP. Qed.

(* Padding gives m elements, between Y and X. *)
Lemma pad_ok Y X m : Y \subset X -> #|Y| <= m <= #|X| ->
  [/\ Y \subset pad Y X m, pad Y X m \subset X & #|pad Y X m| = m].
Proof.
move=> YX /andP[Ym mX]; rewrite /pad; set t := take _ _.
have tXY x : x \in t -> x \in X :\: Y by move/mem_take; rewrite mem_enum.
split; first exact: subsetUl.
  by apply/subUsetP; split=> //; apply/subsetP=> x; rewrite inE => /tXY /setDP[].
rewrite cardsU (_ : Y :&: _ = set0) ?cards0 ?subn0; last first.
  by apply/setP=> x; rewrite !inE; apply/negP=> /andP[xY /tXY]; rewrite inE xY.
have/card_uniqP: uniq t by rewrite take_uniq ?enum_uniq.
rewrite cardsE => ->; rewrite size_take_min -cardE cardsD (setIidPr YX).
by rewrite (minn_idPl _) ?subnKC // leq_sub2r.
Qed.

(* One level keeps the invariants. *)
Lemma level_ok a old new m X : delta a @: old \subset new -> #|new| = #|old| ->
    X \proper old -> #|X| = m -> (~~ injective_on a old -> #|delta a @: old| <= m) ->
  let X' := level m (a, old, new) X in [/\ X' \proper new, #|X'| = m & delta a @: X \subset X'].
Proof.
move=> sub eqc Xold cX fits; rewrite /Chain.level; have ltm: m < #|old| by rewrite -cX proper_card.
case: ifP => [inj | /negbT /fits {}fits].
  have inj' := injective_onP _ _ inj.
  have cX': #|delta a @: X| = m.
    by rewrite card_in_imset // => x y xX yX; apply: inj'; apply: (subsetP (proper_sub Xold)).
  rewrite cX' properEcard cX' eqc ltm andbT; split=> //.
  by apply: subset_trans sub; apply: imsetS; apply: proper_sub.
have [] := @pad_ok (delta a @: old) new m sub; first by rewrite fits eqc ltnW.
move=> s1 s2 c; rewrite properEcard s2 c eqc ltm; split=> //.
by apply: subset_trans s1; apply: imsetS; apply: proper_sub.
Qed.

(* All levels keep the invariants. *)
Lemma levels_ok a sizes : forall old new chain,
    delta a @: old \subset new -> #|new| = #|old| ->
    path inside old chain -> [seq #|X| | X : {set Q} <- chain] = sizes ->
    fits delta sizes (old :: chain) a ->
  let chain' := levels a old new sizes chain in
  [/\ path inside new chain', [seq #|X| | X : {set Q} <- chain'] = sizes
    & all2 (fun X X' : {set Q} => delta a @: X \subset X') chain chain'].
Proof.
elim: sizes => [|m sizes IH] old new [|X chain] //= sub eqc /andP[Xold p] [cX cs] ok.
have [pr c s] := level_ok sub eqc Xold cX (ok 0 isT).
have [|p' c' s'] := IH X (level m (a, old, new) X) chain s _ p cs (fun i => ok i.+1); first by rewrite c cX.
by rewrite pr p' c c' s s'.
Qed.

(* The start chain has the right sizes, falls, and holds q0 in every set. *)
Lemma start_ok q0 sizes : forall X, q0 \in X -> path gtn #|X| sizes -> last #|X| sizes = 1 ->
  let chain := start_below q0 X sizes in
  [/\ path inside X chain, [seq #|Y| | Y : {set Q} <- chain] = sizes & all (fun Y : {set Q} => q0 \in Y) chain].
Proof.
elim: sizes => [|m sizes IH] X //= qX /andP[mX p] l.
have m1: 0 < m.
  case: sizes p l {IH} => [|k sizes] /=; first by move=> _ ->.
  by case/andP=> km _ _; apply: leq_trans km.
have [||s1 s2 c] := @pad_ok [set q0] X m; rewrite ?sub1set // ?cards1 ?m1 1?ltnW //.
have [|||p' c' q'] := IH (pad [set q0] X m); rewrite ?c //; first by rewrite -sub1set.
by rewrite c' p' q' properEcard s2 c mX -sub1set s1.
Qed.

(* Sets that hold q pass to sets that hold its successor. *)
Lemma all2_image a q chain chain' : all2 (fun X X' : {set Q} => delta a @: X \subset X') chain chain' ->
  all (fun X : {set Q} => q \in X) chain -> all (fun X : {set Q} => delta a q \in X) chain'.
Proof.
elim: chain chain' => [|X chain IH] [|X' chain'] //= /andP[s s'] /andP[qX q'].
by rewrite (IH _ s' q') (subsetP s) // imset_f.
Qed.

(* The start chain is valid. *)
Lemma start_valid q0 sizes : falling Q sizes -> valid sizes q0 (start sizes q0).
Proof.
case/andP=> fall /eqP one; have [|||p c q] := @start_ok q0 sizes setT; rewrite ?inE ?cardsT //=.
by split; rewrite //= ?c ?inE ?q ?cardsT.
Qed.

(* A step from a valid chain to which the sizes apply gives a valid chain, and every set goes into its successor. *)
Lemma step_valid sizes q chain a : valid sizes q chain -> fits delta sizes chain a ->
  let chain' := chain_step delta sizes chain a in
  valid sizes (delta a q) chain' /\ all2 (fun X X' : {set Q} => delta a @: X \subset X') chain chain'.
Proof.
case; case: chain => [|X chain] //= -> p [_ c] /andP[_ q'] ok.
have [||p' c' s'] := @levels_ok a sizes setT setT chain _ _ p c ok; rewrite ?subsetT //.
by rewrite s'; do 2!split=> //=; rewrite ?c' ?cardsT ?inE ?(all2_image s' q').
Qed.

(* One more letter, one more step. *)
Lemma chain_after_rcons sizes q0 w a :
  chain_after delta sizes q0 (rcons w a) = chain_step delta sizes (chain_after delta sizes q0 w) a.
Proof. exact: foldl_rcons. Qed.

(* Invariants: every chain that occurs is valid. *)
Theorem chain_valid sizes q0 w : admissible delta sizes q0 ->
  valid sizes (state_after delta q0 w) (chain_after delta sizes q0 w).
Proof.
case=> fall ok; elim/last_ind: w => [|w a IH]; first exact: start_valid.
by rewrite chain_after_rcons /state_after foldl_rcons; have [] := step_valid IH (ok w a).
Qed.

(* Invariants: a letter sends each set of a chain that occurs into the corresponding set of the next chain. *)
Theorem chain_images sizes q0 w a : admissible delta sizes q0 ->
  all2 (fun X X' : {set Q} => delta a @: X \subset X')
    (chain_after delta sizes q0 w) (chain_after delta sizes q0 (rcons w a)).
Proof.
move=> adm; have [_] := step_valid (chain_valid w adm) (adm.2 w a).
by rewrite -chain_after_rcons.
Qed.

(* A valid chain ends in the state alone. *)
Lemma valid_last sizes q chain : falling Q sizes -> valid sizes q chain -> last setT chain = [set q].
Proof.
case/andP=> _ /eqP one []; case: chain => [|X chain] //= -> _ [_ c] /andP[_ q'].
have card1: #|last setT chain| = 1 by rewrite -one -c -[in RHS]cardsT last_map.
have qin: q \in last setT chain.
  by case: chain q' {c card1} => [|Y chain]; [rewrite inE | move/allP/(_ _ (mem_last Y chain))].
by apply/esym/eqP; rewrite eqEcard sub1set qin cards1 card1.
Qed.

(* own.chain: after every word the last set of the chain is the automaton's state alone. *)
Theorem admissible_chain_tracks sizes q0 w : admissible delta sizes q0 ->
  last setT (chain_after delta sizes q0 w) = [set state_after delta q0 w].
Proof. by move=> adm; apply: valid_last adm.1 (chain_valid w adm). Qed.

(* Level by level: one state fewer always fits; any other size has to fit the sets that occur there. *)
Theorem admissible_by_level sizes q0 : falling Q sizes ->
    (forall i, i < size sizes ->
       nth 0 sizes i = (nth 0 (#|Q| :: sizes) i).-1 \/
       forall w a, let X := nth setT (chain_after delta sizes q0 w) i in
         ~~ injective_on a X -> #|delta a @: X| <= nth 0 sizes i) ->
  admissible delta sizes q0.
Proof.
move=> fall plan; split=> // w a.
have ok v b : valid sizes (state_after delta q0 v) (chain_after delta sizes q0 v) ->
    fits delta sizes (chain_after delta sizes q0 v) b.
  case=> _ _ c _ i lt X ninj; case: (plan i lt) => [-> | fit]; last exact: fit.
  have cX: #|X| = nth 0 (#|Q| :: sizes) i.
    by rewrite -c (nth_map setT) // -(size_map (fun X : {set Q} => #|X|)) c /= ltnS ltnW.
  have: #|delta b @: X| < #|X| by rewrite ltn_neqAle leq_imset_card andbT.
  by rewrite -cX; case: #|X|.
apply: (ok w a); elim/last_ind: w => [|w b IH]; first exact: start_valid.
by rewrite chain_after_rcons /state_after foldl_rcons; have [] := step_valid IH (ok w b IH).
Qed.

(* Dropping one state at every level is admissible. *)
Lemma countdown_admissible q0 : admissible delta (countdown #|Q|) q0.
Proof.
have Q1: 0 < #|Q| by apply/card_gt0P; exists q0.
have sz: size (countdown #|Q|) = #|Q|.-1 by rewrite size_map size_iota.
have nthc i : i < #|Q|.-1 -> nth 0 (countdown #|Q|) i = #|Q| - i.+1.
  by move=> lt; rewrite (nth_map 0) ?size_iota // nth_iota.
have nthd i : i <= #|Q|.-1 -> nth 0 (#|Q| :: countdown #|Q|) i = #|Q| - i.
  by case: i => [|i] /=; [rewrite subn0 | apply: nthc].
apply: admissible_by_level => [|i]; last first.
  by rewrite sz => lt; left; rewrite (nthd i (ltnW lt)) (nthc i lt) subnS.
apply/andP; split; last by rewrite (last_nth 0) sz nthd // -subn1 subKn.
apply/(pathP 0) => i; rewrite sz => lt; rewrite (nthd i (ltnW lt)) (nthc i lt) /=.
by rewrite ltn_sub2l // -(prednK Q1) ltnS ltnW.
Qed.

(* The first i levels below a set do not depend on the others. *)
Lemma levels_take a i : forall sizes old new chain,
  levels a old new (take i sizes) (take i chain) = take i (levels a old new sizes chain).
Proof. by elim: i => [|i IH] [|m sizes] old new [|X chain] //=; rewrite IH. Qed.

(* The same for the start. *)
Lemma start_take q0 i : forall sizes X, start_below q0 X (take i sizes) = take i (start_below q0 X sizes).
Proof. by elim: i => [|i IH] [|m sizes] X //=; rewrite IH. Qed.

(* The first i + 1 sets of the chain depend on the first i sizes only, so that sizes can be chosen one by one. *)
Theorem chain_prefix sizes q0 w i :
  chain_after delta (take i sizes) q0 w = take i.+1 (chain_after delta sizes q0 w).
Proof.
elim/last_ind: w => [|w a IH]; first by rewrite /chain_after /= /start start_take.
rewrite !chain_after_rcons IH /chain_step /= -levels_take.
by case: (chain_after _ _ _ w) => [|X chain] //; case: i {IH}.
Qed.

(* Item by item, the list of levels is what it should be. *)
Lemma nth_levels a sizes i : forall old new chain, size chain = size sizes -> i < size sizes ->
  let chain' := levels a old new sizes chain in
  nth setT chain' i
  = level (nth 0 sizes i) (a, nth setT (old :: chain) i, nth setT (new :: chain') i) (nth setT chain i).
Proof.
by elim: sizes i => [|m sizes IH] [|i] // old new [|Y chain] //= [sz] lt; apply: IH.
Qed.

(* Step by step: set i + 1 of the next chain is the value of level i at set i + 1, on the input (a, X_i, X'_i). *)
Theorem chain_step_levels sizes q0 w a i : admissible delta sizes q0 -> i < size sizes ->
  let chain := chain_after delta sizes q0 w in let chain' := chain_after delta sizes q0 (rcons w a) in
  nth setT chain' i.+1 = level (nth 0 sizes i) (a, nth setT chain i, nth setT chain' i) (nth setT chain i.+1).
Proof.
move=> adm lt /=; have [h _ c _] := chain_valid w adm.
rewrite chain_after_rcons; case: (chain_after _ _ _ w) h c => [|X chain] //= -> [_ c].
by apply: nth_levels; rewrite // -c size_map.
Qed.

(* A map that is injective on X agrees on X with a permutation of all of Q. *)
Lemma extend_to_permutation (f : Q -> Q) X : {in X &, injective f} -> exists s : {perm Q}, {in X, s =1 f}.
Proof.
move=> inj; pose dom := enum X ++ enum (~: X); pose cod := map f (enum X) ++ enum (~: (f @: X)).
have size_dom: size dom = #|Q| by rewrite size_cat -!cardE cardsC.
have size_cod: size cod = #|Q| by rewrite size_cat size_map -!cardE -(card_in_imset inj) cardsC.
have all_dom x : x \in dom by rewrite mem_cat !mem_enum inE orbN.
have uniq_cod: uniq cod.
  rewrite cat_uniq enum_uniq andbT map_inj_in_uniq ?enum_uniq => [|x y]; last by rewrite !mem_enum; apply: inj.
  apply/hasPn=> y; rewrite mem_enum inE; apply: contra => /mapP[x]; rewrite mem_enum => xX ->; exact: imset_f.
have inj_s: injective (fun x => nth x cod (index x dom)).
  move=> x y; rewrite (set_nth_default x) ?size_cod -?size_dom ?index_mem // => /eqP.
  rewrite nth_uniq ?size_cod -?size_dom ?index_mem // => /eqP e.
  by rewrite -[LHS](nth_index x (all_dom x)) e nth_index ?all_dom.
exists (perm inj_s) => x xX; have xe: x \in enum X by rewrite mem_enum.
by rewrite permE nth_cat index_cat xe size_map index_mem xe (nth_map x) ?index_mem // nth_index.
Qed.

(* Each level permutes or resets.  If a is injective on old = X_i, some permutation of Q that agrees there with a
   moves the state X_{i+1}, whichever it is; otherwise the next state does not depend on the state. *)
Theorem permutation_or_reset m a old new :
  if injective_on a old
  then exists s : {perm Q}, {in old, s =1 delta a} /\ forall X, X \subset old -> level m (a, old, new) X = s @: X
  else exists Z, forall X, level m (a, old, new) X = Z.
Proof.
rewrite /Chain.level; case: (injective_onP a old) => [inj | _]; last by exists (pad (delta a @: old) new m).
have [s sE] := extend_to_permutation inj; exists s; split=> // X sub.
by apply/esym/eq_in_imset => x xX; apply: sE; apply: (subsetP sub).
Qed.

End Proofs.

(* own.chain, simplest instance: with sizes |Q| - 1, ..., 1, the last set of the chain after w is the state after w. *)
Theorem chain_tracks (Q : finType) (A : Type) (delta : A -> Q -> Q) (q0 : Q) (w : seq A) :
  last setT (foldl (chain_step delta (countdown #|Q|)) (start (countdown #|Q|) q0) w)
  = [set foldl (fun q a => delta a q) q0 w].
Proof. exact: admissible_chain_tracks (countdown_admissible delta q0). Qed.

