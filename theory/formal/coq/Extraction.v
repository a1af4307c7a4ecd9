(* Writes the proved functions as OCaml, into the folder in which it is run.

   To be trusted beside extraction itself: integers are those of Zarith (big.ml), natural numbers (indices, none of them
   as large as the file) are OCaml's, `tabulate` keeps the values of a function in an array, and `marks` marks the images of a set
   in one. *)
Require Import List ZArith Extraction ExtrOcamlBasic.
From Mirrormata Require Import Semantics Sparse Numbers Table Covering ChainSemantics ChainRun ChainCheck ChainTree DelayCheck RoundedRNN StatesCheck NeverRounded
  NeverRoundedCascade Lengths RoundedErrors RegionsCheck.
Extraction Language OCaml.

Extract Inductive nat => "int" [ "0" "Stdlib.succ" ] "(fun zero succ n -> if n = 0 then zero () else succ (n - 1))".
Extract Inlined Constant Nat.add => "(+)".
Extract Inlined Constant Nat.eqb => "Int.equal".
Extract Inlined Constant Nat.ltb => "(fun (x : int) (y : int) -> x < y)".
Extract Inlined Constant Nat.leb => "(fun (x : int) (y : int) -> x <= y)".
Extract Inlined Constant Nat.sub => "(fun (x : int) (y : int) -> if x < y then 0 else x - y)".
Extract Inlined Constant Init.Nat.sub => "(fun (x : int) (y : int) -> if x < y then 0 else x - y)".
(* Coq's remainder by 0 is the number itself. *)
Extract Inlined Constant Nat.modulo => "(fun (x : int) (y : int) -> if y = 0 then x else x mod y)".
(* Pairs are OCaml's already; so are their parts. *)
Extract Inlined Constant fst => "Stdlib.fst".
Extract Inlined Constant snd => "Stdlib.snd".
Extract Inlined Constant length => "List.length".
Extract Inductive positive => "Big.t" [ "Big.odd" "Big.even" "Big.one" ] "Big.match_positive".
Extract Inductive Z => "Big.t" [ "Big.zero" "" "Big.neg" ] "Big.match_integer".
Extract Inlined Constant Z.add => "Big.add".
Extract Inlined Constant Z.mul => "Big.mul".
Extract Inlined Constant Z.opp => "Big.neg".
Extract Inlined Constant Z.eqb => "Big.equal".
Extract Inlined Constant Z.gcd => "Big.gcd".
Extract Inlined Constant Z.div => "Big.floor_div".
Extract Inlined Constant Z.abs => "Big.abs".
Extract Inlined Constant Z.sub => "Big.sub".
Extract Inlined Constant Z.max => "Big.max".
Extract Inlined Constant Z.min => "Big.min".
Extract Inlined Constant Z.ltb => "Big.less".
Extract Inlined Constant Z.leb => "Big.at_most".
Extract Inlined Constant Z.even => "Big.is_even".
Extract Inlined Constant Z.log2 => "Big.log2".
Extract Inlined Constant Z.pow => "Big.pow".
Extract Inlined Constant Z.to_pos => "Big.to_positive".
Extract Inlined Constant Pos.mul => "Big.mul".
Extract Inlined Constant Pos.eqb => "Big.equal".
Extract Constant tabulate => "(fun n f -> let values = Array.init n f in fun i -> values.(i))".
Extract Constant marks =>
  "(fun n g set -> let marks = Bytes.make n '0' in List.iter (fun x -> Bytes.set marks (g x) '1') set; fun y -> Bytes.get marks y = '1')".
Extract Constant recall =>
  "(fun state -> let values = Array.of_list state in fun i -> if i < Array.length values then values.(i) else { qnum = Big.zero; qden = Big.one })".

Extraction "extracted.ml"
  (* of tables *) any_images any_landings check_heads check_rows prepare check_table
  (* of cascades *) told_by cascade_tables check_codes check_situations check_cascade
  (* numbers *)  element_add element_mul element_opp lowest
  (* of block delays *) check_counter_heads check_phases check_elements check_delay
  (* of tables with rounding *) guard fits_per_step fits_per_op check_per_step check_per_op code_sizes weight_column
  (* of cascades with rounding *) head_fits check_cascade_per_step check_cascade_per_op
  (* of chains *) check_chain_tree leaf_right start_sets depth levels by_one bijective marks.

(* Layers with rounding, in a file of their own: names such as `size` are used in both. *)
Extraction "rounded.ml" round lowest_terms rounded_step nearest check_states
  (* by regions *) distance less is_rough rough_count norm_right values_at check_regions.
