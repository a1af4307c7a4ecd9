(* One head of a certificate: read in its canonical form, and turned into the form that the proved checker takes. *)

open Json
open Number

type entry = int * int * Number.t

type transition = {
  gate : Number.t;
  factors : (Number.t * (int * Number.t) list * (int * Number.t) list) list; (* beta, key, what is read along *)
  matrix : entry list option;
  additive : entry list;
}

type t = {
  where : string;
  field : field;
  dim : int;
  value_dim : int;
  pairs : bool;
  points : int;
  vectors : entry list array; (* the points; of pairs the upper halves *)
  codes : entry list array;
  transitions : transition array;
  actions : int array;
  integer : bool;
  copies : bool;
}

let big = (1 lsl 62) - 1

let read ~layered letters where value =
  let pairs = layered && Reading.has "pairs" value in
  let keys =
    [ "field"; "dim"; "value_dim"; "transitions"; "codes" ]
    @ (if layered then [ "actions" ] else []) @ if pairs then [ "pairs" ] else [] in
  let get = Reading.record where keys value in
  need ((not pairs) || get "pairs" = Bool true) (where ^ ".pairs: it is true or left out");
  let field = field_of (Reading.integer (where ^ ".field") 1 max_conductor (get "field")) in
  let dim = Reading.integer (where ^ ".dim") 1 big (get "dim") in
  let value_dim = Reading.integer (where ^ ".value_dim") 1 big (get "value_dim") in
  let used = Hashtbl.create 64 and integer = ref true and rational = ref true and copies = ref false in
  let number where value =
    let x = Number.read field where value in
    if not (is_integer x) then integer := false;
    if not (is_rational x) then rational := false;
    x in
  (* a sparse matrix [[row, column, value], ...] in order, without zeros *)
  let ordered where found =
    let rec go = function
      | (i, j, _) :: ((i', j', _) :: _ as rest) ->
        need (compare (i, j) (i', j') < 0) (where ^ ": entries out of order");
        go rest
      | _ -> () in
    go found;
    found in
  let one_entry where columns i j x =
    let i = Reading.integer where 0 (dim - 1) i in
    let j = Reading.integer where 0 (columns - 1) j in
    Hashtbl.replace used i ();
    let x = number where x in
    need (not (is_zero x)) (where ^ ": a zero entry is written out");
    (i, j, x) in
  let entries columns where value =
    ordered where
      (List.map
         (fun item ->
           match Reading.list where item with
           | [ i; j; x ] -> one_entry where columns i j x
           | _ -> raise (Invalid (where ^ ": an entry does not have 3 parts")))
         (Reading.list where value)) in
  let raw = Reading.array (where ^ ".codes") (get "codes") in
  let codes = Array.mapi (fun c -> entries value_dim (Printf.sprintf "%s.codes[%d]" where c)) raw in
  let points = Array.length codes in
  let vectors = codes in
  let codes =
    if not pairs then codes
    else begin
      let half = dim / 2 in
      let below = Hashtbl.fold (fun i () most -> max i most) used (-1) < half in
      need (dim mod 2 = 0 && below) (where ^ ".pairs: pairs need twice the rows");
      List.iter (fun i -> Hashtbl.replace used (half + i) ()) (Hashtbl.fold (fun i () found -> i :: found) used []);
      let lower = Array.map (List.map (fun (i, j, x) -> (half + i, j, x))) codes in
      Array.init (points * points) (fun c -> codes.(c / points) @ lower.(c mod points))
    end in
  let seen = Hashtbl.create points in
  Array.iter
    (fun code ->
      let key = Hashtbl.hash_param 400 800 code in
      need (not (List.mem code (Hashtbl.find_all seen key))) (where ^ ": two codes are equal");
      Hashtbl.add seen key code)
    vectors;
  let columns = Hashtbl.create 8 in
  Array.iter (List.iter (fun (_, j, _) -> Hashtbl.replace columns j ())) vectors;
  need (Hashtbl.length columns = value_dim) (where ^ ": value_dim is not the number of columns in use");
  let one = of_integer field Z.one and two = of_integer field (Z.of_int 2) in
  (* [beta, v] with 0 < beta |v|^2 <= 2 and v canonical; or the copy [1, e_i - e_j, [r]] *)
  let factor where value =
    let items = Reading.list where value in
    let beta, v, mask =
      match items with
      | [ beta; v ] -> (beta, v, None)
      | [ beta; v; mask ] -> (beta, v, Some mask)
      | _ -> raise (Invalid (where ^ ": a factor has 2 parts")) in
    let beta = number where beta in
    let v =
      ordered where
        (List.map
           (fun item ->
             match Reading.list where item with
             | [ i; x ] -> one_entry where 1 i (Int Z.zero) x
             | _ -> raise (Invalid (where ^ ": an entry does not have 2 parts")))
           (Reading.list where v)) in
    let v = List.map (fun (i, _, x) -> (i, x)) v in
    need (v <> []) (where ^ ": an empty vector");
    match mask with
    | Some mask ->
      let is_copy =
        match v with [ (_, x); (_, y) ] -> equals_integer 1 x && equals_integer (-1) y | _ -> false in
      need (equals_integer 1 beta && is_copy) (where ^ ": a mask belongs to a copy only");
      let reading =
        match mask with
        | List [ Int r ] -> List.filter (fun (i, _) -> Z.equal r (Z.of_int i)) v
        | _ -> [] in
      need (List.length reading = 1) (where ^ ": the mask is one of the vector's two rows");
      copies := true;
      (beta, v, reading)
    | None ->
      let first = snd (List.hd v) in
      if List.for_all (fun (_, x) -> is_integer x) v then begin
        let divisor = List.fold_left (fun g (_, x) -> Z.gcd g (integer_part x)) Z.zero v in
        need (Z.sign (integer_part first) > 0 && Z.equal divisor Z.one)
          (where ^ ": the vector is not primitive with a positive start")
      end else begin
        need (equals_integer 1 first) (where ^ ": the vector does not start with 1");
        need (not (List.for_all (fun (_, x) -> is_rational x) v)) (where ^ ": write this vector with integers")
      end;
      let norm =
        List.fold_left (fun sum (_, x) -> add sum (mul field x x)) (of_integer field Z.zero) v in
      let size = mul field beta norm in
      need (sign field size > 0 && sign field (add two (neg size)) >= 0) (where ^ ": beta |v|^2 is not in (0, 2]");
      (beta, v, v) in
  let known = Hashtbl.create 64 in
  let transition where value =
    (match value with Object _ -> () | _ -> raise (Invalid (where ^ ": not an object")));
    let find key = Reading.find key value in
    (match value with
     | Object items ->
       need
         (List.for_all (fun (key, _) -> List.mem key [ "factors"; "matrix"; "gate"; "additive" ]) items)
         (where ^ ": unknown key")
     | _ -> ());
    let given = find "factors" and weights = find "matrix" in
    need ((given <> None) <> (weights <> None)) (where ^ ": give factors or a matrix");
    let gate =
      match find "gate" with
      | None -> one
      | Some value ->
        let gate = number (where ^ ".gate") value in
        need
          (given <> None
           && ((not (is_zero gate)) || given = Some (List []))
           && (not (equals_integer 1 gate))
           && sign field (add one (neg gate)) > 0
           && sign field (add one gate) >= 0)
          (where ^ ": bad gate");
        gate in
    let additive =
      match find "additive" with
      | None -> []
      | Some value ->
        let found = entries value_dim (where ^ ".additive") value in
        need (found <> []) (where ^ ": an empty additive term is written out");
        found in
    let matrix = Option.map (entries dim (where ^ ".matrix")) weights in
    let read_factor i value =
      match Hashtbl.find_opt known value with
      | Some factor -> factor
      | None ->
        let found = factor (Printf.sprintf "%s.factors[%d]" where i) value in
        Hashtbl.add known value found;
        found in
    let factors = List.mapi read_factor (match given with None -> [] | Some value -> Reading.list where value) in
    { gate; factors; matrix; additive } in
  let actions, kinds =
    if layered then begin
      let where = where ^ ".actions" in
      let given = Reading.array ~length:letters where (get "actions") in
      let kinds = Reading.canonical where given in
      (Array.map (Reading.integer where 0 (max kinds 1)) given, kinds)
    end else (Array.init letters Fun.id, letters) in
  let raw = Reading.array ~length:kinds (where ^ ".transitions") (get "transitions") in
  let transitions = Array.mapi (fun t -> transition (Printf.sprintf "%s.transitions[%d]" where t)) raw in
  need (Hashtbl.length used = dim) (where ^ ": dim is not the number of rows in use");
  need (field.conductor = 1 || field.degree > 1) (where ^ ": the field is the rationals: write 1");
  need (!rational = (field.conductor = 1)) (where ^ ": the field does not fit the numbers");
  { where; field; dim; value_dim; pairs; points; vectors; codes; transitions; actions; integer = !integer;
    copies = !copies }

