(* The numbers with which the checker of tables computes: integers, and numbers of a field Q(theta) as polynomials in
   theta modulo its minimal polynomial.

   Proved: integers_represent, elements_represent, that sums, products and comparisons are those of any ring that
   contains the rational numbers and such a theta. *)
Require Import List Arith ZArith Znumtheory Bool Lia Ring_theory InitialRing Ring Setoid.
From Mirrormata Require Import Semantics Sparse.
Import ListNotations.
Local Open Scope Z_scope.

Definition integers : arithmetic :=
  Arithmetic Z Z 0 1 Z.add Z.mul Z.opp (fun x => Z.eqb x 0) Z.eqb (fun _ => true) (fun x => x) Z.mul.

(* ---- Polynomials, as lists of their coefficients, that of 1 first. *)
Fixpoint add_lists (a b : list Z) : list Z :=
  match a, b with
  | x :: a', y :: b' => Z.add x y :: add_lists a' b'
  | [], _ => b
  | _, [] => a
  end.
Definition scale_list (c : Z) (a : list Z) : list Z := map (Z.mul c) a.
(* Splits off the last coefficient. *)
Fixpoint split_last (x : Z) (a : list Z) : list Z * Z :=
  match a with [] => ([], x) | y :: a' => let (front, last) := split_last y a' in (x :: front, last) end.

(* ---- Numbers of Q(theta): coefficients of 1, theta, theta^2, ... over a positive denominator.  `modulus` has the
   coefficients of the minimal polynomial without the leading one, which is 1. *)
Definition element := (positive * list Z)%type.
Section Elements.
Variable modulus : list Z.
(* theta times a polynomial *)
Definition shift (a : list Z) : list Z :=
  match a with
  | [] => []
  | x :: a' =>
    if (length a =? length modulus)%nat then
      let (front, last) := split_last x a' in
      if Z.eqb last 0 then 0 :: front else add_lists (0 :: front) (scale_list (Z.opp last) modulus)
    else 0 :: a
  end.
Definition product (a b : list Z) : list Z :=
  fold_right (fun c sum => if Z.eqb c 0 then shift sum else add_lists (scale_list c b) (shift sum)) [] a.
Fixpoint gcd_all (g : Z) (a : list Z) : Z :=
  match a with [] => g | c :: a' => if Z.eqb g 1 then 1 else gcd_all (Z.gcd g c) a' end.
Definition content (x : element) : Z := gcd_all (Zpos (fst x)) (snd x).
(* In lowest terms *)
Definition lowest (x : element) : element :=
  let g := content x in
  if Z.eqb g 1 then x else (Z.to_pos (Zpos (fst x) / g), map (fun c => c / g) (snd x)).
Definition element_add (x y : element) : element :=
  if Pos.eqb (fst x) (fst y) then lowest (fst x, add_lists (snd x) (snd y))
  else lowest (Pos.mul (fst x) (fst y),
               add_lists (scale_list (Zpos (fst y)) (snd x)) (scale_list (Zpos (fst x)) (snd y))).
(* Padded to the degree, so that each number has one list *)
Definition padded (a : list Z) : list Z := add_lists a (repeat 0 (length modulus)).
Definition element_mul (x y : element) : element :=
  lowest (Pos.mul (fst x) (fst y), padded (product (snd x) (snd y))).
Definition element_opp (x : element) : element := (fst x, map Z.opp (snd x)).
Fixpoint equal_lists (a b : list Z) : bool :=
  match a, b with [], [] => true | x :: a', y :: b' => Z.eqb x y && equal_lists a' b' | _, _ => false end.
Definition element_equal (x y : element) : bool := Pos.eqb (fst x) (fst y) && equal_lists (snd x) (snd y).
Definition element_is_zero (x : element) : bool := forallb (fun c => Z.eqb c 0) (snd x).
Definition element_canonical (x : element) : bool :=
  (length (snd x) =? length modulus)%nat && Z.eqb (content x) 1.
Definition element_integer (z : Z) : element := (1%positive, padded [z]).

