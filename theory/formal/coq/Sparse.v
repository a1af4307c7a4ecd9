(* What the checker does to sparse matrices, and that it is what Semantics.v says.

   Proved: letter_meaning, that the entries after a letter are those of the semantics; leads_meaning, that what a factor is compared
   with is what it makes; entries_unique, that two lists of entries in canonical form that mean the same matrix are the same list. *)
Require Import List Arith ZArith Bool Lia Ring_theory Ring.
From Mirrormata Require Import Semantics.
Import ListNotations.

(* Numbers with which the checker computes.  A number by which many are multiplied is prepared for it once. *)
Record arithmetic := Arithmetic {
  number :> Type;
  multiplier : Type;
  n_zero : number;
  n_one : number;
  n_add : number -> number -> number;
  n_mul : number -> number -> number;
  n_opp : number -> number;
  n_is_zero : number -> bool;
  n_equal : number -> number -> bool;
  n_canonical : number -> bool;
  n_prepare : number -> multiplier;
  n_times : multiplier -> number -> number
}.

(* What the numbers mean in a ring: `value`, which keeps sums and products.  Of canonical numbers, those with one value
   are the same. *)
Record represents (A : arithmetic) (K : ring) (value : A -> K) : Prop := Represents {
  value_zero : value (n_zero A) = zero;
  value_one : value (n_one A) = one;
  value_add : forall x y, value (n_add A x y) = add (value x) (value y);
  value_mul : forall x y, value (n_mul A x y) = mul (value x) (value y);
  value_opp : forall x, value (n_opp A x) = opp (value x);
  value_is_zero : forall x, n_is_zero A x = true -> value x = zero;
  value_equal : forall x y, n_equal A x y = true -> x = y;
  value_not_zero : forall x, n_canonical A x = true -> n_is_zero A x = false -> value x <> zero;
  value_canonical : forall x y, n_canonical A x = true -> n_canonical A y = true -> value x = value y -> x = y;
  value_times : forall x y, value (n_times A (n_prepare A x) y) = mul (value x) (value y)
}.

Section Computing.
Variable A : arithmetic.

(* Lists of (place, number) in the order of the places; `before` is that order. *)
Section Merging.
Variables (I : Type) (before same_place : I -> I -> bool).
Fixpoint merge (a : list (I * A)) : list (I * A) -> list (I * A) :=
  match a with
  | [] => fun b => b
  | x :: a' => fix merge_x b :=
    match b with
    | [] => x :: a'
    | y :: b' =>
      if before (fst x) (fst y) then x :: merge a' b
      else if same_place (fst x) (fst y) then
        let s := n_add A (snd x) (snd y) in
        if n_is_zero A s then merge a' b' else (fst x, s) :: merge a' b'
      else y :: merge_x b'
    end
  end.
End Merging.

Definition before_entry (p q : nat * nat) : bool := (fst p <? fst q) || ((fst p =? fst q) && (snd p <? snd q)).
Definition same_entry (p q : nat * nat) : bool := (fst p =? fst q) && (snd p =? snd q).
Definition merge_entries : entries A -> entries A -> entries A := merge (nat * nat) before_entry same_entry.
Definition merge_rows : vector A -> vector A -> vector A := merge nat Nat.ltb Nat.eqb.

(* x times row k of H; the sum of such rows over a vector *)
Fixpoint row_of (k : nat) (x : A) (H : entries A) : vector A :=
  match H with
  | [] => []
  | e :: H' => if fst (fst e) =? k then (snd (fst e), n_mul A x (snd e)) :: row_of k x H' else row_of k x H'
  end.
Fixpoint read_sparse (v : vector A) (H : entries A) : vector A :=
  match v with [] => [] | e :: v' => merge_rows (row_of (fst e) (snd e) H) (read_sparse v' H) end.
(* The entries c v_i s_j *)
Fixpoint outer (c : A) (v s : vector A) : entries A :=
  match v with
  | [] => []
  | e :: v' => let x := n_mul A c (snd e) in map (fun t => ((fst e, fst t), n_mul A x (snd t))) s ++ outer c v' s
  end.
Definition factor_sparse (f : factor A) (H : entries A) : entries A :=
  match read_sparse (reading f) H with
  | [] => H
  | s => merge_entries H (outer (n_opp A (beta f)) (key f) s)
  end.
