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

(* A key of a set that looks at all its members; the sets with one key are compared. *)
let key_of set = List.fold_left (fun key q -> (key * 0x2545F4914F6CDD1D) + q + 1) 0 set land max_int

(* A table that grows, with the numbers of its entries. *)
let numbered () = (Hashtbl.create 1000, ref [], ref 0)

let number_of (table, found, count) fresh entry =
  let key = key_of entry in
  match List.find_opt (fun (_, other) -> Extracted.equal_numbers other entry) (Hashtbl.find_all table key) with
  | Some (i, _) -> i
  | None ->
    let i = !count in
    Hashtbl.add table key (i, entry);
    found := entry :: !found;
    incr count;
    fresh i entry;
    i

let refuse_size a = raise (Invalid (Printf.sprintf "sizes: letter %d makes too many states of a set that words lead to" a))

(* What the tree is where sizes fall by one, which needs none *)
let no_tree : Extracted.set_tree =
  { node_count = 0; node_set = (fun _ -> []); parent = (fun _ -> 0); level_of = (fun _ -> 0); moved = (fun _ _ -> 0); start_leaf = 0 }

let empty : Extracted.listing =
  { count = 0; chains = (fun _ -> []); sets = (fun _ -> []); rank = (fun _ -> 0); after = (fun _ _ -> 0) }

(* A set of a chain, the number of that above it, and those to which letters lead. *)
type node = { set : int list; above : int; level : int; after : int array }

(* Marks on states, which are taken away all at once: a state is marked where the last number stands. *)
type marks = { last : int array; mutable now : int }

let rec mark marks row = function
  | [] -> ()
  | x :: rest -> marks.last.(row.(x)) <- marks.now; mark marks row rest

let mark_image marks row set =
  marks.now <- marks.now + 1;
  mark marks row set

let rec count_marked marks number = function
  | [] -> number
  | y :: rest -> count_marked marks (if marks.last.(y) = marks.now then number + 1 else number) rest

(* The marked members of a set and the first of the others, so many *)
let rec fill marks others = function
  | [] -> []
  | y :: rest ->
    if marks.last.(y) = marks.now then y :: fill marks others rest
    else if others > 0 then y :: fill marks (others - 1) rest
    else fill marks others rest

(* `next_below` of ChainTree.v, which the proved checker calls to compare *)
let next_below marks row upper upper_after (level : Extracted.chain_level) set =
  mark_image marks row upper;
  let number = count_marked marks 0 upper_after in
  if number = List.length upper then begin
    mark_image marks row set;
    Some (fill marks 0 upper_after)
  end else if number <= level.next then Some (fill marks (level.next - number) upper_after)
  else None

(* The chains of sets that words lead to, from the start or, where it does not reach all states, from every state: a tree, level by
   level, since where a letter leads from a set depends on the sets above it alone.  Gives the number of chains too. *)
let list_chains (machine : Reading.machine) (chain : Extracted.chain) starts : Extracted.set_tree * int =
  let ls = Extracted.levels chain and all = List.init machine.states Fun.id in
  let depth = Extracted.depth ls and levels = Array.of_list ls in
  let budget = { left = max_listed; room = max_kept } in
  let marks = { last = Array.make machine.states 0; now = 0 } in
  let nodes = ref (Array.make 64 { set = all; above = 0; level = 0; after = Array.make machine.letters 0 }) and count = ref 1 in
  let places = Hashtbl.create 1000 in
  let find above set fresh =
    let key = (key_of set * 65_599) + above in
    match List.find_opt (fun i -> !nodes.(i).above = above && Extracted.equal_numbers !nodes.(i).set set) (Hashtbl.find_all places key) with
    | Some i -> i
    | None ->
      let level = !nodes.(above).level + 1 and i = !count in
      keep budget (List.length set + level + machine.letters);
      if i = Array.length !nodes then nodes := Array.append !nodes !nodes;
      !nodes.(i) <- { set; above; level; after = Array.make machine.letters 0 };
      incr count;
      Hashtbl.add places key i;
      fresh i;
      i in
  (* of one level the sets of the starts, and those to which letters lead from them *)
  let list_level level from =
    let todo = Queue.create () in
    let fresh i = Queue.add i todo in
    let begun = List.map (fun (above, sets) -> (find above (List.hd sets) fresh, List.tl sets)) from in
    while not (Queue.is_empty todo) do
      let node = !nodes.(Queue.pop todo) in
      let upper = !nodes.(node.above) in
      for a = 0 to machine.letters - 1 do
        let size = List.length upper.set in
        spend budget size;
        spend budget size;
        match next_below marks machine.delta.(a) upper.set !nodes.(upper.after.(a)).set levels.(level) node.set with
        | Some set -> node.after.(a) <- find upper.after.(a) set fresh
        | None -> refuse_size a
      done
    done;
    begun in
  let rec list_levels level from = if level = depth then from else list_levels (level + 1) (list_level level from) in
  let leaves =
    list_levels 0 (List.map (fun q -> (0, List.filteri (fun i _ -> i < depth) (Extracted.start_sets q ls all))) starts) in
  let nodes = Array.sub !nodes 0 !count in
  ( { node_count = !count; node_set = (fun i -> nodes.(i).set); parent = (fun i -> nodes.(i).above);
      level_of = (fun i -> nodes.(i).level); moved = (fun a i -> nodes.(i).after.(a)); start_leaf = fst (List.hd leaves) },
    Array.fold_left (fun n node -> if node.level = depth then n + 1 else n) 0 nodes )

