(* own.window as a linear RNN over any ring (the integers, say).  Needs Chain.v, ChainLRNN.v,
   Window.v.

   Layer 1 is a shift register: its hidden matrix H has m + 1 rows (key dimension) and d columns (value dimension);
   row i holds the letter read i letters ago as d bits, not all 0, or zeros.  On a letter a, H <- N H + e_0 (bits of
   a), N the nilpotent shift.  The list of its rows gives R before and after a, the image of all states under the m
   letters before and under the last m.  The s - 1 layers below are those of ChainLRNN.v, unchanged, for the automaton
   of s states that Window.v calls `numbered`: its state is the number of the state in R, its letter (a, R before, R
   after).  So there are no phantoms, and these layers have dimension 2s.  On a letter that is the identity all layers
   have transition I and input 0.

   Proved for every automaton with finitely many letters, start state and word:
   - window_lrnn_tracks: if every letter is the identity or listed, no image set of more than s states is left after m
     of the listed letters (Window.v, criterion), and 2^d exceeds the number of letters, s layers
     (number_of_window_layers) decode to the automaton's state.  lrnn_window_tracks: the same for any bits that differ
     and are not all 0. tomita7_lrnn_tracks: an example (3 layers), its criterion decided by computation.
   - shift_zero_one, shift_nilpotent, shift_norm: N has entries 0 and 1, N^(m+1) = 0, and N^T N = diag(1, ..., 1, 0).
   - register_holds, read_contents: H after a word reads as its last m + 1 letters.
   - register_by_factors, register_factors_size: a step of layer 1 is a product of m + 1 generalized Householder
     factors H <- (I - k k^T) H + k v: m swaps (k = e_i - e_j, v = 0) and a write (k = e_0, v the bits).  at_most_2s:
     the other layers have at most 2s a token.
   - hidden_zero_one, register_factors_zero_one, wide_key_dot_small: all hidden entries are 0 or 1, also between the
     factors, and every product k^T H has entries 0, 1 and -1 (the layers below: ChainLRNN.v).

   Checked by Coq 8.16.1 with mathcomp 1.15.0 (ssreflect, fingroup, algebra) in 4 seconds; no axioms. *)
Set Warnings "-notation-overridden,-ambiguous-paths".
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
From Mirrormata Require Import Chain ChainLRNN Window.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Open Scope ring_scope.

(* The letters among the first n entries of a list, read entry by entry. *)
Lemma pmap_nth (T : Type) n (v : seq T) : pmap (fun i => nth None [seq Some x | x <- v] i) (iota 0 n) = take n v.
Proof.
elim: v n => [|x v IH] n; first by rewrite /=; elim: (iota 0 n) => //= i l ->; rewrite nth_nil.
case: n => //= n; congr (_ :: _); rewrite -(IH n) -[1%N]addn0 iotaDl.
by elim: (iota 0 n) => //= i l ->.
Qed.

