(* The linear RNN of a certificate of kind `chain`, written down to be read: own.chain, own.window and own.lookback.

   A certificate has an automaton (states 0, ..., n - 1; letter a takes q to entry q of row a), sizes n_1 > ... > 1, a
   window of m letters or none, and two choices, look_back and gates.  It has no factors: they follow from the rule
   below.  Every layer does H <- C_k ... C_1 (g H) + B on each token, C = I - beta v v^T, g = 1, or 0 for a reset with
   gates.  What C and B are depends on the token alone: on the letter, and on what the layers above are read to hold.

   - `apply_factor`, `apply_step`: what a layer does to a column of its state.
   - `goes`, `hits`, `permutes`, `target`: what a letter does to a set whose set above is known, by the rule.
   - `level_step`: the layer of one level of the chain; `read_after` and `read_before`: what the layer below reads.
   - `register_step`, `window_states`: the shift register of a window and the states that its letters leave.
   - `token`, `run`, `decode`: all layers on a token, on a word, and the state that is read off.

   Sets are lists of their members in ascending order; n, n + 1, ... are phantoms, which fill up the set of a window. *)
Require Import List Arith Bool. Import ListNotations.

Section Vectors.
(* Numbers: any ring.  A checked certificate is right over all of them; 0 and 1 have to be told apart. *)
Variables (R : Type) (zero one : R) (add mul sub : R -> R -> R) (nonzero : R -> bool).
Definition vector := list R.

Fixpoint map2 (A B C : Type) (f : A -> B -> C) (l : list A) (k : list B) : list C :=
  match l, k with x :: l', y :: k' => f x y :: map2 A B C f l' k' | _, _ => [] end.
Arguments map2 {A B C}.

Fixpoint dot (v h : vector) : R :=
  match v, h with x :: v', y :: h' => add (mul x y) (dot v' h') | _, _ => zero end.

(* A factor (beta, v): h <- h - beta (v . h) v. *)
Definition factor := (R * vector)%type.
Definition apply_factor (h : vector) (f : factor) : vector :=
  let s := mul (fst f) (dot (snd f) h) in map2 (fun x y => sub y (mul s x)) (snd f) h.

(* One column h of a layer's state: h <- C_k ... C_1 (g h) + b, the first factor of the list applied first. *)
Definition apply_step (g : R) (fs : list factor) (b h : vector) : vector :=
  map2 add (fold_left apply_factor fs (map (mul g) h)) b.

(* Keys of p entries: e_i, e_i - e_j, and the indicator of a set of places; values and inputs are written with these. *)
Definition unit (i x : nat) : R := if x =? i then one else zero.
Definition vector_of (p : nat) (f : nat -> R) : vector := map f (seq 0 p).
Definition projection p i : factor := (one, vector_of p (unit i)).
Definition swap p i j : factor := (one, vector_of p (fun x => sub (unit i x) (unit j x))).

(* The members of a list at which a vector is not zero. *)
Definition select (X : list nat) (u : vector) : list nat :=
  map fst (filter (fun xu => nonzero (snd xu)) (combine X u)).

(* -------- the rule: a token's letter f, and the set of a level before (X) and after (X') the token -------- *)
Variable n : nat. (* the states are 0, ..., n - 1 *)
Definition image (f : list nat) (x : nat) : nat := nth x f 0.
Definition mem (x : nat) (X : list nat) : bool := existsb (Nat.eqb x) X.
Definition real (X : list nat) : list nat := filter (fun x => x <? n) X.

