(* Numbers of a certificate: elements of Q(theta), theta = 2cos(2 pi/N), as coefficients over a denominator.

   The minimal polynomial of theta and the sign of a number are computed here; see the documentation for what rests on
   them. *)

open Json

(* A kind of certificate, or a part of it, that has no proved checker. *)
exception Unsupported of string

(* What would take longer than a limit that can be raised. *)
exception Limit of string

let max_conductor = 40_000
let max_dense_degree = 40
let max_digits = 4_000
let max_bits = 1 lsl 19

(* The largest degree of a field, unless the environment gives another; a product of two of its numbers takes the square of it. *)
let default_max_degree = 5_000
let limit_variable = "MIRRORMATA_COQ_MAX_DEGREE"

(* A limit that the environment may change; what it is a number of, and an example of a larger one *)
let limit_from variable default what example =
  match Sys.getenv_opt variable with
  | None | Some "" -> default
  | Some text ->
    (match int_of_string_opt text with
     | Some n when n > 0 && String.for_all (fun c -> c >= '0' && c <= '9') text -> n
     | _ -> raise (Limit (Printf.sprintf "%s is not %s: a whole number above 0 is needed, such as %d" variable what example)))

let max_degree () = limit_from limit_variable default_max_degree "a degree" 20_000

type field = { conductor : int; degree : int; modulus : Z.t array (* constant first, without the leading 1 *) }

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

(* U_k and U_{k+1} at x, where U_0 = 0, U_1 = 1 and U_{k+1} = x U_k - U_{k-1}; so U_k = (t^k - t^-k)/(t - t^-1) for x = t + 1/t. *)
let rec lucas x k =
  if k = 0 then (Z.zero, Z.one)
  else begin
    let u, next = lucas x (k / 2) in
    (* U_2k = U_k (2 U_{k+1} - x U_k), U_{2k+1} = U_{k+1}^2 - U_k^2 *)
    let even = Z.mul u (Z.sub (Z.shift_left next 1) (Z.mul x u)) in
    let odd = Z.sub (Z.mul next next) (Z.mul u u) in
    if k mod 2 = 0 then (even, odd) else (odd, Z.sub (Z.mul x odd) even)
  end

(* The squarefree divisors of n, each with its value of the Moebius function. *)
let squarefree_divisors n =
  let rec go rest p found =
    if rest = 1 then found
    else begin
      let p = if p * p > rest then rest else p in
      if rest mod p <> 0 then go rest (p + 1) found
      else begin
        let rec without m = if m mod p = 0 then without (m / p) else m in
        go (without rest) (p + 1) (found @ List.map (fun (d, mu) -> (d * p, -mu)) found)
      end
    end in
  go n 2 [ (1, 1) ]

(* Phi_N(t) is the product of (t^(N/d) - 1)^mu(d) over d | N, and t^n - 1 = t^(n/2) (t^(1/2) - t^(-1/2)) w(n), where w(n) is a polynomial
   in x = t + 1/t, times t^(1/2) + t^(-1/2) if n is even: U_k for n = 2k, U_{k+1} + U_k for n = 2k + 1.  What stands before w cancels
   for N > 2 but the power of t, so the product of w(N/d)^mu(d) is Psi_N(x) with Phi_N(t) = t^h Psi_N(t + 1/t).  It is computed at
   x = 2^b and its coefficients are read off, as digits from -2^(b-1) to 2^(b-1): all roots are at most 2 in absolute value, so the
   absolute values of the coefficients add up to 3^degree at most. *)
let minimal_polynomial conductor degree =
  if conductor = 1 then [| Z.of_int (-2) |]
  else if conductor = 2 then [| Z.of_int 2 |]
  else begin
    let bits = ((degree * 8) / 5) + 2 in
    let x = Z.shift_left Z.one bits in
    let factor n =
      let u, next = lucas x (n / 2) in
      if n mod 2 = 0 then u else Z.add u next in
    let divisors = squarefree_divisors conductor in
    let product sign =
      List.fold_left (fun p (d, mu) -> if mu = sign then Z.mul p (factor (conductor / d)) else p) Z.one divisors in
    let value = Z.divexact (product 1) (product (-1)) in
    let carry = ref Z.zero in
    Array.init degree (fun i ->
        let digit = Z.add (Z.extract value (i * bits) bits) !carry in
        let high = Z.numbits digit >= bits in
        carry := if high then Z.one else Z.zero;
        if high then Z.sub digit x else digit)
  end

let fields : (int, field) Hashtbl.t = Hashtbl.create 4

