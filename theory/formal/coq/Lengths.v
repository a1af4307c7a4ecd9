(* How long vectors of rational numbers are, for the proof by regions (RegionsCheck.v).

   Lengths are compared by their squares, so that no root occurs.  Proved: within_plus, the triangle inequality; and eliminated_right, that
   elimination shows a quadratic form to be nowhere negative. *)
Require Import List Arith ZArith QArith Qabs Lqa Lia.
From Mirrormata Require Import RoundedRNN.
Import ListNotations.
Local Open Scope Q_scope.

Lemma less_true x y : less x y = true <-> x < y.
Proof. unfold less, Qlt. apply Z.ltb_lt. Qed.
Lemma less_not x y : less x y = false <-> y <= x.
Proof. unfold less, Qle. apply Z.ltb_ge. Qed.
Lemma lowest_same x : lowest_terms x == x.
Proof.
  unfold Qeq, lowest_terms. set (g := Z.gcd (Qnum x) (Zpos (Qden x))). cbn [Qnum Qden].
  assert (G : (0 < g)%Z).
  { pose proof (Z.gcd_nonneg (Qnum x) (Zpos (Qden x))). assert (g <> 0%Z) by (intros E; now apply Z.gcd_eq_0 in E). fold g in H. lia. }
  destruct (Z.gcd_divide_l (Qnum x) (Zpos (Qden x))) as [k K]. destruct (Z.gcd_divide_r (Qnum x) (Zpos (Qden x))) as [l M].
  fold g in K, M. assert (Pl : (0 < l)%Z) by nia.
  replace (Z.div (Zpos (Qden x)) g) with l by (rewrite M; now rewrite Z.div_mul by lia).
  replace (Z.div (Qnum x) g) with k by (rewrite K; now rewrite Z.div_mul by lia).
  rewrite Z2Pos.id by exact Pl. rewrite M, K. ring.
Qed.

(* ---- Vectors: the first n values of a function.  `within n f r`: the length of f is at most r. *)
Fixpoint total (n : nat) (f : nat -> Q) : Q := match n with O => 0 | S n' => f O + total n' (fun i => f (S i)) end.
Definition square (n : nat) (f : nat -> Q) : Q := total n (fun i => f i * f i).
Definition within (n : nat) (f : nat -> Q) (r : Q) : Prop := 0 <= r /\ square n f <= r * r.
(* The square of a length, in lowest terms *)
Fixpoint short_square (n : nat) (f : nat -> Q) : Q :=
  match n with O => 0 | S n' => lowest_terms (f O * f O + short_square n' (fun i => f (S i))) end.

Lemma squared x : 0 <= x * x.
Proof. nra. Qed.
Lemma total_same n : forall f g, (forall i, (i < n)%nat -> f i == g i) -> total n f == total n g.
Proof.
  induction n as [|n IH]; intros f g E; cbn [total]; [reflexivity|]. rewrite (E O) by lia.
  rewrite (IH (fun i => f (S i)) (fun i => g (S i))); [reflexivity|]. intros i L. apply E. lia.
Qed.
Lemma total_most n : forall f g, (forall i, (i < n)%nat -> f i <= g i) -> total n f <= total n g.
Proof.
  induction n as [|n IH]; intros f g E; cbn [total]; [apply Qle_refl|]. apply Qplus_le_compat; [apply E; lia|].
  apply IH. intros i L. apply E. lia.
Qed.
Lemma total_plus n : forall f g, total n (fun i => f i + g i) == total n f + total n g.
Proof. induction n as [|n IH]; intros f g; cbn [total]; [reflexivity|]. rewrite (IH (fun i => f (S i)) (fun i => g (S i))). ring. Qed.
Lemma total_times n k : forall f, total n (fun i => k * f i) == k * total n f.
Proof. induction n as [|n IH]; intros f; cbn [total]; [ring|]. rewrite (IH (fun i => f (S i))). ring. Qed.
Lemma short_same n : forall f, short_square n f == square n f.
Proof. induction n as [|n IH]; intros f; cbn [short_square]; [reflexivity|]. rewrite lowest_same, IH. reflexivity. Qed.
Lemma square_positive n : forall f, 0 <= square n f.
Proof.
  unfold square. induction n as [|n IH]; intros f; cbn [total]; [apply Qle_refl|]. specialize (IH (fun i => f (S i))).
  cbv beta in IH. set (t := total n _) in *. nra.
