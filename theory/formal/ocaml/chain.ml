(* The kind `chain`: the JSON is read, the chains or sets that words lead to are listed, and the proved checker decides with
   this listing whether the linear RNN follows the automaton.  The search itself, the summary and the form of the file are
   not proved; what is refused here beside the proved checker refuses more. *)

open Json

let keys =
  [ "format"; "kind"; "labels"; "automaton"; "window"; "sizes"; "padding"; "look_back"; "gates"; "summary" ]

(* As the Python checker counts them: members that are gone through and kept, and what a set costs beside its members. *)
let max_listed = 100_000_000
let max_kept = 20_000_000
let overhead = 30

type budget = { mutable left : int; mutable room : int }

let spend budget members =
  budget.left <- budget.left - members - overhead;
  need (budget.left >= 0) "more than 100,000,000 members of sets to list"

let keep budget members =
  budget.room <- budget.room - members - overhead;
  need (budget.room >= 0) "more than 20,000,000 members of sets to keep"

(* A table that grows, with the numbers of its entries. *)
let numbered () = (Hashtbl.create 1000, ref [], ref 0)

let number_of (table, found, count) fresh entry =
  (* a key that looks at all members, which Hashtbl.hash alone does not *)
  let key = Marshal.to_string entry [] in
  match Hashtbl.find_opt table key with
  | Some i -> i
  | None ->
    let i = !count in
    Hashtbl.add table key i;
    found := entry :: !found;
    incr count;
    fresh i entry;
    i

let empty : Extracted.listing =
  { count = 0; chains = (fun _ -> []); sets = (fun _ -> []); rank = (fun _ -> 0); after = (fun _ _ -> 0) }

(* The chains of sets that words lead to, from the start or, where it does not reach all states, from every state. *)
let list_chains (machine : Reading.machine) (chain : Extracted.chain) starts : Extracted.listing =
  let levels = Extracted.levels chain and all = List.init machine.states Fun.id in
  let depth = Extracted.depth levels in
  let budget = { left = max_listed; room = max_kept } in
  let todo = Queue.create () in
  let (_, found, count) as table = numbered () in
  let add chain =
    number_of table
      (fun i chain ->
        keep budget (List.fold_left (fun n set -> n + List.length set) (depth + machine.letters) chain);
        Queue.add (i, chain) todo)
      chain in
  List.iter
    (fun q -> ignore (add (List.filteri (fun i _ -> i < depth) (Extracted.start_sets q levels all))))
    starts;
  let rows = ref [] in
  while not (Queue.is_empty todo) do
    let _, sets = Queue.pop todo in
    let row =
      Array.init machine.letters (fun a ->
          List.iter (fun set -> spend budget (List.length set)) (all :: sets);
          match Extracted.next_chain chain (fun q -> machine.delta.(a).(q)) all all levels sets with
          | Some after -> add after
          | None -> raise (Invalid (Printf.sprintf "sizes: letter %d makes too many states of a set that words lead to" a))) in
    rows := row :: !rows
  done;
  let chains = Array.of_list (List.rev !found) and after = Array.of_list (List.rev !rows) in
  { empty with count = !count; chains = (fun i -> chains.(i)); after = (fun a i -> after.(i).(a)) }

(* The image sets of more than `size` states, each with the longest path of letters from it. *)
let list_sets (machine : Reading.machine) moving size : Extracted.listing =
  let n = machine.states in
  let budget = { left = max_listed; room = max_kept } in
  let (_, found, count) as table = numbered () in
  let rows = Hashtbl.create 1000 and ranks = Hashtbl.create 1000 in
  let all = List.init n Fun.id in
  let none = max_int in
  let rec visit i set =
    keep budget (List.length set + machine.letters);
    Hashtbl.add ranks i (-1); (* being looked at *)
    let longest = ref 0 in
    let row =
      Array.mapi
        (fun a moves ->
          if not moves then none
          else begin
            spend budget (List.length set);
            let hit = Extracted.marks n (fun q -> machine.delta.(a).(q)) set in
            let image = List.filter hit all in
            if List.length image <= size then none
            else begin
              let j = number_of table visit image in
              let rank = Hashtbl.find ranks j in
              need (rank >= 0)
                (Printf.sprintf "window: letters lead back to a set of %d states, more than %d" (List.length image) size);
              longest := max !longest (rank + 1);
              j
            end
          end)
        moving in
    Hashtbl.replace rows i row;
    Hashtbl.replace ranks i !longest in
  (try ignore (number_of table visit all)
   with Stack_overflow -> raise (Invalid "window: a path of image sets is too long to follow"));
  let sets = Array.of_list (List.rev !found) in
  let after = Array.init !count (Hashtbl.find rows) and rank = Array.init !count (Hashtbl.find ranks) in
  { empty with
    count = !count; sets = (fun i -> sets.(i)); rank = (fun i -> rank.(i)); after = (fun a i -> after.(i).(a)) }

