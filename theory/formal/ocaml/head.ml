(* One head of a certificate: read in its canonical form, and turned into the form that the proved checker takes. *)

open Json
open Number

type entry = int * int * Number.t

type factor = { number : int; beta : Number.t; key : (int * Number.t) list; reading : (int * Number.t) list }

type transition = {
  gate : Number.t;
  factors : factor list;
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
  factors : factor array; (* those of all transitions, each once *)
  transitions : transition array;
  actions : int array;
  integer : bool;
  copies : bool;
}

let big = (1 lsl 62) - 1

(* The most images of codes under transitions and factors that are listed, and codes of pairs that are made. *)
let max_images = 100_000_000
let max_pairs = 4_000_000

(* Which of the numbers below `size` are in use; the first in an array, since most of them are asked for again and again. *)
module Used = struct
  type t = { first : Bytes.t; others : (int, unit) Hashtbl.t; mutable count : int }

  let create size = { first = Bytes.make (min size 65_536) '0'; others = Hashtbl.create 8; count = 0 }

  let add used i =
    if i < Bytes.length used.first then begin
      if Bytes.get used.first i = '0' then begin
        Bytes.set used.first i '1';
        used.count <- used.count + 1
      end
    end else if not (Hashtbl.mem used.others i) then begin
      Hashtbl.add used.others i ();
      used.count <- used.count + 1
    end

  let count used = used.count

  let to_list used =
    List.filter (fun i -> Bytes.get used.first i = '1') (List.init (Bytes.length used.first) Fun.id)
    @ Hashtbl.fold (fun i () found -> i :: found) used.others []
end

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
  let used = Used.create dim and integer = ref true and rational = ref true and copies = ref false in
  let number where value =
    let x = Number.read field where value in
    if not (is_integer x) then integer := false;
    if not (is_rational x) then rational := false;
    x in
  (* a sparse matrix [[row, column, value], ...] in order, without zeros *)
  let ordered where found =
    let rec go = function
      | ((i : int), (j : int), _) :: ((i', j', _) :: _ as rest) ->
        need_by (i < i' || (i = i' && j < j')) (fun () -> where ^ ": entries out of order");
        go rest
      | _ -> () in
    go found;
    found in
  let one_entry where columns i j x =
    let i = Reading.integer where 0 (dim - 1) i in
    let j = Reading.integer where 0 (columns - 1) j in
    Used.add used i;
    let x = number where x in
    need_by (not (is_zero x)) (fun () -> where ^ ": a zero entry is written out");
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
  let codes =
    Array.mapi (fun c -> Reading.at (fun () -> Printf.sprintf "%s.codes[%d]" where c) (entries value_dim)) raw in
  let points = Array.length codes in
  let vectors = codes in
  let codes =
    if not pairs then codes
    else begin
      let half = dim / 2 in
      if points > 0 && points > max_pairs / points then
        raise
          (Limit
             (Printf.sprintf "%s.pairs: pairs of %s codes are more than the limit of %s codes" where (Reading.group points)
                (Reading.group max_pairs)));
      let rows = Used.to_list used in
      need (dim mod 2 = 0 && List.for_all (fun i -> i < half) rows) (where ^ ".pairs: pairs need twice the rows");
      List.iter (fun i -> Used.add used (half + i)) rows;
      let lower = Array.map (List.map (fun (i, j, x) -> (half + i, j, x))) codes in
      Array.init (points * points) (fun c -> codes.(c / points) @ lower.(c mod points))
    end in
  let columns = Used.create value_dim in
  Array.iter (List.iter (fun (_, j, _) -> Used.add columns j)) vectors;
  need (Used.count columns = value_dim) (where ^ ": value_dim is not the number of columns in use");
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
  let known = By_value.create 64 and shared = ref [] in
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
      match By_value.find_opt known value with
      | Some factor -> factor
      | None ->
        let beta, key, reading = Reading.at (fun () -> Printf.sprintf "%s.factors[%d]" where i) factor value in
        let found = { number = By_value.length known; beta; key; reading } in
        By_value.add known value found;
        shared := found :: !shared;
        found in
    let factors = List.mapi read_factor (match given with None -> [] | Some value -> Reading.list where value) in
    { gate; factors; matrix; additive } in
  let actions, raw =
    if layered then begin
      let where' = where ^ ".actions" in
      let given = Reading.array ~length:letters where' (get "actions") in
      let kinds = Reading.canonical where' given in
      (Array.map (Reading.integer where' 0 (max kinds 1)) given,
       Reading.array ~length:kinds (where ^ ".transitions") (get "transitions"))
    end else begin
      (* what several letters do alike is read and checked once *)
      let given = Reading.array ~length:letters (where ^ ".transitions") (get "transitions") in
      let numbers = By_value.create 64 and distinct = ref [] in
      let number value =
        match By_value.find_opt numbers value with
        | Some t -> t
        | None ->
          let t = By_value.length numbers in
          By_value.add numbers value t;
          distinct := value :: !distinct;
          t in
      let actions = Array.map number given in
      (actions, Array.of_list (List.rev !distinct))
    end in
  let transitions = Array.mapi (fun t -> transition (Printf.sprintf "%s.transitions[%d]" where t)) raw in
  let moves = Array.length transitions + List.length !shared and count = max 1 (Array.length codes) in
  if moves > max_images / count then
    raise
      (Limit
         (Printf.sprintf "%s: the images of %s codes under %s transitions and factors are more than the limit of %s" where
            (Reading.group count) (Reading.group moves) (Reading.group max_images)));
  need (Used.count used = dim) (where ^ ": dim is not the number of rows in use");
  need (field.conductor = 1 || field.degree > 1) (where ^ ": the field is the rationals: write 1");
  need (!rational = (field.conductor = 1)) (where ^ ": the field does not fit the numbers");
  { where; field; dim; value_dim; pairs; points; vectors; codes; factors = Array.of_list (List.rev !shared); transitions;
    actions; integer = !integer; copies = !copies }
