(* A head in the form that the proved checker takes, with what it only searches for: the codes that are certain matrices, and those to
   which factors lead.

   Both are found by residues modulo a prime, and the proved checker compares.  Nothing rests on them but the time. *)

open Json
open Head

(* ---- Residues of numbers, modulo a prime p with a root of the minimal polynomial of theta. *)

type residues = { prime : int; root : int }

let rec power p x n = if n = 0 then 1 else begin
    let half = power p (x * x mod p) (n / 2) in
    if n mod 2 = 1 then x * half mod p else half
  end

let is_prime n = let rec go q = q * q > n || (n mod q <> 0 && go (q + 1)) in n > 1 && go 2

(* p = 1 modulo N, so that there is a t of order N, and t + 1/t is a root.  Products of two residues stay below 2^62. *)
let residues_of conductor =
  let rec prime_from p = if is_prime p then p else prime_from (p + conductor) in
  let prime = prime_from ((((1 lsl 29) / conductor) + 1) * conductor + 1) in
  let primes = List.filter (fun q -> conductor mod q = 0 && is_prime q) (List.init conductor succ) in
  let rec of_order a =
    let t = power prime a ((prime - 1) / conductor) in
    if List.for_all (fun q -> power prime t (conductor / q) <> 1) primes then t else of_order (a + 1) in
  let t = of_order 2 in
  { prime; root = (t + power prime t (prime - 2)) mod prime }

let residue_of_integer { prime; _ } z =
  let x = if Z.fits_int z then Z.to_int z mod prime else Z.to_int (Z.rem z (Z.of_int prime)) in
  if x < 0 then x + prime else x

let residue_of_element r ((denominator, coefficients) : Extracted.element) =
  let value = List.fold_right (fun c sum -> ((sum * r.root) + residue_of_integer r c) mod r.prime) coefficients 0 in
  if Z.equal denominator Z.one then value
  else value * power r.prime (residue_of_integer r denominator) (r.prime - 2) mod r.prime

(* ---- Keys of matrices: two sums of entries times a weight for each place, modulo the prime. *)

let scramble x =
  let x = (x lxor (x lsr 31)) * 0x3C79AC492BA7B653 in
  let x = (x lxor (x lsr 29)) * 0x1C69B3F74AC4AE35 in
  x lxor (x lsr 32)

let weight p which i j = 1 + (scramble ((((i * 0x2545F491) + j) * 2) + which) land max_int mod (p - 1))

(* Both sums in one number *)
let pair first second = (first lsl 31) lor second
let first key = key lsr 31
let second key = key land 0x7FFFFFFF

module Places = Hashtbl.Make (struct
    type t = int
    let equal (a : int) b = a = b
    let hash key = (key lxor (key lsr 31)) land max_int
  end)

(* The numbers in a matrix by their places, in an array if it is not too large. *)
let max_dense = 1 lsl 20

let make_matrix rows columns nothing =
  if rows <= max_dense / columns then begin
    let values = Array.make (rows * columns) nothing in
    ((fun i j -> values.((i * columns) + j)), fun i j x -> values.((i * columns) + j) <- x)
  end else begin
    let values = Hashtbl.create 64 in
    ((fun i j -> Option.value ~default:nothing (Hashtbl.find_opt values (i, j))), fun i j x -> Hashtbl.replace values (i, j) x)
  end