Section Register.
Variables (R : ringType) (A : finType) (m d : nat).
(* A letter is d bits, not all 0, and letters differ. *)
Variable bits : A -> 'I_d -> bool.
Hypothesis bits_inj : forall a b, bits a =1 bits b -> a = b.
Hypothesis bits_some : forall a, exists c, bits a c.
Implicit Types (a : A) (w : seq A) (H : 'M[R]_(m.+1, d)).

(* Layer 1: key dimension m + 1, value dimension d.  Row i holds the letter read i letters ago, or zeros.  The
   transition moves each row down by one; the input writes the letter into row 0. *)
Definition code a : 'rV[R]_d := \row_c (bits a c)%:R.
Definition shift : 'M[R]_m.+1 := \matrix_(i, j) (i == j.+1 :> nat)%:R.
Definition register_step H a : 'M[R]_(m.+1, d) := shift *m H + delta_mx 0 0 *m code a.

(* What it holds after the word w. *)
Definition contents w : 'M[R]_(m.+1, d) := \matrix_(i, c) (nth (fun=> false) [seq bits a | a <- rev w] i c)%:R.

(* The transition is a nilpotent shift of zeros and ones; it keeps the norm of all vectors whose last entry is 0 and
   loses that entry. *)
Lemma shift_zero_one i j : (shift i j == 0) || (shift i j == 1).
Proof. by rewrite mxE; case: (_ == _ :> nat); rewrite eqxx ?orbT. Qed.
Lemma shift_power n : shift ^+ n = \matrix_(i, j) (i == j + n :> nat)%N%:R.
Proof.
elim: n => [|n IH]; apply/matrixP=> i j; first by rewrite expr0 !mxE addn0.
rewrite exprS IH !mxE; have [lt|ge] := ltnP (j + n) m.+1.
  rewrite (bigD1 (Ordinal lt)) //= !mxE eqxx mulr1 addnS big1 ?addr0 // => l /negbTE ne.
  by rewrite !mxE -(inj_eq val_inj) /= in ne *; rewrite ne mulr0.
rewrite big1 => [|l _]; last by rewrite !mxE (ltn_eqF (leq_trans (ltn_ord l) ge)) mulr0.
by rewrite (ltn_eqF (leq_trans (ltn_ord i) _)) // addnS leqW.
Qed.
Theorem shift_nilpotent : shift ^+ m.+1 = 0.
Proof.
rewrite shift_power; apply/matrixP=> i j; rewrite !mxE (ltn_eqF (leq_trans (ltn_ord i) _)) //.
exact: leq_addl.
Qed.
Theorem shift_norm : shift^T *m shift = diag_mx (\row_(j < m.+1) (j < m)%N%:R).
Proof.
apply/matrixP=> i j; rewrite !mxE; have [lt|ge] := ltnP j m.
  rewrite (bigD1 (Ordinal (lt : (j.+1 < m.+1)%N))) //= !mxE eqxx mulr1 eqSS big1 ?addr0 => [|l /negbTE ne].
    by rewrite eq_sym (inj_eq val_inj); case: eqP => // ->; rewrite lt mulr1n.
  by rewrite !mxE -(inj_eq val_inj) /= in ne *; rewrite ne mulr0.
rewrite big1 => [|l _]; last first.
  by rewrite !mxE (ltn_eqF (leq_ltn_trans _ (_ : (j < j.+1)%N))) ?mulr0 // (leq_trans _ ge) // -ltnS.
by case: eqP => // ->; rewrite ltnNge ge mulr1n.
Qed.

(* The register holds what it should. *)
Lemma contents_nil : contents [::] = 0.
Proof. by apply/matrixP=> i c; rewrite !mxE nth_nil. Qed.
Theorem register_holds w a : register_step (contents w) a = contents (rcons w a).
Proof.
apply/matrixP=> i c; rewrite /register_step !mxE big_ord1 !mxE rev_rcons /= andbT.
case: i => -[|i] lt /=.
  by rewrite mul1r big1 ?add0r // => j _; rewrite mxE mul0r.
rewrite mul0r addr0 (bigD1 (Ordinal (ltnW lt))) //= !mxE eqxx mul1r big1 ?addr0 // => j /negbTE ne.
by rewrite mxE -(inj_eq val_inj) /= in ne *; rewrite eqSS eq_sym ne mul0r.
Qed.

(* Read-out: which letter a row holds, if any; and the list, oldest first. *)
Definition read_row H i : option A := [pick a | [forall c, (H i c != 0) == bits a c]].
Definition read H : seq A := rev (pmap (read_row H) (enum 'I_m.+1)).

(* The register after w reads as the last m + 1 letters. *)
Theorem read_contents w : read (contents w) = last_letters m.+1 w.
Proof.
have E i : read_row (contents w) i = nth None [seq Some a | a <- rev w] i.
  have B c : (contents w i c != 0) = nth (fun=> false) [seq bits a | a <- rev w] i c.
    by rewrite mxE; case: nth; rewrite ?oner_eq0 ?eqxx.
  rewrite /read_row; have [lt|ge] := ltnP i (size (rev w)); last first.
    rewrite nth_default ?size_map //; case: pickP => // a /forallP ok; have [c ac] := bits_some a.
    by have := ok c; rewrite B nth_default ?size_map // ac.
  have a0: A by case: (rev w) lt.
  have {}B c : (contents w i c != 0) = bits (nth a0 (rev w) i) c by rewrite B (nth_map a0).
  rewrite (nth_map a0) //; case: pickP => [a /forallP ok | /(_ (nth a0 (rev w) i)) /negbT/negP[]].
    by congr Some; apply: bits_inj => c; rewrite -B (eqP (ok c)).
  by apply/forallP=> c; rewrite B.
rewrite /read (eq_pmap E) (_ : pmap _ _ = take m.+1 (rev w)) ?rev_take ?revK ?size_rev //.
by rewrite -pmap_nth -val_enum_ord; elim: (enum _) => //= i l ->.
Qed.

(* One factor on all columns at once:  H <- (I - k k^T) H + k v,  with a key k as in ChainLRNN.v (beta = 1; e_i - e_j,
   or e_i) and a row v of values. *)
Definition apply_wide H (f : factor m.+1 * 'rV[R]_d) : 'M[R]_(m.+1, d) :=
  (1%:M - key R f.1 *m (key R f.1)^T) *m H + key R f.1 *m f.2.

(* The token of letter a: m swaps, which move every row down by one and the last to the top, and one write. *)
Definition swap_at i : factor m.+1 := Swap (inord i) (inord i.+1).
Definition register_factors a : seq (factor m.+1 * 'rV[R]_d) :=
  rcons [seq (swap_at i, 0) | i <- rev (iota 0 m)] (Write 0 true, code a).

(* On each column a factor with value 0 is the factor of ChainLRNN.v; entry by entry. *)
Lemma apply_wide_swap H i j c : col c (apply_wide H (Swap i j, 0)) = apply_factor (col c H) (Swap i j).
Proof. by rewrite /apply_wide /apply_factor /= mulmx0 addr0 scale0r addr0 !colE mulmxA. Qed.
Lemma apply_wide_swapE H i j x c : apply_wide H (Swap i j, 0) x c = H (tperm i j x) c.
Proof. by have /colP/(_ x) := apply_wide_swap H i j c; rewrite apply_swap !mxE. Qed.
Lemma apply_wide_writeE H i b v x c : apply_wide H (Write i b, v) x c = if x == i then v 0 c else H x c.
Proof.
rewrite /apply_wide mulmxBl mul1mx -mulmxA /= trmx_delta -rowE !mxE !big_ord1 !mxE eqxx andbT.
by case: eqP => [->|_]; rewrite ?mul1r ?subrr ?add0r // !mul0r subr0 addr0.
Qed.

(* There are m + 1 of them, and together they are the step. *)
Lemma register_factors_size a : size (register_factors a) = m.+1.
Proof. by rewrite size_rcons size_map size_rev size_iota. Qed.
Lemma swaps_rotate H j : (j <= m)%N ->
  foldl apply_wide H [seq (swap_at i, 0) | i <- rev (iota (m - j) j)]
  = \matrix_(i, c) (if (i < m - j)%N then H i c else if i == (m - j)%N :> nat then H ord_max c else H (inord i.-1) c).
Proof.
elim: j => [|j IH] le.
  apply/matrixP=> i c; rewrite subn0 /= mxE; case: ltngtP => // [lt|e].
    by have := ltn_ord i; rewrite ltnS leqNgt lt.
  by congr (H _ c); apply: val_inj; rewrite /= e.
have E: (m - j)%N = (m - j.+1).+1 by rewrite subnSK.
rewrite /= rev_cons map_rcons foldl_rcons -E IH ?(ltnW le) //; set t := (m - j.+1)%N in E *.
have tm: (t < m)%N by rewrite /t ltn_subrL (leq_ltn_trans _ le).
have vt: (inord t : 'I_m.+1) = t :> nat by rewrite inordK // ltnW.
have vt1: (inord t.+1 : 'I_m.+1) = t.+1 :> nat by rewrite inordK.
apply/matrixP=> i c; rewrite apply_wide_swapE !mxE E; case: tpermP => [->|->|/eqP it /eqP it1].
- by rewrite vt vt1 !ltnn !eqxx.
- by rewrite vt vt1 ltnS leqnn ltnNge leqnSn /= eqn_leq ltnn.
have {}it: (i != t :> nat) by rewrite -vt (inj_eq val_inj).
have {}it1: (i != t.+1 :> nat) by rewrite -vt1 (inj_eq val_inj).
by rewrite ltnS leq_eqVlt (negbTE it) (negbTE it1).
Qed.
Theorem register_by_factors H a : foldl apply_wide H (register_factors a) = register_step H a.
Proof.
have := swaps_rotate H (leqnn m); rewrite subnn foldl_rcons => ->; apply/matrixP=> i c.
rewrite apply_wide_writeE /register_step !mxE ltn0 big_ord1 !mxE andbT; have [->|i0] := eqVneq i 0.
  by rewrite ?eqxx mul1r big1 ?add0r // => j _; rewrite mxE mul0r.
have {}i0: (i != 0%N :> nat) by rewrite -(inj_eq val_inj) in i0.
rewrite (negbTE i0) mul0r addr0 (bigD1 (inord i.-1)) //= mxE inordK ?prednK ?lt0n // ?eqxx ?mul1r; last first.
  by rewrite ltnW.
rewrite big1 ?addr0 // => j ne; rewrite mxE; case: eqP => [e|_]; last by rewrite mul0r.
by move: ne; rewrite e /= inord_val eqxx.
Qed.

(* Swaps swap different rows, so that key_norm applies: beta |k|^2 is 2 or 1. *)
Lemma register_factors_proper a : all (fun f => proper f.1) (register_factors a).
Proof.
rewrite all_rcons all_map all_rev /=; apply/allP=> i; rewrite mem_iota add0n => /= im.
have vi: (inord i : 'I_m.+1) = i :> nat by rewrite inordK // ltnW.
have vi1: (inord i.+1 : 'I_m.+1) = i.+1 :> nat by rewrite inordK.
by apply/eqP=> e; have := congr1 val e; rewrite /= vi vi1 => /eqP; rewrite ltn_eqF.
Qed.

(* Zeros and ones stay zeros and ones after each factor, and every product k^T H has entries 0, 1 and -1. *)
Definition wide_zero_one H := [forall i, forall c, (H i c == 0) || (H i c == 1)].
Lemma contents_zero_one w : wide_zero_one (contents w).
Proof. by apply/forallP=> i; apply/forallP=> c; rewrite mxE; case: nth; rewrite eqxx ?orbT. Qed.
Theorem register_factors_zero_one H a j :
  wide_zero_one H -> wide_zero_one (foldl apply_wide H (take j (register_factors a))).
Proof.
pose ok (f : factor m.+1 * 'rV[R]_d) :=
  if f.1 is Swap _ _ then f.2 == 0 else [forall c, (f.2 0 c == 0) || (f.2 0 c == 1)].
have: all ok (register_factors a).
  rewrite all_rcons all_map; apply/andP; split; last by apply/allP=> i _ /=; rewrite /ok /= eqxx.
  by apply/forallP=> c; rewrite /= mxE; case: bits; rewrite eqxx ?orbT.
rewrite -{1}(cat_take_drop j (register_factors a)) all_cat => /andP[+ _].
elim: (take _ _) H => //= -[f v] fs IH H /andP[okf okfs] h01; apply: IH okfs _.
apply/forallP=> x; apply/forallP=> c; case: f okf => [i1 i2|i1 b] /=; rewrite /ok /=.
  by move/eqP->; rewrite apply_wide_swapE; have /forallP/(_ (tperm i1 i2 x))/forallP/(_ c) := h01.
move/forallP=> v01; rewrite apply_wide_writeE; case: ifP => _; first exact: v01.
by have /forallP/(_ x)/forallP/(_ c) := h01.
Qed.
Lemma wide_key_dot_small (f : factor m.+1) H c : wide_zero_one H -> ((key R f)^T *m H) 0 c \in [:: 0; 1; -1].
Proof.
move/forallP=> h01; have -> : ((key R f)^T *m H) 0 c = ((key R f)^T *m col c H) 0 0.
  by rewrite !mxE; apply: eq_bigr => j _; rewrite !mxE.
by apply: key_dot_small; apply/forallP=> i; rewrite mxE; have /forallP := h01 i.
Qed.
End Register.

Section Stack.
Variables (R : ringType) (Q : finType) (A : finType) (delta : A -> Q -> Q) (k m d : nat) (q0 : Q).
Variable bits : A -> 'I_d -> bool.
Hypothesis bits_inj : forall a b, bits a =1 bits b -> a = b.
Hypothesis bits_some : forall a, exists c, bits a c.
Notation s := k.+1.
Implicit Types (a : A) (w : seq A).
Notation token := (A * {set Q} * {set Q})%type.
Notation delta_s := (@numbered Q A delta k q0).

(* The whole: layer 1 is the register, its matrix of m + 1 rows and d columns; the s - 1 layers below are those of
   ChainLRNN.v for the automaton of numbers 0, ..., s - 1 (Window.v), whose letter (a, R, R') comes from the register
   and the letter.  For a letter that is the identity every layer has transition I and input 0. *)
Definition hidden := ('M[R]_(m.+1, d) * seq 'cV[R]_(s + s))%type.
Definition below : seq 'cV[R]_(s + s) -> token -> seq 'cV[R]_(s + s) :=
  stack_step delta_s (first_extension delta_s) (layer_by_factors delta_s (first_extension delta_s)) (countdown s).
Definition lrnn_step (h : hidden) a : hidden :=
  if identity delta a then h else
  let H := register_step bits h.1 a in
  let t : token := register_input delta m q0 (read bits H) a in
  (H, below h.2 t).
Definition lrnn_start : hidden := (0, start_stack R (countdown s) (number k (window delta m q0 [::]) q0)).

(* The read-out: the states of the window's set whose numbers the last layer holds. *)
Definition lrnn_decode (h : hidden) : {set Q} :=
  [set state_of q0 (window delta m q0 (read bits h.1)) c | c in decode h.2].

(* The hidden state after the word w. *)
Lemma lrnn_ok w : let u := [seq a <- w | ~~ identity delta a] in
  foldl lrnn_step lrnn_start w
  = (contents R m bits u,
     foldl below (start_stack R (countdown s) (number k (window delta m q0 [::]) q0)) (inputs (window delta m q0) u)).
Proof.
elim/last_ind: w => [|w a IH] /=; first by rewrite contents_nil.
rewrite foldl_rcons IH filter_rcons /lrnn_step.
case: (identity delta a) => //; set u := [seq _ <- _ | _].
by rewrite -[~~ false]/true inputs_rcons foldl_rcons register_holds (read_contents R m bits_inj bits_some) register_ok.
Qed.

(* own.window as a linear RNN: s layers decode to the automaton's state after every word. *)
Theorem lrnn_window_tracks w :
    (forall u, size u = m -> all (fun a => ~~ identity delta a) u -> (#|images delta setT u| <= s)%N) ->
  lrnn_decode (foldl lrnn_step lrnn_start w) = [set state_after delta q0 w].
Proof.
move=> few; rewrite lrnn_ok /lrnn_decode /= (read_contents R m bits_inj bits_some) window_last //.
rewrite -(skip_identities delta); set u := [seq _ <- _ | _].
have ok: sets_ok delta s q0 (window delta m q0) u by apply: window_ok few (filter_all _ _).
rewrite -(numbered_chain_tracks ok) (lrnn_tracks R delta_s).
have := chain_tracks delta_s (number k (window delta m q0 [::]) q0) (inputs (window delta m q0) u).
by rewrite card_ord => ->.
Qed.

(* There are s layers: the register and s - 1 below it. *)
Lemma number_of_window_layers : (size lrnn_start.2).+1 = s.
Proof. by rewrite number_of_layers. Qed.

(* No layer below the register needs more than 2s factors a token; the register has m + 1 (register_factors_size). *)
Lemma at_most_2s n (t : ChainLRNN.token s token) : (size (factors delta_s (first_extension delta_s) n t) <= 2 * s)%N.
Proof. exact: at_most_2n. Qed.

(* All entries of all hidden vectors are 0 or 1. *)
Theorem hidden_zero_one w : let h := foldl lrnn_step lrnn_start w in wide_zero_one h.1 /\ all (@zero_one R _) h.2.
Proof. by rewrite /= lrnn_ok /=; split; [apply: contents_zero_one | apply: stack_zero_one]. Qed.
End Stack.

Section Bits.
Variables (A : finType) (d : nat).
(* Codes of d bits, not all 0, exist if 2^d exceeds the number of letters. *)
Definition some_bits (a : A) : 'I_d -> bool :=
  nth [ffun=> false] (enum (predC1 ([ffun=> false] : {ffun 'I_d -> bool}))) (enum_rank a).
Hypothesis few : (#|A| < 2 ^ d)%N.

Lemma some_bits_lt (a : A) : (enum_rank a < size (enum (predC1 ([ffun=> false] : {ffun 'I_d -> bool}))))%N.
Proof.
rewrite -cardE cardC1 card_ffun card_bool card_ord; apply: leq_trans (ltn_ord _) _.
by rewrite -ltnS prednK // expn_gt0.
Qed.
Lemma some_bits_inj (a b : A) : some_bits a =1 some_bits b -> a = b.
Proof.
move/ffunP/eqP; rewrite nth_uniq ?some_bits_lt ?enum_uniq // => /eqP e.
by apply: enum_rank_inj; apply: val_inj.
Qed.
Lemma some_bits_some (a : A) : exists c, some_bits a c.
Proof.
have := mem_nth [ffun=> false] (some_bits_lt a); rewrite mem_enum inE => ne.
apply/existsP; apply: contraR ne; rewrite negb_exists => /forallP no.
by apply/eqP/ffunP=> c; rewrite [RHS]ffunE; apply/negbTE/no.
Qed.
End Bits.

(* own.window as a linear RNN, in one statement: if every letter is the identity or listed, and no image set of more
   than s = k + 1 states is left after m of the listed letters, and d bits can tell the letters and "none" apart, then
   s layers decode to the automaton's state after every word. *)
Theorem window_lrnn_tracks (R : ringType) (Q A : finType) (delta : A -> Q -> Q) (letters : seq A) (k m d : nat) q0 w :
    (#|A| < 2 ^ d)%N -> (forall a, ~~ identity delta a -> a \in letters) -> large_images delta letters k.+1 m = [::] ->
  let bits := @some_bits A d in
  lrnn_decode delta q0 bits (foldl (lrnn_step delta q0 bits) (lrnn_start R delta k m d q0) w)
  = [set foldl (fun q a => delta a q) q0 w].
Proof.
move=> few listed /criterion none; apply: lrnn_window_tracks; [exact: some_bits_inj | exact: some_bits_some |].
by move=> u sz ok; apply: none => //; apply/allP=> a /(allP ok)/listed.
Qed.

(* The example of Window.v over the integers: 3 layers. *)
Example tomita7_lrnn_tracks (w : seq bool) : let bits := @some_bits _ 2 in
  lrnn_decode tomita7 ord0 bits (foldl (lrnn_step tomita7 ord0 bits) (lrnn_start int_Ring tomita7 2 1 2 ord0) w)
  = [set foldl (fun q a => tomita7 a q) ord0 w].
Proof. by apply: window_lrnn_tracks tomita7_criterion; rewrite ?card_bool //; case. Qed.

