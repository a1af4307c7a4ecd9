(* The kind `table`: the JSON is read in its one canonical form, and the proved checker decides whether the linear RNN
   follows the automaton.  What is refused here beside it, order, labels and summary, is not proved; it refuses more. *)

open Json

let keys = [ "format"; "kind"; "labels"; "automaton"; "layers"; "decode"; "outputs"; "summary" ]

let formats =
  [ ("fp64", 53); ("fp32", 24); ("fp16", 11); ("bf16", 8); ("fp8_e4m3", 4); ("fp8_e5m2", 3) ]

(* ---- The order of the rows and codes of one layer. *)

let check_seed (heads : Head.t array) images done_ row further =
  Array.iteri
    (fun h head ->
      need (Layers.starts_positive head row.(h + 1)) (Printf.sprintf "decode[%d]: the seed starts negative" done_))
    heads;
  let filled = ref 0 in
  Array.iteri
    (fun h (head : Head.t) ->
      let c = row.(h + 1) in
      let code = head.codes.(c) in
      if code <> [] then incr filled;
      let written = Array.exists (fun image -> List.exists (fun p -> image.(p) = c && p <> c)
                                      (List.init (Array.length image) Fun.id)) images.(h) in
      if (not written) && code <> [] && List.for_all (fun (_, _, x) -> Number.is_integer x) code then begin
        let divisor = List.fold_left (fun g (_, _, x) -> Z.gcd g (Number.integer_part x)) Z.zero code in
        need (Z.equal divisor Z.one) (Printf.sprintf "decode[%d]: a seed that is not primitive" done_)
      end)
    heads;
  need ((not further) || !filled = 1)
    (Printf.sprintf "decode[%d]: a further seed is zero in all heads but one" done_)

(* The rows in their order; gives for each letter and row the row that the letter leads to. *)
let check_order (machine : Reading.machine) (heads : Head.t array) images rows find =
  let covered = Array.make machine.states false and met = ref 0 in
  let landings = Array.make_matrix machine.letters (Array.length rows) 0 in
  let least () =
    let rec go q = if q >= machine.states then -1 else if covered.(q) then go (q + 1) else q in
    go 0 in
  Array.iteri
    (fun done_ row ->
      if done_ = !met then begin
        let due = if done_ = 0 then machine.start else least () in
        need (row.(0) = due) (Printf.sprintf "decode[%d]: not the seed that is due" done_);
        check_seed heads images done_ row (done_ > 0);
        incr met
      end;
      covered.(row.(0)) <- true;
      for x = 0 to machine.letters - 1 do
        let after =
          List.init (Array.length heads) (fun h -> images.(h).(heads.(h).actions.(x)).(row.(h + 1))) in
        let r = find [ after ] in
        if r >= Array.length rows then
          raise (Invalid (Printf.sprintf "decode: a code reached by letter %d is missing" x));
        let right = machine.delta.(x).(row.(0)) in
        if rows.(r).(0) <> right then
          raise
            (Invalid (Printf.sprintf "letter %d takes decode[%d] to state %d, not %d" x done_ rows.(r).(0) right));
        if r >= !met then begin
          need_by (r = !met) (fun () -> Printf.sprintf "decode[%d]: the code reached here is another one" r);
          incr met
        end;
        landings.(x).(done_) <- r
      done)
    rows;
  need (Array.for_all Fun.id covered) "decode: a state has no code";
  Array.iteri
    (fun h (head : Head.t) ->
      let reached = ref 0 in
      Array.iter
        (fun row ->
          need_by (row.(h + 1) <= !reached)
            (fun () -> Printf.sprintf "decode: codes of head %d are not numbered as they appear" h);
          if row.(h + 1) = !reached then incr reached)
        rows;
      need (!reached = Array.length head.codes) (head.where ^ ": a code is never reached"))
    heads;
  landings

(* ---- Outputs and summary. *)

let check_outputs (machine : Reading.machine) landings states value =
  let wrong = "outputs: not those of the automaton's states" in
  let given = match value with List items -> Array.of_list items | _ -> raise (Invalid wrong) in
  match machine.outputs with
  | Moore outputs ->
    need
      (given = Array.map (fun q -> Int (Z.of_int outputs.(q))) states)
      wrong
  | Mealy outputs ->
    let table =
      Array.mapi
        (fun x landing ->
          let row = Array.make (Array.length states) Null in
          Array.iteri
            (fun r after ->
              let output = Int (Z.of_int outputs.(x).(states.(r))) in
              need (row.(after) = Null || row.(after) = output) "a Mealy output is lost where two codes meet";
              row.(after) <- output)
            landing;
          List (Array.to_list row))
        landings in
    need (given = table) wrong

