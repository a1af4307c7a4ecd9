(* The kind `delay`: the JSON is read in its one canonical form, the group's products and the phases of the counter are looked up,
   and the proved checker decides whether the linear RNN follows the automaton.  What is refused here beside it, order, labels and
   summary, is not proved; it refuses more. *)

open Json

let keys =
  [ "format"; "kind"; "labels"; "automaton"; "block"; "counter"; "buffer"; "points"; "elements"; "outputs"; "summary" ]
let max_block = 100_000
let max_work = 500_000_000

(* A table whose keys are lists of numbers, which Hashtbl.hash alone reads in part. *)
let by_numbers numbers =
  let key = Bytes.create (8 * List.length numbers) in
  List.iteri (fun i n -> Bytes.set_int64_ne key (8 * i) (Int64.of_int n)) numbers;
  Bytes.unsafe_to_string key

let by_codes codes = by_numbers (List.concat_map (fun numbers -> List.length numbers :: numbers) codes)

(* ---- The counter. *)

(* The code of a head at each phase: from its first code by the transitions of the phases 1, 2, ..., and back to it. *)
let walk (head : Head.t) raw images reads =
  let where = head.where in
  let is_start = match head.codes.(0) with [ (0, 0, x) ] -> Number.equals_integer 1 x | _ -> false in
  need is_start (where ^ ": a counter starts at [[0, 0, 1]]");
  need (head.value_dim = 1) (where ^ ": a counter has one column");
  let counts =
    List.mapi
      (fun i transition ->
        let where = Printf.sprintf "%s.transitions[%d]" where i in
        let factors = Reading.list where (Reading.record where [ "factors" ] transition "factors") in
        List.iter (fun f -> need (List.length (Reading.list where f) = 2) (where ^ ": not [beta, v]")) factors;
        List.length factors)
      (Reading.list where raw) in
  need (counts = List.sort compare counts) (where ^ ".transitions: those with fewer factors come first");
  let period = Array.length reads and most = ref 0 in
  let track = Array.make period 0 in
  let image phase code = images.(head.actions.(reads.(phase))).(code) in
  for phase = 1 to period - 1 do
    let code = image phase track.(phase - 1) in
    need (code <= !most + 1) (where ^ ": codes are not numbered as they appear");
    most := max !most code;
    track.(phase) <- code
  done;
  need (image 0 track.(period - 1) = 0) (where ^ ": not at its first code again after a period");
  need (!most + 1 = Array.length head.codes) (where ^ ": a code is never reached");
  track

