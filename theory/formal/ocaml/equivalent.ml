(* The kind `equivalent`: the JSON is read in its one canonical form, and the proved checker decides, where the states that words reach
   are listed, whether all answers are right, and where a table is given, whether no number is rounded.

   What is refused here beside it, the form of the file, the number of states and the greatest one, dtypes that are missing in a list,
   is not proved; it refuses more.  The form by regions is read here and decided by regions.ml. *)

open Json

let max_steps = 100_000
let max_work = 1_000_000_000
let max_bits = 10_000

(* The most numbers of all pairs of states together, which stay in memory, unless the environment gives another. *)
let default_max_kept = 8_000_000
let kept_variable = "MIRRORMATA_COQ_MAX_KEPT"

let rational p q : Rounded.q = { qnum = p; qden = q }
let whole n = rational (Z.of_int n) Z.one
let power e = if e >= 0 then rational (Z.shift_left Z.one e) Z.one else rational Z.one (Z.shift_left Z.one (-e))
let equal (x : Rounded.q) (y : Rounded.q) = Z.equal x.qnum y.qnum && Z.equal x.qden y.qden
let compare_numbers (x : Rounded.q) (y : Rounded.q) = Z.compare (Z.mul x.qnum y.qden) (Z.mul y.qnum x.qden)

(* ---- The arithmetic by its name: precision, exponent of the least normal number, largest number as m 2^e, and whether it saturates. *)

let formats =
  [ ("fp64", (53, -1022, (Z.pred (Z.shift_left Z.one 53), 971), false));
    ("fp32", (24, -126, (Z.pred (Z.shift_left Z.one 24), 104), false));
    ("fp16", (11, -14, (Z.of_int 65504, 0), false));
    ("bf16", (8, -126, (Z.pred (Z.shift_left Z.one 8), 120), false));
    ("fp8_e4m3", (4, -6, (Z.of_int 448, 0), true));
    ("fp8_e5m2", (3, -14, (Z.of_int 57344, 0), false));
    ("fp6_e2m3", (4, 0, (Z.of_int 15, -1), true));
    ("fp6_e3m2", (3, -2, (Z.of_int 28, 0), true));
    ("fp4_e2m1", (2, 0, (Z.of_int 6, 0), true)) ]

let modes : (string * Rounded.mode) list =
  [ ("rne", Nearest_even); ("tie_low", Nearest_low); ("rz", Toward_zero); ("ru", Up); ("rd", Down) ]

(* The digits of an integer of at most `most` digits, without leading zeros; 0 has no sign *)
let digits most text =
  let n = String.length text in
  n > 0 && n <= most && String.for_all (fun c -> c >= '0' && c <= '9') text && (n = 1 || text.[0] <> '0')

let unknown name = raise (Invalid ("arithmetic: " ^ Reading.show (String name) ^ " is not known"))

let grid low high quantum : Rounded.values = Grid (low, high, quantum)

(* A float format, the numbers beyond whose largest one stay at it or become infinite *)
let floats (precision, least, (m, e), _) saturates : Rounded.values =
  let scale = power e in
  let largest = Rounded.lowest_terms (rational (Z.mul m scale.qnum) scale.qden) in
  Floats (Z.of_int precision, Z.of_int least, largest, saturates)

(* An ascending list of numbers in lowest terms, with a zero *)
let listed text : Rounded.values =
  let digits s = s <> "" && String.length s <= 400 && String.for_all (fun c -> c >= '0' && c <= '9') s in
  let part text =
    let unsigned = if text <> "" && text.[0] = '-' then String.sub text 1 (String.length text - 1) else text in
    let p, q =
      match String.split_on_char '/' unsigned with
      | [ p ] when digits p -> (p, "1")
      | [ p; q ] when digits p && digits q && q.[0] <> '0' -> (p, q)
      | _ -> raise (Invalid "arithmetic: not a list of numbers") in
    let x = Rounded.lowest_terms (rational (Z.of_string p) (Z.of_string q)) in
    let x = if unsigned = text then x else rational (Z.neg x.qnum) x.qden in
    let written = Z.to_string x.qnum ^ if Z.equal x.qden Z.one then "" else "/" ^ Z.to_string x.qden in
    need (written = text) "arithmetic: the list is not ascending";
    x in
  let numbers = List.map part (String.split_on_char ',' text) in
  let rec ascending = function
    | x :: (y :: _ as rest) -> compare_numbers x y < 0 && ascending rest
    | _ -> true in
  need (ascending numbers) "arithmetic: the list is not ascending";
  need (List.exists (fun (x : Rounded.q) -> Z.sign x.qnum = 0) numbers) "arithmetic: a set without a zero";
  Listed numbers

