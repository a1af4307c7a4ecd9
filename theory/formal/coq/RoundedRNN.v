(* A layer whose numbers are rounded: what it does on a word, and what it means that its answers are right.

   This page is to be read; nothing is proved on it.  Numbers are rational: every stored number and every rounded one is.
   `round` is the only place where digits are lost; RoundedFloats.v proves that it is the rounding of Flocq's IEEE 754 formats.

   Order of reading: whole numbers, sets of values, the order of operations, layers, words, answers. *)
Require Import List Arith ZArith QArith.
Import ListNotations.
Local Open Scope Q_scope.

(* ---- Rounding to a whole number.  Modes: to nearest with ties to the even one, to nearest with ties to the lower one, toward zero,
   up, down. *)
Inductive mode := Nearest_even | Nearest_low | Toward_zero | Up | Down.
Definition less (x y : Q) : bool := Z.ltb (Qnum x * Zpos (Qden y)) (Qnum y * Zpos (Qden x)).
Definition floor (x : Q) : Z := Z.div (Qnum x) (Zpos (Qden x)).
Definition ceiling (x : Q) : Z := (- floor (- x))%Z.
Definition whole (m : mode) (x : Q) : Z :=
  match m with
  | Nearest_even =>
    let f := floor x in
    let rest := x - inject_Z f in
    if less rest (1 # 2) then f else if less (1 # 2) rest then (f + 1)%Z else if Z.even f then f else (f + 1)%Z
  | Nearest_low => ceiling (x - (1 # 2))
  | Toward_zero => if less x 0 then ceiling x else floor x
  | Up => ceiling x
  | Down => floor x
  end.

(* ---- Sets of values: all rational numbers; floats with p digits in base 2, the least exponent of a normal number, and the largest
   number; grids: whole multiples of a quantum, from one multiple to another; and ascending lists of numbers. *)
Inductive values :=
| Exact
| Floats (precision least : Z) (largest : Q) (saturates : bool)
| Grid (low high : Z) (quantum : Q)
| Listed (numbers : list Q).
Definition power_of_two (e : Z) : Q := if Z.leb 0 e then inject_Z (2 ^ e) else 1 # Z.to_pos (2 ^ - e).
Definition magnitude (x : Q) : Q := Z.abs (Qnum x) # Qden x.
(* The exponent e of x, not 0: 2^e <= |x| < 2^(e+1) *)
Definition exponent (x : Q) : Z :=
  let e := (Z.log2 (Z.abs (Qnum x)) - Z.log2 (Zpos (Qden x)))%Z in if less (magnitude x) (power_of_two e) then (e - 1)%Z else e.
Definition lowest_terms (x : Q) : Q :=
  let g := Z.gcd (Qnum x) (Zpos (Qden x)) in Z.div (Qnum x) g # Z.to_pos (Z.div (Zpos (Qden x)) g).

(* The distance of neighbouring floats at x: 2^(e - p + 1), e at least that of the normal numbers *)
Definition spacing (precision least : Z) (x : Q) : Q :=
  power_of_two ((if Z.eqb (Qnum x) 0 then least else Z.max (exponent x) least) - precision + 1).
Definition on_spacing (m : mode) (unit x : Q) : Q := inject_Z (whole m (x / unit)) * unit.
(* Whether a number beyond the largest stays at it: where the format saturates, or the mode rounds toward zero there *)
Definition stays (m : mode) (saturates : bool) (x : Q) : bool :=
  if saturates then true else
  match m with Toward_zero => true | Up => less x 0 | Down => negb (less x 0) | _ => false end.
(* To a list: a number beyond an end of it stays at the end, and ties go to the lower one, since a list has no even numbers. *)
Fixpoint to_listed (m : mode) (low : Q) (above : list Q) (x : Q) : Q :=
  match above with
  | [] => low
  | high :: above' =>
    if less x high then
      if less low x then
        match m with
        | Up => high
        | Down => low
        | Toward_zero => if less x 0 then high else low
        | Nearest_even | Nearest_low => if less (high - x) (x - low) then high else low
        end
      else low
    else to_listed m high above' x
  end.
(* None: the number becomes infinite. *)
Definition round (v : values) (m : mode) (x : Q) : option Q :=
  match v with
  | Exact => Some (lowest_terms x)
  | Floats precision least largest saturates =>
    let y := on_spacing m (spacing precision least x) x in
    if less largest (magnitude y)
    then if stays m saturates x then Some (if less y 0 then - largest else largest) else None
    else Some (lowest_terms y)
  | Grid low high quantum => Some (lowest_terms (inject_Z (Z.min (Z.max (whole m (x / quantum)) low) high) * quantum))
  | Listed [] => None
  | Listed (least :: above) => Some (lowest_terms (to_listed m least above x))
  end.

(* ---- The order of operations of an entry of A h + b.  A term is (column, place, a): a stands in that column of its row of A, and
   is multiplied by entry `place` of the state; terms with a = 0 are left out. *)
Inductive order := Per_step | From_left | Bias_first | Fused | Tree.
Section Arithmetic.
Variables (v : values) (m : mode).
Definition term := (nat * nat * Q)%type.
Record rounded_entry := RoundedEntry { terms : list term; bias : Q; width : nat }.
Definition product (h : nat -> Q) (t : term) : Q := snd t * h (snd (fst t)).

Fixpoint exact_sum (numbers : list Q) (b : Q) : Q :=
  match numbers with [] => b | x :: numbers' => x + exact_sum numbers' b end.
(* From left to right, product and sum rounded; or fused: only the sum *)
Fixpoint left_sum (numbers : list Q) (total : Q) : option Q :=
  match numbers with
  | [] => Some total
  | x :: numbers' =>
    match round v m x with
    | Some p => match round v m (total + p) with Some total' => left_sum numbers' total' | None => None end
    | None => None
    end
  end.
Fixpoint fused_sum (numbers : list Q) (total : Q) : option Q :=
  match numbers with
  | [] => Some total
  | x :: numbers' => match round v m (x + total) with Some total' => fused_sum numbers' total' | None => None end
  end.
(* By pairs of neighbouring columns, the last of an odd number alone *)
Fixpoint rounded_pairs (numbers : list Q) : option (list Q) :=
  match numbers with
  | x :: y :: numbers' =>
    match round v m (x + y), rounded_pairs numbers' with Some s, Some rest => Some (s :: rest) | _, _ => None end
  | [x] => Some [x]
  | [] => Some []
  end.
Fixpoint tree_sum (levels : nat) (numbers : list Q) : option Q :=
  match numbers, levels with
  | [], _ => Some 0
  | [x], _ => Some x
  | _, O => None
  | _, S levels' => match rounded_pairs numbers with Some pairs => tree_sum levels' pairs | None => None end
  end.
Fixpoint rounded_all (numbers : list Q) : option (list Q) :=
  match numbers with
  | [] => Some []
  | x :: numbers' =>
    match round v m x, rounded_all numbers' with Some p, Some rest => Some (p :: rest) | _, _ => None end
  end.
(* The products in their columns, 0 in the others *)
Fixpoint in_columns (h : nat -> Q) (found : list term) (column count : nat) : list Q :=
  match count with
  | O => []
  | S count' =>
    match found with
    | t :: found' =>
      if (fst (fst t) =? column)%nat then product h t :: in_columns h found' (S column) count'
      else 0 :: in_columns h found (S column) count'
    | [] => 0 :: in_columns h [] (S column) count'
    end
  end.

Definition entry_after (o : order) (h : nat -> Q) (e : rounded_entry) : option Q :=
  let plus_bias total := match total with Some s => round v m (s + bias e) | None => None end in
  match o with
  | Per_step => round v m (exact_sum (map (product h) (terms e)) (bias e))
  | From_left => plus_bias (left_sum (map (product h) (terms e)) 0)
  | Bias_first => left_sum (map (product h) (terms e)) (bias e)
  | Fused => plus_bias (fused_sum (map (product h) (terms e)) 0)
  | Tree =>
    plus_bias (match rounded_all (in_columns h (terms e) 0 (width e)) with
      | Some numbers => tree_sum (width e) numbers | None => None end)
  end.
End Arithmetic.

(* ---- A layer: for each letter the entries of A h + b; the state is the list of all entries.  Codes are states with an answer for each
   letter. *)
Record rounded_layer := RoundedLayer {
  the_values : values;
  the_mode : mode;
  the_order : order;
  initial_state : list Q;
  letter_rows : nat -> list rounded_entry;
  state_codes : list (list Q);
  says : nat -> nat -> Z            (* the answer of code c on letter a *)
}.
(* Entry i of a state, 0 behind its end.  The extracted program keeps the state in an array. *)
Definition recall (state : list Q) : nat -> Q := fun i => nth i state 0.
Fixpoint each {X Y : Type} (f : X -> option Y) (l : list X) : option (list Y) :=
  match l with
  | [] => Some []
  | x :: l' => match f x, each f l' with Some y, Some rest => Some (y :: rest) | _, _ => None end
  end.
Definition rounded_step (L : rounded_layer) (a : nat) (state : list Q) : option (list Q) :=
  each (entry_after (the_values L) (the_mode L) (the_order L) (recall state)) (letter_rows L a).

(* ---- Words.  None: a number became infinite. *)
Definition rounded_run (L : rounded_layer) (word : list nat) : option (list Q) :=
  fold_left (fun state a => match state with Some h => rounded_step L a h | None => None end) word (Some (initial_state L)).

(* ---- Answers: those of the nearest code, the first of several. *)
Fixpoint distance (x y : list Q) : Q :=
  match x, y with a :: x', b :: y' => lowest_terms ((a - b) * (a - b) + distance x' y') | _, _ => 0 end.
Fixpoint nearest_from (state : list Q) (codes : list (list Q)) (number best : nat) (least : Q) : nat :=
  match codes with
  | [] => best
  | c :: codes' =>
    let d := distance state c in
    if less d least then nearest_from state codes' (S number) number d else nearest_from state codes' (S number) best least
  end.
Definition nearest (codes : list (list Q)) (state : list Q) : nat :=
  match codes with [] => 0%nat | c :: codes' => nearest_from state codes' 1 0 (distance state c) end.
Definition answer (L : rounded_layer) (a : nat) (state : list Q) : Z := says L (nearest (state_codes L) state) a.