(* The layers: their heads, their form for the proved checker, prepared, and the codes of all layers at each phase. *)
let read_counter value period =
  let layers = Reading.array "counter" value in
  need (Array.length layers > 0) "counter: no layers";
  let above = Array.make period [] in
  let read =
    Array.mapi
      (fun i value ->
        let where = Printf.sprintf "counter[%d]" i in
        let get = Reading.record where [ "reads"; "heads" ] value in
        let reads =
          Array.map (Reading.integer (where ^ ".reads") 0 period)
            (Reading.array ~length:period (where ^ ".reads") (get "reads")) in
        let kinds = List.length (List.sort_uniq compare (Array.to_list reads)) in
        need (Array.fold_left max 0 reads + 1 = kinds) (where ^ ".reads: a transition is never used");
        let told = Hashtbl.create 16 in
        Array.iteri
          (fun phase read ->
            let key = by_codes above.(phase) in
            match Hashtbl.find_opt told key with
            | Some other -> need (other = read) (where ^ ".reads: not told by the layers below")
            | None -> Hashtbl.add told key read)
          reads;
        let raw = Reading.array (where ^ ".heads") (get "heads") in
        need (Array.length raw > 0) (where ^ ".heads: empty");
        let heads =
          Array.mapi (fun h -> Head.read ~layered:false kinds (Printf.sprintf "%s.heads[%d]" where h)) raw in
        let sizes = List.map (fun (h : Head.t) -> Array.length h.codes) (Array.to_list heads) in
        need (List.hd sizes > 0 && sizes = List.sort_uniq compare sizes)
          (where ^ ".heads: each has more codes than the one before it");
        let counter_heads =
          Array.to_list (Array.map (fun (h : Head.t) -> (Lookup.as_any h, fun t -> h.actions.(t))) heads) in
        let factor_images, images, prepared = Table.prepare_heads counter_heads heads in
        let find codes = Option.value ~default:0 (Hashtbl.find_opt told (by_codes codes)) in
        let tracks =
          Array.mapi (fun h head -> walk head (Reading.record where [ "field"; "dim"; "value_dim"; "transitions"; "codes" ] raw.(h) "transitions")
                         images.(h) reads) heads in
        Array.iteri
          (fun phase codes ->
            above.(phase) <- codes @ [ Array.to_list (Array.map (fun track -> track.(phase)) tracks) ])
          above;
        let layer : Extracted.counter_layer = { counter_heads; counter_reads = find } in
        (heads, layer, (prepared, find), factor_images))
      layers in
  let phases = Hashtbl.create period in
  Array.iteri
    (fun phase codes ->
      let key = by_codes codes in
      need (not (Hashtbl.mem phases key)) "counter: two phases look alike";
      Hashtbl.add phases key phase)
    above;
  let phase_of codes = Option.value ~default:period (Hashtbl.find_opt phases (by_codes codes)) in
  (Array.to_list read, (fun phase -> above.(phase)), phase_of)

(* ---- The buffer, in its only form. *)

let check_buffer value period letters =
  let get = Reading.record "buffer" [ "factors"; "values" ] value in
  let int n = Int (Z.of_int n) in
  let factors = List.init period (fun p -> List [ List [ int 1; List [ List [ int p; int 1 ] ] ] ]) in
  need (get "factors" = List factors) "buffer.factors: a projection of row p at each phase p is needed";
  let values = List.init letters (fun x -> List [ List [ int x; int 1 ] ]) in
  need (get "values" = List values) "buffer.values: [[x, 1]] for each letter x is needed"

(* ---- The group. *)

let permutation n where value =
  let image = Array.map (Reading.integer where 0 (n - 1)) (Reading.array ~length:n where value) in
  let inverse = Array.make n (-1) in
  Array.iteri (fun p q -> need_by (inverse.(q) < 0) (fun () -> where ^ ": not a permutation"); inverse.(q) <- p) image;
  (image, inverse)

(* A cycle c_1, c_2, ... from its least point as (c_1 c_2), (c_1 c_3), ... *)
let cycle_swaps image =
  let seen = Array.make (Array.length image) false and swaps = ref [] in
  Array.iteri
    (fun first after ->
      let point = ref after in
      while !point <> first && not seen.(!point) do
        seen.(!point) <- true;
        swaps := (first, !point) :: !swaps;
        point := image.(!point)
      done;
      seen.(first) <- true)
    image;
  List.rev !swaps

let read_groups value image block where =
  let n = Array.length image in
  let place = Reading.integer where 0 (n - 1) in
  let swap factor =
    match factor with
    | List [ beta; List [ List [ i; x ]; List [ j; y ] ] ] ->
      let is n = function Int x -> Z.equal x n | _ -> false in
      need_by (is Z.one beta && is Z.one x && is Z.minus_one y) (fun () -> where ^ ": not a swap [1, [[i, 1], [j, -1]]]");
      let i = place i and j = place j in
      need_by (i < j) (fun () -> where ^ ": a swap of rows i, j has i < j");
      (i, j)
    | _ -> raise (Invalid (where ^ ": not a swap")) in
  let groups =
    Array.map (fun group -> List.map swap (Reading.list where group)) (Reading.array ~length:block where value) in
  need (List.concat (Array.to_list groups) = cycle_swaps image) (where ^ ": not the swaps in order, cycle by cycle");
  groups