(* The set of values, the words of the name behind it, and whether it is a float format that does not saturate by itself *)
let values name parts : Rounded.values * string list * bool =
  match parts with
  | first :: _ when first <> "" && (first.[0] = '-' || (first.[0] >= '0' && first.[0] <= '9')) ->
    (listed first, List.tl parts, false)
  | "int" :: range :: rest ->
    (match String.index_opt range '.' with
     | Some dot when dot + 2 <= String.length range && String.sub range dot 2 = ".." ->
       let low = String.sub range 0 dot and high = String.sub range (dot + 2) (String.length range - dot - 2) in
       let unsigned = if low <> "" && low.[0] = '-' then String.sub low 1 (String.length low - 1) else low in
       let negative = low <> "" && low.[0] = '-' in
       if not (digits 15 unsigned && digits 15 high && negative = (unsigned <> "0")) then unknown name;
       (grid (Z.of_string low) (Z.of_string high) (whole 1), rest, false)
     | _ -> unknown name)
  | "fixed" :: bits :: fraction :: rest ->
    if not (digits 2 bits && bits <> "0" && digits 3 fraction) then unknown name;
    let high = Z.pred (Z.shift_left Z.one (int_of_string bits - 1)) in
    (grid (Z.pred (Z.neg high)) high (power (-int_of_string fraction)), rest, false)
  | format :: rest when List.mem_assoc format formats ->
    let (_, _, _, saturates) as numbers = List.assoc format formats in
    let saturating = saturates || rest <> [] && List.nth rest (List.length rest - 1) = "sat" in
    (floats numbers saturating, rest, not saturates)
  | _ -> unknown name

let arithmetic name : Rounded.values * Rounded.mode * Rounded.order =
  if name = "exact" then (Exact, Nearest_even, Per_step)
  else
    match String.split_on_char ':' name with
    | kind :: (_ :: _ as parts) when kind = "per_step" || kind = "per_op" ->
      let set, rest, may_saturate = values name parts in
      let order, rest =
        match kind, rest with
        | "per_step", _ -> (Rounded.Per_step, rest)
        | _, "bias" :: rest -> (Bias_first, rest)
        | _, "tree" :: rest -> (Tree, rest)
        | _, "fma" :: rest -> (Fused, rest)
        | _ -> (From_left, rest) in
      (* the usual mode is left out of a name; ties of a list go down *)
      let usual, left_out =
        match set with Listed _ -> (Rounded.Nearest_low, [ "rne"; "tie_low" ]) | _ -> (Nearest_even, [ "rne" ]) in
      let mode, rest =
        match rest with
        | mode :: rest when List.mem_assoc mode modes && not (List.mem mode left_out) -> (List.assoc mode modes, rest)
        | _ -> (usual, rest) in
      need (rest = [] || (rest = [ "sat" ] && may_saturate)) ("arithmetic: " ^ Reading.show (String name) ^ " is not how it is written");
      (set, mode, order)
    | _ -> unknown name

(* ---- The layer. *)

let number where value =
  let x = Number.read (Number.field_of 1) where value in
  rational (Number.integer_part x) x.denominator

let is_kept set mode x = match Rounded.round set mode x with Some y -> equal x y | None -> false