Qed.
Lemma at_most_by_squares a b : 0 <= b -> a * a <= b * b -> a <= b.
Proof. intros P S. destruct (Qlt_le_dec b a) as [L|L]; [|exact L]. exfalso. nra. Qed.
Lemma times_le k a b : 0 <= k -> a <= b -> k * a <= k * b.
Proof. intros K L. rewrite (Qmult_comm k a), (Qmult_comm k b). now apply Qmult_le_compat_r. Qed.
Lemma cauchy n : forall f g, total n (fun i => f i * g i) * total n (fun i => f i * g i) <= square n f * square n g.
Proof.
  unfold square. induction n as [|n IH]; intros f g; cbn [total]; [apply Qle_refl|].
  specialize (IH (fun i => f (S i)) (fun i => g (S i))).
  pose proof (square_positive n (fun i => f (S i))) as X. pose proof (square_positive n (fun i => g (S i))) as Y.
  unfold square in X, Y. cbv beta in *. set (d := total n (fun i => f (S i) * g (S i))) in *.
  set (x := total n (fun i => f (S i) * f (S i))) in *. set (y := total n (fun i => g (S i) * g (S i))) in *.
  set (a := f O) in *. set (b := g O) in *.
  assert (M : 2 * (a * b) * d <= a * a * y + b * b * x).
  { pose proof (squared a) as P1. pose proof (squared b) as P2.
    pose proof (Qmult_le_0_compat _ _ P1 Y) as Q1. pose proof (Qmult_le_0_compat _ _ P2 X) as Q2.
    apply at_most_by_squares; [lra|].
    assert (D : (a * a) * (b * b) * (d * d) <= (a * a) * (b * b) * (x * y)).
    { apply times_le; [now apply Qmult_le_0_compat|exact IH]. }
    set (s := a * a * y) in *. set (t := b * b * x) in *.
    assert (E : (a * a) * (b * b) * (x * y) == s * t) by (unfold s, t; ring). rewrite E in D.
    assert (E2 : 2 * (a * b) * d * (2 * (a * b) * d) == 4 * ((a * a) * (b * b) * (d * d))) by ring. rewrite E2.
      set (w := a * a * (b * b) * (d * d)) in *. pose proof (squared (s - t)). lra. }
  assert (E : (a * b + d) * (a * b + d) == a * a * (b * b) + 2 * (a * b) * d + d * d) by ring. rewrite E.
  assert (E2 : (a * a + x) * (b * b + y) == a * a * (b * b) + (a * a * y + b * b * x) + x * y) by ring. rewrite E2. lra.
Qed.

Lemma within_plus n f g h r s : within n f r -> within n g s -> (forall i, (i < n)%nat -> Qabs (h i) <= Qabs (f i) + Qabs (g i)) ->
  within n h (r + s).
Proof.
  intros [Pr F] [Ps G] H. split; [lra|].
  assert (A : square n h <= total n (fun i => f i * f i + (2 * (Qabs (f i) * Qabs (g i)) + g i * g i))).
  { apply total_most. intros i L. specialize (H i L). pose proof (Qabs_nonneg (h i)). pose proof (Qabs_nonneg (f i)). pose proof (Qabs_nonneg (g i)).
    assert (S : forall x, x * x == Qabs x * Qabs x).
    { intros x. rewrite <- Qabs_Qmult. rewrite Qabs_pos; [reflexivity|nra]. }
    rewrite (S (h i)), (S (f i)), (S (g i)). set (x := Qabs (h i)) in *. set (y := Qabs (f i)) in *. set (z := Qabs (g i)) in *. nra. }
  rewrite (total_plus n (fun i => f i * f i)), (total_plus n (fun i => 2 * (Qabs (f i) * Qabs (g i)))), total_times in A.
  fold (square n f) (square n g) in A. pose proof (cauchy n (fun i => Qabs (f i)) (fun i => Qabs (g i))) as C. cbv beta in C.
  assert (S : forall k, square n (fun i => Qabs (k i)) == square n k).
  { intros k. apply total_same. intros i _. rewrite <- Qabs_Qmult. apply Qabs_pos. nra. }
  rewrite (S f), (S g) in C. set (d := total n (fun i => Qabs (f i) * Qabs (g i))) in *.
  pose proof (square_positive n f). pose proof (square_positive n g).
  assert (D : d <= r * s).
  { apply at_most_by_squares; [nra|]. apply Qle_trans with (1 := C).
    apply Qle_trans with (r * r * square n g); [now apply Qmult_le_compat_r|].
    assert (E : r * s * (r * s) == r * r * (s * s)) by ring. rewrite E. apply times_le; [nra|assumption]. }
  assert (E : (r + s) * (r + s) == r * r + (2 * (r * s) + s * s)) by ring. rewrite E. lra.
