(* Cascades: the covering and its situations, read and followed in their canonical form, for the proved checker of
   cascades. *)

open Json

type node = Branch of int * int * int array | Ends of int

let max_tried = 20_000_000
let largest_label = 8

(* ---- Nodes, numbered as they are first met from the top, each head and each state met. *)

let read_nodes value (layers : Layers.layer array) states =
  let depth = Array.length layers in
  let nodes =
    Array.mapi
      (fun n item ->
        let where = Printf.sprintf "covering[%d]" n in
        match Reading.list where item with
        | [ q ] -> Ends (Reading.integer where 0 (states - 1) q)
        | [ layer; h; children ] ->
          let layer = Reading.integer where 0 (depth - 1) layer in
          let heads = layers.(layer).heads in
          let h = Reading.integer where 0 (Array.length heads - 1) h in
          let children = Reading.array ~length:heads.(h).Head.points where children in
          Branch (layer, h, Array.map (Reading.integer where 0 max_int) children)
        | _ -> raise (Invalid (where ^ ": a node has 1 or 3 parts")))
      (Reading.array "covering" value) in
  let seen = ref 0 in
  let meet n =
    need (n <= !seen) "covering: nodes are not numbered as they are met";
    if n = !seen then incr seen in
  meet 0;
  Array.iter (function Branch (_, _, children) -> Array.iter meet children | Ends _ -> ()) nodes;
  need (!seen = Array.length nodes) "covering: a node is never met";
  let layer_of n = match nodes.(n) with Branch (layer, _, _) -> layer | Ends _ -> depth in
  Array.iteri
    (fun n node ->
      match node with
      | Branch (layer, _, children) ->
        need
          (Array.for_all (fun c -> layer_of c > layer) children)
          (Printf.sprintf "covering[%d]: a child is not below it" n)
      | Ends _ -> ())
    nodes;
  let different = Hashtbl.create 64 and met = Hashtbl.create 64 in
  Array.iter
    (fun node ->
      let key = match node with
        | Branch (layer, h, children) -> layer :: h :: Array.to_list children
        | Ends q -> [ depth; q ] in
      let hash = Hashtbl.hash_param 400 400 key in
      need (not (List.mem key (Hashtbl.find_all different hash))) "covering: two nodes are equal";
      Hashtbl.add different hash key;
      Hashtbl.replace met (List.nth key 0, List.nth key 1) ())
    nodes;
  let heads = Array.fold_left (fun n (l : Layers.layer) -> n + Array.length l.heads) 0 layers in
  need (Hashtbl.length met = heads + states) "covering: a head or a state is never met";
  nodes

(* For each node the states at the ends of its chains, as bit sets; children lie on lower layers. *)
let states_below nodes =
  let known = Array.make (Array.length nodes) None in
  let rec below n =
    match known.(n) with
    | Some found -> found
    | None ->
      let found =
        match nodes.(n) with
        | Ends q -> Z.shift_left Z.one q
        | Branch (_, _, children) -> Array.fold_left (fun set c -> Z.logor set (below c)) Z.zero children in
      known.(n) <- Some found;
      found in
  Array.init (Array.length nodes) below

(* ---- Points. *)

let distinct points = List.length (List.sort_uniq compare (Array.to_list points))

(* Sets of codes, of which the hash reads every entry and coefficient: `Hashtbl.hash` alone reads ten, so that long codes with one
   beginning would all lie in one place. *)
module Codes = Hashtbl.Make (struct
  type t = Head.entry list

  let equal (x : t) y = x = y
  let mix key part = (key * 0x2545F4914F6CDD1D) + part + 1

  let read key (i, j, (x : Number.t)) =
    List.fold_left (fun key c -> mix key (Z.hash c)) (mix (mix (mix key i) j) (Z.hash x.denominator)) x.coefficients

  let hash code =
    let key = List.fold_left read 0 code in
    (key lxor (key lsr 32)) land max_int
end)

(* The point after each point, by transition; pairs (u, v) go to (s(u), v) or to (c, u), and only so.  A point to which no
   transition leads from another is the first that is free among 0, e_0, 2e_0, ..., unless all points are one-hot. *)