(* ---- The form that the proved checker takes. *)

let as_transition number t : 'n Extracted.transition =
  let vector v = List.map (fun (i, x) -> (i, number x)) v in
  let entries m = List.map (fun (i, j, x) -> ((i, j), number x)) m in
  let linear : 'n Extracted.linear =
    match t.matrix with
    | Some weights -> Matrix (entries weights)
    | None ->
      let factor (beta, key, reading) : 'n Extracted.factor =
        { beta = number beta; key = vector key; reading = vector reading } in
      Factors (number t.gate, List.map factor t.factors) in
  { linear_part = linear; additive = entries t.additive }

let as_head number head : 'n Extracted.table_head =
  let codes = Array.map (List.map (fun (i, j, x) -> ((i, j), number x))) head.codes in
  let transitions = Array.map (as_transition number) head.transitions in
  let places = Hashtbl.create (2 * Array.length codes) in
  let hash = Hashtbl.hash_param 400 800 in
  Array.iteri (fun c code -> Hashtbl.add places (hash code) c) codes;
  let find_code code =
    match List.find_opt (fun c -> codes.(c) = code) (Hashtbl.find_all places (hash code)) with
    | Some c -> c
    | None -> Array.length codes in
  { rows = head.dim; columns = head.value_dim; transition_count = Array.length transitions;
    code_count = Array.length codes; transitions = (fun t -> transitions.(t)); codes = (fun c -> codes.(c)); find_code }