(* `bound`: the largest integer that is met, where all numbers are integers. *)
let compare_summary ~layers ~householders ~heads ~dim ~bound ~norm value =
  let int n = Int (Z.of_int n) in
  let summary =
    [ ("layers", int layers);
      ("householders", match householders with Some n -> int n | None -> Null);
      ("heads", int heads);
      ("dim", int dim);
      ("exactness", String (if bound = None then "algebraic" else "integer"));
      ("integer_bound", match bound with Some b -> Int b | None -> Null);
      ("formats",
       List
         (List.filter_map
            (fun (name, bits) ->
              match bound with
              | Some b when Z.leq b (Z.shift_left Z.one bits) -> Some (String name)
              | _ -> None)
            formats));
      ("norm", String norm) ] in
  let get = Reading.record "summary" (List.map fst summary) value in
  List.iter
    (fun (key, value) ->
      need (get key = value) (Printf.sprintf "summary.%s: it is %s" key (Reading.show value)))
    summary

let check_summary layers images value =
  let heads = List.concat_map Array.to_list layers in
  let transitions = List.concat_map (fun (h : Head.t) -> Array.to_list h.transitions) heads in
  let factored = List.for_all (fun (t : Head.transition) -> t.matrix = None) transitions in
  let most f items = List.fold_left (fun n x -> max n (f x)) 0 items in
  compare_summary ~layers:(List.length layers)
    ~householders:(if factored then Some (most (fun (t : Head.transition) -> List.length t.factors) transitions) else None)
    ~heads:(most Array.length layers)
    ~dim:(most (fun (h : Head.t) -> h.dim) heads)
    ~bound:
      (if List.for_all (fun (h : Head.t) -> h.integer) heads then
         Some (List.fold_left2 (fun most h image -> Z.max most (Bound.largest h image)) Z.zero heads images)
       else None)
    ~norm:
      (if not factored then "unbounded"
       else if List.exists (fun (h : Head.t) -> h.copies) heads then "at most √2 a factor"
       else "at most 1")
    value

(* ---- The proved checker. *)

(* The heads with their letters, prepared: the images under factors, and what the proved checker finds for each transition and
   code, once (`prepare_head` of Table.v). *)
let prepare_heads layer_heads heads =
  let images = List.map (fun (any, _) -> Extracted.any_images any) layer_heads in
  let landings = List.map2 (fun (any, _) image -> Extracted.any_landings any image) layer_heads images in
  let tables = List.map2 Lookup.images (Array.to_list heads) landings in
  let prepared = List.map2 (fun (_, actions) landing -> (landing, actions)) layer_heads landings in
  (images, Array.of_list tables, prepared)

let automaton (machine : Reading.machine) : Extracted.automaton =
  { letters = machine.letters; start = machine.start; delta = (fun a q -> machine.delta.(a).(q)) }

(* What extraction made of `check_table`, its two parts called apart: the landings are computed once. *)
let decide table prepared =
  need (Extracted.check_heads table) "the proved checker refuses the codes";
  need (Extracted.check_rows table prepared) "the proved checker refuses the joint codes"

(* Several layers whose joint codes are listed. *)
let check_joint machine get full layers =
  let heads = Array.concat (List.map (fun (l : Layers.layer) -> l.heads) (Array.to_list full)) in
  let rows = Layers.decode_rows (get "decode") heads machine.Reading.start machine.states in
  let sizes = List.map (fun (l : Layers.layer) -> Array.length l.heads) (Array.to_list full) in
  let codes, find, find_exactly = Layers.row_finder rows sizes in
  let table : Extracted.table =
    { table_layers = List.map fst (Array.to_list layers); row_count = Array.length rows;
      row_codes = (fun r -> codes.(r)); row_state = (fun r -> rows.(r).(0)); find_row = find;
      table_automaton = automaton machine; says_state = true } in
  Layers.check_order machine full rows find_exactly;
  decide table (List.map snd (Array.to_list layers));
  let counted = Reading.count_noun in
  (table, counted (Array.length full) "layer" ^ ", " ^ counted (Array.length rows) "joint code")

(* What the proved checker was asked about: joint codes that are listed, with the layers prepared, or a covering. *)
type form =
  | Joint of Extracted.table * ((int -> int -> int) * (int -> int)) list list
  | Cascade of Extracted.cascade

(* What is known of a right certificate: a line of facts, its heads, and its form. *)
type checked = { facts : string; all_heads : Head.t list; form : form }