type element = { image : int array; inverse : int array; groups : (int * int) list array }

(* The elements breadth first from the identity, with their states; for each letter and element where it leads; and the most swaps
   of a group. *)
let read_elements value letters n (machine : Reading.machine) block =
  let raw = Reading.array "elements" value in
  let count = Array.length raw in
  let told =
    Array.mapi
      (fun e ->
        Reading.at (fun () -> Printf.sprintf "elements[%d]" e) (fun where item ->
            let get = Reading.record where [ "image"; "state"; "groups" ] item in
            let image, inverse = permutation n (where ^ ".image") (get "image") in
            let state = Reading.integer (where ^ ".state") 0 (machine.states - 1) (get "state") in
            ({ image; inverse; groups = read_groups (get "groups") image block (where ^ ".groups") }, state)))
      raw in
  let elements = Array.map fst told and states = Array.map snd told in
  let key image = by_numbers (Array.to_list image) in
  let index = Hashtbl.create (2 * count) in
  let met = ref 0 in
  let meet image =
    let name = key image in
    match Hashtbl.find_opt index name with
    | Some e -> e
    | None ->
      let e = !met in
      need (e < count) "elements: a product of a letter and an element is missing";
      need_by (elements.(e).image = image) (fun () -> Printf.sprintf "elements[%d]: another element is due" e);
      Hashtbl.add index name e;
      incr met;
      e in
  ignore (meet (Array.init n Fun.id));
  let landings = Array.make_matrix machine.letters count 0 in
  for e = 0 to count - 1 do
    need (e < !met) "elements: one is no product of letters";
    Array.iteri (fun x letter -> landings.(x).(e) <- meet (Array.map (fun p -> letter.(p)) elements.(e).image)) letters
  done;
  let sizes = Array.map (fun element -> Array.map List.length element.groups) elements in
  let most = Array.fold_left (Array.fold_left max) 0 sizes in
  Array.iteri
    (fun e row ->
      (* the groups are filled from the first on: `most` swaps each, what is left, then none *)
      let rest = ref (Array.fold_left ( + ) 0 row) in
      Array.iter
        (fun size ->
          need_by (size = min most !rest) (fun () -> Printf.sprintf "elements[%d].groups: not filled one by one" e);
          rest := !rest - size)
        row)
    sizes;
  (elements, states, landings, most)

(* The points that H_0 marks: the first that tells the states alone, else those that are needed. *)
let check_initial value elements states n =
  let marks =
    List.mapi
      (fun i entry ->
        match entry with
        | List [ point; value ] ->
          ignore (Reading.integer "points.initial" (i + 1) (i + 1) value);
          Reading.integer "points.initial" 0 (n - 1) point
        | _ -> raise (Invalid "points.initial: an entry does not have 2 parts"))
      (Reading.list "points.initial" value) in
  let tells points =
    let seen = Hashtbl.create 64 in
    let told = ref true and e = ref 0 in
    while !told && !e < Array.length elements do
      let key = by_numbers (List.map (fun p -> elements.(!e).image.(p)) points) in
      (match Hashtbl.find_opt seen key with
       | Some state -> told := state = states.(!e)
       | None -> Hashtbl.add seen key states.(!e));
      incr e
    done;
    !told in
  let count = Array.length elements and all = List.init n Fun.id in
  need (count * n <= max_work) "points: too many";
  let wanted =
    match List.find_opt (fun p -> tells [ p ]) all with
    | Some p -> [ p ]
    | None ->
      need (count * n * n <= max_work) "points.initial: more than 500,000,000 images to compare";
      List.fold_left
        (fun kept point ->
          let rest = List.filter (fun p -> p <> point) kept in
          if tells rest then rest else kept)
        all (List.rev all) in
  need (tells wanted) "points: they do not tell the states";
  need (marks = wanted) "points.initial: H_0 marks other points";
  marks

(* ---- The proved checker. *)