(* A number by which many are multiplied: a rational one, or the coefficients of x, theta x, theta^2 x, ..., before the list of zeros. *)
Inductive element_multiplier := Rational (p : positive) (c : Z) | Irrational (x : element) (zeros : list Z) (rows : list (list Z)).
Fixpoint shifted_rows (n : nat) (a : list Z) : list (list Z) :=
  match n with O => [] | S m => a :: shifted_rows m (shift a) end.
Definition element_prepare (x : element) : element_multiplier :=
  match snd x with
  | c :: rest =>
    if forallb (fun c => Z.eqb c 0) rest then Rational (fst x) c
    else Irrational x (repeat 0 (length modulus)) (shifted_rows (length modulus) (padded (snd x)))
  | [] => Irrational x (repeat 0 (length modulus)) []
  end.
(* c a + b *)
Fixpoint add_scaled (c : Z) (a b : list Z) : list Z :=
  match a, b with
  | x :: a', y :: b' => Z.add (Z.mul c x) y :: add_scaled c a' b'
  | [], _ => b
  | _, [] => scale_list c a
  end.
Fixpoint combine_rows (y : list Z) (rows : list (list Z)) (zeros : list Z) : list Z :=
  match y, rows with
  | c :: y', row :: rows' =>
    if Z.eqb c 0 then combine_rows y' rows' zeros else add_scaled c row (combine_rows y' rows' zeros)
  | _, _ => zeros
  end.
Definition element_times (m : element_multiplier) (y : element) : element :=
  match m with
  | Rational p c => if Pos.eqb p 1 && Z.eqb c 1 then y else lowest (Pos.mul p (fst y), scale_list c (snd y))
  | Irrational x zeros rows =>
    if (length (snd y) <=? length rows)%nat then lowest (Pos.mul (fst x) (fst y), combine_rows (snd y) rows zeros)
    else element_mul x y
  end.

Definition elements : arithmetic :=
  Arithmetic element element_multiplier (element_integer 0) (element_integer 1) element_add element_mul element_opp element_is_zero
    element_equal element_canonical element_prepare element_times.
End Elements.

Section Meaning.
Variable K : rational_ring.
Add Ring numbers : (laws K).
Notation "x + y" := (add x y).
Notation "x * y" := (mul x y).
Notation "- x" := (opp x).
Notation "0" := zero.
Notation "1" := one.

Lemma integer_morphism : ring_morph 0 1 (@add K) mul (fun x y => x + - y) opp eq
  0%Z 1%Z Z.add Z.mul Z.sub Z.opp Zeq_bool (integer K).
Proof. apply (gen_phiZ_morph (Eqsth K) (Eq_ext _ _ _) (laws K)). Qed.
Lemma integer_0 : integer K 0 = 0. Proof. reflexivity. Qed.
Lemma integer_1 : integer K 1 = 1. Proof. reflexivity. Qed.
Lemma integer_add x y : integer K (x + y)%Z = integer K x + integer K y.
Proof. apply (morph_add integer_morphism). Qed.
Lemma integer_mul x y : integer K (x * y)%Z = integer K x * integer K y.
Proof. apply (morph_mul integer_morphism). Qed.
Lemma integer_opp x : integer K (- x)%Z = - integer K x.
Proof. apply (morph_opp integer_morphism). Qed.
Lemma positive_not_zero q : integer K (Zpos q) <> 0.
Proof.
  intros E. apply (one_is_not_zero K). rewrite <- (reciprocal_spec K q). fold (numbers K).
  rewrite E. ring.
Qed.
Lemma integer_not_zero z : integer K z = 0 -> z = 0%Z.
Proof.
  destruct z; intros E; [reflexivity| |]; exfalso; [exact (positive_not_zero p E)|].
  apply (positive_not_zero p). change (Zpos p) with (- Zneg p)%Z. rewrite integer_opp, E. ring.