(* The members of X' that states of X go to, and those that are left. *)
Definition hit (f X : list nat) (y : nat) : bool := mem y (map (image f) (real X)).
Definition hits (f X X' : list nat) : list nat := filter (hit f X) X'.
Definition left (f X X' : list nat) : list nat := filter (fun y => negb (hit f X y)) X'.

(* The letter is injective on the states of X: the level permutes.  Otherwise it resets. *)
Definition permutes (f X X' : list nat) : bool := length (hits f X X') =? length (real X).

(* Where the members of X go: a state to its image, the phantoms in order to the members of X' that are left. *)
Fixpoint goes (f X free : list nat) : list nat :=
  match X with
  | [] => []
  | x :: X1 => if x <? n then image f x :: goes f X1 free else hd 0 free :: goes f X1 (tl free)
  end.

(* The set of a reset: the image and the least others, `size` in all. *)
Definition target (f X X' : list nat) (size : nat) : list nat :=
  let others := firstn (size - length (hits f X X')) (left f X X') in
  filter (fun y => hit f X y || mem y others) X'.

Fixpoint place (y : nat) (X : list nat) : nat :=
  match X with [] => 0 | x :: X1 => if x =? y then 0 else S (place y X1) end.
Definition places (f X X' : list nat) : list nat := map (fun y => place y X') (goes f X (left f X X')).

(* -------- one level of the chain -------- *)
(* Swaps (i, j) that take entry x of a vector to entry `nth x images`, for every permutation `images`; see ChainFactors. *)
Variable swaps_of : list nat -> list (nat * nat).
(* beta of a reset with gates, whose key is the indicator of so many places: 2^-e, the least e with 2^e at least that. *)
Variable reset_beta : nat -> R.
Variables (look_back gates : bool).

(* A level of the chain: the size p of its set X_i, that of the next, and whether it keeps a second half. *)
Record chain_level := { size : nat; next : nat; keeps : bool }.

Definition indicator (X Y : list nat) : vector := map (fun x => if mem x Y then one else zero) X.
Definition zeros (p : nat) : vector := repeat zero p.

(* Permute: swaps of the first half.  Reset: with gates the gate 0 and one factor, which writes the indicator Z of the
   new set; with a second half v its projections, Z written there, and swaps that exchange the halves; else the projections of u. *)
Definition level_step (l : chain_level) (f X X' : list nat) (h : vector) : vector :=
  let p := size l in
  let dim := if keeps l then p + p else p in
  let Z := indicator X' (target f X X' (next l)) in
  if permutes f X X'
  then apply_step one (map (fun ij => swap dim (fst ij) (snd ij)) (swaps_of (places f X X'))) (zeros dim) h
  else if gates then apply_step zero [(reset_beta (length (target f X X' (next l))), Z)] Z h
  else if keeps l
  then apply_step one (map (projection dim) (seq p p) ++ map (fun j => swap dim j (p + j)) (seq 0 p)) (Z ++ zeros p) h
  else apply_step one (map (projection dim) (seq 0 p)) Z h.

(* The next set after the token: by u. *)
Definition read_after (l : chain_level) (X' : list nat) (h' : vector) : list nat := select X' (firstn (size l) h').

(* The next set before the token.  With look_back by what the layer held then, h; where it permutes by P^-1 u; else by v. *)
Definition read_before (l : chain_level) (f X X' : list nat) (h h' : vector) : list nat :=
  if look_back then select X (firstn (size l) h)
  else if permutes f X X' then select X (map (fun j => nth j h' zero) (places f X X'))
  else select X (skipn (size l) h').

(* All levels, from the top: each reads the letter and what the level above is read to hold. *)
Fixpoint levels_step (ls : list chain_level) (f X X' : list nat) (hs : list vector) : list vector :=
  match ls, hs with
  | l :: ls', h :: hs' =>
    let h' := level_step l f X X' h in
    h' :: levels_step ls' f (read_before l f X X' h h') (read_after l X' h') hs'
  | _, _ => []
  end.

(* The last set after a token, from the states of the layers alone; and before it, from what they held before, hs, and after, hs'. *)
Fixpoint last_after (ls : list chain_level) (X' : list nat) (hs : list vector) : list nat :=
  match ls, hs with l :: ls', h :: hs' => last_after ls' (read_after l X' h) hs' | _, _ => X' end.
Fixpoint last_before (ls : list chain_level) (f X X' : list nat) (hs hs' : list vector) : list nat :=
  match ls, hs, hs' with
  | l :: ls', h :: hs, h' :: hs' => last_before ls' f (read_before l f X X' h h') (read_after l X' h') hs hs'
  | _, _, _ => X
  end.

(* -------- the automaton and the window -------- *)
Variables (delta : list (list nat)) (q0 : nat).
Definition row (a : nat) : list nat := nth a delta [].
Definition state_after (w : list nat) : nat := fold_left (fun q a => image (row a) q) w q0.

(* A letter that moves no state stays out of the window. *)
Definition row_eqb (f g : list nat) : bool := if list_eq_dec Nat.eq_dec f g then true else false.
Definition moves (a : nat) : bool := negb (row_eqb (row a) (seq 0 n)).

(* The different maps that move a state, in the order of the letters; letters have the number of theirs, from 1. *)
Fixpoint distinct (fs : list (list nat)) (seen : list (list nat)) : list (list nat) :=
  match fs with
  | [] => rev seen
  | f :: fs' => if row_eqb f (seq 0 n) || existsb (row_eqb f) seen then distinct fs' seen else distinct fs' (f :: seen)
  end.
Definition maps : list (list nat) := distinct delta [].
Fixpoint number_in (f : list nat) (fs : list (list nat)) : nat :=
  match fs with [] => 0 | g :: fs' => if row_eqb f g then 0 else S (number_in f fs') end.
Definition number (a : nat) : nat := if moves a then S (number_in (row a) maps) else 0.

(* The register has a column for each bit of these numbers and a row for each of the last letters, the newest first. *)
Variables (bits rows : nat).
Definition bit (k c : nat) : bool := Nat.odd (k / 2 ^ c).
Definition register_step (a : nat) (columns : list vector) : list vector :=
  if moves a then
    let fs := projection rows (rows - 1) :: map (fun j => swap rows j (S j)) (rev (seq 0 (rows - 1))) in
    let b c := vector_of rows (fun x => if (x =? 0) && bit (number a) c then one else zero) in
    map2 (fun c h => apply_step one fs (b c) h) (seq 0 bits) columns
  else columns.

(* The numbers that the rows are read to hold: 0 for a row of zeros, which is no letter yet. *)
Definition read_row (columns : list vector) (r : nat) : nat :=
  fold_right (fun h k => 2 * k + (if nonzero (nth r h zero) then 1 else 0)) 0 columns.
Definition read_rows (columns : list vector) : list nat := map (read_row columns) (seq 0 rows).

(* The states in which words can end whose last letters have these numbers, the newest first: from every state if there
   are m letters, else from the start alone. *)
Definition map_of (k : nat) : list nat := match k with 0 => seq 0 n | S k' => nth k' maps [] end.
Definition window_states (m : nat) (numbers : list nat) : list nat :=
  let seen := firstn m numbers in
  let from := if (length seen =? m) && forallb (fun k => negb (k =? 0)) seen then seq 0 n else [q0] in
  let ends := fold_right (fun k X => map (image (map_of k)) X) from seen in
  filter (fun q => mem q ends) (seq 0 n).

(* Those and phantoms, s in all. *)
Definition with_phantoms (s : nat) (X : list nat) : list nat := X ++ seq n (s - length X).

(* -------- all layers -------- *)
Variables (window : option nat) (top_size : nat) (ls : list chain_level).
(* The state of the LRNN: the columns of the register and the column of each level. *)
Definition memory := (list vector * list vector)%type.

(* The set above all levels, after a token, and before it: what the token before left, if layers look back, else the rows behind
   the newest letter. *)
Definition top_after (h : memory) : list nat :=
  match window with None => seq 0 n | Some m => with_phantoms top_size (window_states m (read_rows (fst h))) end.
Definition top_before (a : nat) (h h' : memory) : list nat :=
  match window with
  | None => seq 0 n
  | Some m =>
    let numbers := if look_back then read_rows (fst h) else if moves a then tl (read_rows (fst h')) else read_rows (fst h') in
    with_phantoms top_size (window_states m numbers)
  end.

Definition token (h : memory) (a : nat) : memory :=
  let register := match window with None => [] | Some _ => register_step a (fst h) end in
  (register, levels_step ls (row a) (top_before a h (register, [])) (top_after (register, [])) (snd h)).

(* At first the register is empty, and each set holds the start and the least others of the set above. *)
Definition start_set (X : list nat) (size : nat) : list nat :=
  let others := firstn (size - 1) (filter (fun x => negb (x =? q0)) X) in
  filter (fun x => (x =? q0) || mem x others) X.
Fixpoint start_levels (ls : list chain_level) (X : list nat) : list vector :=
  match ls with
  | [] => []
  | l :: ls' =>
    let Y := start_set X (next l) in
    (indicator X Y ++ if keeps l then zeros (size l) else []) :: start_levels ls' Y
  end.
Definition start : memory :=
  let register := match window with None => [] | Some _ => repeat (zeros rows) bits end in
  (register, start_levels ls (top_after (register, []))).

Definition run (w : list nat) : memory := fold_left token w start.

(* The state that is read off: the one member of the last set. *)
Definition decode (h : memory) : list nat := last_after ls (top_after h) (snd h).
Definition decode_before (a : nat) (h h' : memory) : list nat :=
  last_before ls (row a) (top_before a h h') (top_after h') (snd h) (snd h').
End Vectors.