let point_moves (head : Head.t) images =
  let n = head.points in
  let moves =
    if not head.pairs then images
    else
      Array.mapi
        (fun t image ->
          let move = Array.init n (fun u -> image.(u * n) / n) in
          let kinds = distinct move in
          let kept = kinds = n in
          let right = Array.for_all Fun.id (Array.mapi (fun c after ->
              after = (move.(c / n) * n) + if kept then c mod n else c / n) image) in
          need (right && (kept || kinds = 1))
            (Printf.sprintf "%s.transitions[%d]: pairs (u, v) must go to (s(u), v) or to (c, u)" head.where t);
          move)
        images in
  let written = Array.make n false in
  Array.iter (Array.iteri (fun p after -> if p <> after then written.(after) <- true)) moves;
  let label row value = [ (row, 0, Number.of_integer head.field (Z.of_int value)) ] in
  let one_hot = ref true in
  Array.iteri (fun p code -> if code <> label p 1 then one_hot := false) head.vectors;
  if not !one_hot then begin
    let taken = Codes.create 64 in
    Array.iteri (fun p code -> if written.(p) then Codes.replace taken code ()) head.vectors;
    (* codes are only taken, never given back, so the search goes on from the last place *)
    let place = ref 0 in
    let rec first_free () =
      let k = !place in
      let code = if k = 0 then [] else label ((k - 1) / largest_label) (((k - 1) mod largest_label) + 1) in
      if Codes.mem taken code then (incr place; first_free ()) else code in
    Array.iteri
      (fun p code ->
        if not written.(p) then begin
          need (code = first_free ()) (Printf.sprintf "%s.codes[%d]: not the first that is free" head.where p);
          Codes.replace taken code ()
        end)
      head.vectors
  end;
  moves

(* The point before each new code, where the new code tells it. *)
let points_before (head : Head.t) image =
  let share = if head.pairs then head.points else 1 in
  let before = Array.make (Array.length image) 0 and known = Array.make (Array.length image) false in
  let tells = ref true in
  Array.iteri
    (fun c after ->
      if known.(after) && before.(after) <> c / share then tells := false;
      known.(after) <- true;
      before.(after) <- c / share)
    image;
  if !tells then Some before else None

(* ---- Situations. *)

type followed = {
  layer : Layers.layer;
  moves : int array array array; (* head, transition, point *)
  before : int array option array array; (* head, transition *)
}

let is_identity (t : Head.transition) =
  t.factors = [] && t.additive = [] && t.matrix = None && Number.equals_integer 1 t.gate

let met nodes i n = match nodes.(n) with Branch (layer, h, _) when layer = i -> h | _ -> -1

(* The situations of a layer and letter x, in the form that they must have: heads that T does not meet are idle, the head
   that T meets is permuted where P's states go onto T's, and is reset otherwise. *)
let check_form i followed nodes states image x (y, p, t) =
  let heads = followed.layer.heads in
  let entered = met nodes i t in
  Array.iteri
    (fun h (head : Head.t) ->
      if h <> entered && not (is_identity head.transitions.(head.actions.(y))) then
        raise (Invalid (Printf.sprintf "layers[%d].heads[%d].actions[%d]: it must be the identity" i h y)))
    heads;
  if entered >= 0 then begin
    let move = followed.moves.(entered).(heads.(entered).actions.(y)) in
    let after = image p x in
    let kinds = distinct move in
    let where = Printf.sprintf "layers[%d].heads[%d].actions[%d]: it must be " i entered y in
    if Z.equal after states.(t) then need (kinds = heads.(entered).points) (where ^ "a permutation")
    else begin
      let children = match nodes.(t) with Branch (_, _, children) -> children | Ends _ -> [||] in
      let rec first p =
        if p >= Array.length children then -1
        else if Z.equal (Z.logand after (Z.lognot states.(children.(p)))) Z.zero then p
        else first (p + 1) in
      let first = first 0 in
      need (kinds = 1 && move.(0) = first) (where ^ Printf.sprintf "the reset to point %d" first)
    end
  end

