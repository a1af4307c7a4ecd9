(* The form of the kind `equivalent` by regions: the least radii of the balls are found here, and the proved checker decides whether
   the letters keep these balls.

   That the radii are the least ones on the grid, and the limits, are not proved; they refuse more. *)

open Json

let grid = Z.shift_left Z.one 64
let norm_grid = Z.of_int 4_096
let max_relaxations = 2_000_000
let max_entries = 64
let max_distances = 50_000_000

(* The most bits of a radius, unless the environment gives another number: what is done with radii takes as long as they have bits. *)
let default_max_bits = 10_000
let bits_variable = "MIRRORMATA_COQ_MAX_RADIUS_BITS"

(* The largest radius as the certificate gives it, beyond which no radius is followed *)
let largest_allowed = function
  | Int radius ->
    let most = Number.limit_from bits_variable default_max_bits "a number of bits" 14_000 in
    if Z.numbits radius > most then
      raise
        (Number.Limit
           (Printf.sprintf "equivalence.radius has %s bits, above the limit of %s; a larger limit can be given in %s"
              (Reading.group (Z.numbits radius)) (Reading.group most) bits_variable));
    radius
  | other -> raise (Invalid ("equivalence.radius: " ^ Reading.show other ^ " is not an integer"))

let rational p q : Rounded.q = Rounded.lowest_terms { qnum = p; qden = q }
let up p q = Z.cdiv p q

(* The root of a square, in units of the grid, rounded up *)
let root_up (square : Rounded.q) =
  let scaled = up (Z.mul square.qnum (Z.mul grid grid)) square.qden in
  let root = Z.sqrt scaled in
  if Z.lt (Z.mul root root) scaled then Z.succ root else root

(* The least s with s/2^12 >= |A| for a letter, over all heads *)
let spectral (layer : Rounded.rounded_layer) entries x =
  let fits s = Rounded.norm_right entries (layer.letter_rows x) (rational (Z.of_int s) norm_grid) in
  let rec search low high =
    if high - low <= 1 then high
    else
      let middle = (low + high) / 2 in
      if fits middle then search low middle else search middle high in
  let most = 4 * Z.to_int norm_grid in
  need (fits most) (Printf.sprintf "letter %d: its norm exceeds 4" x);
  search (-1) most

(* What rounding adds to the entries of a letter that are rounded, together at most of this size *)
let rounding (layer : Rounded.rounded_layer) rough size =
  match layer.the_values with
  | Floats (precision, least, largest, _) when rough > 0 ->
    let p = Z.to_int precision and least = Z.to_int least in
    let p = match layer.the_mode with Nearest_even | Nearest_low -> p | _ -> p - 1 in
    need (Z.leq (Z.mul size largest.qden) (Z.mul largest.qnum (Z.shift_right grid 1))) "the balls may overflow";
    let power = least - p + 64 in
    let added =
      if power >= 0 then Z.shift_left (Z.of_int rough) power else up (Z.of_int rough) (Z.shift_left Z.one (-power)) in
    Z.add (up size (Z.shift_left Z.one p)) added
  | _ -> Z.zero

(* How many regions there are, and the largest radius on the grid, which is not above the one given.  `right`: the answer on a letter, from
   a state, to a state. *)
