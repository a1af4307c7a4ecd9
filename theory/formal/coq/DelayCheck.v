(* The checker of block delays: certificates of kind `delay`.

   Proved: check_delay_right.  If the checker says true, then after every word, of any length, the hidden state of the linear RNN
   is decoded to the state of the automaton.

   - The first part is to be read: what a certificate gives, and which linear RNN, with which read-outs, it describes.
   - The second part is the checker.  Some functions of a certificate only search (`phase_of`, `next_element`, `preimage`,
     `state_of_marks`): what they find is compared before it is used, so nothing is assumed of them.
   - The third part proves that the linear RNN follows the automaton.

   Let m be the block.  Tokens are numbered from 0 in the proofs; after token s the counter is at phase (s + 1) mod 2m. *)
Require Import List Arith ZArith Bool Lia.
From Mirrormata Require Import Semantics Sparse Numbers Table.
Import ListNotations.

(* ---- What a certificate gives.  Heads of the counter carry the identity beside them, as heads of a table carry their actions. *)
Record counter_layer := CounterLayer {
  counter_heads : list (any_head * (nat -> nat));
  counter_reads : list (list nat) -> nat              (* the transition, from the new codes of the layers above *)
}.
Record delay := Delay {
  block : nat;                                (* m *)
  counter : list counter_layer;
  phase_codes : nat -> list (list nat);       (* the codes of all layers of the counter at a phase *)
  phase_of : list (list nat) -> nat;
  delay_points : nat;
  letter_image : nat -> nat -> nat;           (* where a letter takes a point *)
  mark : nat -> Z;                            (* the entry of H_0 at a point *)
  element_count : nat;                        (* elements of the group; number 0 is the identity *)
  image : nat -> nat -> nat;                  (* where an element takes a point *)
  preimage : nat -> nat -> nat;
  element_state : nat -> nat;
  groups : nat -> nat -> list (nat * nat);    (* the swaps of an element, in m groups *)
  next_element : nat -> nat -> nat;           (* letter x after element g *)
  state_of_marks : list Z -> nat;
  delay_automaton : automaton
}.
Definition period (d : delay) : nat := block d + block d.
(* The place of the newest token in its block, 0, ..., m - 1, from the phase *)
Definition place_in_block (d : delay) (phase : nat) : nat := (phase + period d - 1) mod block d.
(* The rows of the buffer with the tokens of the block before, and with those of the present block *)
Definition rows_before (d : delay) (phase : nat) : list nat :=
  map (fun i => (phase + block d - place_in_block d phase + i) mod period d) (seq 0 (block d)).
Definition rows_present (d : delay) (phase : nat) : list nat :=
  map (fun i => (phase + period d - place_in_block d phase + i) mod period d) (seq 0 (S (place_in_block d phase))).
(* The element that letters multiply to, from the identity *)
Definition element_of (d : delay) (word : list nat) : nat := fold_left (fun g x => next_element d x g) word 0.

Definition exchange (p : nat) (ab : nat * nat) : nat :=
  if p =? fst ab then snd ab else if p =? snd ab then fst ab else p.
Definition move_point (swaps : list (nat * nat)) (p : nat) : nat := fold_left exchange swaps p.

(* ---- The linear RNN: the layers of the counter, the buffer, and the layer that applies the swaps. *)
Section Model.
Variables (K : rational_ring) (theta : list Z -> K).

(* What a layer tells the next: the token, the new codes of the layers of the counter so far, and behind the buffer the element of
   the block before. *)
Record message := Message { token : nat; above : list (list nat); element : nat }.

Definition model_counter (l : counter_layer) : layer K message :=
  Layer (map (fun h msg => model_transition K theta (fst h) (snd h (counter_reads l (above msg)))) (counter_heads l))
    (fun msg Hs => Message (token msg) (above msg ++ [code_numbers K theta (counter_heads l) Hs]) 0).

(* The letter in a row of the buffer: the first column with a 1; none in a row of zeros *)
Definition row_letter (d : delay) (B : matrix K) (row : nat) : list nat :=
  match find (fun x => equal (B row x) one) (seq 0 (letters (delay_automaton d))) with Some x => [x] | None => [] end.
Definition letters_in (d : delay) (B : matrix K) (rows : list nat) : list nat := flat_map (row_letter d B) rows.

(* A token at phase p erases row p by a projection, and writes its one-hot vector there. *)
Definition buffer_transition (p x : nat) : transition K :=
  Transition (Factors one [Factor one [(p, one)] [(p, one)]]) [((p, x), one)].
Definition model_buffer (d : delay) : layer K message :=
  Layer [fun msg => buffer_transition (phase_of d (above msg)) (token msg)]
    (fun msg Bs => Message (token msg) (above msg)
       (element_of d (letters_in d (hd (fun _ _ => zero) Bs) (rows_before d (phase_of d (above msg)))))).

Definition swap_factor (ab : nat * nat) : factor K :=
  let key := [(fst ab, one); (snd ab, opp one)] in Factor one key key.
Definition model_swaps (d : delay) : layer K message :=
  Layer [fun msg => Transition (Factors one
      (map swap_factor (groups d (element msg) (place_in_block d (phase_of d (above msg)))))) []]
    (fun msg _ => msg).

Definition delay_model (d : delay) : list (layer K message) := map model_counter (counter d) ++ [model_buffer d; model_swaps d].

Fixpoint counter_matrices (layers : list counter_layer) (cs : list (list nat)) : hidden K :=
  match layers, cs with
  | l :: layers', c :: cs' => head_matrices K theta (counter_heads l) c :: counter_matrices layers' cs'
  | _, _ => []
  end.
Definition first_marks (d : delay) : matrix K := fun i j => if j =? 0 then integer K (mark d i) else zero.
Definition delay_begin (d : delay) : hidden K :=
  counter_matrices (counter d) (phase_codes d 0) ++ [[fun _ _ => zero]; [first_marks d]].

(* The read-out: the swaps still to come and the letters of the present block say where each point goes; then the element is sought
   that takes H_0 to what is found. *)
Fixpoint counter_codes (layers : list counter_layer) (state : hidden K) : list (list nat) :=
  match layers, state with
  | l :: layers', Hs :: state' => code_numbers K theta (counter_heads l) Hs :: counter_codes layers' state'
  | _, _ => []
  end.
