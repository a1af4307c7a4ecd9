(* Writes the proved functions as OCaml, into the folder in which it is run.

   To be trusted beside extraction itself: integers are those of Zarith, natural numbers (indices, all of them smaller
   than the file) are OCaml's, and `tabulate` keeps the values of a function in an array. *)
Require Import List ZArith Extraction ExtrOcamlBasic.
From Mirrormata Require Import Semantics Sparse Numbers Table.
Extraction Language OCaml.

Extract Inductive nat => "int" [ "0" "Stdlib.succ" ] "(fun zero succ n -> if n = 0 then zero () else succ (n - 1))".
Extract Inlined Constant Nat.eqb => "Int.equal".
Extract Inlined Constant Nat.ltb => "(fun (x : int) (y : int) -> x < y)".
Extract Inductive positive => "Z.t"
  [ "(fun p -> Z.succ (Z.shift_left p 1))" "(fun p -> Z.shift_left p 1)" "Z.one" ]
  "(fun odd even one p -> if Z.equal p Z.one then one () else if Z.is_odd p then odd (Z.shift_right p 1) else even (Z.shift_right p 1))".
Extract Inductive Z => "Z.t" [ "Z.zero" "" "Z.neg" ]
  "(fun zero positive negative z -> let s = Z.sign z in if s = 0 then zero () else if s > 0 then positive z else negative (Z.neg z))".
Extract Inlined Constant Z.add => "Z.add".
Extract Inlined Constant Z.mul => "Z.mul".
Extract Inlined Constant Z.opp => "Z.neg".
Extract Inlined Constant Z.eqb => "Z.equal".
Extract Inlined Constant Z.gcd => "Z.gcd".
Extract Constant Z.div => "(fun x y -> if Z.equal y Z.zero then Z.zero else Z.fdiv x y)".
Extract Constant Z.to_pos => "(fun z -> if Z.sign z > 0 then z else Z.one)".
Extract Inlined Constant Pos.mul => "Z.mul".
Extract Inlined Constant Pos.eqb => "Z.equal".
Extract Constant tabulate => "(fun n f -> let values = Array.init n f in fun i -> values.(i))".

Extraction "extracted.ml"
  table_layers any_landings prepare check_heads check_rows check_table code_step.
