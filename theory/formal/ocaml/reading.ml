(* Entries of a certificate read in the form that they must have; what has another form is refused with its place. *)

open Json

let show = function
  | Null -> "null"
  | Bool b -> string_of_bool b
  | Int n -> if Z.numbits n > 99 then "a huge integer" else Z.to_string n
  | String s -> if String.length s > 60 then "a long text" else "'" ^ String.escaped s ^ "'"
  | List _ -> "a list"
  | Object _ -> "an object"

let list where = function List items -> items | _ -> raise (Invalid (where ^ ": not a list"))

(* What `read` makes of a value at a place, which is written out only where it refuses. *)
let at place read value = try read "" value with Invalid _ -> read (place ()) value

(* An array, of the given length if one is given. *)
let array ?length where value =
  let items = Array.of_list (list where value) in
  (match length with
   | Some n ->
     need (Array.length items = n) (Printf.sprintf "%s: %d entries, not %d" where (Array.length items) n)
   | None -> ());
  items

(* An integer from `low` to `high`. *)
let integer where low high = function
  | Int n when Z.geq n (Z.of_int low) && Z.leq n (Z.of_int high) -> Z.to_int n
  | other -> raise (Invalid (Printf.sprintf "%s: %s is not an integer from %d to %d" where (show other) low high))

let text where = function String s -> s | _ -> raise (Invalid (where ^ ": not a string"))

(* The entries of an object with exactly these keys, as a function of the key. *)
let record where keys value =
  match value with
  | Object items when List.length items = List.length keys && List.for_all (fun k -> List.mem_assoc k items) keys ->
    fun key -> List.assoc key items
  | _ ->
    let shown = List.map (fun k -> "'" ^ k ^ "'") (List.sort compare keys) in
    raise (Invalid (Printf.sprintf "%s: the keys must be [%s]" where (String.concat ", " shown)))

let has key = function Object items -> List.mem_assoc key items | _ -> false
let find key = function Object items -> List.assoc_opt key items | _ -> None

(* How many kinds there are; they must be numbered 0, 1, ... in the order of their first appearance. *)
let canonical where numbers =
  let kinds = ref 0 in
  Array.iter
    (fun x ->
      let n = integer where 0 !kinds x in
      if n = !kinds then incr kinds)
    numbers;
  !kinds

(* `2,000` *)
let group number =
  let digits = string_of_int number in
  let n = String.length digits in
  let grouped = Buffer.create 16 in
  String.iteri
    (fun i c ->
      if i > 0 && (n - i) mod 3 = 0 then Buffer.add_char grouped ',';
      Buffer.add_char grouped c)
    digits;
  Buffer.contents grouped

(* `1 state`, `2,000 states` *)
let count_noun number noun = group number ^ " " ^ noun ^ if number = 1 then "" else "s"

(* The entry `labels`: texts, and lists of names in which no name occurs twice; gives the number of names. *)
let labels texts lists value =
  let get = record "labels" (texts @ lists) value in
  List.iter (fun key -> ignore (text ("labels." ^ key) (get key))) texts;
  let count key =
    let where = "labels." ^ key in
    let names = list where (get key) in
    let count = List.length names in
    let seen = Hashtbl.create count in
    List.iteri
      (fun i name ->
        let name = text where name in
        Hashtbl.replace seen name ();
        if Hashtbl.length seen <= i then
          raise (Invalid (Printf.sprintf "%s: '%s' is listed twice" where (String.escaped name))))
      names;
    count in
  let counts = List.map (fun key -> (key, count key)) lists in
  fun key -> List.assoc key counts

(* The automaton and its labels.  `outputs` are indices by state, or by letter and state for a Mealy machine. *)
type outputs = Moore of int array | Mealy of int array array
type machine = { states : int; letters : int; start : int; delta : int array array; outputs : outputs }

let read_machine document_entry =
  (match document_entry "format" with
   | String "mirrormata-certificate/1" -> ()
   | _ -> raise (Invalid "unknown format"));
  let count =
    labels [ "automaton"; "construction"; "theorem" ] [ "states"; "letters"; "outputs" ] (document_entry "labels") in
  let n = count "states" and k = count "letters" in
  let get =
    record "automaton" [ "states"; "letters"; "start"; "transitions"; "outputs" ] (document_entry "automaton") in
  ignore (integer "automaton.states" (max n 1) n (get "states"));
  ignore (integer "automaton.letters" k k (get "letters"));
  let start = integer "automaton.start" 0 (n - 1) (get "start") in
  let where = "automaton.transitions" in
  let delta =
    Array.map
      (fun row -> Array.map (integer where 0 (n - 1)) (array ~length:n where row))
      (array ~length:k where (get "transitions")) in
  let where = "automaton.outputs" in
  let given = array where (get "outputs") in
  let mealy = Array.length given > 0 && match given.(0) with List _ -> true | _ -> false in
  ignore (array ~length:(if mealy then k else n) where (get "outputs"));
  let rows = if mealy then Array.map (array ~length:n where) given else [||] in
  let kinds = canonical where (if mealy then Array.concat (Array.to_list rows) else given) in
  let named = count "outputs" in
  need (kinds = named) (Printf.sprintf "%s: %d outputs for %d labels" where kinds named);
  let index = integer where 0 (max kinds 1) in
  let outputs = if mealy then Mealy (Array.map (Array.map index) rows) else Moore (Array.map index given) in
  { states = n; letters = k; start; delta; outputs }