let as_head residue prime number (head : Head.t) : 'n Extracted.table_head =
  let vector v = List.map (fun (i, x) -> (i, number x)) v in
  let entries m = List.map (fun (i, j, x) -> ((i, j), number x)) m in
  let codes = Array.map entries head.codes in
  let factors =
    Array.map
      (fun (f : Head.factor) : 'n Extracted.factor ->
        { beta = number f.beta; key = vector f.key; reading = vector f.reading })
      head.factors in
  let movement (t : transition) : 'n Extracted.movement =
    match t.matrix with
    | Some weights -> Weights (entries weights, entries t.additive)
    | None -> Shared (number t.gate, List.map (fun (f : Head.factor) -> f.number) t.factors, entries t.additive) in
  let movements = Array.map movement head.transitions in
  let count = Array.length codes in
  let width = head.value_dim in
  (* the weights of places that are not too many are made once *)
  let kept which =
    if head.dim <= 4096 / width then Array.init (head.dim * width) (fun n -> weight prime which (n / width) (n mod width)) else [||] in
  let kept_first = kept 0 and kept_second = kept 1 in
  let weight_first i j = if kept_first = [||] then weight prime 0 i j else kept_first.((i * width) + j) in
  let weight_second i j = if kept_second = [||] then weight prime 1 i j else kept_second.((i * width) + j) in
  let add key i j x =
    pair ((first key + (weight_first i j * x)) mod prime) ((second key + (weight_second i j * x)) mod prime) in
  let key code = List.fold_left (fun k ((i, j), x) -> add k i j (residue x)) 0 code in
  let keys = Array.map key codes in
  let places = Places.create (2 * count) in
  Array.iteri
    (fun c k ->
      need_by
        (not (Places.mem places k && List.exists (fun other -> codes.(other) = codes.(c)) (Places.find_all places k)))
        (fun () -> head.where ^ ": two codes are equal");
      Places.add places k c)
    keys;
  let find k = match Places.find places k with c -> c | exception Not_found -> count in
  let find_code code =
    match Places.find_all places (key code) with
    | [] -> count
    | [ c ] -> c
    | several -> (match List.find_opt (fun c -> codes.(c) = code) several with Some c -> c | None -> count) in
  (* of H - beta v s with s = u^T H only the key is computed: that of H, less s_j times that of beta v in column j *)
  let column_key (f : 'n Extracted.factor) j =
    let beta = residue f.beta in
    List.fold_left (fun k (i, x) -> add k i j (beta * residue x mod prime)) 0 f.key in
  let ready =
    Array.map
      (fun (f : 'n Extracted.factor) ->
        let rows = Array.of_list (List.map fst f.reading) and values = Array.of_list (List.map (fun (_, x) -> residue x) f.reading) in
        let kept = if width <= 64 then Array.init width (column_key f) else [||] in
        (rows, values, fun j -> if kept = [||] then column_key f j else kept.(j)))
      factors in
  let look, set = make_matrix head.dim width 0 in
  let columns code = if width = 1 then [ 0 ] else List.sort_uniq compare (List.map (fun ((_, j), _) -> j) code) in
  let image columns key (rows, values, column_key) =
    let less k j =
      let s = ref 0 in
      for n = 0 to Array.length rows - 1 do
        s := (!s + (values.(n) * look rows.(n) j)) mod prime
      done;
      if !s = 0 then k
      else begin
        let c = column_key j and s = prime - !s in
        pair ((first k + (s * first c)) mod prime) ((second k + (s * second c)) mod prime)
      end in
    find (List.fold_left less key columns) in
  let images_of c =
    let code = codes.(c) in
    List.iter (fun ((i, j), x) -> set i j (residue x)) code;
    let columns = columns code in
    let images = Array.map (image columns keys.(c)) ready in
    List.iter (fun ((i, j), _) -> set i j 0) code;
    images in
  (* where most factors lead the first code to no code, the factors of each letter are applied one after the other *)
  let none = Array.make (Array.length factors) count in
  let first = if count = 0 then none else images_of 0 in
  let led = Array.fold_left (fun n c -> if c < count then n + 1 else n) 0 first in
  let images =
    if 2 * led < Array.length factors then Array.make count none
    else Array.init count (fun c -> if c = 0 then first else images_of c) in
  { rows = head.dim; columns = width; factor_count = Array.length factors; transition_count = Array.length movements;
    code_count = count; shared_factor = (fun f -> factors.(f)); movements = (fun t -> movements.(t)); codes = (fun c -> codes.(c));
    find_code; guess_image = (fun f c -> images.(c).(f)) }

let as_any head : Extracted.any_head =
  let r = residues_of head.field.conductor in
  if head.integer then IntegerHead (as_head (residue_of_integer r) r.prime Number.integer_part head)
  else FieldHead (Number.modulus_list head.field, as_head (residue_of_element r) r.prime Number.element head)

(* For each transition and code the code after it, where all are codes. *)
let images head landing =
  let count = Array.length head.codes in
  Array.init (Array.length head.transitions) (fun t ->
      Array.init count (fun c ->
          let after = landing t c in
          if after >= count then
            raise (Invalid (Printf.sprintf "%s.transitions[%d]: code %d does not go to a code" head.where t c));
          after))
