(* own.window: if a first layer remembers the last letters, a finite automaton runs as a chain of sets
   of s, s - 1, ..., 1 slots, where s is the most states that m letters (none the identity) can leave.  Each level only
   permutes or resets.  Needs Chain.v.

   Slots are the type Q + 'I_s: a state (inl q) or one of s phantoms (inr j).  A letter moves the states and leaves the
   phantoms; X_1 is R and as many phantoms as make s slots.  Where a letter is injective on the states among X_i, the
   level permutes by a bijection that agrees with the letter there and takes X_i to X'_i (any rule that finds one where
   there is one; first_bijection is one), else it pads.

   Proved for every finite automaton (states Q, letters of any type A, next state delta a q), start state and word:
   A. The chain below any sets R_t with q0 in R_0, a(R_t) inside R_{t+1} and |R_t| <= s (sets_ok).
   - window_chain_tracks (R given for each prefix), sequence_chain_tracks (R_0, R_1, ... beside one word): the last of
     the s sets is the automaton's state alone.  fitting_chain_tracks: the same for larger drops where they fit.
   - window_chain_valid: X_1 is R and phantoms, the sizes are s, ..., 1, the sets fall properly and hold the state.
   - window_step_levels, permutation_or_reset: X'_{i+1} is the value of level i at X_{i+1} on the input (a, X_i, X'_i);
     on each input a level is one permutation of the slots or constant.
   - numbered_chain_tracks: the same without phantoms, by own.chain as it is: number the states of R from 0; the number
     is the state of an automaton of s states whose letters are (a, R_t, R_{t+1}).
   B. The window.  R is the image of Q under the last m letters, or the one state reached before there are m.
   - window_ok: it has the three properties, if words of m letters leave at most s states.
   - register_ok: the last m + 1 letters give R before and after the last of them.
   - machine_tracks: the machine that holds these letters and the chain tracks the state.
   C. The criterion.
   - criterion: words of m letters leave at most s states if and only if the listing by steps of the image sets of more
     than s states is empty after m steps; no_path: the same as "no path of m steps from Q"; listing: a list of sets
     with falling ranks below m proves it; rows_criterion: it can be computed on lists of numbers.
   - skip_identities: letters that are the identity may be left out.
   - window_tracks: all in one statement.  tomita7_tracks: an example decided by computation.

   Checked by Coq 8.16.1 with mathcomp 1.15.0 (ssreflect, fingroup) in 9 seconds; no axioms. *)
Set Warnings "-notation-overridden".
From mathcomp Require Import all_ssreflect all_fingroup.
From Mirrormata Require Import Chain.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