Qed.
Lemma within_at_most n f g r : within n f r -> (forall i, (i < n)%nat -> Qabs (g i) <= Qabs (f i)) -> within n g r.
Proof.
  intros F H. assert (Z : within n (fun _ => 0) 0).
  { split; [apply Qle_refl|]. unfold square. pose proof (total_times n 0 (fun _ => 0)) as T. cbv beta in T. rewrite T. lra. }
  destruct (within_plus n f (fun _ => 0) g r 0 F Z) as [P S].
  - intros i L. specialize (H i L). change (Qabs 0) with 0. lra.
  - split; [lra|]. assert (E : (r + 0) * (r + 0) == r * r) by ring. now rewrite E in S.
Qed.
Lemma within_more n f r s : within n f r -> r <= s -> within n f s.
Proof. intros [P F] L. split; [lra|]. apply Qle_trans with (1 := F). nra. Qed.
Lemma within_times n f k r : 0 <= k -> within n f r -> within n (fun i => k * f i) (k * r).
Proof.
  intros K [P F]. split; [now apply Qmult_le_0_compat|]. unfold square.
  rewrite (total_same n _ (fun i => k * k * (f i * f i))) by (intros; ring). rewrite total_times.
  assert (E : k * r * (k * r) == k * k * (r * r)) by ring. rewrite E. apply times_le; [nra|exact F].
Qed.
(* A vector of numbers that are not negative is no longer than their sum. *)
Lemma within_total n : forall f, (forall i, (i < n)%nat -> 0 <= f i) -> within n f (total n f).
Proof.
  induction n as [|n IH]; intros f P; unfold within, square in *; cbn [total]; [lra|].
  destruct (IH (fun i => f (S i))) as [T Sq]; [intros i L; apply P; lia|]. specialize (P O ltac:(lia)).
  set (t := total n (fun i => f (S i))) in *. set (s := total n (fun i => f (S i) * f (S i))) in *. split; [lra|nra].
Qed.
Lemma within_entry n f r i : within n f r -> (i < n)%nat -> Qabs (f i) <= r.
Proof.
  intros [P S] L. apply at_most_by_squares; [exact P|]. apply Qle_trans with (2 := S). clear S P r.
  rewrite <- Qabs_Qmult, Qabs_pos by nra. revert f i L. induction n as [|n IH]; intros f i L; [lia|].
  unfold square. cbn [total]. pose proof (square_positive n (fun i => f (S i))) as Q. unfold square in Q. cbv beta in Q.
  destruct i as [|i]; [lra|]. specialize (IH (fun i => f (S i)) i ltac:(lia)). unfold square in IH. cbv beta in IH.
  assert (0 <= f O * f O) by nra. lra.
Qed.

(* ---- Elimination.  A symmetric matrix by rows, each from its diagonal on; its quadratic form at f. *)
Fixpoint along (row : list Q) (f : nat -> Q) : Q :=
  match row with [] => 0 | a :: row' => a * f O + along row' (fun i => f (S i)) end.
Fixpoint form (rows : list (list Q)) (f : nat -> Q) : Q :=
  match rows with
  | [] => 0
  | row :: rows' => f O * (2 * along row f - hd 0 row * f O) + form rows' (fun i => f (S i))
  end.
Definition is_zero (x : Q) : bool := Z.eqb (Qnum x) 0.
(* row - k r, and rows - k r r^T *)
Fixpoint less_row (row : list Q) (k : Q) (r : list Q) : list Q :=
  match row, r with
  | _, [] => row
  | [], b :: r' => lowest_terms (- (k * b)) :: less_row [] k r'
  | a :: row', b :: r' => (if is_zero b then a else lowest_terms (a - k * b)) :: less_row row' k r'
  end.