let read_layer value letters answers (set, mode, order) : Rounded.rounded_layer =
  let get = Reading.record "model" [ "heads"; "codes"; "decode" ] value in
  let stored where value =
    let x = number where value in
    need (is_kept set mode x) (where ^ ": not a number of the arithmetic");
    x in
  let heads = Reading.list "model.heads" (get "heads") in
  need (heads <> []) "model.heads: empty";
  let rows = Array.make letters [] and initial = ref [] and first = ref 0 in
  List.iteri
    (fun h value ->
      let where = Printf.sprintf "model.heads[%d]" h in
      let head = Reading.record where [ "A"; "B"; "H0" ] value in
      let matrix where n m value =
        Array.map
          (fun row -> Array.map (stored where) (Reading.array ~length:m where row))
          (Reading.array ~length:n where value) in
      let raw = Reading.array (where ^ ".H0") (head "H0") in
      let n = Array.length raw in
      need (n > 0) (where ^ ".H0: empty");
      let d = Array.length (Reading.array (where ^ ".H0") raw.(0)) in
      let start = matrix (where ^ ".H0") n d (head "H0") in
      let a = Array.map (matrix (where ^ ".A") n n) (Reading.array ~length:letters (where ^ ".A") (head "A")) in
      let b = Array.map (matrix (where ^ ".B") n d) (Reading.array ~length:letters (where ^ ".B") (head "B")) in
      Array.iteri
        (fun x before ->
          let entries = ref before in
          for i = 0 to n - 1 do
            for j = 0 to d - 1 do
              let terms = ref [] in
              for k = n - 1 downto 0 do
                if Z.sign a.(x).(i).(k).Rounded.qnum <> 0 then
                  terms := ((k, !first + (k * d) + j), a.(x).(i).(k)) :: !terms
              done;
              entries := { Rounded.terms = !terms; bias = b.(x).(i).(j); width = n } :: !entries
            done
          done;
          rows.(x) <- !entries)
        rows;
      initial := Array.fold_left (Array.fold_left (fun found x -> x :: found)) !initial start;
      first := !first + (n * d))
    heads;
  let rows = Array.map List.rev rows and initial = List.rev !initial in
  let codes =
    Array.mapi
      (fun c code ->
        let where = Printf.sprintf "model.codes[%d]" c in
        Array.to_list (Array.map (number where) (Reading.array ~length:!first where code)))
      (Reading.array "model.codes" (get "codes")) in
  need (Array.length codes > 0) "model.codes: empty";
  let decode =
    Array.map
      (fun row ->
        Array.map (Reading.integer "model.decode" (-1) (answers - 1)) (Reading.array ~length:letters "model.decode" row))
      (Reading.array ~length:(Array.length codes) "model.decode" (get "decode")) in
  { the_values = set; the_mode = mode; the_order = order; initial_state = initial; letter_rows = (fun x -> rows.(x));
    state_codes = Array.to_list codes; says = (fun c x -> Z.of_int decode.(c).(x)) }

(* ---- The states that words reach. *)

let name state q =
  String.concat "," (string_of_int q :: List.map (fun (x : Rounded.q) -> Z.to_string x.qnum ^ "/" ^ Z.to_string x.qden) state)

(* All pairs of a state of the layer and one of the automaton, breadth first. *)
let list_pairs (machine : Reading.machine) (layer : Rounded.rounded_layer) limit =
  let index = Hashtbl.create 1_000 and found = ref [] and count = ref 0 in
  let entries = List.length layer.initial_state in
  let most = Number.limit_from kept_variable default_max_kept "a number of numbers" 20_000_000 in
  let keep pairs =
    if pairs * entries > most then
      raise
        (Number.Limit
           (Printf.sprintf "the states have more than %s numbers to keep; a larger limit can be given in %s" (Reading.group most)
              kept_variable)) in
  let todo = Queue.create () in
  let meet state q =
    let key = name state q in
    if not (Hashtbl.mem index key) then begin
      need (!count < limit) (Printf.sprintf "equivalence.states: there are more than %s" (Reading.group limit));
      Hashtbl.add index key !count;
      incr count;
      keep !count;
      found := (state, q) :: !found;
      Queue.add (state, q) todo
    end in
  meet layer.initial_state machine.start;
  while not (Queue.is_empty todo) do
    let state, q = Queue.pop todo in
    for x = 0 to machine.letters - 1 do
      match Rounded.rounded_step layer x state with
      | None -> raise (Invalid "a number overflows")
      | Some after ->
        List.iter
          (fun (y : Rounded.q) ->
            need (Z.numbits y.qnum + Z.numbits y.qden <= max_bits)
              (Printf.sprintf "letter %d: a number of the state has more than 10,000 bits" x))
          after;
        meet after machine.delta.(x).(q)
    done
  done;
  (Array.of_list (List.rev !found), fun state q -> Option.value ~default:!count (Hashtbl.find_opt index (name state q)))

let rec compare_states x y =
  match x, y with
  | a :: x, b :: y -> let c = compare_numbers a b in if c <> 0 then c else compare_states x y
  | [], [] -> 0
  | [], _ -> -1
  | _, [] -> 1

(* ---- Tables whose numbers are never rounded. *)

(* Dtypes with a sign bit and no saturation beyond their numbers: precision, exponent of the least normal number, largest number *)
let dtypes = List.filter (fun (name, _) -> List.mem_assoc name Table.formats) formats