Definition scale (c : A) (H : entries A) : entries A :=
  if n_is_zero A c then [] else if n_equal A c (n_one A) then H else map (fun e => (fst e, n_mul A c (snd e))) H.
Fixpoint matrix_sparse (m H : entries A) : entries A :=
  match m with
  | [] => []
  | e :: m' => merge_entries
      (map (fun t => ((fst (fst e), fst t), snd t)) (row_of (snd (fst e)) (snd e) H)) (matrix_sparse m' H)
  end.
Definition linear_sparse (l : linear A) (H : entries A) : entries A :=
  match l with
  | Factors gate factors => fold_left (fun H f => factor_sparse f H) factors (scale gate H)
  | Matrix weights => matrix_sparse weights H
  end.
Definition letter_sparse (t : transition A) (H : entries A) : entries A :=
  match additive t with [] => linear_sparse (linear_part t) H | B => merge_entries (linear_sparse (linear_part t) H) B end.

Fixpoint equal_entries (a b : entries A) : bool :=
  match a, b with
  | [], [] => true
  | x :: a', y :: b' => same_entry (fst x) (fst y) && n_equal A (snd x) (snd y) && equal_entries a' b'
  | _, _ => false
  end.

(* ---- Whether a factor leads one list of entries to another, without making what it leads to. *)

(* equal_entries (merge a b) c *)
Fixpoint merge_is (a : entries A) : entries A -> entries A -> bool :=
  match a with
  | [] => fun b c => equal_entries b c
  | x :: a' => fix merge_x b c :=
    match b with
    | [] => equal_entries (x :: a') c
    | y :: b' =>
      if before_entry (fst x) (fst y) then
        match c with z :: c' => same_entry (fst x) (fst z) && n_equal A (snd x) (snd z) && merge_is a' b c' | [] => false end
      else if same_entry (fst x) (fst y) then
        let s := n_add A (snd x) (snd y) in
        if n_is_zero A s then merge_is a' b' c
        else match c with z :: c' => same_entry (fst x) (fst z) && n_equal A s (snd z) && merge_is a' b' c' | [] => false end
      else match c with z :: c' => same_entry (fst y) (fst z) && n_equal A (snd y) (snd z) && merge_x b' c' | [] => false end
    end
  end.

(* A factor with the multipliers -beta v_i of its key, and those of what it reads; and whether it is a reflection, beta |v|^2 = 2 *)
Definition multipliers := list (nat * multiplier A).
Record ready_factor := ReadyFactor { ready_key : multipliers; ready_reading : multipliers; mirrors : bool }.
Fixpoint row_total (i : nat) (v : vector A) : A :=
  match v with [] => n_zero A | e :: v' => if fst e =? i then n_add A (snd e) (row_total i v') else row_total i v' end.
Fixpoint norm_of (v w : vector A) : A :=
  match v with [] => n_zero A | e :: v' => n_add A (n_mul A (snd e) (row_total (fst e) w)) (norm_of v' w) end.
Definition is_mirror (f : factor A) : bool :=
  n_equal A (n_mul A (beta f) (norm_of (reading f) (key f))) (n_add A (n_one A) (n_one A)).
Definition ready (f : factor A) : ready_factor :=
  ReadyFactor (map (fun e => (fst e, n_prepare A (n_mul A (n_opp A (beta f)) (snd e)))) (key f))
    (map (fun e => (fst e, n_prepare A (snd e))) (reading f)) (is_mirror f).
Fixpoint row_times (k : nat) (x : multiplier A) (H : entries A) : vector A :=
  match H with
  | [] => []
  | e :: H' => if fst (fst e) =? k then (snd (fst e), n_times A x (snd e)) :: row_times k x H' else row_times k x H'
  end.
Fixpoint read_ready (v : multipliers) (H : entries A) : vector A :=
  match v with [] => [] | e :: v' => merge_rows (row_times (fst e) (snd e) H) (read_ready v' H) end.
Fixpoint outer_row (i : nat) (x : multiplier A) (s : vector A) (rest : entries A) : entries A :=
  match s with [] => rest | t :: s' => ((i, fst t), n_times A x (snd t)) :: outer_row i x s' rest end.