Definition rest_of_block (d : delay) (g from : nat) (p : nat) : nat :=
  fold_left (fun p j => move_point (groups d g j) p) (seq from (block d - from)) p.
Definition destination (d : delay) (phase : nat) (B : matrix K) (p : nat) : nat :=
  let g := element_of d (letters_in d B (rows_before d phase)) in
  fold_left (fun p x => letter_image d x p) (letters_in d B (rows_present d phase))
    (rest_of_block d g (S (place_in_block d phase)) p).
Definition is_element (d : delay) (to : nat -> nat) (H : matrix K) (g : nat) : bool :=
  forallb (fun i => equal (H i 0) (integer K (mark d (preimage d g (to i))))) (seq 0 (delay_points d)).
Definition delay_decode (d : delay) (state : hidden K) : option nat :=
  match skipn (length (counter d)) state with
  | [[B]; [H]] =>
    let to := destination d (phase_of d (counter_codes (counter d) state)) B in
    match find (is_element d to H) (seq 0 (element_count d)) with Some g => Some (element_state d g) | None => None end
  | _ => None
  end.
End Model.

(* ---- The checker. *)
Definition prepared_counter : Type := (list ((nat -> nat -> nat) * (nat -> nat)) * (list (list nat) -> nat))%type.
Definition prepare_counter (l : counter_layer) : prepared_counter := (map prepare_head (counter_heads l), counter_reads l).
Fixpoint counter_step (layers : list prepared_counter) (above : list (list nat)) (cs : list (list nat)) : list (list nat) :=
  match layers, cs with
  | l :: layers', c :: cs' =>
    let new := move (fst l) (snd l above) c in new :: counter_step layers' (above ++ [new]) cs'
  | _, _ => []
  end.
Fixpoint counter_in_range (layers : list counter_layer) (cs : list (list nat)) : bool :=
  match layers, cs with
  | [], [] => true
  | l :: layers', c :: cs' => heads_in_range (counter_heads l) c && counter_in_range layers' cs'
  | _, _ => false
  end.
Definition check_counter_heads (d : delay) : bool :=
  forallb (fun l => forallb (fun h => any_right (fst h)) (counter_heads l)) (counter d).
Definition check_phases (d : delay) (layers : list prepared_counter) : bool :=
  all_below (period d) (fun p =>
    counter_in_range (counter d) (phase_codes d p)
    && equal_codes (counter_step layers [] (phase_codes d p)) (phase_codes d (S p mod period d))
    && (phase_of d (phase_codes d p) =? p)).
Definition check_element (d : delay) (g : nat) : bool :=
  all_below (delay_points d) (fun p => (image d g p <? delay_points d) && (preimage d g (image d g p) =? p)
    && (preimage d g p <? delay_points d) && (image d g (preimage d g p) =? p)
    && (rest_of_block d g 0 p =? image d g p))
  && all_below (block d) (fun j => forallb (fun ab =>
    (fst ab <? delay_points d) && (snd ab <? delay_points d) && negb (fst ab =? snd ab)) (groups d g j))
  && (state_of_marks d (map (fun q => mark d (preimage d g q)) (seq 0 (delay_points d))) =? element_state d g)
  && all_below (letters (delay_automaton d)) (fun x =>
    (next_element d x g <? element_count d)
    && (element_state d (next_element d x g) =? delta (delay_automaton d) x (element_state d g))
    && all_below (delay_points d) (fun p => image d (next_element d x g) p =? letter_image d x (image d g p))).
Definition check_elements (d : delay) : bool :=
  (0 <? element_count d) && (element_state d 0 =? start (delay_automaton d))
  && all_below (delay_points d) (fun p => image d 0 p =? p)
  && all_below (element_count d) (check_element d).
Definition check_delay (d : delay) : bool :=
  (1 <? block d) && check_counter_heads d && check_phases d (map prepare_counter (counter d)) && check_elements d.

(* ---- Proofs.  First about permutations and words alone. *)
Section Words.
Variable d : delay.
Let m := block d.
Let n := delay_points d.
Hypothesis block_positive : 1 < m.
Hypothesis elements_positive : 0 < element_count d.
Hypothesis identity : forall p, p < n -> image d 0 p = p.
Hypothesis right : forall g, g < element_count d -> check_element d g = true.
(* The letters of the word; those behind its end are of no account. *)
Variables (x : nat -> nat) (total : nat).
Hypothesis letters_right : forall s, s < total -> x s < letters (delay_automaton d).

Lemma element_point g p : g < element_count d -> p < n ->
  image d g p < n /\ preimage d g (image d g p) = p /\ preimage d g p < n /\ image d g (preimage d g p) = p
  /\ rest_of_block d g 0 p = image d g p.
Proof.
  intros G P. pose proof (right g G) as E. unfold check_element in E. rewrite !andb_true_iff in E.
  destruct E as [[[E _] _] _]. pose proof (all_below_spec _ _ E p P) as F. cbv beta in F.
  rewrite !andb_true_iff, !Nat.ltb_lt, !Nat.eqb_eq in F. tauto.
Qed.
Lemma element_swaps g j ab : g < element_count d -> j < m -> In ab (groups d g j) ->
  fst ab < n /\ snd ab < n /\ fst ab <> snd ab.
Proof.
  intros G J I. pose proof (right g G) as E. unfold check_element in E. rewrite !andb_true_iff in E.
  destruct E as [[[_ E] _] _]. pose proof (all_below_spec _ _ E j J) as F. cbv beta in F.
  rewrite forallb_forall in F. specialize (F ab I). rewrite !andb_true_iff, negb_true_iff, !Nat.ltb_lt, Nat.eqb_neq in F. tauto.
Qed.
Lemma element_marks g : g < element_count d ->
  state_of_marks d (map (fun q => mark d (preimage d g q)) (seq 0 n)) = element_state d g.
Proof.
  intros G. pose proof (right g G) as E. unfold check_element in E. rewrite !andb_true_iff in E.
  destruct E as [[_ E] _]. now apply Nat.eqb_eq.
Qed.
Lemma element_next g a : g < element_count d -> a < letters (delay_automaton d) ->
  next_element d a g < element_count d
  /\ element_state d (next_element d a g) = delta (delay_automaton d) a (element_state d g)
  /\ forall p, p < n -> image d (next_element d a g) p = letter_image d a (image d g p).