Qed.
Lemma difference_zero (x y : K) : x = y -> x + - y = 0. Proof. intros ->. ring. Qed.
Lemma integer_injective x y : integer K x = integer K y -> x = y.
Proof.
  intros E. apply difference_zero in E. rewrite <- integer_opp, <- integer_add in E. apply integer_not_zero in E. lia.
Qed.

Theorem integers_represent : represents integers K (integer K).
Proof.
  constructor; cbn.
  - reflexivity.
  - reflexivity.
  - apply integer_add.
  - apply integer_mul.
  - apply integer_opp.
  - intros x E. apply Z.eqb_eq in E. subst. reflexivity.
  - intros x y. apply Z.eqb_eq.
  - intros x _ E V. apply integer_not_zero in V. subst. discriminate.
  - intros x y _ _. apply integer_injective.
  - apply integer_mul.
Qed.

(* ---- Numbers of Q(theta) *)
Variables (modulus : list Z) (theta : K).
Fixpoint evaluate (a : list Z) : K := match a with [] => 0 | c :: a' => integer K c + theta * evaluate a' end.
Fixpoint power (n : nat) : K := match n with O => 1 | S n' => theta * power n' end.
Definition element_value (x : element) : K := evaluate (snd x) * reciprocal K (fst x).
(* theta is a root of its minimal polynomial, and of none of a lower degree *)
Definition generates : Prop :=
  power (length modulus) + evaluate modulus = 0
  /\ forall a, length a = length modulus -> evaluate a = 0 -> Forall (eq 0%Z) a.
Hypothesis G : generates.

Lemma evaluate_add a : forall b, evaluate (add_lists a b) = evaluate a + evaluate b.
Proof.
  induction a as [|x a IH]; destruct b as [|y b]; cbn [add_lists evaluate]; [ring..|].
  rewrite IH, integer_add. ring.
Qed.
Lemma evaluate_scale c a : evaluate (scale_list c a) = integer K c * evaluate a.
Proof.
  induction a as [|x a IH]; cbn [scale_list map evaluate]; [ring|]. fold (scale_list c a). rewrite IH, integer_mul. ring.
Qed.
Lemma evaluate_opp a : evaluate (map Z.opp a) = - evaluate a.
Proof. induction a as [|x a IH]; cbn [map evaluate]; [ring|]. rewrite IH, integer_opp. ring. Qed.
Lemma evaluate_split a : forall x, let (front, last) := split_last x a in
  evaluate (x :: a) = evaluate front + integer K last * power (length a).
Proof.
  induction a as [|y a IH]; intros x; cbn [split_last]; [cbn [evaluate power length]; ring|].
  specialize (IH y). destruct (split_last y a) as [front last].
  change (evaluate (x :: y :: a)) with (integer K x + theta * evaluate (y :: a)). rewrite IH.
  cbn [evaluate length power]. ring.
Qed.
Lemma evaluate_zero a : forallb (fun c => Z.eqb c 0) a = true -> evaluate a = 0.
Proof.
  induction a as [|c a IH]; [reflexivity|]. cbn [forallb evaluate]. intros E. apply andb_prop in E as [E1 E2].
  apply Z.eqb_eq in E1. rewrite IH, E1, integer_0 by assumption. ring.
Qed.
Lemma evaluate_shift a : evaluate (shift modulus a) = theta * evaluate a.
Proof.
  destruct a as [|x a]; [cbn; ring|]. cbn [shift]. destruct (_ =? _)%nat eqn:L.
  2: { change (integer K 0 + theta * evaluate (x :: a) = theta * evaluate (x :: a)). rewrite integer_0. ring. }
  apply Nat.eqb_eq in L. cbn [length] in L. pose proof (evaluate_split a x) as S.
  destruct (split_last x a) as [front last]. rewrite S.
  assert (P : theta * power (length a) = - evaluate modulus).
  { destruct G as [root _]. rewrite <- L in root. cbn [power] in root.
    transitivity (theta * power (length a) + evaluate modulus + - evaluate modulus); [ring|]. rewrite root. ring. }
  transitivity (theta * evaluate front + integer K last * (theta * power (length a))); [|ring]. rewrite P.
  destruct (Z.eqb last 0) eqn:E.
  - apply Z.eqb_eq in E. subst last. cbn [evaluate]. rewrite integer_0. ring.
  - rewrite evaluate_add, evaluate_scale, integer_opp. cbn [evaluate]. rewrite integer_0. ring.
