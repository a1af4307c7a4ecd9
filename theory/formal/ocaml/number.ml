(* Numbers of a certificate: elements of Q(theta), theta = 2cos(2 pi/N), as coefficients over a denominator.

   The minimal polynomial of theta and the sign of a number are computed here; see the documentation for what rests on
   them. *)

open Json

(* A kind of certificate, or a part of it, that has no proved checker. *)
exception Unsupported of string

let max_conductor = 40_000
let max_dense_degree = 40
let max_digits = 4_000
let max_bits = 1 lsl 19

type field = { conductor : int; degree : int; modulus : Z.t array (* constant first, without the leading 1 *) }

(* Coefficients of the cyclotomic polynomial, n > 1, constant first: the power series of the product of
   (1 - x^(n/d))^mu(d) over d | n. *)
let cyclotomic n =
  let is_prime p = let rec go q = q * q > p || (p mod q <> 0 && go (q + 1)) in p > 1 && go 2 in
  let signs = ref [ (1, 1) ] in
  for p = 2 to n do
    if n mod p = 0 && is_prime p then signs := !signs @ List.map (fun (d, mu) -> (d * p, -mu)) !signs
  done;
  let result = Array.make (n + 1) Z.zero in
  result.(0) <- Z.one;
  List.iter
    (fun (d, mu) ->
      let step = n / d in
      if mu > 0 then
        for i = n downto step do result.(i) <- Z.sub result.(i) result.(i - step) done
      else
        for i = step to n do result.(i) <- Z.add result.(i) result.(i - step) done)
    !signs;
  let last = ref n in
  while Z.equal result.(!last) Z.zero do decr last done;
  Array.sub result 0 (!last + 1)

let degree_of conductor =
  let phi = ref conductor and rest = ref conductor and p = ref 2 in
  while !rest > 1 do
    if !p * !p > !rest then p := !rest;
    if !rest mod !p = 0 then begin
      phi := !phi - !phi / !p;
      while !rest mod !p = 0 do rest := !rest / !p done
    end;
    incr p
  done;
  max (!phi / 2) 1

(* Phi(x) = x^h Psi(x + 1/x), and x^j + x^-j = C_j(x + 1/x) with C_{j+1} = theta C_j - C_{j-1}. *)
let minimal_polynomial conductor =
  if conductor = 1 then [| Z.of_int (-2) |]
  else if conductor = 2 then [| Z.of_int 2 |]
  else begin
    let phi = cyclotomic conductor in
    let half = (Array.length phi - 1) / 2 in
    let psi = Array.make (half + 1) Z.zero in
    psi.(0) <- phi.(half);
    let before = ref (Array.make (half + 2) Z.zero) and now = ref (Array.make (half + 2) Z.zero) in
    !before.(0) <- Z.of_int 2;
    !now.(1) <- Z.one;
    for j = 1 to half do
      for i = 0 to half do psi.(i) <- Z.add psi.(i) (Z.mul phi.(half + j) !now.(i)) done;
      let following = Array.make (half + 2) Z.zero in
      for i = 0 to half do following.(i + 1) <- !now.(i) done;
      for i = 0 to half do following.(i) <- Z.sub following.(i) !before.(i) done;
      before := !now;
      now := following
    done;
    Array.sub psi 0 half
  end

let fields : (int, field) Hashtbl.t = Hashtbl.create 4

let field_of conductor =
  match Hashtbl.find_opt fields conductor with
  | Some field -> field
  | None ->
    let degree = degree_of conductor in
    if conductor mod 4 = 0 && degree > max_dense_degree then
      raise (Unsupported (Printf.sprintf "the field %d: numbers written as cosines" conductor));
    let field = { conductor; degree; modulus = minimal_polynomial conductor } in
    Hashtbl.add fields conductor field;
    field

(* In lowest terms, with as many coefficients as the field has degrees. *)
type t = { denominator : Z.t; coefficients : Z.t list }

let is_rational x = List.for_all (Z.equal Z.zero) (List.tl x.coefficients)
let is_integer x = Z.equal x.denominator Z.one && is_rational x
let is_zero x = List.for_all (Z.equal Z.zero) x.coefficients
let integer_part x = List.hd x.coefficients
let of_integer field n =
  { denominator = Z.one; coefficients = n :: List.init (field.degree - 1) (fun _ -> Z.zero) }
let equals_integer n x = is_integer x && Z.equal (integer_part x) (Z.of_int n)
let element x : Extracted.element = (x.denominator, x.coefficients)
let of_element ((denominator, coefficients) : Extracted.element) = { denominator; coefficients }