Proof.
  intros G A. pose proof (right g G) as E. unfold check_element in E. rewrite !andb_true_iff in E.
  destruct E as [_ E]. pose proof (all_below_spec _ _ E a A) as F. cbv beta in F.
  rewrite !andb_true_iff, Nat.ltb_lt, Nat.eqb_eq in F. destruct F as [[F1 F2] F3]. repeat split; try assumption.
  intros p P. apply Nat.eqb_eq. exact (all_below_spec _ _ F3 p P).
Qed.

(* The element of count tokens from number s on, and where their letters take a point *)
Definition stretch (s count : nat) : list nat := map x (seq s count).
Definition element_of_stretch s count : nat := element_of d (stretch s count).
Definition trace (s count p : nat) : nat := fold_left (fun p a => letter_image d a p) (stretch s count) p.

Lemma stretch_split s a b : stretch s (a + b) = stretch s a ++ stretch (s + a) b.
Proof. unfold stretch. rewrite seq_app, map_app. reflexivity. Qed.
Lemma trace_split s a b p : trace s (a + b) p = trace (s + a) b (trace s a p).
Proof. unfold trace. rewrite stretch_split, fold_left_app. reflexivity. Qed.
Lemma element_of_letters word : Forall (fun a => a < letters (delay_automaton d)) word ->
  element_of d word < element_count d
  /\ element_state d (element_of d word) = fold_left (fun q a => delta (delay_automaton d) a q) word (element_state d 0)
  /\ forall p, p < n -> image d (element_of d word) p = fold_left (fun p a => letter_image d a p) word p
       /\ image d (element_of d word) p < n.