let keeps format =
  let set = floats format true in
  fun (x : Extracted.q) -> is_kept set Nearest_even (rational x.qnum x.qden)

let layers_of : Table.form -> Extracted.table_layer list = function
  | Joint (table, _) -> table.table_layers
  | Cascade cascade -> Extracted.cascade_tables cascade

(* What is said of each head, by layers *)
let of_heads said layers =
  List.map (fun (l : Extracted.table_layer) -> List.map (fun (any, _) -> said any) l.layer_heads) layers

(* A table with listed joint codes is accepted with its numbers, where a transition that does not fit leads to no code; `fits` by layers
   and heads *)
let is_joint_right_where fits (table : Extracted.table) prepared =
  let guard fit (any, _) (landing, actions) = (Extracted.guard fit landing (Extracted.any_count any), actions) in
  let rec guarded fits heads landings =
    match fits, heads, landings with
    | fit :: fits, head :: heads, landing :: landings -> guard fit head landing :: guarded fits heads landings
    | _ -> [] in
  let layer fits ((l : Extracted.table_layer), landings) = (guarded fits l.layer_heads landings, l.told) in
  Extracted.check_rows table (List.map2 layer fits (List.combine table.table_layers prepared))

(* The cascade has been accepted, so that the numbers of its heads are left: `all_fit` of NeverRoundedCascade.v, whose parts are called apart,
   since what is said of a head is looked at once. *)
let is_right_where fits : Table.form -> bool = function
  | Joint (table, prepared) -> is_joint_right_where fits table prepared
  | Cascade cascade ->
    List.for_all2
      (fun fits (l : Extracted.table_layer) -> List.for_all2 (fun fit (any, _) -> Extracted.head_fits fit any) fits l.layer_heads)
      fits (Extracted.cascade_tables cascade)

(* The largest sum of absolute values of a head of integers, or weight or entry of a code; None for another head *)
let largest_sum (any : Extracted.any_head) =
  match any with
  | FieldHead _ -> None
  | IntegerHead h ->
    let sizes = Extracted.code_sizes h and most = ref Z.zero in
    let see x = if Z.gt x !most then most := x in
    for k = 0 to h.rows - 1 do
      for j = 0 to h.columns - 1 do see (sizes k j) done
    done;
    for t = 0 to h.transition_count - 1 do
      let sums = Hashtbl.create 64 in
      let grow place x =
        let sum = Z.add x (Option.value ~default:Z.zero (Hashtbl.find_opt sums place)) in
        see sum;
        Hashtbl.replace sums place sum in
      for k = 0 to h.rows - 1 do
        List.iter
          (fun ((i, _), a) ->
            see (Z.abs a);
            for j = 0 to h.columns - 1 do
              let size = sizes k j in
              if Z.sign size > 0 then grow (i, j) (Z.mul (Z.abs a) size)
            done)
          (Extracted.weight_column h t k)
      done;
      List.iter (fun (place, b) -> grow place (Z.abs b)) (Extracted.transitions h t).additive
    done;
    Some !most

let check_table document =
  let checked = Table.check_table ~extra:[ "equivalence" ] document in
  let layers = layers_of checked.form in
  let said = Reading.find "equivalence" document in
  let get = Reading.record "equivalence" [ "per_step"; "per_op" ] (Option.value ~default:Null said) in
  (* for each dtype whether it has the numbers of each head, which is looked at once *)
  let per_step =
    List.filter
      (fun (_, _, fits) -> List.for_all (List.for_all (fun fit -> fit 0 0)) fits)
      (List.map
         (fun (name, format) ->
           let keeps = keeps format in
           (name, keeps, of_heads (Extracted.fits_per_step keeps) layers))
         dtypes) in
  let sums = List.concat (of_heads largest_sum layers) in
  let per_op =
    List.filter
      (fun (_, bits) ->
        let reach = Z.shift_left Z.one bits in
        List.for_all (function Some most -> Z.leq most reach | None -> false) sums)
      Table.formats in
  let shown names = List (List.map (fun name -> String name) names) in
  need (per_step <> []) "equivalence: no dtype has all numbers";
  let listed = [ ("per_step", List.map (fun (name, _, _) -> name) per_step); ("per_op", List.map fst per_op) ] in
  List.iter
    (fun (kind, names) ->
      need (get kind = shown names) (Printf.sprintf "equivalence.%s: they are %s" kind (String.concat ", " names)))
    listed;
  List.iter
    (fun (name, keeps, fits) ->
      need (keeps { Extracted.qnum = Z.zero; qden = Z.one } && is_right_where fits checked.form)
        ("the proved checker refuses the numbers in " ^ name))
    per_step;
  if per_op <> [] then begin
    let most = List.fold_left (fun most sum -> Z.max most (Option.value ~default:Z.zero sum)) Z.zero sums in
    need (is_right_where (of_heads (Extracted.fits_per_op most) layers) checked.form) "the proved checker refuses the sums"
  end;
  let kinds =
    List.filter_map
      (fun (kind, names) -> if names = [] then None else Some (kind ^ " " ^ String.concat ", " names)) listed in
  checked.facts ^ "; never rounded, so bit for bit, in " ^ String.concat " and " kinds