(* The situations of the next layer, for all points of the heads that matter. *)
let follow i followed nodes tried (y, p, t) found =
  let layer = followed.layer in
  let over = met nodes i p and entered = met nodes i t in
  let matter = List.filter (fun h -> h >= 0) (List.sort_uniq compare (over :: entered :: layer.reads.(y))) in
  let points = Array.make (Array.length layer.heads) 0 in
  let count = List.fold_left (fun n h -> n * layer.heads.(h).Head.points) 1 matter in
  tried := !tried + count;
  need (!tried <= max_tried) (Printf.sprintf "layers[%d]: too many points to try" i);
  let child n point = match nodes.(n) with Branch (_, _, children) -> children.(point) | Ends _ -> n in
  let rec go = function
    | h :: rest ->
      for point = 0 to layer.heads.(h).Head.points - 1 do
        points.(h) <- point;
        go rest
      done
    | [] ->
      let c = Layers.column layer y points in
      (match layer.next.(y).(c) with
       | None -> raise (Invalid (Printf.sprintf "layers[%d].next[%d][%d]: it is null, but it occurs" i y c))
       | Some y' ->
         let p' = if over >= 0 then child p points.(over) else p in
         let t' =
           if entered >= 0 then
             child t followed.moves.(entered).(layer.heads.(entered).actions.(y)).(points.(entered))
           else t in
         found (y', p', t')) in
  go matter

(* All situations, layer by layer and for each letter of the automaton, in the order in which they are met; those below the
   last layer last. *)
let situations (machine : Reading.machine) followed nodes states =
  let members = Array.map (fun set -> List.filter (Z.testbit set) (List.init machine.states Fun.id)) states in
  let images = Hashtbl.create 64 in
  let image p x =
    match Hashtbl.find_opt images (p, x) with
    | Some set -> set
    | None ->
      let set =
        List.fold_left (fun set q -> Z.logor set (Z.shift_left Z.one machine.delta.(x).(q))) Z.zero members.(p) in
      Hashtbl.add images (p, x) set;
      set in
  let level of_letter =
    Array.init machine.letters (fun x ->
        let places = Hashtbl.create 16 and listed = ref [] in
        let add situation =
          if not (Hashtbl.mem places situation) then begin
            Hashtbl.add places situation (Hashtbl.length places);
            listed := situation :: !listed
          end in
        of_letter x add;
        (Array.of_list (List.rev !listed), places)) in
  let current = ref (level (fun x add -> add (x, 0, 0))) in
  let levels = ref [ !current ] in
  Array.iteri
    (fun i layer ->
      Array.iteri (fun x (listed, _) -> Array.iter (check_form i layer nodes states image x) listed) !current;
      let tried = ref 0 in
      let here = !current in
      current := level (fun x add -> Array.iter (fun s -> follow i layer nodes tried s add) (fst here.(x)));
      levels := !current :: !levels)
    followed;
  List.rev !levels

(* One joint code for each state, the start's first: the least one over it, layer by layer and head by head. *)
let check_starts (machine : Reading.machine) (layers : Layers.layer array) nodes states value =
  let order = machine.start :: List.filter (fun q -> q <> machine.start) (List.init machine.states Fun.id) in
  let rows = Reading.array ~length:machine.states "decode" value in
  List.mapi
    (fun r q ->
      let points = Array.map (fun (l : Layers.layer) -> Array.make (Array.length l.heads) 0) layers in
      let rec go n =
        match nodes.(n) with
        | Ends _ -> ()
        | Branch (layer, h, children) ->
          let rec first p = if Z.testbit states.(children.(p)) q then p else first (p + 1) in
          let p = first 0 in
          points.(layer).(h) <- p;
          go children.(p) in
      go 0;
      let codes =
        Array.mapi
          (fun i (l : Layers.layer) ->
            Array.mapi
              (fun h (head : Head.t) ->
                let p = points.(i).(h) in
                if head.pairs then (p * head.points) + p else p)
              l.heads)
          layers in
      let wanted = q :: List.concat_map Array.to_list (Array.to_list codes) in
      let given = Reading.list (Printf.sprintf "decode[%d]" r) rows.(r) in
      need
        (given = List.map (fun c -> Int (Z.of_int c)) wanted)
        (Printf.sprintf "decode[%d]: not the first joint code over state %d" r q);
      List.map Array.to_list (Array.to_list codes))
    order

(* ---- The proved checker. *)

(* A layer with what it does to points; each head that is read must tell its point before. *)
let follow_layer i (layer : Layers.layer) =
  let moves = Array.mapi (fun h head -> point_moves head layer.images.(h)) layer.heads in
  let before = Array.mapi (fun h head -> Array.map (points_before head) layer.images.(h)) layer.heads in
  Array.iteri
    (fun x read ->
      List.iter
        (fun h ->
          need
            (before.(h).(layer.heads.(h).Head.actions.(x)) <> None)
            (Printf.sprintf "layers[%d].reads[%d]: head %d's new code does not tell the point before" i x h))
        read)
    layer.reads;
  { layer; moves; before }

let as_layer layer_heads { layer; moves; before } : Extracted.cascade_layer =
  let share (head : Head.t) = if head.pairs then head.points else 1 in
  let column y points = List.fold_left2 (fun c h p -> (c * layer.heads.(h).Head.points) + p) 0 layer.reads.(y) points in
  { cascade_heads = layer_heads;
    point_count = (fun h -> layer.heads.(h).points);
    point_of = (fun h c -> c / share layer.heads.(h));
    point_after = (fun h t p -> moves.(h).(t).(p));
    point_before = (fun h t c -> match before.(h).(t) with Some points -> points.(c) | None -> 0);
    tells = (fun h t -> before.(h).(t) <> None);
    reads = (fun y -> layer.reads.(y));
    next_letter =
      (fun y points ->
        match layer.next.(y).(column y points) with
        | Some z -> z
        | None -> raise (Invalid "next: a read-out is null, but it occurs")) }

let as_level level : Extracted.level =
  let flat ((y, p), t) = (y, p, t) in
  { situation_count = (fun x -> Array.length (fst level.(x)));
    situation_at = (fun x k -> let y, p, t = (fst level.(x)).(k) in ((y, p), t));
    find_situation =
      (fun x s ->
        match Hashtbl.find_opt (snd level.(x)) (flat s) with
        | Some k -> k
        | None -> Array.length (fst level.(x))) }

(* `layers`: each with its heads in the form of the proved checker, and what these do to codes.  Gives the cascade and the line of facts. *)
let check document_entry (machine : Reading.machine) automaton layers =
  let full = Array.map (fun (l, _, _) -> l) layers in
  let depth = Array.length full in
  let followed = Array.mapi follow_layer full in
  let nodes = read_nodes (document_entry "covering") full machine.states in
  let states = states_below nodes in
  let levels = situations machine followed nodes states in
  let starts = check_starts machine full nodes states (document_entry "decode") in
  let forms = Array.mapi (fun i (_, heads, _) -> as_layer heads followed.(i)) layers in
  let prepared = Array.mapi (fun i (_, _, prepared) -> (prepared, Extracted.told_by forms.(i))) layers in
  let node_at n : Extracted.node =
    match nodes.(n) with
    | Branch (layer, h, children) -> Branch (layer, h, fun p -> children.(p))
    | Ends q -> Ends q in
  let cascade : Extracted.cascade =
    { cascade_layers = Array.to_list forms; node_at; first_level = as_level (List.hd levels);
      lower_levels = List.map as_level (List.tl levels); begin_codes = List.hd starts; cascade_automaton = automaton } in
  need (Extracted.check_codes (Extracted.cascade_tables cascade)) "the proved checker refuses the codes";
  need
    (Extracted.check_situations cascade (Array.to_list prepared))
    "the proved checker refuses the situations: the read-out or a chain does not end at the state after a letter";
  let count =
    List.fold_left
      (fun n level -> Array.fold_left (fun n (listed, _) -> n + Array.length listed) n level)
      0
      (List.filteri (fun i _ -> i < depth) levels) in
  let components = Array.fold_left (fun n (l : Layers.layer) -> n + Array.length l.heads) 0 full in
  let counted = Reading.count_noun in
  ( cascade,
    Printf.sprintf "%s, cascade of %s, %s" (counted depth "layer") (counted components "component") (counted count "situation") )
