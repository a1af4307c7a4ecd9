(* What a linear RNN is, what it does on a word, and what it means that it follows an automaton.

   This page is apart from every checker, and nothing is proved on it: theorems about checkers are stated with these
   definitions, so whoever reads them knows what the theorems say.

   Order of reading: numbers, matrices, what one letter does to one head, layers, words, automata. *)
Require Import List Arith ZArith Ring_theory InitialRing.
Import ListNotations.

(* ---- Numbers: a commutative ring in which it is decided whether two numbers are equal.  The real numbers are one. *)
Record ring := Ring {
  carrier :> Type;
  zero : carrier;
  one : carrier;
  add : carrier -> carrier -> carrier;
  mul : carrier -> carrier -> carrier;
  opp : carrier -> carrier;
  equal : carrier -> carrier -> bool;
  laws : ring_theory zero one add mul (fun x y => add x (opp y)) opp eq;
  equal_spec : forall x y, equal x y = true <-> x = y
}.
Arguments zero {r}.
Arguments one {r}.
Arguments add {r}.
Arguments mul {r}.
Arguments opp {r}.
Arguments equal {r}.

(* The integer z as a number: 1 + ... + 1, or -(1 + ... + 1). *)
Definition integer (K : ring) (z : Z) : K := gen_phiZ zero one (@add K) mul opp z.

(* Numbers in which one can divide by positive integers: a ring that contains the rational numbers. *)
Record rational_ring := RationalRing {
  numbers :> ring;
  reciprocal : positive -> numbers;
  reciprocal_spec : forall q, mul (integer numbers (Zpos q)) (reciprocal q) = one;
  one_is_not_zero : @one numbers <> zero
}.

(* ---- Weights, written sparsely with numbers of any type. *)
Definition vector (N : Type) := list (nat * N).             (* (row, value) *)
Definition entries (N : Type) := list (nat * nat * N).      (* ((row, column), value) *)

(* A factor is H <- H - beta v (u^T H).  For a generalized Householder factor u is v, the key; for a copy of RWKV-7 u is
   v with one of its two entries only. *)
Record factor (N : Type) := Factor { beta : N; key : vector N; reading : vector N }.

(* A letter does H <- C_k ... C_1 (g H) + B, with factors C_1, ..., C_k in the order in which they are applied, a gate g
   and an additive term B; or H <- A H + B, with a matrix A. *)
Inductive linear (N : Type) := Factors (gate : N) (factors : list (factor N)) | Matrix (weights : entries N).
Record transition (N : Type) := Transition { linear_part : linear N; additive : entries N }.
Arguments Factor {N}.
Arguments beta {N}.
Arguments key {N}.
Arguments reading {N}.
Arguments Factors {N}.
Arguments Matrix {N}.
Arguments Transition {N}.
Arguments linear_part {N}.
Arguments additive {N}.

Section LinearRNN.
Variable K : ring.

Definition sum (terms : list K) : K := fold_right add zero terms.

(* ---- Matrices.  The hidden state of a head is a matrix H; H i j is its entry in row i and column j.  Outside of its
   rows and columns it is 0. *)
Definition matrix := nat -> nat -> K.

(* v_i, and m_ij *)
Definition coordinate (v : vector K) (i : nat) : K :=
  sum (map (fun e => if fst e =? i then snd e else zero) v).
Definition entry (m : entries K) : matrix := fun i j =>
  sum (map (fun e => if ((fst (fst e) =? i) && (snd (fst e) =? j))%bool then snd e else zero) m).

(* Column j of v^T H, and entry (i, j) of m H *)
Definition read_along (v : vector K) (H : matrix) (j : nat) : K :=
  sum (map (fun e => mul (snd e) (H (fst e) j)) v).
Definition apply_matrix (m : entries K) (H : matrix) : matrix := fun i j =>
  sum (map (fun e => if fst (fst e) =? i then mul (snd e) (H (snd (fst e)) j) else zero) m).

(* ---- What one letter does to one head. *)
Definition apply_factor (f : factor K) (H : matrix) : matrix := fun i j =>
  add (H i j) (opp (mul (mul (beta f) (coordinate (key f) i)) (read_along (reading f) H j))).
Definition apply_linear (l : linear K) (H : matrix) : matrix :=
  match l with
  | Factors gate factors => fold_left (fun H f => apply_factor f H) factors (fun i j => mul gate (H i j))
  | Matrix weights => apply_matrix weights H
  end.
Definition apply_transition (t : transition K) (H : matrix) : matrix := fun i j =>
  add (apply_linear (linear_part t) H i j) (entry (additive t) i j).

(* ---- Layers.  The first layer reads the letters of the word.  Each layer leads its heads by the letter that it reads,
   and then its read-out makes the letter for the next layer, from the letter and the new hidden states of the heads.
   Letters are of any type T. *)
Variable T : Type.
Definition head := T -> transition K.
Record layer := Layer { heads : list head; read_out : T -> list matrix -> T }.
Definition hidden := list (list matrix).         (* one matrix for each layer and head *)

Fixpoint lead (heads : list head) (letter : T) (states : list matrix) : list matrix :=
  match heads, states with
  | h :: heads', H :: states' => apply_transition (h letter) H :: lead heads' letter states'
  | _, _ => []
  end.

(* One token: the new hidden state, and the read-out of the last layer. *)
Fixpoint step (layers : list layer) (letter : T) (state : hidden) : hidden * T :=
  match layers, state with
  | l :: layers', H :: state' =>
    let new := lead (heads l) letter H in
    let (below, said) := step layers' (read_out l letter new) state' in
    (new :: below, said)
  | _, _ => ([], letter)
  end.

(* ---- Words. *)
Definition run (layers : list layer) (begin : hidden) (word : list T) : hidden :=
  fold_left (fun state letter => fst (step layers letter state)) word begin.
End LinearRNN.
Arguments heads {K T}.
Arguments read_out {K T}.
Arguments Layer {K T}.

(* ---- Automata.  States and letters are numbers; delta a q is the state after letter a in state q. *)
Record automaton := Automaton { letters : nat; start : nat; delta : nat -> nat -> nat }.
Definition state_after (A : automaton) (word : list nat) : nat := fold_left (fun q a => delta A a q) word (start A).
Definition is_word (A : automaton) (word : list nat) : Prop := Forall (fun a => a < letters A) word.

(* The linear RNN follows the automaton: after every word, of any length, its hidden state is decoded to the state of
   the automaton.  `token` says how a letter of the automaton is given to the first layer. *)
Definition follows (K : ring) (T : Type) (token : nat -> T) (layers : list (layer K T)) (begin : hidden K)
    (decode : hidden K -> option nat) (A : automaton) : Prop :=
  forall word, is_word A word -> decode (run K T layers begin (map token word)) = Some (state_after A word).