Fixpoint outer_ready (v : multipliers) (s : vector A) : entries A :=
  match v with [] => [] | e :: v' => outer_row (fst e) (snd e) s (outer_ready v' s) end.
Definition leads (f : ready_factor) (H H' : entries A) : bool :=
  match read_ready (ready_reading f) H with
  | [] => equal_entries H H'
  | s => merge_is H (outer_ready (ready_key f) s) H'
  end.

(* Canonical form: places in order and inside of the matrix, numbers canonical and not 0. *)
Fixpoint canonical_entries (rows columns : nat) (a : entries A) : bool :=
  match a with
  | [] => true
  | x :: a' =>
    (fst (fst x) <? rows) && (snd (fst x) <? columns) && n_canonical A (snd x) && negb (n_is_zero A (snd x))
    && match a' with [] => true | y :: _ => before_entry (fst x) (fst y) end && canonical_entries rows columns a'
  end.
End Computing.
Arguments letter_sparse {A}.
Arguments leads {A}.
Arguments mirrors {A}.
Arguments equal_entries {A}.
Arguments canonical_entries {A}.

(* Weights with other numbers in place of each *)
Section Translating.
Variables (M N : Type) (f : M -> N).
Definition map_vector (v : vector M) : vector N := map (fun e => (fst e, f (snd e))) v.
Definition map_entries (m : entries M) : entries N := map (fun e => (fst e, f (snd e))) m.
Definition map_factor (c : factor M) : factor N := Factor (f (beta c)) (map_vector (key c)) (map_vector (reading c)).
Definition map_linear (l : linear M) : linear N :=
  match l with
  | Factors gate factors => Factors (f gate) (map map_factor factors)
  | Matrix weights => Matrix (map_entries weights)
  end.
Definition map_transition (t : transition M) : transition N :=
  Transition (map_linear (linear_part t)) (map_entries (additive t)).
End Translating.
Arguments map_vector {M N}.
Arguments map_entries {M N}.
Arguments map_factor {M N}.
Arguments map_linear {M N}.
Arguments map_transition {M N}.

Section Meaning.
Variables (A : arithmetic) (K : ring) (value : A -> K).
Hypothesis R : represents A K value.
Add Ring numbers : (laws K).
Notation "x + y" := (add x y).
Notation "x * y" := (mul x y).
Notation "- x" := (opp x).
Notation "0" := zero.

(* The matrix that a list of entries means *)
Definition meaning (m : entries A) : matrix K := entry K (map_entries value m).
Definition same (H H' : matrix K) : Prop := forall i j, H i j = H' i j.

(* The sum of the numbers at the places that a test picks *)
Definition total {I} (test : I -> bool) (a : list (I * A)) : K :=
  sum K (map (fun e => if test (fst e) then value (snd e) else 0) a).
Lemma total_cons I (test : I -> bool) e a :
  total test (e :: a) = (if test (fst e) then value (snd e) else 0) + total test a.
Proof. reflexivity. Qed.
Lemma total_nil I (test : I -> bool) : total test [] = 0.
Proof. reflexivity. Qed.
Lemma total_app I (test : I -> bool) a b : total test (a ++ b) = total test a + total test b.
Proof. induction a; [rewrite total_nil; cbn [app]; ring|]. rewrite <- app_comm_cons, !total_cons, IHa. ring. Qed.
Lemma total_merge I before same_place (test : I -> bool) (ok : forall x y, same_place x y = true -> x = y) a :
  forall b, total test (merge A I before same_place a b) = total test a + total test b.
Proof.
  induction a as [|x a IHa]; intros b; [cbn [merge]; rewrite total_nil; ring|].
  induction b as [|y b IHb]; [cbn [merge]; rewrite total_nil; ring|].
  cbn [merge]. destruct (before (fst x) (fst y)); [rewrite !total_cons, IHa, total_cons; ring|].
  destruct (same_place (fst x) (fst y)) eqn:E.
  - apply ok in E. rewrite !total_cons, <- E.
    assert (S : value (n_add A (snd x) (snd y)) = value (snd x) + value (snd y)) by apply (value_add _ _ _ R).
    destruct (n_is_zero A (n_add A (snd x) (snd y))) eqn:Z.
    + apply (value_is_zero _ _ _ R) in Z. rewrite Z in S. rewrite IHa. destruct (test (fst x)); [|ring].
      transitivity ((value (snd x) + value (snd y)) + (total test a + total test b)); [rewrite <- S; ring|ring].
    + rewrite total_cons, IHa. cbn [fst snd]. destruct (test (fst x)); [rewrite S|]; ring.
  - cbn [merge] in IHb. rewrite (total_cons _ _ y), IHb, (total_cons _ _ y). ring.
Qed.

Lemma meaning_nil i j : meaning [] i j = 0.
Proof. reflexivity. Qed.
Lemma meaning_total m i j : meaning m i j = total (fun p => (fst p =? i) && (snd p =? j)) m.
Proof. unfold meaning, entry, total, map_entries. rewrite map_map. reflexivity. Qed.
Lemma coordinate_total v i : coordinate K (map_vector value v) i = total (fun k => k =? i) v.
Proof. unfold coordinate, total, map_vector. rewrite map_map. reflexivity. Qed.
Lemma same_entry_eq p q : same_entry p q = true -> p = q.
Proof. destruct p, q. unfold same_entry. cbn. intros H. apply andb_prop in H as [H1 H2].
  apply Nat.eqb_eq in H1, H2. congruence. Qed.
Lemma eqb_eq i j : Nat.eqb i j = true -> i = j.
Proof. apply Nat.eqb_eq. Qed.
Lemma meaning_merge a b i j : meaning (merge_entries A a b) i j = meaning a i j + meaning b i j.
Proof. rewrite !meaning_total. apply total_merge, same_entry_eq. Qed.
Lemma meaning_cons e m i j :
  meaning (e :: m) i j = (if (fst (fst e) =? i) && (snd (fst e) =? j) then value (snd e) else 0) + meaning m i j.
Proof. reflexivity. Qed.

Lemma row_meaning k x H j : total (fun c => c =? j) (row_of A k x H) = value x * meaning H k j.
Proof.
  induction H as [|e H IH]; [cbn [row_of]; rewrite total_nil, meaning_nil; ring|]. cbn [row_of]. rewrite meaning_cons.
  destruct (fst (fst e) =? k); cbn [andb]; [|rewrite IH; ring].
  rewrite total_cons, IH. cbn [fst snd]. destruct (snd (fst e) =? j); rewrite ?(value_mul _ _ _ R); ring.
Qed.
Lemma read_meaning v H j :
  total (fun c => c =? j) (read_sparse A v H) = read_along K (map_vector value v) (meaning H) j.
Proof.
  induction v as [|e v IH]; [reflexivity|]. cbn [read_sparse].
  unfold merge_rows. rewrite (total_merge _ _ _ _ eqb_eq), row_meaning, IH. reflexivity.
Qed.
Lemma outer_meaning c v s i j :
  meaning (outer A c v s) i j = value c * total (fun k => k =? i) v * total (fun k => k =? j) s.
Proof.
  rewrite meaning_total. induction v as [|e v IH]; [cbn [outer]; rewrite !total_nil; ring|]. cbn [outer].
  rewrite total_app, IH, total_cons.
  assert (L : total (fun p => (fst p =? i) && (snd p =? j))
      (map (fun t => ((fst e, fst t), n_mul A (n_mul A c (snd e)) (snd t))) s)
    = value c * (if fst e =? i then value (snd e) else 0) * total (fun k => k =? j) s).
  { clear IH. induction s as [|t s IH]; [cbn [map]; rewrite !total_nil; ring|]. cbn [map]. rewrite !total_cons, IH. cbn [fst snd].
    rewrite !(value_mul _ _ _ R).
    destruct (fst e =? i), (fst t =? j); cbn [andb]; ring. }
  rewrite L. ring.
Qed.
Lemma factor_meaning f H : same (meaning (factor_sparse A f H)) (apply_factor K (map_factor value f) (meaning H)).
Proof.
  intros i j. unfold apply_factor. cbn [map_factor beta key reading].
  rewrite coordinate_total, <- read_meaning. unfold factor_sparse.
  destruct (read_sparse A (reading f) H) eqn:E; [rewrite total_nil; ring|].
  rewrite meaning_merge, outer_meaning, (value_opp _ _ _ R). ring.
Qed.
Lemma scale_meaning c H i j : meaning (scale A c H) i j = value c * meaning H i j.
Proof.
  unfold scale. destruct (n_is_zero A c) eqn:Z.
  { rewrite (value_is_zero _ _ _ R _ Z), meaning_nil. ring. }
  destruct (n_equal A c (n_one A)) eqn:E.
  { apply (value_equal _ _ _ R) in E. rewrite E, (value_one _ _ _ R). ring. }
  induction H as [|e H IH]; [cbn [map]; rewrite !meaning_nil; ring|]. cbn [map]. rewrite !meaning_cons, IH. cbn [fst snd].
  destruct (_ && _); rewrite ?(value_mul _ _ _ R); ring.
Qed.
Lemma matrix_meaning m H : same (meaning (matrix_sparse A m H)) (apply_matrix K (map_entries value m) (meaning H)).
Proof.
  intros i j. induction m as [|e m IH]; [reflexivity|]. cbn [matrix_sparse]. rewrite meaning_merge, IH.
  unfold apply_matrix at 2. cbn [map_entries map sum fold_right fst snd]. f_equal.
  assert (L : forall s : vector A, meaning (map (fun t => ((fst (fst e), fst t), snd t)) s) i j
    = if fst (fst e) =? i then total (fun k => k =? j) s else 0).
  { induction s as [|t s IHs]; [cbn; destruct (_ =? _); reflexivity|]. cbn [map]. rewrite meaning_cons, IHs, total_cons.
    cbn [fst snd]. destruct (fst (fst e) =? i); cbn [andb]; [|ring]. destruct (_ =? _); ring. }
  rewrite L, row_meaning. reflexivity.
Qed.

(* What a letter does depends on the entries of H alone, not on how H is given. *)
Lemma apply_factor_same f H H' : same H H' -> same (apply_factor K f H) (apply_factor K f H').
Proof.
  intros E i j. unfold apply_factor. rewrite E. do 3 f_equal. unfold read_along. f_equal. apply map_ext.
  intros e. rewrite E. reflexivity.
Qed.
Lemma apply_factors_same factors : forall H H', same H H' ->
  same (fold_left (fun H f => apply_factor K f H) factors H) (fold_left (fun H f => apply_factor K f H) factors H').
Proof. induction factors; intros H H' E; [exact E|]. cbn [fold_left]. apply IHfactors, apply_factor_same, E. Qed.
Lemma apply_transition_same t H H' : same H H' -> same (apply_transition K t H) (apply_transition K t H').
Proof.
  intros E i j. unfold apply_transition. f_equal. destruct (linear_part t); cbn [apply_linear].
  - apply apply_factors_same. intros a b. rewrite E. reflexivity.
  - unfold apply_matrix. f_equal. apply map_ext. intros e. rewrite E. reflexivity.
Qed.

Lemma linear_meaning l H : same (meaning (linear_sparse A l H)) (apply_linear K (map_linear value l) (meaning H)).
Proof.
  destruct l as [gate factors|weights]; [|apply matrix_meaning]. cbn [linear_sparse map_linear apply_linear].
  assert (L : forall H G, same (meaning H) G ->
    same (meaning (fold_left (fun H f => factor_sparse A f H) factors H))
         (fold_left (fun H f => apply_factor K f H) (map (map_factor value) factors) G)).
  { clear H. induction factors as [|f factors IH]; intros H G E; [exact E|]. cbn [fold_left map].
    apply IH. intros i j. rewrite factor_meaning. apply apply_factor_same, E. }
  apply L. intros i j. apply scale_meaning.
Qed.
Theorem letter_meaning t H :
  same (meaning (letter_sparse t H)) (apply_transition K (map_transition value t) (meaning H)).
Proof.
  intros i j. unfold apply_transition, letter_sparse. cbn [map_transition linear_part additive].
  change (entry K (map_entries value (additive t)) i j) with (meaning (additive t) i j). rewrite <- linear_meaning.
  destruct (additive t) eqn:E; [rewrite meaning_nil; ring|]. apply meaning_merge.
Qed.

Lemma equal_entries_eq (a : entries A) : forall b, equal_entries a b = true -> a = b.
Proof.
  induction a as [|[p x] a IH]; destruct b as [|[q y] b]; cbn; try discriminate; auto. intros H.
  apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. apply same_entry_eq in H1.
  apply (value_equal _ _ _ R) in H2. apply IH in H3. congruence.
Qed.

(* ---- What is compared with the entries after a factor, without making them. *)
Lemma merge_is_spec (a : entries A) : forall b c, merge_is A a b c = equal_entries (merge_entries A a b) c.
Proof.
  unfold merge_entries. induction a as [|x a IHa]; [reflexivity|].
  induction b as [|y b IHb]; intros c; [reflexivity|]. cbn [merge_is merge].
  destruct (before_entry (fst x) (fst y)); [destruct c as [|z c]; [reflexivity|]; rewrite IHa; reflexivity|].
  destruct (same_entry (fst x) (fst y)).
  - cbv zeta. destruct (n_is_zero A _); [apply IHa|]. destruct c as [|z c]; [reflexivity|]. rewrite IHa. reflexivity.
  - destruct c as [|z c]; [reflexivity|]. cbn [merge_is merge] in IHb. rewrite IHb. reflexivity.
Qed.
Lemma row_times_meaning k x H j :
  total (fun c => c =? j) (row_times A k (n_prepare A x) H) = value x * meaning H k j.
Proof.
  induction H as [|e H IH]; [cbn [row_times]; rewrite total_nil, meaning_nil; ring|]. cbn [row_times]. rewrite meaning_cons.
  destruct (fst (fst e) =? k); cbn [andb]; [|rewrite IH; ring].
  rewrite total_cons, IH. cbn [fst snd]. destruct (snd (fst e) =? j); rewrite ?(value_times _ _ _ R); ring.
Qed.
Lemma read_ready_meaning v H j :
  total (fun c => c =? j) (read_ready A (map (fun e => (fst e, n_prepare A (snd e))) v) H)
  = read_along K (map_vector value v) (meaning H) j.
Proof.
  induction v as [|e v IH]; [reflexivity|]. cbn [map read_ready].
  unfold merge_rows. rewrite (total_merge _ _ _ _ eqb_eq). cbn [fst snd]. rewrite row_times_meaning, IH. reflexivity.
Qed.
Lemma outer_row_meaning i' x s rest i j : meaning (outer_row A i' (n_prepare A x) s rest) i j
  = value x * (if i' =? i then total (fun k => k =? j) s else 0) + meaning rest i j.
Proof.
  induction s as [|t s IH]; cbn [outer_row]; [rewrite total_nil; destruct (i' =? i); ring|].
  rewrite meaning_cons, IH, total_cons. cbn [fst snd]. rewrite (value_times _ _ _ R).
  destruct (i' =? i); cbn [andb]; [|ring]. destruct (fst t =? j); ring.
Qed.
Lemma outer_ready_meaning c v s i j :
  meaning (outer_ready A (map (fun e => (fst e, n_prepare A (n_mul A c (snd e)))) v) s) i j
  = value c * total (fun k => k =? i) v * total (fun k => k =? j) s.
Proof.
  induction v as [|e v IH]; cbn [map outer_ready]; [rewrite meaning_nil, total_nil; ring|].
  cbn [fst snd]. rewrite outer_row_meaning, IH, total_cons, (value_mul _ _ _ R). destruct (fst e =? i); ring.
Qed.
Theorem leads_meaning f H H' : leads (ready A f) H H' = true ->
  same (apply_factor K (map_factor value f) (meaning H)) (meaning H').
Proof.
  unfold leads. cbn [ready ready_key ready_reading]. intros E i j. unfold apply_factor. cbn [map_factor beta key reading].
  rewrite coordinate_total, <- read_ready_meaning.
  destruct (read_ready A _ H) eqn:S; [rewrite total_nil; apply equal_entries_eq in E; rewrite <- E; ring|].
  rewrite merge_is_spec in E. apply equal_entries_eq in E. rewrite <- E, meaning_merge, outer_ready_meaning, (value_opp _ _ _ R). ring.
Qed.

(* A factor with beta (u^T v) = 2 undoes itself. *)
Lemma row_total_meaning i v : value (row_total A i v) = coordinate K (map_vector value v) i.
Proof.
  rewrite coordinate_total. induction v as [|e v IH]; [apply (value_zero _ _ _ R)|]. cbn [row_total]. rewrite total_cons, <- IH.
  destruct (fst e =? i); [apply (value_add _ _ _ R)|ring].
Qed.
Lemma read_along_less v w c (r : nat -> K) (H : matrix K) j :
  read_along K (map_vector value v) (fun i j => H i j + - (c * coordinate K w i * r j)) j
  = read_along K (map_vector value v) H j
    + - (c * read_along K (map_vector value v) (fun i _ => coordinate K w i) j * r j).
Proof.
  unfold read_along. induction v as [|e v IH]; [cbn; ring|].
  unfold map_vector, sum in *. cbn [map fold_right fst snd]. rewrite IH. ring.
Qed.
Lemma norm_meaning v w j : value (norm_of A v w) = read_along K (map_vector value v) (fun i _ => coordinate K (map_vector value w) i) j.
Proof.
  induction v as [|e v IH]; [apply (value_zero _ _ _ R)|]. cbn [norm_of].
  rewrite (value_add _ _ _ R), (value_mul _ _ _ R), row_total_meaning, IH. reflexivity.
Qed.
Theorem mirror_undoes f H H' : is_mirror A f = true ->
  same (apply_factor K (map_factor value f) H) H' -> same (apply_factor K (map_factor value f) H') H.
Proof.
  intros M E i j. rewrite <- (apply_factor_same (map_factor value f) _ _ E). apply (value_equal _ _ _ R) in M.
  apply (f_equal value) in M. rewrite (value_mul _ _ _ R), (value_add _ _ _ R), (value_one _ _ _ R), (norm_meaning _ _ j) in M.
  unfold apply_factor. cbn [map_factor beta key reading]. rewrite (read_along_less _ _ _ (read_along K (map_vector value (reading f)) H)).
  set (r := read_along K _ H j). set (n := read_along K _ _ j) in *. set (c := coordinate K _ i).
  transitivity (H i j + - (c * r * (value (beta f) + value (beta f) + - (value (beta f) * (value (beta f) * n))))); [ring|].
  rewrite M. ring.
Qed.

(* ---- Canonical entries: each matrix has one list. *)
Lemma before_transitive p q r : before_entry p q = true -> before_entry q r = true -> before_entry p r = true.
Proof.
  unfold before_entry. rewrite !orb_true_iff, !andb_true_iff, !Nat.ltb_lt, !Nat.eqb_eq. lia.
Qed.
Lemma before_not_same p q : before_entry p q = true -> same_entry q p = false /\ same_entry p q = false.
Proof.
  unfold before_entry, same_entry. rewrite orb_true_iff, andb_true_iff, !Nat.ltb_lt, Nat.eqb_eq. intros H.
  split; apply andb_false_iff; rewrite !Nat.eqb_neq; lia.
Qed.
Lemma trichotomy p q : before_entry p q = true \/ p = q \/ before_entry q p = true.
Proof.
  destruct p as [a b], q as [c d]. unfold before_entry. cbn [fst snd].
  rewrite !orb_true_iff, !andb_true_iff, !Nat.ltb_lt, !Nat.eqb_eq.
  destruct (lt_eq_lt_dec a c) as [[?|?]|?], (lt_eq_lt_dec b d) as [[?|?]|?]; subst; auto.
Qed.
Lemma canonical_tail rows columns x (a : entries A) : canonical_entries rows columns (x :: a) = true ->
  canonical_entries rows columns a = true /\ Forall (fun e => before_entry (fst x) (fst e) = true) a
  /\ n_canonical A (snd x) = true /\ n_is_zero A (snd x) = false /\ fst (fst x) < rows /\ snd (fst x) < columns.
Proof.
  revert x. induction a as [|y a IH]; intros x H; apply andb_prop in H as [H C];
    apply andb_prop in H as [H B]; rewrite !andb_true_iff, !Nat.ltb_lt, negb_true_iff in H;
    destruct H as [[[H1 H2] H3] H4]; repeat split; try assumption; [constructor|].
  constructor; [exact B|]. destruct (IH y C) as [_ [F _]].
  eapply Forall_impl; [|exact F]. intros e E. eapply before_transitive; eassumption.
Qed.
Lemma meaning_absent p (a : entries A) : Forall (fun e => same_entry (fst e) p = false) a -> meaning a (fst p) (snd p) = 0.
Proof.
  induction 1 as [|e a E _ IH]; [reflexivity|]. rewrite meaning_cons, IH. unfold same_entry in E. rewrite E. ring.
Qed.
Lemma meaning_first x (a : entries A) : Forall (fun e => before_entry (fst x) (fst e) = true) a ->
  meaning (x :: a) (fst (fst x)) (snd (fst x)) = value (snd x).
Proof.
  intros F. rewrite meaning_cons, !Nat.eqb_refl. cbn [andb]. rewrite meaning_absent; [ring|].
  eapply Forall_impl; [|exact F]. cbv beta. intros e E. apply before_not_same in E as [E1 E2]. assumption.
Qed.
Lemma meaning_before p x (a : entries A) : before_entry p (fst x) = true ->
  Forall (fun e => before_entry (fst x) (fst e) = true) a -> meaning (x :: a) (fst p) (snd p) = 0.
Proof.
  intros B F. apply meaning_absent. constructor; [apply before_not_same in B as [B1 B2]; assumption|].
  eapply Forall_impl; [|exact F]. cbv beta. intros e E. apply (before_transitive _ _ _ B) in E. apply before_not_same in E as [E1 E2]. assumption.
Qed.
Theorem entries_unique rows columns (a : entries A) : forall b, canonical_entries rows columns a = true ->
  canonical_entries rows columns b = true -> same (meaning a) (meaning b) -> a = b.
Proof.
  induction a as [|x a IH]; destruct b as [|y b]; intros Ca Cb E; auto.
  - apply canonical_tail in Cb as (_ & F & C & Z & _). exfalso.
    apply (value_not_zero _ _ _ R _ C Z). rewrite <- (meaning_first y b F), <- E. reflexivity.
  - apply canonical_tail in Ca as (_ & F & C & Z & _). exfalso.
    apply (value_not_zero _ _ _ R _ C Z). rewrite <- (meaning_first x a F), E. reflexivity.
  - apply canonical_tail in Ca as (Ca & Fa & Cx & Zx & _). apply canonical_tail in Cb as (Cb & Fb & Cy & Zy & _).
    destruct (trichotomy (fst x) (fst y)) as [B|[S|B]].
    + exfalso. apply (value_not_zero _ _ _ R _ Cx Zx). rewrite <- (meaning_first x a Fa), E.
      apply meaning_before; assumption.
    + destruct x as [p x], y as [q y]. cbn [fst] in S. subst q.
      assert (V : value x = value y).
      { pose proof (meaning_first (p, x) a Fa) as Mx. pose proof (meaning_first (p, y) b Fb) as My.
        cbn [fst snd] in Mx, My. rewrite <- Mx, <- My. apply E. }
      apply (value_canonical _ _ _ R) in V; [|assumption..]. subst y. f_equal. apply IH; [assumption..|].
      intros i j. specialize (E i j). rewrite !meaning_cons in E. cbn [fst snd] in E.
      set (c := if _ && _ then value x else 0) in E.
      transitivity (- c + (c + meaning a i j)); [ring|]. rewrite E. ring.
    + exfalso. apply (value_not_zero _ _ _ R _ Cy Zy). rewrite <- (meaning_first y b Fb), <- E.
      apply meaning_before; assumption.
Qed.
Lemma meaning_outside rows columns (a : entries A) i j : canonical_entries rows columns a = true ->
  rows <= i \/ columns <= j -> meaning a i j = 0.
Proof.
  induction a as [|x a IH]; intros C O; [reflexivity|].
  apply canonical_tail in C as (C & _ & _ & _ & Hi & Hj). rewrite meaning_cons, IH by assumption.
  destruct (_ =? i) eqn:Ei; cbn [andb]; [|ring]. destruct (_ =? j) eqn:Ej; [|ring].
  apply Nat.eqb_eq in Ei, Ej. lia.
Qed.
End Meaning.
Arguments meaning {A K}.
Arguments same {K}.