(* A set that is being looked at: the letters below `letter` have been followed. *)
type visit = { number : int; members : int list; leads : int array; mutable letter : int; mutable longest : int }

(* The image sets of more than `size` states, each with the longest path of letters from it.  The path that is followed is kept
   beside the program's stack, which the collector of garbage would go through again and again. *)
let list_sets (machine : Reading.machine) moving size : Extracted.listing =
  let n = machine.states in
  let budget = { left = max_listed; room = max_kept } in
  let (_, found, count) as table = numbered () in
  let rows = Hashtbl.create 1000 and ranks = Hashtbl.create 1000 and path = Stack.create () in
  let all = List.init n Fun.id in
  let enter number members =
    keep budget (List.length members + machine.letters);
    let leads = Array.make machine.letters max_int in
    Hashtbl.add rows number leads;
    Hashtbl.add ranks number (-1); (* being looked at *)
    Stack.push { number; members; leads; letter = 0; longest = 0 } path in
  (* the letter leads to a set whose longest path is known *)
  let take visit j =
    visit.leads.(visit.letter) <- j;
    visit.longest <- max visit.longest (Hashtbl.find ranks j + 1);
    visit.letter <- visit.letter + 1 in
  let image_of delta set =
    if 16 * List.length set < n then List.sort_uniq Int.compare (List.map (fun q -> delta.(q)) set)
    else List.filter (Extracted.marks n (fun q -> delta.(q)) set) all in
  let follow visit =
    if visit.letter = machine.letters then begin
      ignore (Stack.pop path);
      Hashtbl.replace ranks visit.number visit.longest;
      if not (Stack.is_empty path) then take (Stack.top path) visit.number
    end else if not moving.(visit.letter) then visit.letter <- visit.letter + 1
    else begin
      spend budget (List.length visit.members);
      let image = image_of machine.delta.(visit.letter) visit.members in
      if List.length image <= size then visit.letter <- visit.letter + 1
      else begin
        let before = !count in
        let j = number_of table enter image in
        if j < before then begin
          need (Hashtbl.find ranks j >= 0)
            (Printf.sprintf "window: letters lead back to a set of %d states, more than %d" (List.length image) size);
          take visit j
        end
      end
    end in
  ignore (number_of table enter all);
  while not (Stack.is_empty path) do follow (Stack.top path) done;
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
  let known, tree, rows, facts =
    match window with
    | None ->
      need (sizes.(0) = n) (Printf.sprintf "sizes[0]: it is %d, the number of states" n);
      let tree, number =
        if Extracted.by_one (Extracted.levels chain) then (no_tree, 0)
        else list_chains machine chain (if reaches_all machine then [ machine.start ] else List.init n Fun.id) in
      let listed = if number > 0 then ", " ^ counted number "chain" ^ " listed" else "" in
      (empty, tree, 0, Printf.sprintf "sizes %s to 1 in %s%s" (Reading.group sizes.(0)) (counted (count - 1) "level") listed)
    | Some m ->
      need (sizes.(0) < n) "sizes[0]: a window leaves fewer states than there are";
      need (Array.exists Fun.id moving) "window: no letter moves a state";
      need (Extracted.by_one (Extracted.levels chain)) "sizes: with a window each is one less";
      need (not bijective) (Printf.sprintf "window: letters lead back to a set of %d states, more than %d" n sizes.(0));
      let known = list_sets machine moving sizes.(0) in
      let longest = known.rank 0 in
      need (m = longest + 1) (Printf.sprintf "window: its length is %d" (longest + 1));
      ( known,
        no_tree,
        m + (if reads && not look_back then 1 else 0),
        Printf.sprintf "after %s at most %s, %s listed" (counted m "letter") (counted sizes.(0) "state")
          (counted known.count "image set") ) in
  check_summary chain rows (get "summary");
  if not (Extracted.check_chain_tree chain tree known) then begin
    (* the letter for which the last sets listed are too large, if that is the reason *)
    let levels = Extracted.levels chain in
    let last = List.nth_opt levels (Extracted.depth levels) in
    for i = 0 to tree.node_count - 1 do
      for a = 0 to machine.letters - 1 do
        if tree.level_of i = tree.level_of tree.start_leaf && not (Extracted.leaf_right chain tree last a i) then refuse_size a
      done
    done;
    raise (Invalid "the proved checker refuses the sizes")
  end;
  Printf.sprintf "%s, %s, %s: equal on all words" (counted n "state") (counted machine.letters "letter") facts