let as_any head : Extracted.any_head =
  if head.integer then IntegerHead (as_head integer_part head)
  else FieldHead (modulus_list head.field, as_head element head)

(* For each transition and code the code after it, where all are codes. *)
let images head landing =
  let count = Array.length head.codes in
  Array.init (Array.length head.transitions) (fun t ->
      Array.init count (fun c ->
          let after = landing t c in
          need (after < count) (Printf.sprintf "%s.transitions[%d]: code %d does not go to a code" head.where t c);
          after))

(* ---- The largest integer that is met, of weights, codes and partial sums, in any order of summation. *)

let bound head =
  let most = ref Z.zero in
  let see x = let x = Z.abs x in if Z.gt x !most then most := x in
  let see_entry (_, _, x) = see (integer_part x) in
  Array.iter (List.iter see_entry) head.vectors;
  let known = Hashtbl.create 64 in
  Array.iter
    (fun t ->
      see Z.one;
      see (integer_part t.gate);
      List.iter see_entry t.additive;
      Option.iter (List.iter see_entry) t.matrix;
      List.iter
        (fun (beta, key, _) ->
          let beta = integer_part beta in
          see beta;
          List.iter (fun (_, x) -> see (integer_part x); see (Z.mul beta (integer_part x))) key)
        t.factors)
    head.transitions;
  let dim = head.dim and width = head.value_dim in
  let h = Array.make (dim * width) Z.zero in
  (* the sum of weighted numbers, its terms, and where there are more than two what the positive and the negative add up to *)
  let total many terms =
    let sum = ref Z.zero and up = ref Z.zero and down = ref Z.zero in
    List.iter
      (fun (weight, x) ->
        let term = Z.mul weight x in
        see term;
        sum := Z.add !sum term;
        if Z.sign term > 0 then up := Z.add !up term else down := Z.add !down term)
      terms;
    see !sum;
    if many then (see !up; see !down);
    !sum in
  let apply t code =
    let columns = List.sort_uniq compare (List.map (fun (_, j, _) -> j) code) in
    List.iter (fun (i, j, x) -> h.(i * width + j) <- integer_part x) code;
    let touched = ref (List.map (fun (i, j, _) -> i * width + j) code) in
    let set place x = h.(place) <- x; touched := place :: !touched in
    (match t.matrix with
     | Some weights ->
       let rows = Hashtbl.create 16 in
       List.iter
         (fun (i, k, a) -> Hashtbl.replace rows i ((k, integer_part a) :: (try Hashtbl.find rows i with Not_found -> [])))
         weights;
       let after = ref [] in
       Hashtbl.iter
         (fun i row ->
           List.iter
             (fun j ->
               let terms = List.map (fun (k, a) -> (a, h.(k * width + j))) row in
               after := (i * width + j, total (List.length row > 2) terms) :: !after)
             columns)
         rows;
       List.iter (fun place -> h.(place) <- Z.zero) !touched;
       List.iter (fun (place, x) -> set place x) !after
     | None ->
       if not (equals_integer 1 t.gate) then
         List.iter (fun place -> h.(place) <- Z.mul (integer_part t.gate) h.(place)) !touched;
       List.iter
         (fun (beta, key, reading) ->
           let beta = integer_part beta in
           let many = List.length reading > 2 in
           List.iter
             (fun j ->
               let sum = total many (List.map (fun (k, x) -> (integer_part x, h.(k * width + j))) reading) in
               if Z.sign sum <> 0 then
                 List.iter
                   (fun (i, x) ->
                     let change = Z.mul (Z.mul beta (integer_part x)) sum in
                     see change;
                     let after = Z.sub h.(i * width + j) change in
                     see after;
                     set (i * width + j) after)
                   key)
             columns)
         t.factors);
    List.iter (fun (i, j, x) -> see (Z.add h.(i * width + j) (integer_part x))) t.additive;
    List.iter (fun place -> h.(place) <- Z.zero) !touched in
  Array.iter
    (fun t ->
      (* what differs in the additive term alone is seen once, but for that term *)
      let key = if t.additive = [] then Some (t.gate, t.factors, t.matrix) else None in
      if key = None || not (Hashtbl.mem known key) then begin
        if key <> None then Hashtbl.add known key ();
        Array.iter (apply t) head.codes
      end)
    head.transitions;
  !most