let field_of conductor =
  match Hashtbl.find_opt fields conductor with
  | Some field -> field
  | None ->
    let degree = degree_of conductor in
    if conductor mod 4 = 0 && degree > max_dense_degree then
      raise (Unsupported (Printf.sprintf "the field %d: numbers written as cosines" conductor));
    if degree > max_degree () then
      raise
        (Limit
           (Printf.sprintf "the field %d has degree %s, above the limit of %s; a larger limit can be given in %s" conductor
              (Reading.group degree) (Reading.group (max_degree ())) limit_variable));
    let field = { conductor; degree; modulus = minimal_polynomial conductor degree } in
    Hashtbl.add fields conductor field;
    field

(* In lowest terms, with as many coefficients as the field has degrees. *)
type t = { denominator : Z.t; coefficients : Z.t list }

let rec all_zero = function [] -> true | c :: rest -> Z.equal c Z.zero && all_zero rest
let is_rational x = all_zero (List.tl x.coefficients)
let is_integer x = Z.equal x.denominator Z.one && is_rational x
let is_zero x = all_zero x.coefficients
let integer_part x = List.hd x.coefficients
let made_integer field n = { denominator = Z.one; coefficients = n :: List.init (field.degree - 1) (fun _ -> Z.zero) }

(* The integers from -8 to 8 of a field, each once: most numbers of certificates are among them. *)
let small : (int, t array) Hashtbl.t = Hashtbl.create 4

let small_integers field =
  match Hashtbl.find_opt small field.conductor with
  | Some numbers -> numbers
  | None ->
    let numbers = Array.init 17 (fun i -> made_integer field (Z.of_int (i - 8))) in
    Hashtbl.add small field.conductor numbers;
    numbers

let of_integer field n =
  if Z.leq n (Z.of_int 8) && Z.geq n (Z.of_int (-8)) then (small_integers field).(Z.to_int n + 8) else made_integer field n
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

(* 2^bits 2cos(2 pi/n), but for the last bits: pi by Machin's formula, and the power series of the cosine.  It is only tried. *)
let approximate_theta n bits =
  let guard = bits + 64 in
  let one = Z.shift_left Z.one guard in
  let rec arctangent k power inverse sum =
    if Z.sign power = 0 then sum
    else begin
      let term = Z.div power (Z.of_int ((2 * k) + 1)) in
      arctangent (k + 1) (Z.div power (Z.of_int (inverse * inverse))) inverse (if k mod 2 = 0 then Z.add sum term else Z.sub sum term)
    end in
  let arctangent inverse = arctangent 0 (Z.div one (Z.of_int inverse)) inverse Z.zero in
  let pi = Z.sub (Z.shift_left (arctangent 5) 4) (Z.shift_left (arctangent 239) 2) in
  let x = Z.div (Z.shift_left pi 1) (Z.of_int n) in
  let square = Z.shift_right (Z.mul x x) guard in
  let rec cosine k term sum =
    if Z.sign term = 0 then sum
    else
      cosine (k + 1) (Z.neg (Z.div (Z.shift_right (Z.mul term square) guard) (Z.of_int (((2 * k) + 1) * ((2 * k) + 2)))))
        (Z.add sum term) in
  Z.shift_right (cosine 0 one Z.zero) (guard - bits - 1)

(* The integer m with m/2^bits <= theta < (m + 1)/2^bits, where the degree is above 1. *)
let thetas : (int * int, Z.t) Hashtbl.t = Hashtbl.create 4

let theta field bits =
  match Hashtbl.find_opt thetas (field.conductor, bits) with
  | Some m -> m
  | None ->
    need (bits * field.degree <= max_bits) "two numbers are too close to tell which is larger";
    (* the sign of the minimal polynomial at x/2^bits *)
    let sign_at x =
      let value = ref Z.one in
      for i = field.degree - 1 downto 0 do
        value := Z.add (Z.mul !value x) (Z.shift_left field.modulus.(i) (bits * (field.degree - i)))
      done;
      Z.sign !value in
    (* 2cos(4 pi/N) < 2 - (44/7N)^2 < theta < 2: no other root of the minimal polynomial lies above the left end *)
    let square = Z.of_int (49 * field.conductor * field.conductor) in
    let low = ref (Z.sub (Z.shift_left (Z.of_int 2) bits) (Z.cdiv (Z.shift_left (Z.of_int 1936) bits) square)) in
    let high = ref (Z.shift_left (Z.of_int 2) bits) in
    let look middle =
      if Z.lt !low middle && Z.lt middle !high then if sign_at middle <= 0 then low := middle else high := middle in
    let tried = approximate_theta field.conductor bits in
    look tried;
    look (Z.succ tried);
    while Z.gt (Z.sub !high !low) Z.one do
      look (Z.fdiv (Z.add !low !high) (Z.of_int 2))
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
