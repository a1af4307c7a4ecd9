(* The integers of Zarith, under a name of their own, for the extracted program. *)

type t = Z.t

let zero = Z.zero
let one = Z.one
let add = Z.add
let mul = Z.mul
let neg = Z.neg
let equal = Z.equal
let gcd = Z.gcd

(* Coq's division rounds down, and by 0 it gives 0. *)
let floor_div x y = if Z.sign y = 0 then zero else Z.fdiv x y

(* Coq's positive numbers: 1, and 2p + 1 and 2p for positive p; Z.to_pos gives 1 for what is not positive. *)
let to_positive z = if Z.sign z > 0 then z else one
let odd p = Z.succ (Z.shift_left p 1)
let even p = Z.shift_left p 1

let match_positive of_odd of_even of_one p =
  if Z.equal p one then of_one ()
  else if Z.is_odd p then of_odd (Z.shift_right p 1)
  else of_even (Z.shift_right p 1)

let match_integer of_zero of_positive of_negative z =
  match Z.sign z with 0 -> of_zero () | 1 -> of_positive z | _ -> of_negative (Z.neg z)

let abs = Z.abs
let sub = Z.sub
let max = Z.max
let min = Z.min
let less = Z.lt
let at_most = Z.leq
let is_even = Z.is_even

(* In Coq the logarithm of what is not positive is 0, and so is a power with a negative exponent. *)
let log2 z = if Z.sign z > 0 then Z.of_int (Z.numbits z - 1) else zero
let pow base exponent = if Z.sign exponent < 0 then zero else Z.pow base (Z.to_int exponent)
