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
   of their hidden states with the next letter.  Where an action, a head or an entry of a list is missing there is no
   next state (None).  A layer without read-outs passes on its own letter. *)
Record layer := Layer { heads : list (list action); read_out : list (list nat * list (list hidden * nat)) }.
Fixpoint all_of {A : Type} (l : list (option A)) : option (list A) :=
  match l with
  | [] => Some []
  | x :: l' => match x, all_of l' with Some y, Some k => Some (y :: k) | _, _ => None end
  end.
Fixpoint move_all (heads : list (list action)) (letter : nat) (Hs : list hidden) : option (list hidden) :=
  match heads, Hs with
  | [], [] => Some []
  | head :: heads', H :: Hs' =>
    match nth_error head letter, move_all heads' letter Hs' with Some a, Some k => Some (act a H :: k) | _, _ => None end
  | _, _ => None
  end.
Fixpoint look_up (Hs : list hidden) (table : list (list hidden * nat)) : option nat :=
  match table with [] => None | (Gs, z) :: table' => if equal_heads Gs Hs then Some z else look_up Hs table' end.
Definition said (l : layer) (letter : nat) (Hs : list hidden) : option nat :=
  match read_out l with
  | [] => Some letter
  | _ =>
    match nth_error (read_out l) letter with
    | Some (read, table) =>
      match all_of (map (nth_error Hs) read) with Some seen => look_up seen table | None => None end
    | None => None
    end
  end.

(* One token: every layer reads a letter from the read-out above it, and moves.  With the new hidden states comes what the
   last layer says. *)