Proof.
  induction word as [|a word IH] using rev_ind; intros F.
  - cbn. repeat split; auto. now rewrite identity.
  - apply Forall_app in F as [F A]. inversion A as [|? ? La _]; subst. destruct (IH F) as (G & S & I).
    unfold element_of in *. rewrite !fold_left_app. cbn [fold_left].
    destruct (element_next _ a G La) as (G' & S' & I'). split; [exact G'|]. split; [now rewrite S', S|].
    intros p P. destruct (I p P) as [Ip Lp]. rewrite fold_left_app. cbn [fold_left].
    rewrite (I' p P), <- Ip. split; [reflexivity|]. rewrite <- (I' p P). now apply element_point.
Qed.
Lemma stretch_letters s count : s + count <= total -> Forall (fun a => a < letters (delay_automaton d)) (stretch s count).
Proof.
  intros L. apply Forall_forall. intros a I. apply in_map_iff in I as (u & <- & I). apply in_seq in I. apply letters_right. lia.
Qed.
Lemma image_of_stretch s count p : s + count <= total -> p < n ->
  image d (element_of_stretch s count) p = trace s count p /\ trace s count p < n.
Proof.
  intros L P. destruct (element_of_letters _ (stretch_letters s count L)) as (_ & _ & I). destruct (I p P) as [I1 I2].
  split; [exact I1|]. change (trace s count p) with (fold_left (fun p a => letter_image d a p) (stretch s count) p).
  now rewrite <- I1.
Qed.
Lemma element_in_range s count : s + count <= total -> element_of_stretch s count < element_count d.
Proof. intros L. now destruct (element_of_letters _ (stretch_letters s count L)). Qed.

(* The element of the block before the one of token s, the identity in the first block *)
Definition before s : nat := if s <? m then 0 else element_of_stretch ((s / m - 1) * m) m.
Lemma before_in_range s : s <= total -> before s < element_count d.
Proof.
  intros L. unfold before. destruct (s <? m) eqn:E; [exact elements_positive|]. apply Nat.ltb_ge in E.
  apply element_in_range. assert (s / m <> 0) by (intros Z; apply Nat.div_small_iff in Z; lia).
  pose proof (Nat.mul_div_le s m). nia.
Qed.
Lemma before_in_block l j : j < m -> before (l * m + j) = if l =? 0 then 0 else element_of_stretch ((l - 1) * m) m.
Proof.
  intros J. unfold before. rewrite Nat.div_add_l, (Nat.div_small j m J), Nat.add_0_r by lia.
  destruct l as [|l]; [rewrite Nat.mul_0_l, Nat.add_0_l; apply Nat.ltb_lt in J; now rewrite J|].
  replace (S l * m + j <? m) with false by (symmetry; apply Nat.ltb_ge; nia). reflexivity.
Qed.
Definition applied s : list (nat * nat) := groups d (before s) (s mod m).
(* Where the last layer has moved a point after t tokens *)
Definition position (t p : nat) : nat := fold_left (fun p s => move_point (applied s) p) (seq 0 t) p.
Lemma position_next t p : position (S t) p = move_point (applied t) (position t p).
Proof. unfold position. rewrite seq_S, fold_left_app. reflexivity. Qed.

(* Within block l *)
Lemma position_in_block l j p : j <= m ->
  position (l * m + j) p = fold_left (fun p i => move_point (groups d (before (l * m)) i) p) (seq 0 j) (position (l * m) p).
Proof.
  intros J. assert (B : forall i, i < m -> before (l * m + i) = before (l * m)).
  { intros i I. pose proof (before_in_block l 0) as Z. rewrite Nat.add_0_r in Z. rewrite Z by lia. now apply before_in_block. }
  induction j as [|j IH]; [now rewrite Nat.add_0_r|]. rewrite Nat.add_succ_r, position_next, seq_S, fold_left_app, IH by lia.
  cbn [fold_left]. unfold applied. rewrite Nat.add_0_l, B by lia. f_equal. f_equal.
  rewrite Nat.add_comm, Nat.mod_add, Nat.mod_small by lia. reflexivity.
Qed.
(* What is still to come completes the block before. *)
Lemma position_completed l j p : l * m + j <= total -> j <= m -> p < n ->
  rest_of_block d (before (l * m)) j (position (l * m + j) p) = image d (before (l * m)) (position (l * m) p) \/ n <= position (l * m) p.
Proof.
  intros T J P. destruct (Nat.lt_ge_cases (position (l * m) p) n) as [L|L]; [left|right; exact L].
  assert (G : before (l * m) < element_count d) by (apply before_in_range; lia).
  destruct (element_point _ _ G L) as (_ & _ & _ & _ & R). rewrite <- R, position_in_block by exact J.
  unfold rest_of_block. rewrite Nat.sub_0_r. fold m. replace (seq 0 m) with (seq 0 j ++ seq j (m - j)).
  - now rewrite fold_left_app.
  - rewrite <- (Nat.add_0_l j) at 2. rewrite <- seq_app. f_equal. lia.
Qed.
Lemma position_of_blocks l p : l * m <= total -> p < n -> position (l * m) p = trace 0 ((l - 1) * m) p.
Proof.
  induction l as [|l IH]; intros T P; [reflexivity|].
  assert (Tl : l * m <= total) by nia. specialize (IH Tl P).
  assert (L : trace 0 ((l - 1) * m) p < n) by (apply image_of_stretch; nia).
  pose proof (position_completed l m p) as C. rewrite IH in C. destruct C as [C|C]; [nia|lia|exact P| |lia].
  unfold rest_of_block in C. fold m in C. rewrite Nat.sub_diag in C. cbn [seq fold_left] in C.
  replace (S l * m) with (l * m + m) by nia. rewrite C. pose proof (before_in_block l 0) as B.
  rewrite Nat.add_0_r in B. rewrite B by lia. destruct l as [|l]; [cbn; rewrite identity by exact P; reflexivity|].
  cbn [Nat.eqb]. replace (S l - 1) with l in * by lia. replace (S (S l) - 1) with (S l) by lia.
  rewrite (proj1 (image_of_stretch (l * m) m _ ltac:(nia) L)).
  replace (S l * m) with (l * m + m) by nia. rewrite trace_split. reflexivity.
Qed.

(* The read-out after token s sends each point where all tokens take it. *)
Lemma read_out_right s p : s < total -> p < n ->
  fold_left (fun p a => letter_image d a p) (stretch (s / m * m) (S (s mod m)))
    (rest_of_block d (before s) (S (s mod m)) (position (S s) p)) = trace 0 (S s) p.
Proof.
  intros T P. pose proof (Nat.div_mod_eq s m) as E. pose proof (Nat.mod_upper_bound s m ltac:(lia)) as U.
  remember (s / m) as l eqn:El. remember (s mod m) as j eqn:Ej. clear El Ej. rewrite Nat.mul_comm in E. subst s.
  assert (B : before (l * m + j) = before (l * m)).
  { pose proof (before_in_block l 0) as Z. rewrite Nat.add_0_r in Z. rewrite Z by lia. apply before_in_block. lia. }
  rewrite B. replace (S (l * m + j)) with (l * m + S j) by lia.
  pose proof (position_of_blocks l p ltac:(lia) P) as Pl.
  assert (L : trace 0 ((l - 1) * m) p < n) by (apply image_of_stretch; nia).
  destruct (position_completed l (S j) p) as [C|C]; [lia|lia|exact P| |lia].
  rewrite C, Pl. pose proof (before_in_block l 0) as Z. rewrite Nat.add_0_r in Z. rewrite Z by lia.
  rewrite trace_split. change (fold_left (fun p a => letter_image d a p) (stretch (l * m) (S j))) with (trace (l * m) (S j)).
  f_equal. destruct l as [|l']; [cbn; now apply identity|]. cbn [Nat.eqb]. replace (S l' - 1) with l' in * by lia.
  rewrite (proj1 (image_of_stretch (l' * m) m _ ltac:(nia) L)).
  replace (S l' * m) with (l' * m + m) by nia. now rewrite trace_split.
Qed.

(* Swaps keep points apart. *)
Lemma exchange_range p ab : p < n -> fst ab < n /\ snd ab < n /\ fst ab <> snd ab -> exchange p ab < n.
Proof. intros P (A & B & _). unfold exchange. destruct (_ =? _); [assumption|]. destruct (_ =? _); assumption. Qed.
Lemma exchange_twice p ab : exchange (exchange p ab) ab = p.
Proof.
  unfold exchange. destruct (p =? fst ab) eqn:E; [apply Nat.eqb_eq in E; subst|].
  - destruct (snd ab =? fst ab) eqn:F; [now apply Nat.eqb_eq in F|]. now rewrite Nat.eqb_refl.
  - destruct (p =? snd ab) eqn:F; [apply Nat.eqb_eq in F; subst; now rewrite Nat.eqb_refl|]. now rewrite E, F.
Qed.
Lemma move_point_onto swaps : (forall ab, In ab swaps -> fst ab < n /\ snd ab < n /\ fst ab <> snd ab) ->
  (forall p, p < n -> move_point swaps p < n) /\ forall i, i < n -> exists p, p < n /\ move_point swaps p = i.
Proof.
  induction swaps as [|ab swaps IH]; intros R.
  - split; [auto|]. intros i I. now exists i.
  - assert (Ra : fst ab < n /\ snd ab < n /\ fst ab <> snd ab) by (apply R; left; reflexivity).
    destruct IH as [IH1 IH2]; [intros; apply R; right; assumption|]. split.
    + intros p P. cbn. apply IH1. now apply exchange_range.
    + intros i I. destruct (IH2 i I) as (p & P & E). exists (exchange p ab). split; [now apply exchange_range|].
      cbn. now rewrite exchange_twice.
Qed.
Lemma applied_swaps s ab : s <= total -> In ab (applied s) -> fst ab < n /\ snd ab < n /\ fst ab <> snd ab.
Proof.
  intros S I. apply (element_swaps (before s) (s mod m)); [now apply before_in_range|apply Nat.mod_upper_bound; lia|exact I].
Qed.
Lemma position_onto t : t <= total ->
  (forall p, p < n -> position t p < n) /\ forall i, i < n -> exists p, p < n /\ position t p = i.
Proof.
  induction t as [|t IH]; intros T.
  - split; [auto|]. intros i I. now exists i.
  - destruct IH as [IH1 IH2]; [lia|].
    destruct (move_point_onto (applied t)) as [M1 M2]; [intros ab; apply applied_swaps; lia|]. split.
    + intros p P. rewrite position_next. auto.
    + intros i I. destruct (M2 i I) as (q & Q & E). destruct (IH2 q Q) as (p & P & F). exists p. split; [exact P|].
      now rewrite position_next, F.
Qed.
End Words.

(* Then about the matrices of the linear RNN. *)
Section Right.
Variables (K : rational_ring) (theta : list Z -> K) (d : delay).
Add Ring numbers_of_the_model : (laws K).
Let m := block d.
Let n := delay_points d.
Hypothesis numbers_right : Forall (fun l => Forall (fun h => numbers_of K theta (fst h)) (counter_heads l)) (counter d).
Hypothesis accepted : check_delay d = true.

Lemma accepted_parts : 1 < m /\ Forall (fun l => heads_right K theta (counter_heads l)) (counter d)
  /\ check_phases d (map prepare_counter (counter d)) = true /\ 0 < element_count d
  /\ element_state d 0 = start (delay_automaton d) /\ (forall p, p < n -> image d 0 p = p)
  /\ forall g, g < element_count d -> check_element d g = true.
Proof.
  pose proof accepted as E. unfold check_delay, check_elements in E. rewrite !andb_true_iff, !Nat.ltb_lt, Nat.eqb_eq in E.
  destruct E as [[[E1 E2] E3] [[[E4 E5] E6] E7]]. repeat split; try assumption.
  - now apply checked_heads_right.
  - intros p P. apply Nat.eqb_eq. exact (all_below_spec _ _ E6 p P).
  - intros g G. exact (all_below_spec _ _ E7 g G).
Qed.
Lemma large : 1 < m.
Proof. exact (proj1 accepted_parts). Qed.
Lemma period_positive : 0 < period d.
Proof. pose proof large. unfold period. fold m. lia. Qed.

(* ---- The counter *)
Fixpoint hold_counter (layers : list counter_layer) (cs : list (list nat)) (state : hidden K) : Prop :=
  match layers, cs, state with
  | [], [], [] => True
  | l :: layers', c :: cs', Hs :: state' => hold_heads K theta (counter_heads l) c Hs /\ hold_counter layers' cs' state'
  | _, _, _ => False
  end.
Lemma lead_message heads l msg : forall Hs,
  lead K message (map (fun h msg => model_transition K theta (fst h) (snd h (counter_reads l (above msg)))) heads) msg Hs
  = lead K nat (map (fun h y => model_transition K theta (fst h) (snd h y)) heads) (counter_reads l (above msg)) Hs.
Proof. induction heads as [|h heads IH]; intros [|H Hs]; cbn; try reflexivity. now rewrite IH. Qed.
Lemma counter_steps layers : forall told cs hs tail rest a,
  Forall (fun l => heads_right K theta (counter_heads l)) layers -> hold_counter layers cs hs ->
  counter_in_range layers (counter_step (map prepare_counter layers) told cs) = true ->
  exists hs', hold_counter layers (counter_step (map prepare_counter layers) told cs) hs'
    /\ fst (step K message (map (model_counter K theta) layers ++ tail) (Message a told 0) (hs ++ rest))
       = hs' ++ fst (step K message tail (Message a (told ++ counter_step (map prepare_counter layers) told cs) 0) rest).
Proof.
  induction layers as [|l layers IH]; intros told [|c cs] [|Hs hs] tail rest a R; cbn [hold_counter]; try tauto.
  - intros _ _. exists []. split; [exact I|]. cbn. now rewrite app_nil_r.
  - intros [Hc Hr] E. inversion R as [|? ? R1 R2]; subst. cbn [map counter_step prepare_counter fst snd] in *.
    set (new := move _ _ c) in *. cbn [counter_in_range] in E. apply andb_prop in E as [E1 E2].
    assert (Hn : hold_heads K theta (counter_heads l) new
      (lead K message (heads (model_counter K theta l)) (Message a told 0) Hs)).
    { cbn [heads model_counter]. rewrite lead_message. apply lead_heads; assumption. }
    destruct (IH (told ++ [new]) cs hs tail rest a R2 Hr E2) as (hs' & Hh & S).
    exists (lead K message (heads (model_counter K theta l)) (Message a told 0) Hs :: hs'). split; [split; assumption|].
    cbn [app step map]. cbn [read_out model_counter token above].
    rewrite (numbers_heads K theta _ _ _ R1 Hn). rewrite <- app_assoc in S. cbn [app] in S.
    destruct (step K message _ (Message a (told ++ [new]) 0) (hs ++ rest)) as [below said]. cbn [fst] in *.
    rewrite S. reflexivity.
Qed.
Lemma counter_codes_hold layers : forall cs hs rest, Forall (fun l => heads_right K theta (counter_heads l)) layers ->
  hold_counter layers cs hs -> counter_codes K theta layers (hs ++ rest) = cs /\ skipn (length layers) (hs ++ rest) = rest.
Proof.
  induction layers as [|l layers IH]; intros [|c cs] [|Hs hs] rest R; cbn; try tauto. intros [Hc Hr].
  inversion R; subst. destruct (IH cs hs rest) as [E1 E2]; [assumption..|]. rewrite E1, E2. split; [|reflexivity].
  f_equal. apply numbers_heads; assumption.
Qed.
Lemma counter_begins layers : forall cs, counter_in_range layers cs = true ->
  hold_counter layers cs (counter_matrices K theta layers cs).
Proof.
  induction layers as [|l layers IH]; intros [|c cs]; cbn; try discriminate; auto. intros E.
  apply andb_prop in E as [E1 E2]. split; [now apply heads_begin|auto].
Qed.
Lemma phase_facts p : p < period d -> counter_in_range (counter d) (phase_codes d p) = true
  /\ counter_step (map prepare_counter (counter d)) [] (phase_codes d p) = phase_codes d (S p mod period d)
  /\ phase_of d (phase_codes d p) = p.
Proof.
  intros P. destruct accepted_parts as (_ & _ & E & _). pose proof (all_below_spec _ _ E p P) as F. cbv beta in F.
  rewrite !andb_true_iff, Nat.eqb_eq in F. destruct F as [[F1 F2] F3]. apply equal_codes_eq in F2. auto.
Qed.

(* ---- The buffer *)
Lemma zero_not_one : @zero K <> one.
Proof. intros E. now apply (one_is_not_zero K). Qed.
Lemma equal_true (a : K) : equal a a = true.
Proof. now apply equal_spec. Qed.
Lemma equal_zero_one : equal (@zero K) one = false.
Proof. apply not_true_iff_false. rewrite equal_spec. exact zero_not_one. Qed.
Lemma buffer_cell p a B i j : apply_transition K (buffer_transition K p a) B i j
  = if p =? i then (if a =? j then one else zero) else B i j.
Proof.
  unfold apply_transition, buffer_transition, apply_linear, apply_factor, coordinate, read_along, entry, sum.
  cbn [linear_part additive fold_left map fold_right fst snd beta key reading].
  destruct (p =? i) eqn:E; [apply Nat.eqb_eq in E; subst i|]; cbn [andb]; destruct (a =? j); ring.
Qed.

Section OneWord.
Variable word : list nat.
Hypothesis is_a_word : is_word (delay_automaton d) word.
Let x := fun s => nth s word 0.
Let total := length word.
Lemma x_letter s : s < total -> x s < letters (delay_automaton d).
Proof. intros S. unfold is_word in is_a_word. rewrite Forall_forall in is_a_word. apply is_a_word, nth_In, S. Qed.

(* After t tokens the last 2m are in their rows, and the other rows are zero. *)
Definition buffer_right (t : nat) (B : matrix K) : Prop :=
  (forall s, s < t -> t <= s + period d -> forall j, B (S s mod period d) j = if x s =? j then one else zero)
  /\ (t < period d -> forall i, i = 0 \/ t < i -> forall j, B i j = zero).
Lemma close_numbers P a b : 0 < P -> a mod P = b mod P -> a < b -> b < a + P -> False.
Proof.
  intros Pp E L U. pose proof (Nat.div_mod_eq a P) as A. pose proof (Nat.div_mod_eq b P) as B. rewrite E in A.
  assert (P * (a / P) < P * (b / P)) by lia. assert (a / P < b / P) by nia. nia.
Qed.
Lemma buffer_next t B : buffer_right t B ->
  buffer_right (S t) (apply_transition K (buffer_transition K (S t mod period d) (x t)) B).
Proof.
  intros [F Z]. pose proof period_positive as P. split.
  - intros s S1 S2 j. rewrite buffer_cell. destruct (Nat.eq_dec s t) as [->|N]; [now rewrite Nat.eqb_refl|].
    replace (S t mod period d =? S s mod period d) with false; [apply F; lia|]. symmetry. apply Nat.eqb_neq. intros E.
    symmetry in E. apply (close_numbers _ _ _ P E); lia.
  - intros T i I j. rewrite buffer_cell. replace (S t mod period d =? i) with false; [apply Z; lia|].
    symmetry. apply Nat.eqb_neq. rewrite Nat.mod_small by exact T. lia.
Qed.
Lemma find_in_order (f : nat -> bool) k a : a < k -> f a = true -> (forall b, f b = true -> b = a) ->
  find f (seq 0 k) = Some a.
Proof.
  intros L T U. destruct (find f (seq 0 k)) as [b|] eqn:E.
  - apply find_some in E as [_ E]. now rewrite (U b E).
  - pose proof (find_none _ _ E a ltac:(apply in_seq; lia)) as N. congruence.
Qed.
Lemma row_of_token t B s : buffer_right t B -> s < t -> t <= s + period d -> s < total ->
  row_letter K d B (S s mod period d) = [x s].
Proof.
  intros [F _] S1 S2 L. unfold row_letter.
  rewrite (find_in_order _ _ (x s)); [reflexivity|now apply x_letter| |].
  - rewrite F by assumption. rewrite Nat.eqb_refl. apply equal_true.
  - intros b E. rewrite F in E by assumption. destruct (x s =? b) eqn:Q; [now apply Nat.eqb_eq in Q|].
    rewrite equal_zero_one in E. discriminate.
Qed.
Lemma row_of_none t B i : buffer_right t B -> t < period d -> i = 0 \/ t < i -> row_letter K d B i = [].
Proof.
  intros [_ Z] T I. unfold row_letter. destruct (find _ _) as [a|] eqn:E; [|reflexivity].
  apply find_some in E as [_ E]. rewrite Z in E by assumption. rewrite equal_zero_one in E. discriminate.
Qed.
Lemma letters_in_rows B f u count : (forall i, i < count -> row_letter K d B (f i) = [x (u + i)]) ->
  letters_in K d B (map f (seq 0 count)) = stretch x u count.
Proof.
  induction count as [|count IH]; intros R; [reflexivity|]. unfold letters_in, stretch in *.
  rewrite !seq_S, !map_app, flat_map_app, IH by (intros; apply R; lia). cbn. now rewrite R, app_nil_r by lia.
Qed.
Lemma letters_in_none B f count : (forall i, i < count -> row_letter K d B (f i) = []) ->
  letters_in K d B (map f (seq 0 count)) = [].
Proof.
  induction count as [|count IH]; intros R; [reflexivity|]. unfold letters_in in *.
  rewrite !seq_S, !map_app, flat_map_app, IH by (intros; apply R; lia). cbn. now rewrite R by lia.
Qed.
Lemma place_right s : place_in_block d (S s mod period d) = s mod m.
Proof.
  unfold place_in_block. fold m. pose proof large as Large. assert (P : period d <> 0) by (pose proof period_positive; lia).
  pose proof (Nat.div_mod_eq (S s) (period d)) as E. set (q := S s / period d) in *. set (f := S s mod period d) in *.
  rewrite <- (Nat.mod_add (f + period d - 1) (2 * q) m) by lia. rewrite <- (Nat.mod_add s 2 m) by lia. f_equal.
  unfold period in *. fold m in E. fold m. nia.
Qed.
(* Equal rows: c and c' differ by a multiple of the period. *)
Lemma same_row c c' q : c + q * period d = c' + period d -> c mod period d = c' mod period d.
Proof.
  intros E. assert (P : period d <> 0) by (pose proof period_positive; lia).
  rewrite <- (Nat.mod_add c q) by exact P. rewrite E.
  rewrite <- (Nat.mod_add c' 1) by exact P. f_equal. lia.
Qed.
Lemma letters_before s B : s < total -> buffer_right (S s) B ->
  element_of d (letters_in K d B (rows_before d (S s mod period d))) = before d x s.
Proof.
  intros L F. pose proof large as Large. unfold rows_before, before. rewrite place_right. fold m.
  pose proof (Nat.div_mod_eq s m) as E. pose proof (Nat.mod_upper_bound s m ltac:(lia)) as U.
  pose proof (Nat.div_mod_eq (S s) (period d)) as Q. set (q := S s / period d) in *. set (f := S s mod period d) in *.
  set (j := s mod m) in *. assert (Pm : period d = m + m) by reflexivity.
  destruct (s <? m) eqn:Small.
  - apply Nat.ltb_lt in Small. assert (j = s) by (unfold j; apply Nat.mod_small; exact Small).
    assert (f = S s) by (unfold f; apply Nat.mod_small; lia).
    rewrite letters_in_none; [reflexivity|]. intros i I. apply (row_of_none (S s)); [exact F|lia|].
    destruct (Nat.eq_dec i (m - 1)) as [->|N].
    + left. replace (f + m - j + (m - 1)) with (period d) by lia. apply Nat.mod_same. lia.
    + right. rewrite Nat.mod_small by lia. lia.
  - apply Nat.ltb_ge in Small. assert (1 <= s / m) by (apply Nat.div_le_lower_bound; lia).
    unfold element_of_stretch. fold m. f_equal. apply letters_in_rows. intros i I.
    replace ((f + m - j + i) mod period d) with (S ((s / m - 1) * m + i) mod period d).
    + apply (row_of_token (S s)); [exact F| | |]; nia.
    + symmetry. apply (same_row _ _ q). nia.
Qed.
Lemma letters_present s B : s < total -> buffer_right (S s) B ->
  letters_in K d B (rows_present d (S s mod period d)) = stretch x (s / m * m) (S (s mod m)).
Proof.
  intros L F. pose proof large as Large. unfold rows_present. rewrite place_right.
  pose proof (Nat.div_mod_eq s m) as E. pose proof (Nat.mod_upper_bound s m ltac:(lia)) as U.
  pose proof (Nat.div_mod_eq (S s) (period d)) as Q. set (q := S s / period d) in *. set (f := S s mod period d) in *.
  set (j := s mod m) in *. assert (Pm : period d = m + m) by reflexivity.
  apply letters_in_rows. intros i I.
  replace ((f + period d - j + i) mod period d) with (S (s / m * m + i) mod period d).
  - apply (row_of_token (S s)); [exact F| | |]; nia.
  - symmetry. apply (same_row _ _ q). nia.
Qed.

(* ---- The swaps *)
Lemma swap_cell ab H i j : fst ab <> snd ab -> apply_factor K (swap_factor K ab) H (exchange i ab) j = H i j.
Proof.
  destruct ab as [a b]. cbn [fst snd]. intros N.
  unfold apply_factor, swap_factor, coordinate, read_along, sum, exchange.
  cbn [beta key reading fst snd map fold_right].
  destruct (i =? a) eqn:Ea; [apply Nat.eqb_eq in Ea; subst|destruct (i =? b) eqn:Eb; [apply Nat.eqb_eq in Eb; subst|]].
  - rewrite Nat.eqb_refl. replace (a =? b) with false by (symmetry; now apply Nat.eqb_neq). ring.
  - rewrite Nat.eqb_refl. replace (b =? a) with false by (symmetry; apply Nat.eqb_neq; auto). ring.
  - rewrite (Nat.eqb_sym a i), Ea, (Nat.eqb_sym b i), Eb. ring.
Qed.
Lemma swaps_cell swaps : forall H i j, (forall ab, In ab swaps -> fst ab <> snd ab) ->
  fold_left (fun H f => apply_factor K f H) (map (swap_factor K) swaps) H (move_point swaps i) j = H i j.
Proof.
  induction swaps as [|ab swaps IH]; intros H i j N; [reflexivity|]. cbn [map fold_left].
  change (move_point (ab :: swaps) i) with (move_point swaps (exchange i ab)). rewrite IH by (intros; apply N; now right).
  apply swap_cell, N. now left.
Qed.

(* ---- All layers after t tokens *)
Definition stands_right (t : nat) (state : hidden K) : Prop :=
  exists hs B H, state = hs ++ [[B]; [H]] /\ hold_counter (counter d) (phase_codes d (t mod period d)) hs
    /\ buffer_right t B /\ forall p, p < n -> H (position d x t p) 0 = integer K (mark d p).
Lemma stands_first : stands_right 0 (delay_begin K theta d).
Proof.
  pose proof period_positive as P.
  exists (counter_matrices K theta (counter d) (phase_codes d 0)), (fun _ _ => zero), (first_marks K d).
  split; [reflexivity|]. split; [|split].
  - rewrite Nat.mod_0_l by lia. apply counter_begins. now apply phase_facts.
  - split; [intros; lia|reflexivity].
  - reflexivity.
Qed.
Lemma stands_next t state : t < total -> stands_right t state ->
  stands_right (S t) (fst (step K message (delay_model K theta d) (Message (x t) [] 0) state)).
Proof.
  intros T (hs & B & H & -> & Hc & Hb & Hm). destruct accepted_parts as (_ & Hh & _ & Ep & _ & Id & Ok).
  pose proof large as Large. assert (P : period d <> 0) by (pose proof period_positive; lia).
  assert (Lt : t mod period d < period d) by (apply Nat.mod_upper_bound, P).
  assert (Ln : S t mod period d < period d) by (apply Nat.mod_upper_bound, P).
  destruct (phase_facts _ Lt) as (_ & Next & _).
  assert (Wrap : S (t mod period d) mod period d = S t mod period d).
  { rewrite <- (Nat.add_1_r t), <- (Nat.add_1_r (t mod _)). now rewrite Nat.add_mod_idemp_l. }
  rewrite Wrap in Next. destruct (phase_facts _ Ln) as (Range & _ & Phase).
  unfold delay_model.
  destruct (counter_steps (counter d) [] _ hs [model_buffer K d; model_swaps K d] [[B]; [H]] (x t) Hh Hc) as (hs' & Hc' & S).
  { rewrite Next. exact Range. }
  rewrite S. rewrite Next in *. cbn [app] in *. clear S.
  pose proof (buffer_next t B Hb) as Hb'.
  set (B' := apply_transition K (buffer_transition K (S t mod period d) (x t)) B) in *.
  cbn [step fst snd lead heads read_out model_buffer model_swaps token above element hd]. rewrite Phase. fold B'.
  rewrite (letters_before t B' T Hb'), place_right.
  eexists hs', B', _. split; [reflexivity|]. split; [exact Hc'|]. split; [exact Hb'|].
  intros p Pn. rewrite position_next. unfold apply_transition, apply_linear. cbn [linear_part additive].
  fold (applied d x t). rewrite swaps_cell.
  - rewrite Hm by exact Pn. unfold entry, sum. cbn. ring.
  - intros ab I. apply (applied_swaps d large Ep Id Ok x total x_letter t ab); [lia|exact I].
Qed.

(* What the last layer and the buffer hold tells the state. *)
Lemma stands_decoded t state : t <= total -> stands_right t state ->
  delay_decode K theta d state = Some (fold_left (fun q a => delta (delay_automaton d) a q) (stretch x 0 t) (start (delay_automaton d))).
Proof.
  intros T (hs & B & H & -> & Hc & Hb & Hm). destruct accepted_parts as (_ & Hh & _ & Ep & Start & Id & Ok).
  pose proof large as Large. assert (P : period d <> 0) by (pose proof period_positive; lia).
  destruct (phase_facts (t mod period d)) as (_ & _ & Phase); [apply Nat.mod_upper_bound, P|].
  destruct (counter_codes_hold _ _ _ [[B]; [H]] Hh Hc) as [Codes Rest]. unfold delay_decode. rewrite Codes, Rest, Phase.
  set (to := destination K d (t mod period d) B).
  (* each point has come where the whole word takes it *)
  assert (To : forall p, p < n -> to (position d x t p) = trace d x 0 t p).
  { intros p Pn. unfold to, destination. destruct t as [|s].
    - (* before the first token all rows are empty, and no swaps are to come *)
      assert (Zero : 0 mod period d = 0) by (apply Nat.mod_0_l, P). rewrite Zero.
      assert (Place : place_in_block d 0 = m - 1).
      { unfold place_in_block, period. fold m. replace (0 + (m + m) - 1) with (m - 1 + 1 * m) by lia.
        rewrite Nat.mod_add, Nat.mod_small by lia. reflexivity. }
      assert (None : forall i, row_letter K d B i = []).
      { intros i. apply (row_of_none 0); [exact Hb|unfold period; lia|lia]. }
      unfold rows_before, rows_present. rewrite !letters_in_none by auto. rewrite Place.
      unfold rest_of_block. fold m. replace (m - S (m - 1)) with 0 by lia. reflexivity.
    - rewrite (letters_before s B), (letters_present s B), place_right by (assumption || lia).
      apply (read_out_right d large Ep Id Ok x total x_letter); [lia|exact Pn]. }
  destruct (element_of_letters d Ep Id Ok _ (stretch_letters d large Ep x total x_letter 0 t ltac:(lia))) as (G & S & I).
  set (g := element_of d (stretch x 0 t)) in *.
  assert (To' : forall p, p < n -> to (position d x t p) = image d g p) by (intros p Pn; rewrite To by exact Pn; symmetry; now apply I).
  destruct (position_onto d large Ep Id Ok x total x_letter t T) as [In_range Onto].
  assert (This : is_element K d to H g = true).
  { unfold is_element. apply forallb_forall. intros i Ii. apply in_seq in Ii. apply equal_spec.
    destruct (Onto i ltac:(fold n; lia)) as (p & Pn & <-). rewrite Hm, To' by exact Pn.
    destruct (element_point d Ok g p G Pn) as (_ & E & _). now rewrite E. }
  destruct (find _ _) as [g'|] eqn:F.
  2: { pose proof (find_none _ _ F g ltac:(apply in_seq; lia)) as N. congruence. }
  apply find_some in F as [G' F]. apply in_seq in G' as [_ G']. cbn in G'. f_equal. rewrite <- Start, <- S.
  rewrite <- (element_marks d Ok g' G'), <- (element_marks d Ok g G). f_equal. apply map_ext_in. intros q Q. apply in_seq in Q.
  assert (Qn : q < n) by (unfold n; lia). destruct (element_point d Ok g q G Qn) as (_ & _ & R & E & _).
  specialize (In_range _ R). unfold is_element in F. rewrite forallb_forall in F.
  specialize (F (position d x t (preimage d g q)) ltac:(apply in_seq; fold n; lia)). apply equal_spec in F.
  unfold is_element in This. rewrite forallb_forall in This.
  specialize (This (position d x t (preimage d g q)) ltac:(apply in_seq; fold n; lia)). apply equal_spec in This.
  rewrite F in This. apply integer_injective in This. rewrite To', E in This by exact R. exact This.
Qed.
End OneWord.

(* The linear RNN of an accepted block delay follows the automaton. *)
Theorem check_delay_right : follows K message (fun a => Message a [] 0) (delay_model K theta d) (delay_begin K theta d)
  (delay_decode K theta d) (delay_automaton d).
Proof.
  intros word W. assert (S : forall t, t <= length word ->
    stands_right word t (run K message (delay_model K theta d) (delay_begin K theta d) (map (fun a => Message a [] 0) (firstn t word)))).
  { induction t as [|t IH]; intros T; [apply stands_first|].
    assert (E : firstn (S t) word = firstn t word ++ [nth t word 0]).
    { clear -T. revert t T. induction word as [|a word IH]; intros t T; [cbn in T; lia|]. destruct t; [reflexivity|].
      cbn in *. rewrite IH by lia. reflexivity. }
    rewrite E, map_app. unfold run. rewrite fold_left_app. cbn [map fold_left]. apply stands_next; [exact W|lia|]. apply IH. lia. }
  specialize (S (length word) (Nat.le_refl _)). rewrite firstn_all in S.
  rewrite (stands_decoded word W (length word) _ (Nat.le_refl _) S). unfold state_after. do 2 f_equal.
  unfold stretch. clear. induction word as [|a word IH]; [reflexivity|]. cbn [length seq map nth]. f_equal.
  rewrite <- seq_shift, map_map. exact IH.
Qed.
End Right.