(* How many states the layer reaches; after each letter the answer is right. *)
let check_states (machine : Reading.machine) (layer : Rounded.rounded_layer) right said =
  let limit =
    Reading.integer "equivalence.states" 1 (max_steps / max machine.letters 1) (said "states") in
  let entries = List.length layer.initial_state in
  let products = ref (machine.letters * entries * List.length layer.state_codes) in
  for x = 0 to machine.letters - 1 do
    List.iter (fun (e : Rounded.rounded_entry) -> products := !products + List.length e.terms) (layer.letter_rows x)
  done;
  need (limit * !products <= max_work) "equivalence.states: more than 1,000,000,000 products are needed";
  let pairs, find = list_pairs machine layer limit in
  let count = Array.length pairs in
  need (count = limit) (Printf.sprintf "equivalence.states: they are %s" (Reading.group count));
  let greatest = Array.fold_left (fun most (state, _) -> if compare_states state most > 0 then state else most) (fst pairs.(0)) pairs in
  let given = List.map (number "equivalence.greatest") (Reading.list "equivalence.greatest" (said "greatest")) in
  need (List.length given = entries && List.for_all2 equal given greatest) "equivalence.greatest: not the greatest state";
  let reached : Rounded.reached =
    { the_layer = layer; pair_count = count; pair_state = (fun i -> fst pairs.(i)); pair_number = (fun i -> snd pairs.(i));
      find_pair = find; the_machine = { letters = machine.letters; start = machine.start; delta = (fun a q -> machine.delta.(a).(q)) };
      right_answer = (fun x before after -> Z.of_int (right x before after)) } in
  need (Rounded.check_states reached) "an answer is wrong";
  count

(* A layer that is given by its numbers: the states that words reach, or regions *)
let check_model document =
  let get =
    Reading.record "certificate" [ "format"; "kind"; "labels"; "automaton"; "model"; "equivalence" ] document in
  let machine = Reading.read_machine get in
  let by_regions = Reading.has "regions" (get "equivalence") in
  let of_proof = if by_regions then [ "regions"; "radius" ] else [ "states"; "greatest" ] in
  let said = Reading.record "equivalence" ([ "arithmetic"; "answers" ] @ of_proof) (get "equivalence") in
  let arithmetic_name = Reading.text "arithmetic" (said "arithmetic") in
  let numbers = arithmetic arithmetic_name in
  let by_states =
    match said "answers" with
    | String "states" -> true
    | String "outputs" -> false
    | _ -> raise (Invalid "equivalence.answers: it is states or outputs") in
  let outputs =
    match Reading.find "outputs" (get "labels") with Some value -> List.length (Reading.list "labels.outputs" value) | None -> 0 in
  let layer = read_layer (get "model") machine.letters (if by_states then machine.states else outputs) numbers in
  let right x before after =
    if by_states then after
    else match machine.outputs with Moore outputs -> outputs.(after) | Mealy outputs -> outputs.(x).(before) in
  let counted = Reading.count_noun in
  let facts = Printf.sprintf "%s, %s, %s" (counted machine.states "state") (counted machine.letters "letter") arithmetic_name in
  if by_regions then begin
    let count, largest = Regions.check layer machine right (said "radius") in
    List.iter
      (fun (key, found) ->
        need (said key = Int found) (Printf.sprintf "equivalence.%s: it is %s" key (Z.to_string found)))
      [ ("regions", Z.of_int count); ("radius", largest) ];
    Printf.sprintf "%s: %s that the letters keep, all answers right: equal on all words" facts (counted count "region")
  end
  else Printf.sprintf "%s: %s of the model reached, all answers right: equal on all words" facts
      (counted (check_states machine layer right said) "state")

let check document = if Reading.has "layers" document then check_table document else check_model document