Fixpoint token (layers : list layer) (letter : nat) (state : list (list hidden)) : option (list (list hidden) * nat) :=
  match layers, state with
  | [], [] => Some ([], letter)
  | l :: layers', Hs :: state' =>
    match move_all (heads l) letter Hs with
    | Some Hs' =>
      match said l letter Hs' with
      | Some y => match token layers' y state' with Some (below, last) => Some (Hs' :: below, last) | None => None end
      | None => None
      end
    | None => None
    end
  | _, _ => None
  end.

(* The automaton, the layers, and the hidden states with the states that they stand for, the start first. *)
Record table := Table {
  letters : nat; start : nat; delta : list (list nat);
  layers : list layer; rows : list (nat * list (list hidden))
}.
Definition next (t : table) (q a : nat) : nat := nth q (nth a (delta t) []) 0%nat.
Definition state (t : table) (word : list nat) : nat := fold_left (next t) word (start t).
(* After a word: the hidden states, and what the last layer said on the last letter, if there was one. *)
Definition held := (list (list hidden) * option nat)%type.
Definition initial (t : table) : held := (snd (hd (0%nat, []) (rows t)), None).
Definition read_letter (t : table) (s : option held) (a : nat) : option held :=
  match s with
  | Some (h, _) => match token (layers t) a h with Some (h', last) => Some (h', Some last) | None => None end
  | None => None
  end.
Definition run (t : table) (word : list nat) : option held := fold_left (read_letter t) word (Some (initial t)).
Definition decode (t : table) (h : list (list hidden)) : option nat :=
  option_map fst (find (fun row => equal_list equal_heads (snd row) h) (rows t)).
(* The state that the hidden states after a word are decoded to, and what the last layer said. *)
Definition decoded (t : table) (word : list nat) : option nat :=
  match run t word with Some (h, _) => decode t h | None => None end.
Definition last_said (t : table) (word : list nat) : option nat :=
  match run t word with Some (_, last) => last | None => None end.
Definition several_layers (t : table) : bool := match layers t with _ :: _ :: _ => true | _ => false end.

(* ---- The check.  First, only so that no number is left out without being missed: the vectors of a head have the length of
   the columns of its hidden state, and the automaton has each entry. *)
Definition long (n : nat) (v : vec) : bool := (length v =? n)%nat.
Definition factor_fits (n : nat) (f : factor) : bool :=
  match f with Householder _ v => long n v | Copy v u => long n v && long n u end.
Definition action_fits (H : hidden) (a : action) : bool :=
  let n := length (hd [] H) in
  match fst a with
  | Factors _ factors => forallb (factor_fits n) factors
  | Matrix rows => (length rows =? n)%nat && forallb (long n) rows
  end && match snd a with [] => true | B => (length B =? length H)%nat && forallb (long n) B end.
Definition layer_fits (lH : layer * list hidden) : bool :=
  forallb (fun hH => forallb (action_fits (snd hH)) (fst hH)) (combine (heads (fst lH)) (snd lH)).
Definition fits (t : table) : bool :=
  forallb layer_fits (combine (layers t) (fst (initial t))) &&
  forallb (fun row => (fst row <? length (hd [] (delta t)))%nat) (rows t) &&
  (length (delta t) =? letters t)%nat && forallb (fun images => length images =? length (hd [] (delta t)))%nat (delta t).

Definition is_state (t : table) (h : list (list hidden)) (q : nat) : bool :=
  match decode t h with Some r => (r =? q)%nat | None => false end.
Definition leads_to (t : table) (h : list (list hidden)) (a q : nat) : bool :=
  match token (layers t) a h with
  | Some (h', last) => is_state t h' q && (negb (several_layers t) || (last =? q)%nat)
  | None => false
  end.
Definition check (t : table) : bool :=
  fits t && is_state t (fst (initial t)) (start t) &&
  forallb (fun row => forallb (fun a => leads_to t (snd row) a (next t (fst row) a)) (seq 0 (letters t))) (rows t).

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

(* After every word: the hidden states are decoded to the automaton's state, and where there are several layers the last one
   has said it. *)
Theorem check_right t : check t = true -> forall word, Forall (fun a => a < letters t)%nat word ->
  decoded t word = Some (state t word) /\ (several_layers t = true -> word <> [] -> last_said t word = Some (state t word)).
Proof.
  intros C. apply andb_prop in C as [C1 C2]. apply andb_prop in C1 as [_ C1]. apply is_state_decode in C1.
  rewrite forallb_forall in C2.
  assert (G : forall word h last q, Forall (fun a => a < letters t)%nat word -> decode t h = Some q ->
    (several_layers t = true -> last <> None -> last = Some q) ->
    exists h' last', fold_left (read_letter t) word (Some (h, last)) = Some (h', last')
      /\ decode t h' = Some (fold_left (next t) word q)
      /\ (word = [] -> last' = last) /\ (word <> [] -> last' <> None)
      /\ (several_layers t = true -> last' <> None -> last' = Some (fold_left (next t) word q))).
  { intros word. induction word as [|a word IH]; intros h last q W D L; [exists h, last; simpl; tauto |].
    inversion W as [| b w A W' E]; subst. pose proof (decode_row _ _ _ D) as R. specialize (C2 _ R). simpl in C2.
    rewrite forallb_forall in C2. specialize (C2 a). rewrite in_seq in C2. specialize (C2 (conj (Nat.le_0_l a) A)).
    unfold leads_to in C2. simpl. destruct (token (layers t) a h) as [[h1 y] |]; [| discriminate].
    apply andb_prop in C2 as [S1 S2]. apply is_state_decode in S1.
    destruct (IH h1 (Some y) (next t q a) W' S1) as (h' & last' & F & D' & N & M & L').
    { intros S _. rewrite S in S2. simpl in S2. apply Nat.eqb_eq in S2. now rewrite S2. }
    exists h', last'. repeat split; try assumption; [discriminate |]. intros _.
    destruct word as [|b word]; [| apply M; discriminate]. rewrite N by reflexivity. discriminate. }
  intros word W. destruct (G word (fst (initial t)) None (start t) W C1) as (h & last & F & D & _ & M & L).
  { intros _ []; reflexivity. }
  assert (E : run t word = Some (h, last)) by exact F. unfold decoded, last_said. rewrite E. split; [exact D |].
  intros S N. apply L; [exact S | now apply M].
Qed.