let reaches_all (machine : Reading.machine) =
  let seen = Array.make machine.states false in
  let rec go q =
    if not seen.(q) then begin
      seen.(q) <- true;
      Array.iter (fun row -> go row.(q)) machine.delta
    end in
  go machine.start;
  Array.for_all Fun.id seen

let check_summary (chain : Extracted.chain) rows value =
  let bijective = Extracted.bijective chain and levels = Extracted.levels chain in
  let first = if rows > 0 then [ rows ] else [] in
  let dim (l : Extracted.chain_level) = if l.keeps then 2 * l.size else l.size in
  let factors (l : Extracted.chain_level) = if bijective || chain.gates then l.size - 1 else dim l in
  let dims = first @ List.map dim levels and factors = first @ List.map factors levels in
  let largest = match chain.sizes with _ :: second :: _ -> second | _ -> 1 in
  let rec power bound = if chain.gates && (not bijective) && bound < largest then power (2 * bound) else bound in
  let bound = power 1 in
  let most = List.fold_left max 0 and int n = Int (Z.of_int n) in
  let summary =
    [ ("layers", int (List.length dims)); ("householders", int (most factors)); ("heads", int 1);
      ("dim", int (most dims)); ("exactness", String "integer"); ("integer_bound", int bound);
      ("formats",
       List
         (List.filter_map
            (fun (name, bits) -> if bound <= 1 lsl bits then Some (String name) else None)
            Table.formats));
      ("norm", String "at most 1") ] in
  let get = Reading.record "summary" (List.map fst summary) value in
  List.iter
    (fun (key, value) -> need (get key = value) (Printf.sprintf "summary.%s: it is %s" key (Reading.show value)))
    summary

let flag where = function Bool b -> b | _ -> raise (Invalid (where ^ ": true or false"))

let check document =
  let get = Reading.record "certificate" keys document in
  let machine = Reading.read_machine get in
  let n = machine.states in
  need (n >= 2) "automaton.states: one state needs no chain";
  need (get "padding" = String "least") "padding: \"least\" is the only one";
  let raw = Reading.array "sizes" (get "sizes") in
  need (Array.length raw > 0) "sizes: empty";
  let above = ref n in
  let sizes =
    Array.mapi
      (fun i value ->
        let size = Reading.integer (Printf.sprintf "sizes[%d]" i) 1 !above value in
        above := size - 1;
        size)
      raw in
  let count = Array.length sizes in
  need (sizes.(count - 1) = 1) "sizes: the last is 1";
  let look_back = flag "look_back" (get "look_back") and gates = flag "gates" (get "gates") in
  need (look_back || not gates) "gates: a gate of 0 erases the second half, which is read";
  let moving = Array.map (fun row -> Array.exists Fun.id (Array.mapi (fun q after -> q <> after) row)) machine.delta in
  let mealy = match machine.outputs with Mealy _ -> true | Moore _ -> false in
  let window =
    match get "window" with Null -> None | value -> Some (Reading.integer "window" 1 (1 lsl 61) value) in
  let chain : Extracted.chain =
    { states = n; letter_count = machine.letters; start_state = machine.start;
      step = (fun a q -> machine.delta.(a).(q)); mealy; window; sizes = Array.to_list sizes; look_back; gates } in
  let bijective = Extracted.bijective chain in
  let reads = (not bijective) && (mealy || count > if window = None then 2 else 1) in
  need (reads || not look_back) "look_back: no layer reads the set before a token";
  let counted = Reading.count_noun in
  let known, rows, facts =
    match window with
    | None ->
      need (sizes.(0) = n) (Printf.sprintf "sizes[0]: it is %d, the number of states" n);
      let known =
        if Extracted.by_one (Extracted.levels chain) then empty
        else list_chains machine chain (if reaches_all machine then [ machine.start ] else List.init n Fun.id) in
      let listed = if known.count > 0 then ", " ^ counted known.count "chain" ^ " listed" else "" in
      (known, 0, Printf.sprintf "sizes %s to 1 in %s%s" (Reading.group sizes.(0)) (counted (count - 1) "level") listed)
    | Some m ->
      need (sizes.(0) < n) "sizes[0]: a window leaves fewer states than there are";
      need (Array.exists Fun.id moving) "window: no letter moves a state";
      need (Extracted.by_one (Extracted.levels chain)) "sizes: with a window each is one less";
      need (not bijective) (Printf.sprintf "window: letters lead back to a set of %d states, more than %d" n sizes.(0));
      let known = list_sets machine moving sizes.(0) in
      let longest = known.rank 0 in
      need (m = longest + 1) (Printf.sprintf "window: its length is %d" (longest + 1));
      ( known,
        m + (if reads && not look_back then 1 else 0),
        Printf.sprintf "after %s at most %s, %s listed" (counted m "letter") (counted sizes.(0) "state")
          (counted known.count "image set") ) in
  check_summary chain rows (get "summary");
  need (Extracted.check_chain chain known) "the proved checker refuses the sizes";
  Printf.sprintf "%s, %s, %s: equal on all words" (counted n "state") (counted machine.letters "letter") facts