(* A map that is injective on D, part of X, and takes D into X', where X' has as many elements as X, agrees on D with a
   permutation that takes X to X'. *)
Lemma extend_between (S : finType) (f : S -> S) (D X X' : {set S}) :
    D \subset X -> {in D &, injective f} -> f @: D \subset X' -> #|X'| = #|X| ->
  exists p : {perm S}, {in D, p =1 f} /\ p @: X = X'.
Proof.
move=> DX inj sub eqc; pose from := enum (X :\: D); pose to := enum (X' :\: f @: D).
have sz: size to = size from.
  by rewrite -!cardE !cardsD (setIidPr sub) (setIidPr DX) eqc (card_in_imset inj).
pose g x := if x \in D then f x else nth x to (index x from).
have lt x : x \in X -> x \notin D -> index x from < size to.
  by move=> xX xD; rewrite sz index_mem mem_enum inE xD.
have outside x : x \in X -> x \notin D -> g x \in X' :\: f @: D.
  by move=> xX xD; rewrite /g (negbTE xD) -mem_enum mem_nth // lt.
have injg: {in X &, injective g}.
  move=> x y xX yX; have [xD|xD] := boolP (x \in D); have [yD|yD] := boolP (y \in D).
  - by rewrite /g xD yD; apply: inj.
  - by move=> e; have := outside y yX yD; rewrite -e /g xD inE imset_f.
  - by move=> e; have := outside x xX xD; rewrite e /g yD inE imset_f.
  rewrite /g (negbTE xD) (negbTE yD) (set_nth_default x y) ?lt // => /eqP.
  rewrite nth_uniq ?lt ?enum_uniq // => /eqP e.
  have xf: x \in from by rewrite mem_enum inE xD.
  have yf: y \in from by rewrite mem_enum inE yD.
  by rewrite -(nth_index x xf) e nth_index.
have [p pE] := extend_to_permutation injg; exists p; split=> [x xD|].
  by rewrite pE ?(subsetP DX) // /g xD.
apply/eqP; rewrite eqEcard card_imset ?eqc ?leqnn ?andbT; last exact: perm_inj.
apply/subsetP=> _ /imsetP[x xX ->]; rewrite pE //; have [xD|xD] := boolP (x \in D).
  by rewrite /g xD (subsetP sub) ?imset_f.
by have /setDP[] := outside x xX xD.
Qed.

Section Definitions.
Variables (Q : finType) (A : Type) (delta : A -> Q -> Q) (s : nat).
Notation slot := [finType of (Q + 'I_s)%type].
Implicit Types (q : Q) (a : A) (X Y old new : {set slot}) (chain : seq {set slot}) (sizes : seq nat).

(* A letter moves the slots that are states and leaves the phantoms. *)
Definition slot_delta a (x : slot) : slot := if x is inl q then inl (delta a q) else x.

(* The states among the slots of X. *)
Definition states X : {set slot} := [set x in X | if x is inl _ then true else false].

(* R and phantoms, s slots in all. *)
Definition slots (R : {set Q}) : {set slot} := pad (inl @: R) (inl @: R :|: inr @: setT) s.

(* A permutation of all slots that does as the letter does on the states of X, and takes X to X'. *)
Definition fitting a X X' (p : {perm slot}) : Prop := {in states X, p =1 slot_delta a} /\ p @: X = X'.

(* The rule for these permutations is a parameter: any rule that finds one wherever there is one. *)
Variable bijection : A -> {set slot} -> {set slot} -> {perm slot}.

(* One level: its input is (a, old, new) = (a, X_i, X'_i), its size m, its state X = X_{i+1}; the value is X'_{i+1}. *)
Definition level m (input : A * {set slot} * {set slot}) X : {set slot} :=
  let: (a, old, new) := input in
  if injective_on slot_delta a (states old) then bijection a old new @: X
  else pad (slot_delta a @: states old) new m.

(* All levels below X_i = old, X'_i = new. *)
Fixpoint levels a old new sizes chain : seq {set slot} :=
  match sizes, chain with
  | m :: sizes', X :: chain' => let X' := level m (a, old, new) X in X' :: levels a X X' sizes' chain'
  | _, _ => [::]
  end.

(* The chain X_1, ..., X_{L+1} reads (a, R_t, R_{t+1}); X_1 is R_t and phantoms; `sizes` lists the other sizes. *)
Definition chain_step sizes chain (input : A * {set Q} * {set Q}) : seq {set slot} :=
  let: (a, R, R') := input in slots R' :: levels a (slots R) (slots R') sizes (behead chain).
Definition start sizes q0 (R : {set Q}) : seq {set slot} := slots R :: start_below (inl q0 : slot) (slots R) sizes.

(* The inputs for a word, where R v is the set after the letters v: (a, R v, R (v a)) for each letter a. *)
Fixpoint inputs_from (R : seq A -> {set Q}) v (w : seq A) : seq (A * {set Q} * {set Q}) :=
  if w is a :: w' then (a, R v, R (rcons v a)) :: inputs_from R (rcons v a) w' else [::].
Definition inputs R (w : seq A) := inputs_from R [::] w.

(* The chain after the word w. *)
Definition chain_after sizes q0 R (w : seq A) : seq {set slot} :=
  foldl (chain_step sizes) (start sizes q0 (R [::])) (inputs R w).

(* The hypotheses on the sets, for the prefixes v of a word w: q0 is in the first, a letter sends each into the next,
   and none has more than s states. *)
Definition sets_ok q0 (R : seq A -> {set Q}) (w : seq A) : Prop :=
  [/\ q0 \in R [::], forall v a u, w = v ++ a :: u -> delta a @: R v \subset R (rcons v a)
    & forall v u, w = v ++ u -> #|R v| <= s].

(* Wherever a letter is not injective on the states of a set of the chain, their image has no more elements than the
   next level. *)
Definition fits sizes chain a : Prop :=
  forall i, i < size sizes -> let X := nth setT chain i in
    ~~ injective_on slot_delta a (states X) -> #|slot_delta a @: states X| <= nth 0 sizes i.

(* The invariants of one chain. *)
Definition valid sizes q (R : {set Q}) chain : Prop :=
  [/\ head set0 chain = slots R, sorted (fun X Y => Y \proper X) chain,
      [seq #|X| | X : {set slot} <- chain] = s :: sizes & all (fun X : {set slot} => inl q \in X) chain].

(* The sizes fall from s to 1. *)
Definition falling sizes : bool := path gtn s sizes && (last s sizes == 1).
End Definitions.
Arguments level : simpl never.

Section Proofs.
Variables (Q : finType) (A : Type) (delta : A -> Q -> Q) (s : nat).
Notation slot := [finType of (Q + 'I_s)%type].
Variable bijection : A -> {set slot} -> {set slot} -> {perm slot}.
Hypothesis bijection_ok : forall a X X' p, fitting delta a X X' p -> fitting delta a X X' (bijection a X X').
Implicit Types (q : Q) (a : A) (v w : seq A) (X Y old new : {set slot}) (chain : seq {set slot}) (sizes : seq nat).
Notation slot_delta := (@slot_delta Q A delta s).
Notation injective_on := (injective_on slot_delta).
Notation level := (level delta bijection).
Notation levels := (levels delta bijection).
Notation chain_step := (chain_step delta bijection).
Notation chain_after := (chain_after delta bijection).
Notation slots := (@slots Q s).
Notation inside := (fun X Y : {set slot} => Y \proper X).

(* States are slots, and more slots have more states. *)
Lemma states_sub X : states X \subset X.
Proof. by apply/subsetP=> x; rewrite inE => /andP[]. Qed.
Lemma statesS X Y : X \subset Y -> states X \subset states Y.
Proof. by move/subsetP=> sub; apply/subsetP=> x; rewrite !inE => /andP[/sub-> ->]. Qed.

(* Such a permutation exists. *)
Lemma fitting_exists a X X' : injective_on a (states X) -> slot_delta a @: states X \subset X' -> #|X'| = #|X| ->
  fitting delta a X X' (bijection a X X').
Proof.
move=> /injective_onP inj sub eqc; have [p ok] := extend_between (states_sub X) inj sub eqc.
exact: bijection_ok ok.
Qed.

(* R and phantoms: s slots, whose states are R. *)
Lemma slots_ok (R : {set Q}) : #|R| <= s -> [/\ #|slots R| = s, inl @: R \subset slots R & states (slots R) = inl @: R].
Proof.
move=> le; have inlI: injective (@inl Q 'I_s) by move=> x y [].
have inrI: injective (@inr Q 'I_s) by move=> x y [].
have [||s1 s2 c] := @pad_ok slot (inl @: R) (inl @: R :|: inr @: setT) s.
- exact: subsetUl.
- rewrite card_imset // le; apply: leq_trans (subset_leq_card (subsetUr _ _)).
  by rewrite card_imset // cardsT card_ord.
split=> //; apply/setP=> x; rewrite inE; apply/andP/idP=> [[xin]|xin]; last first.
  by split; [apply: (subsetP s1) | case/imsetP: xin => q _ ->].
case: x xin => // q /(subsetP s2); rewrite inE => /orP[//|/imsetP[j _]] //.
Qed.

(* One level keeps the invariants. *)
Lemma level_ok a old new m X : slot_delta a @: states old \subset new -> #|new| = #|old| ->
    X \proper old -> #|X| = m -> (~~ injective_on a (states old) -> #|slot_delta a @: states old| <= m) ->
  let X' := level m (a, old, new) X in [/\ X' \proper new, #|X'| = m & slot_delta a @: states X \subset X'].
Proof.
move=> sub eqc Xold cX fits; rewrite /Window.level; have ltm: m < #|old| by rewrite -cX proper_card.
have subX: states X \subset states old by apply/statesS/proper_sub.
case: ifP => [inj | /negbT /fits {}fits].
  have [agree onto] := fitting_exists inj sub eqc; set p := bijection a old new in agree onto *.
  have cX': #|p @: X| = m by rewrite card_imset //; apply: perm_inj.
  have subn: p @: X \subset new by rewrite -onto; apply: imsetS; apply: proper_sub.
  rewrite cX' properEcard subn cX' eqc ltm; split=> //.
  have <-: p @: states X = slot_delta a @: states X by apply: eq_in_imset => x /(subsetP subX)/agree.
  by apply: imsetS; apply: states_sub.
have [] := @pad_ok _ (slot_delta a @: states old) new m sub; first by rewrite fits eqc ltnW.
move=> s1 s2 c; rewrite properEcard s2 c eqc ltm; split=> //.
by apply: subset_trans s1; apply: imsetS.
Qed.

(* All levels keep the invariants. *)
Lemma levels_ok a sizes : forall old new chain,
    slot_delta a @: states old \subset new -> #|new| = #|old| ->
    path inside old chain -> [seq #|X| | X : {set slot} <- chain] = sizes ->
    fits delta sizes (old :: chain) a ->
  let chain' := levels a old new sizes chain in
  [/\ path inside new chain', [seq #|X| | X : {set slot} <- chain'] = sizes
    & all2 (fun X X' : {set slot} => slot_delta a @: states X \subset X') chain chain'].
Proof.
elim: sizes => [|m sizes IH] old new [|X chain] //= sub eqc /andP[Xold p] [cX cs] ok.
have [pr c s0] := level_ok sub eqc Xold cX (ok 0 isT).
have [|p' c' s'] := IH X (level m (a, old, new) X) chain s0 _ p cs (fun i => ok i.+1); first by rewrite c cX.
by rewrite pr p' c c' s0 s'.
Qed.

(* Sets that hold q pass to sets that hold its successor. *)
Lemma all2_state a q chain chain' :
    all2 (fun X X' : {set slot} => slot_delta a @: states X \subset X') chain chain' ->
  all (fun X : {set slot} => inl q \in X) chain -> all (fun X : {set slot} => inl (delta a q) \in X) chain'.
Proof.
elim: chain chain' => [|X chain IH] [|X' chain'] //= /andP[sub s'] /andP[qX q'].
rewrite (IH _ s' q') andbT; apply: (subsetP sub); apply/imsetP; exists (inl q) => //.
by rewrite inE qX.
Qed.

(* The start chain is valid. *)
Lemma start_valid q0 (R : {set Q}) sizes : falling s sizes -> q0 \in R -> #|R| <= s ->
  valid sizes q0 R (start s sizes q0 R).
Proof.
case/andP=> fall /eqP one q0R le; have [c sub _] := slots_ok le.
have q0in: (inl q0 : slot) \in slots R by apply: (subsetP sub); apply: imset_f.
have [|||p c' q] := @start_ok slot (inl q0) sizes (slots R); rewrite ?c //.
by split; rewrite //= ?c ?c' ?q0in ?q.
Qed.

(* A step from a valid chain gives a valid chain. *)
Lemma step_valid sizes q (R R' : {set Q}) chain a : #|R| <= s -> #|R'| <= s -> delta a @: R \subset R' ->
    valid sizes q R chain -> fits delta sizes chain a ->
  valid sizes (delta a q) R' (chain_step sizes chain (a, R, R')).
Proof.
move=> le le' sub; have [c subR stR] := slots_ok le; have [c' subR' _] := slots_ok le'.
case; case: chain => [|X chain] //= -> p [_ cs] /andP[qX q'] ok.
have sub': slot_delta a @: states (slots R) \subset slots R'.
  rewrite stR -imset_comp; apply: subset_trans subR'; apply/subsetP=> _ /imsetP[x xR ->].
  by apply: imset_f; apply: (subsetP sub); apply: imset_f.
have [|p' cs' s'] := levels_ok sub' _ p cs ok; first by rewrite c c'.
split; rewrite //= ?c' ?cs' // (all2_state s' q') andbT.
apply: (subsetP sub'); apply/imsetP; exists (inl q) => //.
by rewrite inE qX.
Qed.

(* Where every size is one less than the one above it, they fit. *)
Lemma countdown_fits sizes q (R : {set Q}) chain a : valid sizes q R chain ->
    (forall i, i < size sizes -> nth 0 sizes i = (nth 0 (s :: sizes) i).-1) -> fits delta sizes chain a.
Proof.
case=> _ _ c _ one i lt X ninj; rewrite one //.
have cX: #|X| = nth 0 (s :: sizes) i.
  by rewrite -c (nth_map setT) // -(size_map (fun X : {set slot} => #|X|)) c /= ltnS ltnW.
have: #|slot_delta a @: states X| < #|states X| by rewrite ltn_neqAle leq_imset_card andbT.
move=> lt'; rewrite -ltnS prednK -cX; last by apply: leq_trans (subset_leq_card (states_sub X)); apply: leq_trans lt'.
exact: leq_trans lt' (subset_leq_card (states_sub X)).
Qed.

(* The inputs, letter by letter. *)
Lemma inputs_rcons (R : seq A -> {set Q}) w a : inputs R (rcons w a) = rcons (inputs R w) (a, R w, R (rcons w a)).
Proof.
suff E v : inputs_from R v (rcons w a) = rcons (inputs_from R v w) (a, R (v ++ w), R (rcons (v ++ w) a)) by exact: E.
by elim: w v => [|b w IH] v /=; [rewrite cats0 | rewrite IH cat_rcons].
Qed.
Lemma chain_after_rcons sizes q0 R w a :
  chain_after sizes q0 R (rcons w a) = chain_step sizes (chain_after sizes q0 R w) (a, R w, R (rcons w a)).
Proof. by rewrite /Window.chain_after inputs_rcons foldl_rcons. Qed.

(* What holds for a word holds for the word before its last letter. *)
Lemma sets_ok_rcons q0 R w a : sets_ok delta s q0 R (rcons w a) ->
  [/\ sets_ok delta s q0 R w, delta a @: R w \subset R (rcons w a), #|R w| <= s & #|R (rcons w a)| <= s].
Proof.
case=> h0 h1 h2; split; first split=> //.
- by move=> v b u E; apply: (h1 v b (rcons u a)); rewrite E rcons_cat.
- by move=> v u E; apply: (h2 v (rcons u a)); rewrite E rcons_cat.
- by apply: (h1 w a [::]); rewrite cats1.
- by apply: (h2 w [:: a]); rewrite cats1.
by apply: (h2 _ [::]); rewrite cats0.
Qed.

(* Every chain that occurs is valid. *)
Theorem chain_valid sizes q0 R w : falling s sizes -> sets_ok delta s q0 R w ->
    (forall v a u, w = v ++ a :: u -> fits delta sizes (chain_after sizes q0 R v) a) ->
  valid sizes (state_after delta q0 w) (R w) (chain_after sizes q0 R w).
Proof.
move=> fall; elim/last_ind: w => [|w a IH] ok fit.
  by case: ok => h0 _ h2; apply: start_valid => //; apply: (h2 [::] [::]).
have [ok' sub le le'] := sets_ok_rcons ok; rewrite chain_after_rcons /state_after foldl_rcons.
apply: step_valid => //; last by apply: (fit w a [::]); rewrite cats1.
by apply: IH => // v b u E; apply: (fit v b (rcons u a)); rewrite E rcons_cat.
Qed.

(* A valid chain ends in the state alone. *)
Lemma valid_last sizes q (R : {set Q}) chain : falling s sizes -> valid sizes q R chain ->
  last setT chain = [set (inl q : slot)].
Proof.
case/andP=> _ /eqP one []; case: chain => [|X chain] //= _ _ [cX c] /andP[qX q'].
have card1: #|last X chain| = 1 by rewrite -(last_map (fun X : {set slot} => #|X|)) c cX one.
have qin: (inl q : slot) \in last X chain.
  by case: chain q' {c card1} => [|Y chain] //; move/allP/(_ _ (mem_last Y chain)).
by apply/esym/eqP; rewrite eqEcard sub1set qin cards1 card1.
Qed.

(* own.window, on sets, for all sizes that fit the chains that occur. *)
Theorem fitting_chain_tracks sizes q0 R w : falling s sizes -> sets_ok delta s q0 R w ->
    (forall v a u, w = v ++ a :: u -> fits delta sizes (chain_after sizes q0 R v) a) ->
  last setT (chain_after sizes q0 R w) = [set (inl (state_after delta q0 w) : slot)].
Proof. by move=> fall ok fit; apply: valid_last fall (chain_valid fall ok fit). Qed.

(* The same where every size is one less than the one above it. *)
Lemma countdown_valid sizes q0 R w : falling s sizes -> sets_ok delta s q0 R w ->
    (forall i, i < size sizes -> nth 0 sizes i = (nth 0 (s :: sizes) i).-1) ->
  valid sizes (state_after delta q0 w) (R w) (chain_after sizes q0 R w).
Proof.
move=> fall ok one; elim/last_ind: w ok => [|w a IH] ok.
  by case: ok => h0 _ h2; apply: start_valid => //; apply: (h2 [::] [::]).
have [ok' sub le le'] := sets_ok_rcons ok; rewrite chain_after_rcons /state_after foldl_rcons.
by apply: step_valid (IH ok') _ => //; apply: countdown_fits (IH ok') one.
Qed.

(* The sizes s - 1, ..., 1 are such. *)
Lemma countdown_ok : 0 < s ->
  falling s (countdown s)
  /\ forall i, i < size (countdown s) -> nth 0 (countdown s) i = (nth 0 (s :: countdown s) i).-1.
Proof.
move=> s0; have sz: size (countdown s) = s.-1 by rewrite size_map size_iota.
have nthc i : i < s.-1 -> nth 0 (countdown s) i = s - i.+1.
  by move=> lt; rewrite (nth_map 0) ?size_iota // nth_iota.
have nthd i : i <= s.-1 -> nth 0 (s :: countdown s) i = s - i.
  by case: i => [|i] /=; [rewrite subn0 | apply: nthc].
split=> [|i]; last by rewrite sz => lt; rewrite (nthd i (ltnW lt)) (nthc i lt) subnS.
apply/andP; split; last by rewrite (last_nth 0) sz nthd // -subn1 subKn.
apply/(pathP 0) => i; rewrite sz => lt; rewrite (nthd i (ltnW lt)) (nthc i lt) /=.
by rewrite ltn_sub2l // -(prednK s0) ltnS ltnW.
Qed.

(* Some state is in a set of at most s. *)
Lemma sets_ok_s0 q0 R w : sets_ok delta s q0 R w -> 0 < s.
Proof. by case=> h0 _ h2; apply: leq_trans (h2 [::] w erefl); apply/card_gt0P; exists q0. Qed.

(* The invariants for the sizes s, s - 1, ..., 1. *)
Theorem window_chain_valid q0 R w : sets_ok delta s q0 R w ->
  valid (countdown s) (state_after delta q0 w) (R w) (chain_after (countdown s) q0 R w).
Proof. by move=> ok; have [fall one] := countdown_ok (sets_ok_s0 ok); apply: countdown_valid. Qed.

(* own.window, on sets: the last of the s sets of slots is the automaton's state alone. *)
Theorem window_chain_tracks q0 R w : sets_ok delta s q0 R w ->
  last setT (chain_after (countdown s) q0 R w) = [set (inl (state_after delta q0 w) : slot)].
Proof.
move=> ok; have [fall _] := countdown_ok (sets_ok_s0 ok).
exact: valid_last fall (window_chain_valid ok).
Qed.

(* There are s sets, so s - 1 levels below the first. *)
Lemma window_chain_size q0 R w : sets_ok delta s q0 R w -> size (chain_after (countdown s) q0 R w) = s.
Proof.
move=> ok; have [_ _ c _] := window_chain_valid ok; rewrite -(size_map (fun X : {set slot} => #|X|)) c /=.
by rewrite size_map size_iota prednK // (sets_ok_s0 ok).
Qed.

(* The same for a sequence R_0, R_1, ... of sets beside one word. *)
Corollary sequence_chain_tracks q0 (R : nat -> {set Q}) w : q0 \in R 0 ->
    (forall a t, t < size w -> delta (nth a w t) @: R t \subset R t.+1) -> (forall t, t <= size w -> #|R t| <= s) ->
  last setT (chain_after (countdown s) q0 (fun v => R (size v)) w) = [set (inl (state_after delta q0 w) : slot)].
Proof.
move=> h0 h1 h2; apply: window_chain_tracks; split=> // [v a u E | v u E].
  by have := h1 a (size v); rewrite E nth_cat ltnn subnn size_cat size_rcons addnS leq_addr; apply.
by apply: h2; rewrite E size_cat leq_addr.
Qed.

(* Item by item, the list of levels is what it should be. *)
Lemma nth_levels a sizes i : forall old new chain, size chain = size sizes -> i < size sizes ->
  let chain' := levels a old new sizes chain in
  nth setT chain' i
  = level (nth 0 sizes i) (a, nth setT (old :: chain) i, nth setT (new :: chain') i) (nth setT chain i).
Proof.
by elim: sizes i => [|m sizes IH] [|i] // old new [|Y chain] //= [sz] lt; apply: IH.
Qed.

(* Step by step: X_1 is R and phantoms, before and after, and X'_{i+1} is the value of level i at X_{i+1} on the input
   (a, X_i, X'_i). *)
Theorem window_step_levels q0 R w a i : sets_ok delta s q0 R (rcons w a) -> i < s.-1 ->
  let chain := chain_after (countdown s) q0 R w in let chain' := chain_after (countdown s) q0 R (rcons w a) in
  [/\ nth setT chain 0 = slots (R w), nth setT chain' 0 = slots (R (rcons w a))
    & nth setT chain' i.+1 = level (s - i.+1) (a, nth setT chain i, nth setT chain' i) (nth setT chain i.+1)].
Proof.
move=> ok lt /=; have [ok' _ _ _] := sets_ok_rcons ok; have [h _ c _] := window_chain_valid ok'.
have sz: size (countdown s) = s.-1 by rewrite size_map size_iota.
have E: nth 0 (countdown s) i = s - i.+1 by rewrite (nth_map 0) ?size_iota // nth_iota.
rewrite chain_after_rcons; case: (chain_after _ _ _ w) h c => [|X chain] //= -> [_ c]; split=> //.
have szc: size chain = size (countdown s) by rewrite -c size_map.
by rewrite nth_levels ?szc ?sz ?E.
Qed.

(* Each level permutes or resets.  If a is injective on the states of old = X_i, one permutation of the slots moves
   X_{i+1}, whichever it is; if also a takes them into new = X'_i, and new has as many slots as old (both always hold in
   the chain), it agrees with a on these states and takes old to new.  Else the value does not depend on X_{i+1}. *)
Theorem permutation_or_reset m a old new :
  if injective_on a (states old)
  then exists p : {perm slot}, (forall X, level m (a, old, new) X = p @: X)
    /\ (slot_delta a @: states old \subset new -> #|new| = #|old| -> fitting delta a old new p)
  else exists Z, forall X, level m (a, old, new) X = Z.
Proof.
rewrite /Window.level; case inj: (injective_on a (states old)).
  exists (bijection a old new); split=> [X // | sub eqc]; exact: fitting_exists inj sub eqc.
by exists (pad (slot_delta a @: states old) new m).
Qed.
End Proofs.

Section FirstBijection.
Variables (Q : finType) (A : Type) (delta : A -> Q -> Q) (s : nat).
Notation slot := [finType of (Q + 'I_s)%type].

(* A rule for the permutations: the first that fits, if any does. *)
Definition first_bijection a (X X' : {set slot}) : {perm slot} :=
  odflt 1%g [pick p : {perm slot} | [forall x in states X, p x == slot_delta delta a x] && (p @: X == X')].

Lemma first_bijection_ok a (X X' : {set slot}) p :
  fitting delta a X X' p -> fitting delta a X X' (first_bijection a X X').
Proof.
case=> agree onto; rewrite /first_bijection; case: pickP => [p' /andP[/forall_inP ok /eqP onto'] | none].
  by split=> // x /ok/eqP.
by have /negP[] := negbT (none p); apply/andP; split; [apply/forall_inP=> x /agree-> | apply/eqP].
Qed.
End FirstBijection.

Section Numbered.
(* The same without phantoms, by own.chain itself (Chain.v): number the states of R from 0; the number of the state is
   the state of an automaton of s = k + 1 states whose letters are the inputs (a, R, R'). *)
Variables (Q : finType) (A : Type) (delta : A -> Q -> Q) (k : nat) (q0 : Q).
Notation s := k.+1.
Definition number (R : {set Q}) q : 'I_s := inord (index q (enum R)).
Definition state_of (R : {set Q}) (c : 'I_s) : Q := nth q0 (enum R) c.
Definition numbered (input : A * {set Q} * {set Q}) (c : 'I_s) : 'I_s :=
  let: (a, R, R') := input in number R' (delta a (state_of R c)).

(* Numbers and states of a set of at most s states correspond. *)
Lemma numberK (R : {set Q}) q : #|R| <= s -> q \in R -> state_of R (number R q) = q.
Proof.
move=> le qR; have qe: q \in enum R by rewrite mem_enum.
by rewrite /state_of /number inordK ?nth_index //; apply: leq_trans le; rewrite cardE index_mem.
Qed.

(* The state stays in the sets. *)
Lemma state_in R w : sets_ok delta s q0 R w -> state_after delta q0 w \in R w.
Proof.
elim/last_ind: w => [|w a IH] ok; first by case: ok.
have [ok' sub _ _] := sets_ok_rcons ok; rewrite /state_after foldl_rcons.
by apply: (subsetP sub); apply: imset_f; apply: IH.
Qed.

(* The automaton of numbers reaches the number of the state. *)
Lemma numbered_ok R w : sets_ok delta s q0 R w ->
  state_after numbered (number (R [::]) q0) (inputs R w) = number (R w) (state_after delta q0 w).
Proof.
elim/last_ind: w => [|w a IH] ok //; have [ok' _ le _] := sets_ok_rcons ok.
rewrite inputs_rcons /state_after !foldl_rcons -!/(state_after _ _ _) IH //= numberK //.
exact: state_in.
Qed.

(* own.chain for the automaton of numbers ends in the number of the state, which with R gives the state. *)
Theorem numbered_chain_tracks R w : sets_ok delta s q0 R w ->
  let start := Chain.start (countdown s) (number (R [::]) q0) in
  let chain := foldl (Chain.chain_step numbered (countdown s)) start (inputs R w) in
  [set state_of (R w) c | c in last setT chain] = [set state_after delta q0 w].
Proof.
move=> ok /=; have := chain_tracks numbered (number (R [::]) q0) (inputs R w).
rewrite card_ord => ->; rewrite -/(state_after _ _ _) numbered_ok // imset_set1 numberK ?state_in //.
by case: ok => _ _ h2; apply: (h2 w [::]); rewrite cats0.
Qed.
End Numbered.

Section Window.
Variables (Q : finType) (A : Type) (delta : A -> Q -> Q).
Implicit Types (q : Q) (a : A) (u v w : seq A) (X Y : {set Q}).

(* The image of a set under a word, and the last m letters of a word (all, if there are fewer). *)
Definition images X w : {set Q} := foldl (fun X a => delta a @: X) X w.
Definition last_letters m w : seq A := drop (size w - m) w.

(* The window's set: the image of all states under the last m letters; the one state reached before there are m. *)
Definition window m q0 w : {set Q} :=
  if size w < m then [set state_after delta q0 w] else images setT (last_letters m w).

(* Images of larger sets are larger, and an image has no more elements than the set. *)
Lemma imagesS X Y w : X \subset Y -> images X w \subset images Y w.
Proof. by elim: w X Y => //= a w IH X Y sub; apply: IH; apply: imsetS. Qed.
Lemma images_card X w : #|images X w| <= #|X|.
Proof. by elim: w X => //= a w IH X; apply: leq_trans (IH _) (leq_imset_card _ _). Qed.

(* The state is in the image. *)
Lemma state_in_images q X w : q \in X -> state_after delta q w \in images X w.
Proof. by elim: w q X => //= a w IH q X qX; apply: IH; apply: imset_f. Qed.

(* Forgetting the first letters enlarges the image. *)
Lemma images_forget u v : images setT (u ++ v) \subset images setT v.
Proof. by rewrite /images foldl_cat; apply: imagesS; apply: subsetT. Qed.

(* The last letters. *)
Lemma last_letters_size m w : size (last_letters m w) = minn m (size w).
Proof.
by rewrite size_drop; case: (leqP m (size w)) => [/subKn | /ltnW]; rewrite // -subn_eq0 => /eqP->; rewrite subn0.
Qed.
Lemma last_letters_all m w : size w <= m -> last_letters m w = w.
Proof. by rewrite -subn_eq0 /last_letters => /eqP->; rewrite drop0. Qed.
Lemma last_letters_last m k w : m <= k -> last_letters m (last_letters k w) = last_letters m w.
Proof.
move=> mk; have [le|lt] := leqP (size w) k; first by rewrite [last_letters k w]last_letters_all.
rewrite /last_letters size_drop drop_drop (subKn (ltnW lt)); congr (drop _ w).
by rewrite addnC addnBA // subnK // ltnW.
Qed.
Lemma last_letters_rcons m w a : last_letters m.+1 (rcons w a) = rcons (last_letters m w) a.
Proof. by rewrite /last_letters size_rcons subSS drop_rcons // leq_subr. Qed.

(* The window's set is that of the last letters, m or more. *)
Lemma window_last m k q0 w : m <= k -> window m q0 (last_letters k w) = window m q0 w.
Proof.
move=> mk; have [le|lt] := leqP (size w) k; first by rewrite last_letters_all.
rewrite /window last_letters_size (minn_idPl (ltnW lt)) ltnNge mk last_letters_last //=.
by rewrite ltnNge (ltnW (leq_ltn_trans mk lt)).
Qed.

(* The three hypotheses hold for it, if words of m letters leave at most s states. *)
Theorem window_ok (P : pred A) s m q0 w : 0 < s ->
    (forall u, size u = m -> all P u -> #|images setT u| <= s) -> all P w ->
  sets_ok delta s q0 (window m q0) w.
Proof.
move=> s0 few Pw; split.
- by rewrite /window; case: ifP => _; [rewrite inE | apply: (@state_in_images _ _ [::]); rewrite inE].
- move=> v a _ _; rewrite /window size_rcons; have [lt|le] := ltnP (size v) m.
    rewrite imset_set1 sub1set; case: ifP => _; first by rewrite inE /state_after foldl_rcons.
    rewrite last_letters_all ?size_rcons // -/(state_after _ _ _).
    have -> : delta a (state_after delta q0 v) = state_after delta q0 (rcons v a) by rewrite /state_after foldl_rcons.
    by apply: state_in_images; rewrite inE.
  rewrite ltnNge leqW //=; case: m le {few} => [|m] le.
    by rewrite /last_letters !subn0 !drop_size /= subsetT.
  rewrite last_letters_rcons.
  have [x ->] : exists x, last_letters m.+1 v = x :: last_letters m v.
    rewrite /last_letters -(subnSK le); case: v le => [|x0 v] // le.
    exists (nth x0 (x0 :: v) (size (x0 :: v) - m.+1)); rewrite -drop_nth //.
    by rewrite ltn_subrL.
  rewrite -[_ @: _](_ : images setT (x :: rcons (last_letters m v) a) = _) ?(images_forget [:: x]) //.
  by rewrite /images /= foldl_rcons.
move=> v u E; move: Pw; rewrite E all_cat => /andP[Pv _]; rewrite /window.
case: ltnP => le; first by rewrite cards1.
apply: few; first by rewrite last_letters_size (minn_idPl le).
by move: Pv; rewrite -{1}[v](cat_take_drop (size v - m)) all_cat => /andP[].
Qed.

(* A letter is the identity. *)
Definition identity a : bool := [forall q, delta a q == q].

(* A word and the same word without identity letters reach the same state. *)
Theorem skip_identities q w : state_after delta q [seq a <- w | ~~ identity a] = state_after delta q w.
Proof.
rewrite /state_after; elim: w q => //= a w IH q; case: (boolP (identity a)) => [/forallP/(_ q)/eqP E | _] /=.
  by rewrite E.
exact: IH.
Qed.
End Window.

Section Machine.
Variables (Q : finType) (A : Type) (delta : A -> Q -> Q) (s m : nat) (q0 : Q).
Notation slot := [finType of (Q + 'I_s)%type].
Variable bijection : A -> {set slot} -> {set slot} -> {perm slot}.
Hypothesis bijection_ok : forall a X X' p, fitting delta a X X' p -> fitting delta a X X' (bijection a X X').
Implicit Types (a : A) (r w : seq A).

(* The machine's memory: the last m + 1 letters, and the chain.  It reads R and R' off the new register alone:
   R' from all of it, R from all but the last letter.  Identity letters change nothing. *)
Definition memory := (seq A * seq {set slot})%type.
Definition register_input r a : A * {set Q} * {set Q} :=
  (a, window delta m q0 (take (size r).-1 r), window delta m q0 r).
Definition machine_step (x : memory) a : memory :=
  if identity delta a then x else
  let r := last_letters m.+1 (rcons x.1 a) in (r, chain_step delta bijection (countdown s) x.2 (register_input r a)).
Definition machine_start : memory := ([::], start s (countdown s) q0 (window delta m q0 [::])).

(* The register after one more letter, and what it says of the sets. *)
Lemma register_step w a : last_letters m.+1 (rcons (last_letters m.+1 w) a) = last_letters m.+1 (rcons w a).
Proof. by rewrite !last_letters_rcons last_letters_last. Qed.
Theorem register_ok w a :
  register_input (last_letters m.+1 (rcons w a)) a = (a, window delta m q0 w, window delta m q0 (rcons w a)).
Proof.
rewrite /register_input window_last // last_letters_rcons size_rcons /= -cats1 take_size_cat //.
by rewrite window_last.
Qed.

(* The machine holds the last letters and the chain of the window's sets. *)
Lemma machine_ok w : let u := [seq a <- w | ~~ identity delta a] in
  foldl machine_step machine_start w
  = (last_letters m.+1 u, chain_after delta bijection (countdown s) q0 (window delta m q0) u).
Proof.
elim/last_ind: w => [|w a IH] //=; rewrite foldl_rcons IH filter_rcons /machine_step.
case: (identity delta a) => //; set u := [seq _ <- _ | _].
by rewrite -[~~ false]/true -[(_, _).1]/(last_letters m.+1 u) register_step register_ok -chain_after_rcons.
Qed.

(* own.window: if words of m letters, none the identity, leave at most s states, the machine tracks the state. *)
Theorem machine_tracks w : 0 < s ->
    (forall u, size u = m -> all (fun a => ~~ identity delta a) u -> #|images delta setT u| <= s) ->
  last setT (foldl machine_step machine_start w).2 = [set (inl (state_after delta q0 w) : slot)].
Proof.
move=> s0 few; rewrite machine_ok /= -(skip_identities delta); apply: window_chain_tracks => //.
exact: window_ok few (filter_all _ _).
Qed.
End Machine.

Section Criterion.
Variables (Q : finType) (A : eqType) (delta : A -> Q -> Q) (letters : seq A) (s : nat).
Implicit Types (u : seq A) (X Y : {set Q}).

(* Listing by steps: the image sets of more than s states under the words of 0, 1, 2, ... of the letters. *)
Definition large (Xs : seq {set Q}) : seq {set Q} := undup [seq X : {set Q} <- Xs | s < #|X|].
Definition next (Xs : seq {set Q}) : seq {set Q} := large [seq delta a @: X | X : {set Q} <- Xs, a : A <- letters].
Definition large_images m : seq {set Q} := iter m next (large [:: setT]).

(* The list is complete and exact. *)
Lemma large_imagesP m Y : reflect
  (exists u, [/\ size u = m, all (mem letters) u, Y = images delta setT u & s < #|Y|]) (Y \in large_images m).
Proof.
apply: (iffP idP) => [|[u []]].
  elim: m Y => [|m IH] Y /=; rewrite mem_undup mem_filter => /andP[lt].
    by rewrite inE => /eqP E; exists [::]; split.
  case/allpairsP=> -[X a] [/= /IH[u [sz ok E _]] al EY]; exists (rcons u a).
  by rewrite size_rcons sz all_rcons ok andbT /images foldl_rcons -/(images _ _ _) -E.
elim: m u Y => [|m IH] u Y.
  by move/size0nil=> -> _ E lt; rewrite mem_undup mem_filter lt E inE /=.
case: (lastP u) => [//|{}u a]; rewrite size_rcons all_rcons /images foldl_rcons -/(images _ _ _).
move=> -[sz] /andP[al ok] E lt; rewrite mem_undup mem_filter lt; apply/allpairsP.
exists (images delta setT u, a); split=> //; apply: (IH u) => //.
by apply: leq_trans lt _; rewrite E leq_imset_card.
Qed.

(* The criterion: no such set after m steps.  This is what a program's listing decides. *)
Theorem criterion m : large_images m = [::] <->
  forall u, size u = m -> all (mem letters) u -> #|images delta setT u| <= s.
Proof.
split=> [none u sz ok | few].
  rewrite leqNgt; apply/negP=> lt; suff: images delta setT u \in large_images m by rewrite none.
  by apply/large_imagesP; exists u.
case E: (large_images m) => [//|Y Ys]; have: Y \in large_images m by rewrite E inE eqxx.
by case/large_imagesP=> u [sz ok -> lt]; have := few u sz ok; rewrite leqNgt lt.
Qed.

(* The same as a graph: X -> Y if both have more than s states and a letter takes X to Y.  The criterion says that no
   path from Q has m steps. *)
Definition arrow X Y : bool := [&& s < #|X|, s < #|Y| & has (fun a => delta a @: X == Y) letters].
Theorem no_path m : s < #|Q| ->
  large_images m = [::] <-> forall p : seq {set Q}, size p = m -> ~~ path arrow setT p.
Proof.
move=> sQ; split=> [none p sz | none].
  apply/negP=> pth; suff: last setT p \in large_images m by rewrite none.
  rewrite -sz; elim/last_ind: p pth {sz} => [_|p Y IH]; first by rewrite mem_undup mem_filter cardsT sQ inE /=.
  rewrite rcons_path last_rcons size_rcons => /andP[/IH inL /and3P[_ lt /hasP[a al /eqP E]]].
  by rewrite mem_undup mem_filter lt; apply/allpairsP; exists (last setT p, a).
case E: (large_images m) => [//|Y Ys]; have: Y \in large_images m by rewrite E inE eqxx.
suff: Y \in large_images m -> exists p, [/\ size p = m, path arrow setT p & last setT p = Y].
  by move=> H /H[p [sz pth _]]; have := none p sz; rewrite pth.
elim: m Y {none E Ys} => [|m IH] Y /=; rewrite mem_undup mem_filter => /andP[lt].
  by rewrite inE => /eqP->; exists [::].
case/allpairsP=> -[X a] [/= inL al EY]; have [p [sz pth EX]] := IH X inL.
exists (rcons p Y); rewrite size_rcons sz rcons_path pth last_rcons EX; split=> //.
have ltX: s < #|X| by apply: leq_trans lt _; rewrite EY leq_imset_card.
by rewrite /arrow ltX lt; apply/hasP; exists a; rewrite // EY.
Qed.

(* A certificate: a list of sets and ranks below m.  Q is in it, if it has more than s states; the image of a listed
   set by a letter has at most s states or is listed with a smaller rank.  Such ranks exist only without cycles. *)
Theorem listing (Xs : seq {set Q}) (rank : {set Q} -> nat) m :
    (s < #|Q| -> setT \in Xs) -> (forall X, X \in Xs -> rank X < m) ->
    (forall X a, X \in Xs -> a \in letters -> let Y := delta a @: X in s < #|Y| -> (Y \in Xs) && (rank Y < rank X)) ->
  large_images m = [::].
Proof.
move=> top below down; apply/criterion=> u sz ok.
have [/top inXs|le] := ltnP s #|Q|; last by apply: leq_trans le; apply: max_card.
have: rank setT < size u by rewrite sz below.
move: inXs {sz}; move: (setT : {set Q}) => X; elim: u X ok => //= a u IH X /andP[al ok] inXs lt.
have [ltY|le] := ltnP s #|delta a @: X|; last by apply: leq_trans le; apply: images_card.
by have /andP[inY ltr] := down X a inXs al ltY; apply: IH => //; apply: leq_trans ltr _.
Qed.
End Criterion.

Section Rows.
(* The criterion by computation, on lists of numbers: `rows` are the rows of the letters' table. *)
Variables (n : nat) (A : eqType) (delta : A -> 'I_n -> 'I_n) (letters : seq A) (row : A -> seq nat) (s : nat).
Hypothesis row_ok : forall a (q : 'I_n), a \in letters -> nth 0 (row a) q = delta a q.
Notation rows := [seq row a | a <- letters].

Definition next_lists (rs : seq (seq nat)) (Ls : seq (seq nat)) : seq (seq nat) :=
  undup [seq L <- [seq sort leq (undup [seq nth 0 r i | i <- L]) | L <- Ls, r <- rs] | s < size L].
Definition lists (rs : seq (seq nat)) m : seq (seq nat) :=
  iter m (next_lists rs) [seq L <- [:: iota 0 n] | s < size L].

(* The list L, without repetitions, stands for the set X. *)
Definition stands L (X : {set 'I_n}) : Prop := uniq L /\ L =i [seq val x | x <- enum X].

Lemma stands_size L X : stands L X -> size L = #|X|.
Proof.
case=> uL E; rewrite cardE -(size_map val); apply: perm_size; apply: uniq_perm => //.
by rewrite (map_inj_uniq val_inj) enum_uniq.
Qed.

(* Every large image set is listed. *)
Lemma lists_complete m X : X \in large_images delta letters s m -> exists2 L, L \in lists rows m & stands L X.
Proof.
elim: m X => [|m IH] X /=; rewrite mem_undup mem_filter => /andP[lt].
  rewrite inE => /eqP E; have st: stands (iota 0 n) X.
    by split; [apply: iota_uniq | move=> i; rewrite -val_enum_ord E enum_setT enumT].
  by exists (iota 0 n); rewrite // /lists /= (stands_size st) lt inE.
case/allpairsP=> -[Y a] [/= /IH[L inL [uL EL]] al EX].
pose L' := sort leq (undup [seq nth 0 (row a) i | i <- L]); have st: stands L' X.
  split=> [|i]; first by rewrite sort_uniq undup_uniq.
  rewrite mem_sort mem_undup EX; apply/mapP/mapP=> [[j jL ->] | [x]].
    move: jL; rewrite EL => /mapP[y]; rewrite mem_enum => yY ->.
    by exists (delta a y); rewrite ?mem_enum ?imset_f // row_ok.
  rewrite mem_enum => /imsetP[y yY ->] ->; exists (val y); last by rewrite row_ok.
  by rewrite EL map_f // mem_enum.
exists L' => //; rewrite /next_lists mem_undup mem_filter (stands_size st) lt.
by apply/allpairsP; exists (L, row a); split=> //; apply: map_f.
Qed.

(* So an empty list proves the criterion. *)
Theorem rows_criterion m : lists rows m = [::] -> large_images delta letters s m = [::].
Proof.
move=> none; case E: (large_images _ _ _ m) => [//|X Xs].
have: X \in large_images delta letters s m by rewrite E inE eqxx.
by case/lists_complete=> L; rewrite none.
Qed.
End Rows.

(* own.window, in one statement: if every letter is the identity or listed, and no image set of more than s states is
   left after m of the listed letters, the window of m + 1 letters and s - 1 levels below it track the state. *)
Theorem window_tracks (Q : finType) (A : eqType) (delta : A -> Q -> Q) (letters : seq A) (s m : nat) (q0 : Q) w :
    0 < s -> (forall a, ~~ identity delta a -> a \in letters) -> large_images delta letters s m = [::] ->
  last setT (foldl (machine_step delta m q0 (@first_bijection Q A delta s)) (machine_start delta s m q0) w).2
  = [set inl (state_after delta q0 w)].
Proof.
move=> s0 listed /criterion few; apply: machine_tracks => //; first by move=> a X X' p; apply: first_bijection_ok.
by move=> u sz ok; apply: few => //; apply/allP=> a /(allP ok)/listed.
Qed.

(* An example, decided by computation: Tomita 7 (blocks of 0s, 1s, 0s and 1s), five states.  The image of all states
   under a letter has three states, so a window (s = 3, m = 1) and two levels below it track the state. *)
Definition tomita7_row (a : bool) : seq nat := if a then [:: 1; 1; 3; 3; 4] else [:: 0; 2; 2; 4; 4].
Definition tomita7 (a : bool) (q : 'I_5) : 'I_5 := inord (nth 0 (tomita7_row a) q).
Lemma tomita7_criterion : large_images tomita7 [:: false; true] 3 1 = [::].
Proof.
apply: (@rows_criterion 5 _ tomita7 _ tomita7_row) => [a q _|]; last by vm_compute.
by rewrite /tomita7 inordK //; case: a; case: q => -[|[|[|[|[|]]]]].
Qed.
Example tomita7_tracks (w : seq bool) :
  last setT (foldl (machine_step tomita7 1 ord0 (@first_bijection _ _ tomita7 3)) (machine_start tomita7 3 1 ord0) w).2
  = [set inl (state_after tomita7 ord0 w)].
Proof. by apply: window_tracks tomita7_criterion => //; case. Qed.