let check document =
  let get = Reading.record "certificate" keys document in
  let machine = Reading.read_machine get in
  let block = Reading.integer "block" 2 max_block (get "block") in
  let period = 2 * block in
  let counter, phase_codes, phase_of = read_counter (get "counter") period in
  check_buffer (get "buffer") period machine.letters;
  let points = Reading.record "points" [ "letters"; "initial" ] (get "points") in
  let rows = Reading.array ~length:machine.letters "points.letters" (points "letters") in
  need (Array.length rows > 0) "points.letters: no letters";
  let n = Array.length (Reading.array "points.letters" rows.(0)) in
  let letters = Array.mapi (fun x row -> fst (permutation n (Printf.sprintf "points.letters[%d]" x) row)) rows in
  let elements, states, landings, most = read_elements (get "elements") letters n machine block in
  let reached = List.sort_uniq compare (Array.to_list states) in
  need (List.length reached = machine.states) "elements: a state is never reached";
  let marks = check_initial (points "initial") elements states n in
  let mark_of = Array.make n Z.zero in
  List.iteri (fun i point -> mark_of.(point) <- Z.of_int (i + 1)) marks;
  let by_marks = Hashtbl.create (2 * Array.length elements) in
  let key numbers = if List.for_all Z.fits_int numbers then by_numbers (List.map Z.to_int numbers) else "" in
  Array.iteri
    (fun e element -> Hashtbl.replace by_marks (key (List.init n (fun q -> mark_of.(element.inverse.(q))))) states.(e))
    elements;
  let delay : Extracted.delay =
    { block; counter = List.map (fun (_, layer, _, _) -> layer) counter; phase_codes; phase_of; delay_points = n;
      letter_image = (fun x p -> letters.(x).(p)); mark = (fun p -> mark_of.(p)); element_count = Array.length elements;
      image = (fun g p -> elements.(g).image.(p)); preimage = (fun g p -> elements.(g).inverse.(p));
      element_state = (fun g -> states.(g)); groups = (fun g j -> elements.(g).groups.(j));
      next_element = (fun x g -> landings.(x).(g));
      state_of_marks = (fun numbers -> Option.value ~default:machine.states (Hashtbl.find_opt by_marks (key numbers)));
      delay_automaton = Table.automaton machine } in
  (* what extraction made of `check_delay`, its parts called apart: where the counter's codes lead is computed once *)
  need (Extracted.check_counter_heads delay) "the proved checker refuses the codes of the counter";
  need (Extracted.check_phases delay (List.map (fun (_, _, prepared, _) -> prepared) counter))
    "the proved checker refuses the phases of the counter";
  need (Extracted.check_elements delay) "the proved checker refuses the elements";
  Table.check_outputs machine landings states (get "outputs");
  let heads = List.concat_map (fun (heads, _, _, _) -> Array.to_list heads) counter in
  let images = List.concat_map (fun (_, _, _, images) -> images) counter in
  let transitions = List.concat_map (fun (h : Head.t) -> Array.to_list h.transitions) heads in
  let largest f = List.fold_left (fun most item -> max most (f item)) 0 in
  Table.compare_summary
    ~layers:(List.length counter + 2)
    ~householders:(Some (max (max most 1) (largest (fun (t : Head.transition) -> List.length t.factors) transitions)))
    ~heads:(largest (fun (heads, _, _, _) -> Array.length heads) counter)
    ~dim:(max (max n period) (largest (fun (h : Head.t) -> h.dim) heads))
    ~bound:
      (if List.for_all (fun (h : Head.t) -> h.integer) heads then
         Some (List.fold_left2 (fun most h image -> Z.max most (Bound.largest h image)) (Z.of_int (List.length marks)) heads images)
       else None)
    ~norm:"at most 1" (get "summary");
  let counted = Reading.count_noun in
  Printf.sprintf "%s, %s, %s, blocks of %s: equal on all words" (counted machine.states "state")
    (counted machine.letters "letter")
    (counted (Array.length elements) "group element")
    (counted block "token")
