(* A linear RNN of integers that follows a finite automaton on all words, by computation.

   The definitions say what a linear RNN is and what it reads; `check` computes the image of every listed hidden state under every letter, and
   `check_right` proves that an accepted table is right after every word, of any length. *)
Require Import List ZArith Bool Lia.
Import ListNotations.
Open Scope Z_scope.

Definition vec := list Z.
Fixpoint dot (v h : vec) : Z := match v, h with x :: v', y :: h' => x * y + dot v' h' | _, _ => 0 end.
Fixpoint plus (c : Z) (v h : vec) : vec :=
  match v, h with x :: v', y :: h' => (y + c * x) :: plus c v' h' | _, _ => h end.

(* A factor of a letter: h <- h - beta (v . h) v, a generalized Householder factor; or h <- h - (u . h) v, a copy of RWKV-7. *)
Inductive factor := Householder (beta : Z) (v : vec) | Copy (v u : vec).
Definition apply_factor (h : vec) (f : factor) : vec :=
  match f with Householder beta v => plus (- (beta * dot v h)) v h | Copy v u => plus (- dot u h) v h end.
(* The factors, the first one applied first, after a gate; or a matrix, by its rows. *)
Inductive linear := Factors (gate : Z) (factors : list factor) | Matrix (rows : list vec).
Definition apply_linear (l : linear) (h : vec) : vec :=
  match l with
  | Factors gate factors => fold_left apply_factor factors (map (Z.mul gate) h)
  | Matrix rows => map (fun row => dot row h) rows
  end.

(* A hidden state is a list of columns.  A letter does H <- A H + B; B is a list of columns too, empty for 0. *)
Definition hidden := list vec.
Definition action := (linear * list vec)%type.
Fixpoint add_columns (B H : hidden) : hidden :=
  match B, H with b :: B', h :: H' => plus 1 b h :: add_columns B' H' | _, _ => H end.
Definition act (a : action) (H : hidden) : hidden := add_columns (snd a) (map (apply_linear (fst a)) H).

Fixpoint equal_vec (v h : vec) : bool :=
  match v, h with [], [] => true | x :: v', y :: h' => (x =? y) && equal_vec v' h' | _, _ => false end.
Fixpoint equal_list {A : Type} (equal : A -> A -> bool) (l k : list A) : bool :=
  match l, k with [], [] => true | x :: l', y :: k' => equal x y && equal_list equal l' k' | _, _ => false end.
Definition equal_hidden : hidden -> hidden -> bool := equal_list equal_vec.
Definition equal_heads : list hidden -> list hidden -> bool := equal_list equal_hidden.

(* A layer has heads, each with an action for each letter that the layer reads.  Its read-out gives the letter for the
   next layer from its own letter and the new hidden states of some of its heads: for each letter these heads, and a list
   of their hidden states with the next letter. *)
Record layer := Layer { heads : list (list action); read_out : list (list nat * list (list hidden * nat)) }.
Definition idle : action := (Factors 1 [], []).
Definition move (head : list action) (letter : nat) (H : hidden) : hidden := act (nth letter head idle) H.
Fixpoint move_all (heads : list (list action)) (letter : nat) (Hs : list hidden) : list hidden :=
  match heads, Hs with head :: heads', H :: Hs' => move head letter H :: move_all heads' letter Hs' | _, _ => [] end.
Fixpoint look_up (Hs : list hidden) (table : list (list hidden * nat)) : nat :=
  match table with [] => 0 | (Gs, z) :: table' => if equal_heads Gs Hs then z else look_up Hs table' end.
Definition said (l : layer) (letter : nat) (Hs : list hidden) : nat :=
  let (read, table) := nth letter (read_out l) ([], []) in look_up (map (fun h => nth h Hs []) read) table.

(* One token: every layer reads a letter from the read-out above it, and moves. *)
Fixpoint token (layers : list layer) (letter : nat) (state : list (list hidden)) : list (list hidden) :=
  match layers, state with
  | l :: layers', Hs :: state' =>
    let Hs' := move_all (heads l) letter Hs in Hs' :: token layers' (said l letter Hs') state'
  | _, _ => []
  end.

(* The automaton, the layers, and the hidden states with the states that they stand for, the start first. *)
Record table := Table {
  letters : nat; start : nat; delta : list (list nat);
  layers : list layer; rows : list (nat * list (list hidden))
}.
Definition next (t : table) (q a : nat) : nat := nth q (nth a (delta t) []) 0%nat.
Definition state (t : table) (word : list nat) : nat := fold_left (next t) word (start t).
Definition initial (t : table) : list (list hidden) := snd (hd (0%nat, []) (rows t)).
Definition run (t : table) (word : list nat) : list (list hidden) :=
  fold_left (fun s a => token (layers t) a s) word (initial t).
Definition decode (t : table) (s : list (list hidden)) : option nat :=
  option_map fst (find (fun row => equal_list equal_heads (snd row) s) (rows t)).

(* ---- The check. *)
Definition is_state (t : table) (s : list (list hidden)) (q : nat) : bool :=
  match decode t s with Some r => (r =? q)%nat | None => false end.
Definition check (t : table) : bool :=
  is_state t (initial t) (start t) &&
  forallb (fun row =>
    forallb (fun a => is_state t (token (layers t) a (snd row)) (next t (fst row) a)) (seq 0 (letters t))) (rows t).

Lemma equal_vec_eq v : forall h, equal_vec v h = true -> v = h.
Proof.
  induction v as [|x v IH]; intros [|y h]; simpl; try discriminate; auto. intros E. apply andb_prop in E as [E1 E2].
  apply Z.eqb_eq in E1. f_equal; auto.
Qed.

Lemma equal_list_eq (A : Type) (equal : A -> A -> bool) : (forall x y, equal x y = true -> x = y) ->
  forall l k, equal_list equal l k = true -> l = k.
Proof.
  intros right l. induction l as [|x l IH]; intros [|y k]; simpl; try discriminate; auto. intros E.
  apply andb_prop in E as [E1 E2]. f_equal; auto.
Qed.

Lemma equal_state_eq s r : equal_list equal_heads s r = true -> s = r.
Proof. apply equal_list_eq. intros x y. apply equal_list_eq. intros v h. apply equal_list_eq. exact equal_vec_eq. Qed.

Lemma decode_row t s q : decode t s = Some q -> In (q, s) (rows t).
Proof.
  unfold decode. destruct (find _ (rows t)) as [[r s'] |] eqn:F; [| discriminate]. simpl. intros E. injection E as ->.
  apply find_some in F. destruct F as [F E]. simpl in E. apply equal_state_eq in E. now subst.
Qed.

Lemma is_state_decode t s q : is_state t s q = true -> decode t s = Some q.
Proof. unfold is_state. destruct (decode t s) as [r |]; [| discriminate]. intros E. apply Nat.eqb_eq in E. now subst. Qed.

Theorem check_right t : check t = true -> forall word, Forall (fun a => a < letters t)%nat word ->
  decode t (run t word) = Some (state t word).
Proof.
  intros C. apply andb_prop in C as [C1 C2]. apply is_state_decode in C1. rewrite forallb_forall in C2.
  unfold run, state. revert C1. generalize (initial t), (start t). intros s q D word. revert s q D.
  induction word as [|a word IH]; intros s q D W; simpl; [exact D |]. inversion W as [| b w A W' E]; subst.
  apply IH; [| exact W']. apply decode_row in D. specialize (C2 _ D). simpl in C2. rewrite forallb_forall in C2.
  apply is_state_decode, C2, in_seq. lia.
Qed.