(* `extra`: further keys of the certificate. *)
let check_table ?(extra = []) document =
  let layers =
    match Reading.find "layers" document with
    | Some value -> Reading.array "layers" value
    | None -> raise (Invalid "layers: not a list") in
  need (Array.length layers > 0) "layers: empty";
  let layered = Array.length layers > 1 in
  let cascade = layered && Reading.has "covering" document in
  let get = Reading.record "certificate" (extra @ if cascade then "covering" :: keys else keys) document in
  let machine = Reading.read_machine get in
  let counted = Reading.count_noun in
  let facts rows_told =
    Printf.sprintf "%s, %s, %s: equal on all words" (counted machine.states "state")
      (counted machine.letters "letter") rows_told in
  if not layered then begin
    let raw = Reading.array "layers[0].heads" (Reading.record "layers[0]" [ "heads" ] layers.(0) "heads") in
    need (Array.length raw > 0) "layers[0].heads: empty";
    let heads =
      Array.mapi
        (fun h -> Head.read ~layered:false machine.letters (Printf.sprintf "layers[0].heads[%d]" h))
        raw in
    let rows = Layers.decode_rows (get "decode") heads machine.start machine.states in
    let codes, find, find_exactly = Layers.row_finder rows [ Array.length heads ] in
    let layer_heads =
      Array.to_list (Array.map (fun (h : Head.t) -> (Lookup.as_any h, fun y -> h.actions.(y))) heads) in
    let told y _ = y in
    let table : Extracted.table =
      { table_layers = [ { layer_heads; told } ]; row_count = Array.length rows;
        row_codes = (fun r -> codes.(r)); row_state = (fun r -> rows.(r).(0)); find_row = find;
        table_automaton = automaton machine; says_state = false } in
    let factor_images, images, prepared = prepare_heads layer_heads heads in
    let landings = check_order machine heads images rows find_exactly in
    decide table [ (prepared, told) ];
    check_outputs machine landings (Array.map (fun row -> row.(0)) rows) (get "outputs");
    check_summary [ heads ] factor_images (get "summary");
    { facts = facts (counted (Array.length rows) "code"); all_heads = Array.to_list heads; form = Joint (table, [ prepared ]) }
  end else begin
    let depth = Array.length layers in
    let letters = ref machine.letters in
    (* the read-outs are tables over the new codes, which are known once the heads are checked *)
    let tables = Array.make depth (fun _ _ -> 0) in
    let read =
      Array.mapi
        (fun i value ->
          let where = Printf.sprintf "layers[%d]" i in
          let heads, reads, next, kinds =
            Layers.read ~cascade ~letters:!letters ~last:(i = depth - 1) ~states:machine.states where value in
          letters := kinds;
          let layer_heads =
            Array.to_list
              (Array.map (fun (h : Head.t) -> (Lookup.as_any h, fun y -> h.actions.(y))) heads) in
          let layer : Extracted.table_layer = { layer_heads; told = (fun y codes -> tables.(i) y codes) } in
          let factor_images, images, prepared = prepare_heads layer_heads heads in
          let full : Layers.layer = { heads; images; reads; next } in
          (* in a cascade each head that is read tells its point, and the covering goes by points *)
          let told = if cascade then [||] else Layers.read_outs where full in
          tables.(i) <-
            (fun y codes ->
              let codes = Array.of_list codes in
              match Hashtbl.find_opt told.(y) (List.map (fun h -> codes.(h)) reads.(y)) with
              | Some z -> z
              | None -> raise (Invalid (where ^ ".next: a read-out is null, but it occurs")));
          (full, layer, (prepared, layer.told), factor_images))
        layers in
    let full = Array.map (fun (l, _, _, _) -> l) read in
    let form, told =
      if cascade then begin
        let cascade, told =
          Covering.check get machine (automaton machine)
            (Array.map (fun (l, (form : Extracted.table_layer), (prepared, _), _) -> (l, form.layer_heads, prepared)) read) in
        (Cascade cascade, told)
      end else begin
        let table, told = check_joint machine get full (Array.map (fun (_, layer, prepared, _) -> (layer, prepared)) read) in
        (Joint (table, List.map (fun (_, _, (prepared, _), _) -> prepared) (Array.to_list read)), told)
      end in
    let places = Array.init machine.states Fun.id in
    check_outputs machine machine.delta places (get "outputs");
    check_summary (List.map (fun (l : Layers.layer) -> l.heads) (Array.to_list full))
      (List.concat_map (fun (_, _, _, images) -> images) (Array.to_list read))
      (get "summary");
    let all_heads = List.concat_map (fun (l : Layers.layer) -> Array.to_list l.heads) (Array.to_list full) in
    { facts = facts told; all_heads; form }
  end

let check document = (check_table document).facts