Qed.
Lemma evaluate_product a b : evaluate (product modulus a b) = evaluate a * evaluate b.
Proof.
  induction a as [|c a IH]; [cbn; ring|]. cbn [product fold_right evaluate]. fold (product modulus a b).
  destruct (Z.eqb c 0) eqn:E.
  - apply Z.eqb_eq in E. subst c. rewrite evaluate_shift, IH, integer_0. ring.
  - rewrite evaluate_add, evaluate_scale, evaluate_shift, IH. ring.
Qed.
Lemma evaluate_padded a : evaluate (padded modulus a) = evaluate a.
Proof.
  unfold padded. rewrite evaluate_add, (evaluate_zero (repeat _ _)); [ring|].
  generalize (length modulus). clear. induction n as [|n IH]; [reflexivity|exact IH].
Qed.

Lemma reciprocal_unique q x : integer K (Zpos q) * x = 1 -> x = reciprocal K q.
Proof.
  intros E. transitivity (x * (integer K (Zpos q) * reciprocal K q)); [rewrite (reciprocal_spec K q); ring|].
  transitivity ((integer K (Zpos q) * x) * reciprocal K q); [ring|]. rewrite E. ring.
Qed.
Lemma reciprocal_mul p q : reciprocal K (p * q) = reciprocal K p * reciprocal K q.
Proof.
  symmetry. apply reciprocal_unique. rewrite Pos2Z.inj_mul, integer_mul.
  transitivity ((integer K (Zpos p) * reciprocal K p) * (integer K (Zpos q) * reciprocal K q)); [ring|].
  rewrite !(reciprocal_spec K). ring.
Qed.

Lemma content_fold x : content x = fold_left Z.gcd (snd x) (Zpos (fst x)).
Proof.
  unfold content. generalize (Zpos (fst x)). induction (snd x) as [|c a IH]; intros g; [reflexivity|]. cbn [gcd_all fold_left].
  destruct (Z.eqb_spec g 1) as [->|]; [|apply IH]. rewrite Z.gcd_1_l. clear. induction a; [reflexivity|].
  cbn [fold_left]. rewrite Z.gcd_1_l. exact IHa.
Qed.
(* The content divides the denominator and all coefficients. *)
Lemma fold_gcd_divides a : forall g, (fold_left Z.gcd a g | g) /\ Forall (fun c => (fold_left Z.gcd a g | c)) a.
Proof.
  induction a as [|c a IH]; intros g; cbn [fold_left]; [split; [apply Z.divide_refl|constructor]|].
  destruct (IH (Z.gcd g c)) as [D F]. split; [|constructor; [|exact F]].
  - eapply Z.divide_trans; [exact D|apply Z.gcd_divide_l].
  - eapply Z.divide_trans; [exact D|apply Z.gcd_divide_r].