let modulus_list field = Array.to_list field.modulus
let add x y = of_element (Extracted.element_add (element x) (element y))
let mul field x y = of_element (Extracted.element_mul (modulus_list field) (element x) (element y))
let neg x = of_element (Extracted.element_opp (element x))

(* "p/q" in lowest terms, q > 1 *)
let fraction where text =
  let bad () = raise (Invalid (where ^ ": " ^ Reading.show (String text) ^ " is not a number")) in
  let digits s =
    String.length s > 0 && s.[0] >= '1' && s.[0] <= '9' && String.for_all (fun c -> c >= '0' && c <= '9') s in
  if String.length text > max_digits then bad ();
  match String.split_on_char '/' text with
  | [ p; q ] ->
    let unsigned = if String.length p > 0 && p.[0] = '-' then String.sub p 1 (String.length p - 1) else p in
    if not (digits unsigned && digits q) then bad ();
    let p = Z.of_string p and q = Z.of_string q in
    need (Z.gt q Z.one && Z.equal (Z.gcd p q) Z.one) (where ^ ": '" ^ text ^ "' is not in lowest terms");
    (p, q)
  | _ -> bad ()

(* An integer, "p/q", or the list of at least two coefficients of an irrational number. *)
let read field where value =
  let rational where = function
    | Int n -> (n, Z.one)
    | String s -> fraction where s
    | List _ -> raise (Invalid (where ^ ": a coefficient is a list"))
    | other -> raise (Invalid (where ^ ": " ^ Reading.show other ^ " is not a number of the field")) in
  match value with
  | Int n -> of_integer field n
  | String s ->
    let p, q = fraction where s in
    { (of_integer field p) with denominator = q }
  | List items when List.length items >= 2 && List.length items <= field.degree ->
    need (List.for_all (function List _ -> false | _ -> true) items) (where ^ ": a coefficient is a list");
    let parts = List.map (rational where) items in
    let last, _ = List.nth parts (List.length parts - 1) in
    need (not (Z.equal last Z.zero)) (where ^ ": the last coefficient is zero");
    let common = List.fold_left (fun d (_, q) -> Z.lcm d q) Z.one parts in
    let scaled = List.map (fun (p, q) -> Z.mul p (Z.divexact common q)) parts in
    let coefficients = scaled @ List.init (field.degree - List.length parts) (fun _ -> Z.zero) in
    of_element (Extracted.lowest (common, coefficients))
  | other -> raise (Invalid (where ^ ": " ^ Reading.show other ^ " is not a number of the field"))

(* The integer m with m/2^bits <= theta < (m + 1)/2^bits, where the degree is above 1. *)
let thetas : (int * int, Z.t) Hashtbl.t = Hashtbl.create 4

let theta field bits =
  match Hashtbl.find_opt thetas (field.conductor, bits) with
  | Some m -> m
  | None ->
    need (bits * field.degree <= max_bits) "two numbers are too close to tell which is larger";
    (* 2cos(4 pi/N) < 2 - (44/7N)^2 < theta < 2: no other root of the minimal polynomial lies above the left end *)
    let square = Z.of_int (49 * field.conductor * field.conductor) in
    let low = ref (Z.sub (Z.shift_left (Z.of_int 2) bits) (Z.cdiv (Z.shift_left (Z.of_int 1936) bits) square)) in
    let high = ref (Z.shift_left (Z.of_int 2) bits) in
    while Z.gt (Z.sub !high !low) Z.one do
      let middle = Z.fdiv (Z.add !low !high) (Z.of_int 2) in
      let value = ref Z.one in
      for i = field.degree - 1 downto 0 do
        let power = bits * (field.degree - i) in
        value := Z.add (Z.mul !value middle) (Z.shift_left field.modulus.(i) power)
      done;
      if Z.sign !value <= 0 then low := middle else high := middle
    done;
    Hashtbl.add thetas (field.conductor, bits) !low;
    !low

(* -1, 0 or 1; an irrational number is not zero, so refining its bounds ends. *)
let sign field x =
  if is_rational x then Z.sign (integer_part x)
  else begin
    let coefficients = List.rev x.coefficients in
    let rec refine bits =
      let theta = theta field bits in
      let next = Z.succ theta in
      let low = ref Z.zero and high = ref Z.zero and shift = ref 0 in
      List.iter
        (fun c ->
          let corners = [ Z.mul !low theta; Z.mul !low next; Z.mul !high theta; Z.mul !high next ] in
          shift := !shift + bits;
          let c = Z.shift_left c !shift in
          low := Z.add (List.fold_left Z.min (List.hd corners) corners) c;
          high := Z.add (List.fold_left Z.max (List.hd corners) corners) c)
        coefficients;
      if Z.sign !low > 0 then 1 else if Z.sign !high < 0 then -1 else refine (2 * bits) in
    refine 64
  end
