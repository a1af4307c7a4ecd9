(* The checker of layers with rounding by regions: certificates of kind `equivalent` that give balls around codes.

   Proved: check_regions_right.  If the checker says true, then on every word, of any length, no number of the layer becomes infinite,
   and after each letter the answer of the layer is the right one.  Infinitely many states may be reached.  What the layer does is written in
   RoundedRNN.v; each entry of A h + b is rounded once, to a float format, or not at all.

   A ball belongs to a code c and a state q of the automaton.  A letter maps it into the ball of the code c' that is nearest to A c + b: with
   s >= |A|, a state at a distance of r from c goes to within |A c + b - c'| + s r + epsilon of c', where epsilon is what rounding adds. *)
Require Import List Arith ZArith QArith Qabs Bool Lia Lqa.
From Mirrormata Require Import Semantics Lists Table RoundedRNN Lengths RoundedErrors.
Import ListNotations.
Local Open Scope Q_scope.

(* ---- What a certificate gives.  `find_ball` and `image_of` only search; of the other functions it is checked that they are bounds. *)
Record regions := Regions {
  region_layer : rounded_layer;
  ball_count : nat;
  ball_code : nat -> nat;
  ball_state : nat -> nat;                     (* the automaton's state *)
  ball_radius : nat -> Q;
  find_ball : nat -> nat -> nat;               (* by code and state *)
  image_of : nat -> nat -> nat;                (* code, letter: the code c' *)
  image_off : nat -> nat -> Q;                 (* code, letter: at least |A c + b - c'| *)
  code_size : nat -> Q;                        (* at least |c| *)
  letter_norm : nat -> Q;                      (* at least |A| *)
  added_size : nat -> Q;                       (* at least |b| *)
  region_machine : automaton;
  region_answer : nat -> nat -> nat -> Z       (* the right answer on a letter, from a state, to a state *)
}.

(* ---- The checker. *)
Definition value_of (h : nat -> Q) (e : rounded_entry) : Q := exact_sum (map (product h) (terms e)) (bias e).
Definition values_at (h : nat -> Q) (rows : list rounded_entry) : list Q := map (fun e => lowest_terms (value_of h e)) rows.
(* An entry that only moves or changes the sign of one number, or is b alone, is not rounded. *)
Definition is_rough (e : rounded_entry) : bool :=
  match terms e with
  | [] => false
  | [t] => negb ((Qeq_bool (snd t) 1 || Qeq_bool (snd t) (- (1))) && Qeq_bool (bias e) 0)
  | _ => true
  end.
Definition rough_count (rows : list rounded_entry) : nat := length (filter is_rough rows).
(* A row of A in full *)
Fixpoint add_at (k : nat) (a : Q) (row : list Q) : list Q :=
  match k, row with
  | O, [] => [a]
  | O, b :: row' => lowest_terms (a + b) :: row'
  | S k', [] => 0 :: add_at k' a []
  | S k', b :: row' => b :: add_at k' a row'
  end.
Definition full_row (e : rounded_entry) : list Q := fold_right (fun t row => add_at (snd (fst t)) (snd t) row) [] (terms e).
(* s^2 I - A^T A is nowhere negative. *)
Definition norm_right (n : nat) (rows : list rounded_entry) (s : Q) : bool :=
  eliminated n (fold_left (fun square e => less_square square 1 (full_row e)) rows (repeat [s * s] n)).
Definition bounds (n : nat) (f : nat -> Q) (r : Q) : bool := negb (less r 0) && negb (less (r * r) (short_square n f)).

Section Checker.
Variable c : regions.
Let L := region_layer c.
Let n := length (initial_state L).
Let v := the_values L.
Definition code_at (k : nat) : list Q := nth k (state_codes L) [].
Definition check_letter_bounds (a : nat) : bool :=
  let rows := letter_rows L a in
  (length rows =? n)%nat && forallb (fun e => is_fine v (bias e)) rows
  && negb (less (letter_norm c a) 0) && norm_right n rows (letter_norm c a)
  && bounds n (fun i => nth i (map bias rows) 0) (added_size c a).
Definition image_right (k a : nat) : bool :=
  let center := values_at (recall (code_at k)) (letter_rows L a) in
  let to := code_at (image_of c k a) in
  bounds n (fun i => nth i center 0 - nth i to 0) (image_off c k a).
(* Codes with another answer are more than twice as far as the radius. *)
Definition is_apart (k a : nat) (radius : Q) : bool :=
  all_below (length (state_codes L)) (fun k' =>
    Z.eqb (says L k' a) (says L k a) || less (4 * (radius * radius)) (distance (code_at k) (code_at k'))).
Definition check_ball (rough : nat -> nat) (i a : nat) : bool :=
  let k := ball_code c i in
  let q := ball_state c i in
  let k' := image_of c k a in
  let q' := delta (region_machine c) a q in
  let j := find_ball c k' q' in
  let size := letter_norm c a * (code_size c k + ball_radius c i) + added_size c a in
  let m := rough a in
  let rounding := if (m =? 0)%nat then 0
    else relative_error v (the_mode L) * size + inject_Z (Z.of_nat m) * absolute_error v (the_mode L) in
  (j <? ball_count c)%nat && (ball_code c j =? k')%nat && (ball_state c j =? q')%nat
  && Z.eqb (says L k' a) (region_answer c a q q')
  && image_right k a
  && ((m =? 0)%nat || not_too_large v size)
  && negb (less (ball_radius c j) (image_off c k a + letter_norm c a * ball_radius c i + rounding))
  && is_apart k' a (ball_radius c j).
Definition check_regions : bool :=
  match the_order L with Per_step => true | _ => false end
  && format_right v (the_mode L) && forallb (is_fine v) (0 :: initial_state L)
  && forallb (fun code => (length code =? n)%nat) (state_codes L)
  && all_below (letters (region_machine c)) check_letter_bounds
  && (0 <? ball_count c)%nat && (ball_state c 0 =? start (region_machine c))%nat
  && negb (less (ball_radius c 0 * ball_radius c 0) (distance (initial_state L) (code_at (ball_code c 0))))
  && (let rough := tabulate (letters (region_machine c)) (fun a => rough_count (letter_rows L a)) in
      all_below (ball_count c) (fun i =>
        (ball_code c i <? length (state_codes L))%nat && negb (less (ball_radius c i) 0)
        && bounds n (fun k => nth k (code_at (ball_code c i)) 0) (code_size c (ball_code c i))
        && all_below (letters (region_machine c)) (check_ball rough i))).
End Checker.

(* ---- Proofs about one letter. *)
Lemma sum_at_most x y z : x == y + z -> Qabs x <= Qabs y + Qabs z.
Proof. intros ->. apply Qabs_triangle. Qed.
Lemma bounds_within n f r : bounds n f r = true -> within n f r.
Proof.
  unfold bounds. intros E. apply andb_prop in E as [E1 E2]. apply negb_true_iff, less_not in E1, E2. rewrite short_same in E2. now split.
Qed.
Lemma along_add k : forall a row f, along (add_at k a row) f == along row f + a * f k.
Proof.
  induction k as [|k IH]; intros a [|b row] f; cbn [add_at along]; try ring; [rewrite lowest_same; ring|rewrite IH; cbn [along]; ring|].
  rewrite IH. ring.
Qed.
Lemma value_along h e : value_of h e == along (full_row e) h + bias e.
Proof.
  unfold value_of, full_row. induction (terms e) as [|t ts IH]; cbn [map exact_sum fold_right along]; [ring|].
  rewrite IH, along_add. unfold product. ring.
Qed.
Lemma along_minus row : forall f g, along row (fun i => f i - g i) == along row f - along row g.
Proof.
  induction row as [|a row IH]; intros f g; cbn [along]; [ring|]. rewrite (IH (fun i => f (S i)) (fun i => g (S i))). ring.
Qed.
Lemma form_start n s : forall f, form (repeat [s] n) f == s * square n f.
Proof.
  unfold square. induction n as [|n IH]; intros f; cbn [repeat form along hd total]; [ring|].
  rewrite (IH (fun i => f (S i))). ring.
Qed.
Definition nowhere : rounded_entry := RoundedEntry [] 0 0.
Lemma form_rows rows : forall T f, form (fold_left (fun square e => less_square square 1 (full_row e)) rows T) f
  == form T f - square (length rows) (fun i => along (full_row (nth i rows nowhere)) f).
Proof.
  unfold square. induction rows as [|e rows IH]; intros T f; cbn [fold_left length total nth]; [ring|].
  rewrite IH, form_less. ring.
Qed.
Lemma norm_within n rows s f r : 0 <= s -> norm_right n rows s = true -> length rows = n -> within n f r ->
  within n (fun i => along (full_row (nth i rows nowhere)) f) (s * r).
Proof.
  intros P E Len [R F]. split; [now apply Qmult_le_0_compat|]. pose proof (eliminated_right _ _ E f) as G.
  rewrite form_rows, form_start, Len in G. pose proof (times_le (s * s) _ _ (squared s) F) as H.
  assert (Eq : s * r * (s * r) == s * s * (r * r)) by ring. rewrite Eq. lra.
Qed.
Lemma each_all {X} (f : X -> option Q) (P : nat -> Q -> Prop) (d : X) : forall l,
  (forall i, (i < length l)%nat -> exists z, f (nth i l d) = Some z /\ P i z) ->
  exists zs, each f l = Some zs /\ length zs = length l /\ forall i, (i < length l)%nat -> P i (nth i zs 0).
Proof.
  intros l. revert P. induction l as [|x l IH]; intros P H.
  - exists []. repeat split. intros i Li. cbn in Li. lia.
  - destruct (H O ltac:(cbn; lia)) as (z & E & Pz). cbn [nth] in E.
    destruct (IH (fun i => P (S i))) as (zs & Ez & Lz & Hz); [intros i Li; exact (H (S i) ltac:(cbn; lia))|].
    exists (z :: zs). cbn [each]. rewrite E, Ez. split; [reflexivity|]. split; [cbn; lia|].
    intros [|i] Li; [exact Pz|]. apply Hz. cbn in Li. lia.
Qed.
Lemma not_too_large_less v x y : x <= y -> not_too_large v y = true -> not_too_large v x = true.
Proof.
  destruct v; auto. cbn. intros E H. apply negb_true_iff, less_not in H. apply negb_true_iff, less_not. lra.
Qed.

(* What rounding does to one entry *)
Lemma entry_close v m h e : format_right v m = true -> (forall i, fine v (h i)) -> is_fine v (bias e) = true ->
  (is_rough e = true -> not_too_large v (Qabs (value_of h e)) = true) ->
  exists z, entry_after v m Per_step h e = Some z /\ fine v z
    /\ Qabs (z - value_of h e) <= if is_rough e then relative_error v m * Qabs (value_of h e) + absolute_error v m else 0.
Proof.
  intros Ok H B Small. cbn [entry_after]. fold (value_of h e). destruct (is_rough e) eqn:R.
  - destruct (round_close v m (value_of h e) Ok (Small eq_refl)) as (z & E & D & F). exists z. auto.
  - assert (F : fine v (value_of h e)).
    { unfold is_rough, value_of in *. destruct (terms e) as [|t [|t' ts]]; cbn [map exact_sum]; [|clear Small|discriminate].
      - apply is_fine_right; [exact B|]. exact (format_positive _ _ Ok).
      - apply negb_false_iff in R. apply andb_prop in R as [A Z]. apply Qeq_bool_iff in Z. unfold product.
        apply orb_prop in A as [A|A]; apply Qeq_bool_iff in A.
        + apply (fine_same v (h (snd (fst t)))); [rewrite A, Z; ring|apply H].
        + apply (fine_same v (- h (snd (fst t)))); [rewrite A, Z; ring|apply fine_opposite, H]. }
    destruct (round_fine v m _ Ok F) as (z & E & D & Fz). exists z. split; [exact E|]. split; [exact Fz|].
    rewrite D. setoid_replace (value_of h e - value_of h e) with 0 by ring. apply Qle_refl.
Qed.

(* ---- Distances and the nearest code. *)
Lemma distance_square x : forall y n, length x = n -> length y = n -> distance x y == square n (fun i => nth i x 0 - nth i y 0).
Proof.
  unfold square. induction x as [|a x IH]; intros [|b y] n Lx Ly; cbn in Lx, Ly; subst n; try discriminate; [reflexivity|].
  cbn [distance total nth]. rewrite lowest_same, (IH y (length x)) by lia. reflexivity.
Qed.
Lemma nearest_from_least state all : forall codes pre number best least,
  all = pre ++ codes -> number = length pre -> (best < length all)%nat -> least == distance state (nth best all []) ->
  (forall j, (j < length pre)%nat -> least <= distance state (nth j all [])) ->
  let k := nearest_from state codes number best least in
  (k < length all)%nat /\ forall j, (j < length all)%nat -> distance state (nth k all []) <= distance state (nth j all []).
Proof.
  induction codes as [|code codes IH]; intros pre number best least A N B Eq Least; cbn [nearest_from]; cbv zeta.
  - rewrite app_nil_r in A. subst pre. split; [exact B|]. intros j J. rewrite <- Eq. now apply Least.
  - assert (Next : all = (pre ++ [code]) ++ codes) by (rewrite <- app_assoc; exact A).
    assert (Here : nth number all [] = code) by (rewrite A, N, app_nth2, Nat.sub_diag by lia; reflexivity).
    assert (Long : (number < length all)%nat) by (rewrite A, N, app_length; cbn; lia).
    assert (Split : forall j, (j < length (pre ++ [code]))%nat -> (j < length pre)%nat \/ j = number)
      by (intros j; rewrite app_length; cbn; lia).
    destruct (less (distance state code) least) eqn:D; [apply less_true in D|apply less_not in D].
    + apply (IH (pre ++ [code])); [exact Next|rewrite app_length; cbn; lia|exact Long|now rewrite Here|].
      intros j J. destruct (Split j J) as [J'| ->]; [specialize (Least j J'); lra|rewrite Here; lra].
    + apply (IH (pre ++ [code])); [exact Next|rewrite app_length; cbn; lia|exact B|exact Eq|].
      intros j J. destruct (Split j J) as [J'| ->]; [now apply Least|now rewrite Here].
Qed.
Lemma nearest_least codes state j : (j < length codes)%nat ->
  (nearest codes state < length codes)%nat /\ distance state (nth (nearest codes state) codes []) <= distance state (nth j codes []).
Proof.
  destruct codes as [|code codes]; [cbn; lia|]. intros J. cbn [nearest].
  destruct (nearest_from_least state (code :: codes) codes [code] 1 0 (distance state code) eq_refl eq_refl) as [K Q];
    [cbn; lia|reflexivity| |].
  - intros [|i] Li; [apply Qle_refl|cbn in Li; lia].
  - split; [exact K|]. now apply Q.
Qed.

(* ---- The theorem. *)
Section Right.
Variable c : regions.
Hypothesis accepted : check_regions c = true.
Let L := region_layer c.
Let A := region_machine c.
Let n := length (initial_state L).
Let v := the_values L.
Let m := the_mode L.

Lemma parts : the_order L = Per_step /\ format_right v m = true /\ forallb (is_fine v) (0 :: initial_state L) = true
  /\ (forall k, (k < length (state_codes L))%nat -> length (code_at c k) = n)
  /\ (forall a, (a < letters A)%nat -> check_letter_bounds c a = true)
  /\ (0 < ball_count c)%nat /\ ball_state c 0 = start A
  /\ distance (initial_state L) (code_at c (ball_code c 0)) <= ball_radius c 0 * ball_radius c 0
  /\ forall i, (i < ball_count c)%nat -> (ball_code c i < length (state_codes L))%nat /\ 0 <= ball_radius c i
     /\ within n (fun k => nth k (code_at c (ball_code c i)) 0) (code_size c (ball_code c i))
     /\ forall a, (a < letters A)%nat -> check_ball c (fun a => rough_count (letter_rows L a)) i a = true.
Proof.
  pose proof accepted as E. unfold check_regions, tabulate in E. cbv zeta in E. fold L A n v m in E. rewrite !andb_true_iff in E.
  destruct E as [[[[[[[[E1 E2] E3] E4] E5] E6] E7] E8] E9].
  split; [destruct (the_order L); try discriminate; reflexivity|]. split; [exact E2|]. split; [exact E3|]. split.
  { intros k K. rewrite forallb_forall in E4. apply Nat.eqb_eq, E4. unfold code_at. fold L. now apply nth_In. }
  split; [exact (all_below_spec _ _ E5)|]. split; [now apply Nat.ltb_lt|]. split; [now apply Nat.eqb_eq|].
  split; [now apply less_not, negb_true_iff|].
  intros i I. pose proof (all_below_spec _ _ E9 i I) as F. cbv beta in F. rewrite !andb_true_iff in F.
  destruct F as [[[F1 F2] F3] F4]. split; [now apply Nat.ltb_lt|]. split; [now apply less_not, negb_true_iff|].
  split; [exact (bounds_within _ _ _ F3)|exact (all_below_spec _ _ F4)].
Qed.

(* A state in the ball of code k: of the right length, with numbers of the format *)
Definition inside (k : nat) (r : Q) (h : list Q) : Prop :=
  length h = n /\ (forall i, fine v (recall h i)) /\ within n (fun i => nth i h 0 - nth i (code_at c k) 0) r.
Definition stands (q : nat) (state : option (list Q)) : Prop :=
  exists h i, state = Some h /\ (i < ball_count c)%nat /\ ball_state c i = q /\ inside (ball_code c i) (ball_radius c i) h.

Lemma fine_listed l : forallb (is_fine v) (0 :: l) = true -> forall i, fine v (recall l i).
Proof.
  intros E i. destruct parts as (_ & Ok & _). pose proof (format_positive _ _ Ok) as P. apply is_fine_right; [|exact P].
  cbn [forallb] in E. apply andb_prop in E as [Z E]. unfold recall. destruct (nth_in_or_default i l 0) as [I| ->]; [|exact Z].
  rewrite forallb_forall in E. now apply E.
Qed.
Lemma stands_first : stands (start A) (Some (initial_state L)).
Proof.
  destruct parts as (_ & _ & F & Len & _ & P & Q & D & Balls). destruct (Balls O P) as (K & R & _).
  exists (initial_state L), O. split; [reflexivity|]. split; [exact P|]. split; [exact Q|]. split; [reflexivity|].
  split; [now apply fine_listed|]. split; [exact R|]. rewrite <- (distance_square _ _ n eq_refl (Len _ K)). exact D.
Qed.
Lemma answers_right k a r h : (k < length (state_codes L))%nat -> inside k r h -> is_apart c k a r = true -> answer L a h = says L k a.
Proof.
  intros K (Lh & _ & W) E. destruct parts as (_ & _ & _ & Len & _). unfold answer. fold L.
  destruct (nearest_least (state_codes L) h k K) as [N D]. set (k' := nearest (state_codes L) h) in *.
  pose proof (all_below_spec _ _ E k' N) as F. cbv beta in F. fold L in F. apply orb_prop in F as [F|F]; [now apply Z.eqb_eq in F|].
  exfalso. apply less_true in F. change (nth k' (state_codes L) []) with (code_at c k') in D.
  change (nth k (state_codes L) []) with (code_at c k) in D.
  rewrite (distance_square _ _ n Lh (Len _ N)), (distance_square _ _ n Lh (Len _ K)) in D. rewrite (distance_square _ _ n (Len _ K) (Len _ N)) in F.
  assert (W' : within n (fun i => nth i h 0 - nth i (code_at c k') 0) r).
  { destruct W as [R W]. split; [exact R|]. exact (Qle_trans _ _ _ D W). }
  destruct (within_plus n _ _ (fun i => nth i (code_at c k) 0 - nth i (code_at c k') 0) _ _ W' W) as [_ T].
  - intros i _. set (x := nth i h 0). set (y := nth i (code_at c k) 0). set (z := nth i (code_at c k') 0).
    setoid_replace (y - z) with ((x - z) + - (x - y)) by ring. eapply Qle_trans; [apply Qabs_triangle|]. rewrite Qabs_opp. apply Qle_refl.
  - assert (Eq : (r + r) * (r + r) == 4 * (r * r)) by ring. lra.
Qed.

(* What rounding adds to a letter *)
Lemma rounding_within rows h zs size : length rows = n -> length zs = n -> within n (fun i => value_of h (nth i rows nowhere)) size ->
  (forall i, (i < n)%nat -> Qabs (nth i zs 0 - value_of h (nth i rows nowhere))
    <= if is_rough (nth i rows nowhere) then relative_error v m * Qabs (value_of h (nth i rows nowhere)) + absolute_error v m else 0) ->
  within n (fun i => nth i zs 0 - value_of h (nth i rows nowhere))
    (if (rough_count rows =? 0)%nat then 0
     else relative_error v m * size + inject_Z (Z.of_nat (rough_count rows)) * absolute_error v m).
Proof.
  intros Lr Lz W E. pose proof (power_positive v m) as [Pu Pe].
  set (added := fun i => if is_rough (nth i rows nowhere) then absolute_error v m else 0).
  assert (Sum : total n added == inject_Z (Z.of_nat (rough_count rows)) * absolute_error v m).
  { unfold added. clear - Lr. unfold rough_count. rewrite <- Lr. clear Lr. induction rows as [|e rows IH]; cbn [length total nth filter]; [ring|].
    rewrite IH. destruct (is_rough e); cbn [length]; [|ring]. rewrite Nat2Z.inj_succ. unfold Z.succ. rewrite inject_Z_plus. ring. }
  assert (Added : within n added (total n added)).
  { apply within_total. intros i _. unfold added. destruct (is_rough _); [exact Pe|apply Qle_refl]. }
  destruct (rough_count rows =? 0)%nat eqn:Z.
  - apply Nat.eqb_eq in Z. rewrite Z in Sum. change (inject_Z (Z.of_nat 0)) with 0 in Sum.
    apply (within_more n _ (total n added)); [|rewrite Sum; lra].
    apply (within_at_most n _ _ _ Added). intros i I. specialize (E i I). unfold added.
    assert (R : is_rough (nth i rows nowhere) = false).
    { destruct (is_rough (nth i rows nowhere)) eqn:R; [|reflexivity]. exfalso. unfold rough_count in Z. apply length_zero_iff_nil in Z.
      assert (In (nth i rows nowhere) (filter is_rough rows)) as In by (apply filter_In; split; [apply nth_In; lia|exact R]).
      rewrite Z in In. destruct In. }
    rewrite R in *. exact E.
  - apply (within_more n _ (relative_error v m * size + total n added)); [|rewrite Sum; apply Qle_refl].
    apply (within_plus n _ _ _ _ _ (within_times n _ _ _ Pu W) Added). intros i I. specialize (E i I).
    rewrite Qabs_Qmult, (Qabs_pos _ Pu). unfold added.
    assert (Pv : 0 <= relative_error v m * Qabs (value_of h (nth i rows nowhere))) by (apply Qmult_le_0_compat; [exact Pu|apply Qabs_nonneg]).
    destruct (is_rough (nth i rows nowhere)).
    + rewrite (Qabs_pos _ Pe). exact E.
    + change (Qabs 0) with 0. lra.
Qed.

Lemma stands_next q h a : stands q (Some h) -> (a < letters A)%nat ->
  exists after, rounded_step L a h = Some after /\ stands (delta A a q) (Some after)
    /\ answer L a after = region_answer c a q (delta A a q).
Proof.
  intros (h' & i & Eh & I & Q & Lh & Fh & Wh) La. injection Eh as <-.
  destruct parts as (Order & Ok & _ & Len & Letters & _ & _ & _ & Balls). destruct (Balls i I) as (K & R & Size & Check).
  specialize (Check a La). unfold check_ball in Check. cbv zeta in Check. fold L A n v m in Check.
  set (k := ball_code c i) in *. set (r := ball_radius c i) in *. set (k' := image_of c k a) in *. rewrite Q in Check.
  set (q' := delta A a q) in *. set (j := find_ball c k' q') in *. set (s := letter_norm c a) in *.
  rewrite !andb_true_iff in Check. destruct Check as [[[[[[[C1 C2] C3] C4] C5] C6] C7] C8].
  apply Nat.ltb_lt in C1. apply Nat.eqb_eq in C2, C3. apply Z.eqb_eq in C4. apply negb_true_iff, less_not in C7.
  specialize (Letters a La). unfold check_letter_bounds in Letters. cbv zeta in Letters. fold L n v s in Letters.
  rewrite !andb_true_iff in Letters. destruct Letters as [[[[L1 L2] L3] L4] L5].
  apply Nat.eqb_eq in L1. apply negb_true_iff, less_not in L3. apply bounds_within in L5.
  set (rows := letter_rows L a) in *. set (b := fun i => nth i (map bias rows) 0) in *.
  assert (Bias : forall i, (i < n)%nat -> b i = bias (nth i rows nowhere)).
  { intros i' _. unfold b. change 0 with (bias nowhere). apply map_nth. }
  (* the exact image *)
  set (y := fun i => value_of (recall h) (nth i rows nowhere)).
  assert (Wy : within n y (s * (code_size c k + r) + added_size c a)).
  { assert (Wl : within n (recall h) (code_size c k + r)).
    { apply (within_plus n _ _ _ _ _ Size Wh). intros i' _. unfold recall. apply sum_at_most. ring. }
    apply (within_plus n _ _ _ _ _ (norm_within n rows s _ _ L3 L4 L1 Wl) L5). intros i' I'. unfold y. apply sum_at_most.
    rewrite value_along, (Bias i' I'). reflexivity. }
  set (size := s * (code_size c k + r) + added_size c a) in *.
  (* the rounded one *)
  destruct (each_all (entry_after v m Per_step (recall h)) (fun i z => fine v z /\ Qabs (z - y i)
      <= if is_rough (nth i rows nowhere) then relative_error v m * Qabs (y i) + absolute_error v m else 0) nowhere rows)
    as (zs & Ez & Lz & Hz).
  { intros i' I'. destruct (entry_close v m (recall h) (nth i' rows nowhere) Ok Fh) as (z & Z1 & Z2 & Z3).
    - rewrite forallb_forall in L2. apply L2, nth_In. exact I'.
    - intros Rough. apply orb_prop in C6 as [C6|C6].
      + exfalso. apply Nat.eqb_eq in C6. unfold rough_count in C6. apply length_zero_iff_nil in C6.
        assert (In (nth i' rows nowhere) (filter is_rough rows)) as In by (apply filter_In; split; [now apply nth_In|exact Rough]).
        rewrite C6 in In. destruct In.
      + apply (not_too_large_less v _ size); [|exact C6]. apply (within_entry n y size i' Wy). now rewrite <- L1.
    - exists z. auto. }
  rewrite L1 in Lz, Hz.
  assert (Step : rounded_step L a h = Some zs) by (unfold rounded_step; fold v m rows; rewrite Order; exact Ez).
  assert (In' : inside k' (ball_radius c j) zs).
  { split; [exact Lz|]. split.
    - intros i'. unfold recall. destruct (Nat.lt_ge_cases i' n) as [I'|I']; [exact (proj1 (Hz i' I'))|].
      rewrite nth_overflow by lia. change (fine v (recall [] O)). apply fine_listed.
      destruct parts as (_ & _ & F & _). cbn [forallb] in F |- *. now apply andb_prop in F as [-> _].
    - pose proof (rounding_within rows (recall h) zs size L1 Lz Wy (fun i I => proj2 (Hz i I))) as Wr.
      unfold image_right in C5. cbv zeta in C5. fold L n rows in C5. apply bounds_within in C5.
      set (center := fun i => value_of (recall (code_at c k)) (nth i rows nowhere)).
      assert (Center : forall i, (i < n)%nat -> nth i (values_at (recall (code_at c k)) rows) 0 == center i).
      { intros i' I'. unfold center, values_at. set (f := fun e => lowest_terms (value_of (recall (code_at c k)) e)).
        rewrite (nth_indep _ 0 (f nowhere)) by (rewrite map_length; lia). rewrite map_nth. apply lowest_same. }
      pose proof (norm_within n rows s _ _ L3 L4 L1 Wh) as Wn.
      apply (within_more n _ _ _) with (2 := C7).
      refine (within_plus n _ _ _ _ _ _ Wr _).
      + apply (within_plus n _ _ (fun i => y i - nth i (code_at c k') 0) _ _ C5 Wn). intros i' I'. fold k'. rewrite (Center i' I').
        assert (Lin : y i' - center i' == along (full_row (nth i' rows nowhere)) (fun i => nth i h 0 - nth i (code_at c k) 0)).
        { unfold y, center. rewrite !value_along, along_minus. unfold recall. ring. }
        rewrite <- Lin. apply sum_at_most. ring.
      + intros i' I'. fold (y i'). apply sum_at_most. ring. }
  exists zs. split; [exact Step|]. split.
  - exists zs, j. split; [reflexivity|]. split; [exact C1|]. split; [exact C3|]. now rewrite C2.
  - rewrite <- C4. apply (answers_right k' a (ball_radius c j)); [|exact In'|exact C8].
    destruct (Balls j C1) as (Kj & _). now rewrite C2 in Kj.
Qed.
Lemma stands_run word : forall q h, is_word A word -> stands q (Some h) ->
  stands (fold_left (fun q a => delta A a q) word q)
    (fold_left (fun state a => match state with Some h => rounded_step L a h | None => None end) word (Some h)).
Proof.
  induction word as [|a word IH]; intros q h W S; [exact S|]. inversion W as [|? ? La W']; subst. cbn.
  destruct (stands_next q h a S La) as (after & -> & S' & _). now apply IH.
Qed.

(* The answer after each letter of a word is the right one. *)
Theorem check_regions_right word a : is_word A word -> (a < letters A)%nat ->
  exists h, rounded_run L (word ++ [a]) = Some h
    /\ answer L a h = region_answer c a (state_after A word) (state_after A (word ++ [a])).
Proof.
  intros W La. pose proof (stands_run word _ _ W stands_first) as S. fold (rounded_run L word) in S. fold (state_after A word) in S.
  destruct S as (h & i & E & Rest). destruct (stands_next (state_after A word) h a) as (after & N & _ & R);
    [exists h, i; auto|exact La|].
  exists after. unfold rounded_run, state_after in *. rewrite !fold_left_app. cbn [fold_left]. rewrite E. split; [exact N|exact R].
Qed.
End Right.