Qed.
Lemma fold_gcd_positive a : forall g, (0 <= g -> 0 <= fold_left Z.gcd a g)%Z.
Proof. induction a; intros g H; [exact H|]. apply IHa, Z.gcd_nonneg. Qed.
Lemma lowest_value x : element_value (lowest x) = element_value x.
Proof.
  unfold lowest. destruct (Z.eqb _ 1) eqn:E; [reflexivity|]. clear E. destruct x as [q a]. unfold element_value.
  cbn [fst snd]. rewrite content_fold. cbn [fst snd]. set (g := fold_left Z.gcd a (Zpos q)). destruct (fold_gcd_divides a (Zpos q)) as [D F].
  change (fold_left Z.gcd a (Zpos q)) with g in D, F.
  assert (P : (0 < g)%Z).
  { assert (0 <= g)%Z by (apply (fold_gcd_positive a (Zpos q)); lia).
    destruct (Z.eq_dec g 0) as [Z0|]; [|lia]. rewrite Z0 in D. apply Z.divide_0_l in D. discriminate. }
  destruct D as [d D]. rewrite D, Z.div_mul by lia. assert (0 < d)%Z by nia.
  assert (Q : q = (Z.to_pos d * Z.to_pos g)%positive).
  { apply Pos2Z.inj. rewrite Pos2Z.inj_mul, !Z2Pos.id by assumption. exact D. }
  assert (A : evaluate a = evaluate (map (fun c => c / g)%Z a) * integer K g).
  { clearbody g. clear -F P. induction a as [|c a IH]; cbn [map evaluate]; [ring|]. inversion F as [|? ? [k C] F']; subst.
    rewrite IH, Z.div_mul by (assumption || lia). rewrite integer_mul. ring. }
  assert (I : integer K g = integer K (Zpos (Z.to_pos g))) by (rewrite (Z2Pos.id g P); reflexivity).
  rewrite A, I, Q, reciprocal_mul. symmetry. clear A.
  transitivity (evaluate (map (fun c => c / g)%Z a) * reciprocal K (Z.to_pos d)
    * (integer K (Zpos (Z.to_pos g)) * reciprocal K (Z.to_pos g))); [ring|].
  rewrite (reciprocal_spec K). ring.
Qed.

Lemma equal_lists_eq a : forall b, equal_lists a b = true -> a = b.
Proof.
  induction a as [|x a IH]; destruct b as [|y b]; cbn; try discriminate; auto. intros E.
  apply andb_prop in E as [E1 E2]. apply Z.eqb_eq in E1. apply IH in E2. congruence.
Qed.
Lemma cancel q (x y : K) : x * reciprocal K q = y -> x = integer K (Zpos q) * y.
Proof.
  intros <-. transitivity (x * (integer K (Zpos q) * reciprocal K q)); [rewrite (reciprocal_spec K); ring|ring].
Qed.
Lemma lists_zero a : forall b, length a = length b -> Forall (eq 0%Z) (add_lists a (map Z.opp b)) -> a = b.
Proof.
  induction a as [|x a IH]; destruct b as [|y b]; cbn; intros L F; try discriminate; auto.
  inversion F; subst. f_equal; [lia|]. apply IH; [lia|assumption].
Qed.
Lemma gcd_divides (x y : Z) a : forall g, (x | g * y)%Z -> Forall (fun c => (x | c * y)%Z) a ->
  (x | fold_left Z.gcd a g * y)%Z.
Proof.
  induction a as [|c a IH]; intros g D F; [exact D|]. inversion F; subst. cbn [fold_left]. apply IH; [|assumption].
  rewrite <- (Z.abs_sgn y) at 1. rewrite Z.mul_assoc. apply Z.divide_mul_l. rewrite <- Z.gcd_mul_mono_r.
  apply Z.gcd_greatest; assumption.
Qed.
Lemma lowest_divides q a q' a' : content (q, a) = 1%Z -> scale_list (Zpos q') a = scale_list (Zpos q) a' ->
  (Zpos q | Zpos q')%Z.
Proof.
  intros C E. replace (Zpos q') with (fold_left Z.gcd a (Zpos q) * Zpos q')%Z.
  2: { rewrite content_fold in C. cbn [fst snd] in C. rewrite C. lia. }
  apply gcd_divides; [apply Z.divide_factor_l|]. clear C. revert a' E.
  induction a as [|c a IH]; destruct a' as [|c' a']; unfold scale_list; cbn [map]; intros E;
    try discriminate; constructor.
  - assert (E1 : (Zpos q' * c = Zpos q * c')%Z) by congruence. exists c'. rewrite Z.mul_comm, E1. apply Z.mul_comm.
  - assert (E1 : scale_list (Zpos q') a = scale_list (Zpos q) a') by (unfold scale_list; congruence).
    exact (IH a' E1).
Qed.

Lemma element_mul_value x y : element_value (element_mul modulus x y) = element_value x * element_value y.
Proof.
  destruct x as [p a], y as [q b]. unfold element_mul. rewrite lowest_value. unfold element_value. cbn [fst snd].
  rewrite evaluate_padded, evaluate_product, reciprocal_mul. ring.
Qed.
Lemma evaluate_add_scaled c a : forall b, evaluate (add_scaled c a b) = integer K c * evaluate a + evaluate b.
Proof.
  induction a as [|x a IH]; intros b; [cbn [add_scaled evaluate]; ring|].
  destruct b as [|y b]; [cbn [add_scaled]; rewrite evaluate_scale; cbn [evaluate]; ring|].
  cbn [add_scaled evaluate]. rewrite IH, integer_add, integer_mul. ring.
Qed.
Lemma evaluate_zeros n : evaluate (repeat 0%Z n) = 0.
Proof. apply evaluate_zero. induction n as [|n IH]; [reflexivity|exact IH]. Qed.
Lemma shifted_rows_length n : forall a, length (shifted_rows modulus n a) = n.
Proof. induction n as [|n IH]; intros a; [reflexivity|]. cbn [shifted_rows length]. rewrite IH. reflexivity. Qed.
Lemma evaluate_rows y : forall n a m, (length y <= n)%nat ->
  evaluate (combine_rows y (shifted_rows modulus n a) (repeat 0%Z m)) = evaluate y * evaluate a.
Proof.
  induction y as [|c y IH]; intros n a m L; [destruct n; cbn [combine_rows evaluate]; rewrite evaluate_zeros; ring|].
  cbn [length] in L. destruct n as [|n]; [lia|]. cbn [shifted_rows combine_rows evaluate].
  assert (IH' : evaluate (combine_rows y (shifted_rows modulus n (shift modulus a)) (repeat 0%Z m)) = theta * evaluate y * evaluate a).
  { rewrite IH by lia. rewrite evaluate_shift. ring. }
  destruct (Z.eqb c 0) eqn:E.
  - apply Z.eqb_eq in E. subst c. rewrite IH', integer_0. ring.
  - rewrite evaluate_add_scaled, IH'. ring.
Qed.
Lemma element_times_value x y : element_value (element_times modulus (element_prepare modulus x) y) = element_value x * element_value y.
Proof.
  destruct x as [p a]. unfold element_prepare. cbn [fst snd]. destruct a as [|c a].
  - cbn [element_times length]. destruct (length (snd y) <=? 0)%nat eqn:E; [|apply element_mul_value].
    rewrite lowest_value. destruct y as [q [|? ?]]; [|discriminate]. unfold element_value. cbn [fst snd combine_rows evaluate].
    rewrite evaluate_zeros. ring.
  - destruct (forallb _ a) eqn:Z0.
    + assert (V : element_value (p, c :: a) = integer K c * reciprocal K p).
      { unfold element_value. cbn [fst snd evaluate]. rewrite (evaluate_zero a Z0). ring. }
      rewrite V. cbn [element_times]. destruct (_ && _) eqn:E.
      * apply andb_prop in E as [E1 E2]. apply Pos.eqb_eq in E1. apply Z.eqb_eq in E2. subst.
        transitivity (integer K 1 * reciprocal K 1 * element_value y); [|reflexivity].
        rewrite (reciprocal_spec K). ring.
      * rewrite lowest_value. unfold element_value. cbn [fst snd]. rewrite evaluate_scale, reciprocal_mul. ring.
    + cbn [element_times]. destruct (_ <=? _)%nat eqn:E; [|apply element_mul_value]. apply Nat.leb_le in E.
      rewrite shifted_rows_length in E. rewrite lowest_value. unfold element_value at 1. cbn [fst snd].
      rewrite evaluate_rows, evaluate_padded, reciprocal_mul by exact E. unfold element_value. cbn [fst snd]. ring.
Qed.

Theorem elements_represent : represents (elements modulus) K element_value.
Proof.
  constructor; cbn.
  - unfold element_value. cbn [fst snd element_integer]. rewrite evaluate_padded. cbn. ring.
  - unfold element_value. cbn [fst snd element_integer]. rewrite evaluate_padded. cbn [evaluate].
    rewrite integer_1. transitivity (1 * reciprocal K 1); [ring|]. rewrite <- integer_1. apply reciprocal_spec.
  - intros [p a] [q b]. unfold element_add. cbn [fst snd]. destruct (Pos.eqb p q) eqn:E; rewrite lowest_value;
      unfold element_value; cbn [fst snd].
    + apply Pos.eqb_eq in E. subst q. rewrite evaluate_add. ring.
    + rewrite evaluate_add, !evaluate_scale, reciprocal_mul.
      transitivity (evaluate a * reciprocal K p * (integer K (Zpos q) * reciprocal K q)
        + evaluate b * reciprocal K q * (integer K (Zpos p) * reciprocal K p)); [ring|].
      rewrite !(reciprocal_spec K). ring.
  - apply element_mul_value.
  - intros [p a]. unfold element_value. cbn [fst snd element_opp]. rewrite evaluate_opp. ring.
  - intros [p a] E. unfold element_value. cbn [fst snd]. rewrite evaluate_zero by exact E. ring.
  - intros [p a] [q b] E. apply andb_prop in E as [E1 E2]. cbn [fst snd] in *. apply Pos.eqb_eq in E1.
    apply equal_lists_eq in E2. congruence.
  - intros [p a] C N E. apply andb_prop in C as [C _]. cbn [fst snd] in *. apply Nat.eqb_eq in C.
    unfold element_value in E. cbn [fst snd] in E. apply cancel in E. destruct G as [_ minimal].
    assert (F : Forall (eq 0%Z) a) by (apply minimal; [exact C|rewrite E; ring]).
    apply Bool.not_true_iff_false in N. apply N. apply forallb_forall. intros c I.
    rewrite Forall_forall in F. rewrite <- (F c I). reflexivity.
  - intros [p a] [q b] Ca Cb E. apply andb_prop in Ca as [La Ca]. apply andb_prop in Cb as [Lb Cb].
    cbn [fst snd] in *. apply Nat.eqb_eq in La, Lb. apply Z.eqb_eq in Ca, Cb.
    unfold element_value in E. cbn [fst snd] in E. apply cancel in E.
    assert (E' : evaluate (scale_list (Zpos q) a) = evaluate (scale_list (Zpos p) b)).
    { rewrite !evaluate_scale, E.
      transitivity (integer K (Zpos p) * evaluate b * (integer K (Zpos q) * reciprocal K q)); [ring|].
      rewrite (reciprocal_spec K). ring. }
    apply difference_zero in E'. rewrite <- evaluate_opp, <- evaluate_add in E'.
    assert (S : scale_list (Zpos q) a = scale_list (Zpos p) b).
    { assert (L : forall a b : list Z, length a = length b -> length (add_lists a b) = length a).
      { clear. induction a as [|? ? IH]; destruct b; cbn; intros; try discriminate; auto. }
      destruct G as [_ minimal]. apply lists_zero; [|apply minimal; [|exact E']]; rewrite ?L; unfold scale_list;
        rewrite ?map_length; congruence. }
    assert (D1 := lowest_divides _ _ _ _ Ca S). assert (D2 := lowest_divides _ _ _ _ Cb (eq_sym S)).
    assert (P : p = q). { apply Pos2Z.inj. apply Z.divide_antisym_nonneg; [lia..|exact D1|exact D2]. }
    subst q. f_equal. clear -S. revert b S. induction a as [|x a IH]; destruct b as [|y b];
      unfold scale_list; cbn [map]; intros S; try discriminate; auto. f_equal; [|apply IH; unfold scale_list; congruence].
    apply (Z.mul_reg_l _ _ (Zpos p)); [discriminate|congruence].
  - apply element_times_value.
Qed.
End Meaning.