Fixpoint less_square (rows : list (list Q)) (k : Q) (r : list Q) : list (list Q) :=
  match r with
  | [] => rows
  | a :: r' => (if is_zero a then hd [] rows else less_row (hd [] rows) (k * a) r) :: less_square (tl rows) k r'
  end.
(* Whether the form is nowhere negative *)
Fixpoint eliminated (count : nat) (rows : list (list Q)) : bool :=
  match count, rows with
  | _, [] => true
  | S count', row :: rows' =>
    let p := hd 0 row in
    if less p 0 then false
    else if is_zero p then forallb is_zero (tl row) && eliminated count' rows'
    else eliminated count' (less_square rows' (1 / p) (tl row))
  | O, _ => false
  end.

Lemma is_zero_right x : is_zero x = true -> x == 0.
Proof. unfold is_zero, Qeq. intros E. apply Z.eqb_eq in E. cbn. lia. Qed.
Lemma along_less r : forall row k f, along (less_row row k r) f == along row f - k * along r f.
Proof.
  induction r as [|b r IH]; intros [|a row] k f; cbn [less_row along]; try ring.
  - rewrite IH, lowest_same. cbn [along]. ring.
  - rewrite IH. destruct (is_zero b) eqn:Z; [apply is_zero_right in Z; rewrite Z; ring|]. rewrite lowest_same. ring.
Qed.
Lemma head_less row k b r : hd 0 (less_row row k (b :: r)) == hd 0 row - k * b.
Proof.
  destruct row as [|a row]; cbn [less_row hd]; [rewrite lowest_same; ring|].
  destruct (is_zero b) eqn:Z; [apply is_zero_right in Z; rewrite Z; ring|]. apply lowest_same.
Qed.
Lemma form_less r : forall rows k f, form (less_square rows k r) f == form rows f - k * (along r f * along r f).
Proof.
  induction r as [|a r IH]; intros rows k f; cbn [less_square along]; [ring|]. cbn [form]. rewrite IH.
  assert (E : form rows f == f O * (2 * along (hd [] rows) f - hd 0 (hd [] rows) * f O) + form (tl rows) (fun i => f (S i))).
  { destruct rows; cbn [hd tl form along]; ring. }
  rewrite E. destruct (is_zero a) eqn:Z; [apply is_zero_right in Z; rewrite Z; ring|].
  rewrite along_less, head_less. cbn [along]. ring.
Qed.
Lemma along_zero row : forallb is_zero row = true -> forall f, along row f == 0.
Proof.
  induction row as [|a row IH]; cbn [forallb along]; intros E f; [reflexivity|]. apply andb_prop in E as [E1 E2].
  apply is_zero_right in E1. rewrite E1, (IH E2). ring.
Qed.
Lemma eliminated_right count : forall rows, eliminated count rows = true -> forall f, 0 <= form rows f.
Proof.
  induction count as [|count IH]; intros [|row rows] E f; try discriminate; try apply Qle_refl. cbn [eliminated] in E. cbv zeta in E.
  destruct (less (hd 0 row) 0) eqn:L; [discriminate|]. apply less_not in L.
  assert (A : along row f == hd 0 row * f O + along (tl row) (fun i => f (S i))) by (destruct row; cbn [hd tl along]; ring).
  cbn [form]. set (p := hd 0 row) in *. destruct (is_zero p) eqn:Z.
  - apply andb_prop in E as [E1 E2]. apply is_zero_right in Z. rewrite A, (along_zero _ E1), Z. specialize (IH _ E2 (fun i => f (S i))). lra.
  - specialize (IH _ E (fun i => f (S i))). rewrite form_less in IH. rewrite A. set (d := along (tl row) _) in *.
    assert (N : ~ p == 0) by (unfold is_zero in Z; intros X; unfold Qeq in X; cbn in X; apply Z.eqb_neq in Z; lia).
    set (x := f O) in *. set (rest := form rows _) in *.
    assert (P : 0 <= p * ((x + d / p) * (x + d / p))) by (apply Qmult_le_0_compat; [exact L|apply squared]).
    assert (S : p * ((x + d / p) * (x + d / p)) == x * (2 * (p * x + d) - p * x) + 1 / p * (d * d)) by (field; exact N).
    rewrite S in P. set (w := 1 / p * (d * d)) in *. lra.
Qed.