let check (layer : Rounded.rounded_layer) (machine : Reading.machine) right given =
  let allowed = largest_allowed given in
  need
    (match layer.the_values, layer.the_order with (Exact | Floats _), Per_step -> true | _ -> false)
    "regions are for exact numbers and for per_step of floats";
  let letters = machine.letters in
  let entries = List.length layer.initial_state and codes = Array.of_list layer.state_codes in
  let count = Array.length codes in
  need (entries <= max_entries) (Printf.sprintf "model: regions are for states of at most %d entries" max_entries);
  need
    (Z.leq (Z.mul (Z.mul (Z.of_int count) (Z.of_int count)) (Z.of_int (letters * entries))) (Z.of_int max_distances))
    (Printf.sprintf "model.codes: more than %s products are needed for their distances" (Reading.group max_distances));
  let rough = Array.init letters (fun x -> Rounded.rough_count (layer.letter_rows x)) in
  let norms = Array.init letters (fun x -> Z.of_int (spectral layer entries x)) in
  Array.iteri
    (fun x norm ->
      need
        (Z.lt norm norm_grid || Z.sign (rounding layer rough.(x) Z.zero) = 0)
        (Printf.sprintf "letter %d: it rounds and does not contract" x))
    norms;
  let origin = List.map (fun _ -> rational Z.zero Z.one) layer.initial_state in
  let size state = root_up (Rounded.distance state origin) in
  let added = Array.init letters (fun x -> size (List.map (fun (e : Rounded.rounded_entry) -> e.bias) (layer.letter_rows x))) in
  let sizes = Array.map size codes in
  let nearest state =
    let c = Rounded.nearest layer.state_codes state in
    (c, root_up (Rounded.distance state codes.(c))) in
  let images = Hashtbl.create 64 in
  let image c x =
    match Hashtbl.find_opt images (c, x) with
    | Some found -> found
    | None ->
      let state = Array.of_list codes.(c) in
      let found = nearest (Rounded.values_at (fun i -> state.(i)) (layer.letter_rows x)) in
      Hashtbl.add images (c, x) found;
      found in
  (* the least squared distance of a code from those that answer a letter otherwise *)
  let rooms = Hashtbl.create 64 in
  let room c x =
    match Hashtbl.find_opt rooms (c, x) with
    | Some found -> found
    | None ->
      let found = ref None in
      Array.iteri
        (fun k code ->
          if not (Z.equal (layer.says k x) (layer.says c x)) then begin
            let d = Rounded.distance codes.(c) code in
            match !found with Some least when not (Rounded.less d least) -> () | _ -> found := Some d
          end)
        codes;
      Hashtbl.add rooms (c, x) !found;
      !found in
  let apart c x radius =
    need
      (match room c x with
       | None -> true
       | Some d -> Z.lt (Z.mul (Z.shift_left (Z.mul radius radius) 2) d.qden) (Z.mul d.qnum (Z.mul grid grid)))
      (Printf.sprintf "the ball about code %d meets another answer's cell" c) in
  let radius = Hashtbl.create 64 and balls = ref [] in
  let set node r =
    (* radii only grow, so the largest one is larger too *)
    need (Z.leq r allowed) "equivalence.radius: the balls outgrow it";
    if not (Hashtbl.mem radius node) then balls := node :: !balls;
    Hashtbl.replace radius node r in
  let code, off = nearest layer.initial_state in
  let first = (code, machine.start) in
  set first off;
  (* radii only grow; when nothing has changed every letter maps every ball into one of those found *)
  let relaxed = ref 0 in
  let rec grow queue =
    relaxed := !relaxed + (List.length queue * letters);
    need (!relaxed <= max_relaxations) (Printf.sprintf "the radii do not settle in %s steps" (Reading.group max_relaxations));
    let marked = Hashtbl.create 64 and changed = ref [] in
    List.iter
      (fun (c, q) ->
        for x = 0 to letters - 1 do
          let c', off = image c x in
          let node = (c', machine.delta.(x).(q)) and r = Hashtbl.find radius (c, q) in
          let reach = Z.add off (up (Z.mul norms.(x) r) norm_grid) in
          let most = Z.add (up (Z.mul norms.(x) (Z.add sizes.(c) r)) norm_grid) added.(x) in
          let reach = Z.add reach (rounding layer rough.(x) most) in
          need
            (Z.equal (layer.says c' x) (Z.of_int (right x q (snd node))))
            (Printf.sprintf "letter %d in state %d: the code answers %s" x q (Z.to_string (layer.says c' x)));
          if match Hashtbl.find_opt radius node with Some known -> Z.gt reach known | None -> true then begin
            set node reach;
            if not (Hashtbl.mem marked node) then (Hashtbl.add marked node (); changed := node :: !changed);
            apart c' x reach
          end
        done)
      queue;
    if !changed <> [] then grow (List.rev !changed) in
  grow [ first ];
  let balls = Array.of_list (List.rev !balls) in
  let places = Hashtbl.create 64 in
  Array.iteri (fun i node -> Hashtbl.add places node i) balls;
  let on_grid z = rational z grid in
  let regions : Rounded.regions =
    { region_layer = layer; ball_count = Array.length balls; ball_code = (fun i -> fst balls.(i)); ball_state = (fun i -> snd balls.(i));
      ball_radius = (fun i -> on_grid (Hashtbl.find radius balls.(i)));
      find_ball = (fun c q -> Option.value ~default:(Array.length balls) (Hashtbl.find_opt places (c, q)));
      image_of = (fun c x -> fst (image c x)); image_off = (fun c x -> on_grid (snd (image c x)));
      code_size = (fun c -> on_grid sizes.(c)); letter_norm = (fun x -> rational norms.(x) norm_grid);
      added_size = (fun x -> on_grid added.(x));
      region_machine = { letters; start = machine.start; delta = (fun x q -> machine.delta.(x).(q)) };
      region_answer = (fun x before after -> Z.of_int (right x before after)) } in
  need (Rounded.check_regions regions) "the proved checker refuses the regions";
  (Array.length balls, Hashtbl.fold (fun _ r most -> Z.max r most) radius Z.zero)
