(* Several layers of a certificate, read in their canonical form: heads, read-outs, and the rows of joint codes. *)

open Json

type layer = {
  heads : Head.t array;
  images : int array array array; (* head, transition, code: the code after it, by the proved checker *)
  reads : int list array; (* by the letter *)
  next : int option array array; (* letter, column *)
}

(* The points of the heads that a letter reads, by the column of `next`, the last head varying fastest. *)
let points_of layer x column =
  let rec go column = function
    | [] -> []
    | h :: rest ->
      let n = layer.heads.(h).Head.points in
      (column mod n) :: go (column / n) rest in
  List.rev (go column (List.rev layer.reads.(x)))

let column layer x codes =
  List.fold_left (fun c h -> (c * layer.heads.(h).Head.points) + codes.(h)) 0 layer.reads.(x)

(* What the new codes of the heads that are read say of the next letter. *)
let read_outs where layer =
  Array.mapi
    (fun x row ->
      let told = Hashtbl.create (Array.length row) in
      Array.iteri
        (fun c next ->
          match next with
          | None -> ()
          | Some y ->
            let after =
              List.map2
                (fun h p -> layer.images.(h).(layer.heads.(h).Head.actions.(x)).(p))
                layer.reads.(x) (points_of layer x c) in
            (match Hashtbl.find_opt told after with
             | Some other ->
               need (other = y)
                 (Printf.sprintf "%s.reads[%d]: the new codes do not tell the next letter" where x)
             | None -> Hashtbl.add told after y))
        row;
      told)
    layer.next

(* Do two entries of a row differ where one head's point alone does? *)
let matters row stride points =
  let differs = ref false in
  let size = Array.length row in
  let block = ref 0 in
  while !block < size do
    for r = 0 to stride - 1 do
      let seen = ref None in
      for p = 0 to points - 1 do
        match row.(!block + r + (p * stride)), !seen with
        | None, _ -> ()
        | Some y, None -> seen := Some y
        | Some y, Some other -> if y <> other then differs := true
      done
    done;
    block := !block + (stride * points)
  done;
  !differs

(* One layer, whose letters are 0, ..., letters - 1; `states` is given for the last one.  Gives the number of letters of
   the next layer too. *)
let read ~cascade ~letters ~last ~states where value =
  let get = Reading.record where [ "heads"; "reads"; "next" ] value in
  let raw = Reading.array (where ^ ".heads") (get "heads") in
  need (Array.length raw > 0) (where ^ ".heads: empty");
  let heads =
    Array.mapi (fun h -> Head.read ~layered:true letters (Printf.sprintf "%s.heads[%d]" where h)) raw in
  need (cascade || not (Array.exists (fun (h : Head.t) -> h.pairs) heads)) "pairs belong to a cascade, which has a covering";
  let reads =
    Array.mapi
      (fun x item ->
        let where = Printf.sprintf "%s.reads[%d]" where x in
        let found = List.map (Reading.integer where 0 (Array.length heads - 1)) (Reading.list where item) in
        let rec ascending = function
          | a :: (b :: _ as rest) -> need (a < b) (where ^ ": heads in ascending order"); ascending rest
          | _ -> () in
        ascending found;
        found)
      (Reading.array ~length:letters (where ^ ".reads") (get "reads")) in
  let given = Reading.array ~length:letters (where ^ ".next") (get "next") in
  let next =
    Array.mapi
      (fun x item ->
        let where = Printf.sprintf "%s.next[%d]" where x in
        let row = Reading.array where item in
        (* no product is taken beyond the entries there are: it could be too large for a native integer *)
        let entries = Array.length row in
        let size = List.fold_left (fun n h -> if n > entries then n else n * heads.(h).Head.points) 1 reads.(x) in
        need (entries = size)
          (Printf.sprintf "%s: %d entries, not one for each point of the heads that are read" where entries);
        Array.map
          (function
            | Null -> None
            | Int n when Z.fits_int n -> Some (Z.to_int n)
            | _ -> raise (Invalid (where ^ ": an entry is neither an integer nor null")))
          row)
      given in
  let seen = Hashtbl.create 16 in
  let kinds = ref 0 in
  Array.iter
    (Array.iter (function
       | None -> ()
       | Some y when last -> need (y >= 0 && y < states) (where ^ ".next: no state of the automaton")
       | Some y ->
         need (y >= 0 && y <= !kinds) (where ^ ".next: letters are not numbered as they appear");
         if not (Hashtbl.mem seen y) then (Hashtbl.add seen y (); incr kinds)))
    next;
  Array.iteri
    (fun x read ->
      let size = ref (Array.length next.(x)) in
      List.iter
        (fun h ->
          let points = heads.(h).Head.points in
          size := !size / points;
          need (matters next.(x) !size points) (Printf.sprintf "%s.reads[%d]: a head is read in vain" where x))
        read)
    reads;
  (heads, reads, next, !kinds)

(* ---- Joint codes. *)

(* The rows `[state, code of each head]`, every index in range and the first over the start state. *)
let decode_rows value heads start states =
  let rows =
    Array.map
      (fun row ->
        let items = Reading.array ~length:(1 + Array.length heads) "decode" row in
        Array.mapi
          (fun i item ->
            let most = if i = 0 then states else Array.length heads.(i - 1).Head.codes in
            Reading.integer "decode" 0 (most - 1) item)
          items)
      (Reading.array "decode" value) in
  need (Array.length rows > 0 && rows.(0).(0) = start) "decode: the first code is not the start's";
  rows

(* A search for rows by their codes, which are given layer by layer. *)
let row_finder rows sizes =
  let split row =
    let rec go place = function
      | [] -> []
      | n :: rest -> Array.to_list (Array.sub row place n) :: go (place + n) rest in
    go 1 sizes in
  let codes = Array.map split rows in
  let count = Array.length rows in
  (* the joint code of a single head is one number; others are looked up by a key *)
  let key joint = List.fold_left (List.fold_left (fun h c -> (h * 65599) + c)) 0 joint in
  let single = sizes = [ 1 ] in
  let of_code = if single then Array.make (Array.fold_left (fun n row -> max n (row.(1) + 1)) 0 rows) count else [||] in
  let places = Hashtbl.create (if single then 1 else 2 * count) in
  (* a row that may be the one sought: the proved checker compares *)
  let find joint =
    match joint with
    | [ [ c ] ] when single -> if c < Array.length of_code then of_code.(c) else count
    | _ ->
      match Hashtbl.find_all places (key joint) with
      | [] -> count
      | [ r ] -> r
      | several -> (match List.find_opt (fun r -> Extracted.equal_codes codes.(r) joint) several with Some r -> r | None -> count) in
  let find_exactly joint =
    let r = find joint in
    if single || (r < count && Extracted.equal_codes codes.(r) joint) then r else count in
  Array.iteri
    (fun r joint ->
      need (find_exactly joint = count) "decode: two codes are equal";
      match joint with
      | [ [ c ] ] when single -> of_code.(c) <- r
      | _ -> Hashtbl.add places (key joint) r)
    codes;
  (codes, find, find_exactly)

(* The first entry of a code, if it has one, is positive. *)
let starts_positive (head : Head.t) c =
  match head.codes.(c) with [] -> true | (_, _, x) :: _ -> Number.sign head.field x > 0

(* All joint codes from the first, breadth first: the order of the rows, of codes and of read-outs that never occur. *)
let check_order (machine : Reading.machine) layers rows find =
  let heads = Array.concat (List.map (fun l -> l.heads) (Array.to_list layers)) in
  Array.iteri (fun h head -> need (starts_positive head rows.(0).(h + 1)) "decode[0]: it starts negative") heads;
  let occurs = Array.map (fun l -> Array.map (fun row -> Array.make (Array.length row) false) l.next) layers in
  let met = ref 1 in
  Array.iteri
    (fun done_ row ->
      need (done_ < !met) "decode: a code is never reached";
      for x = 0 to machine.letters - 1 do
        let place = ref 1 and letter = ref x in
        let after =
          Array.to_list
            (Array.mapi
               (fun i layer ->
                 let n = Array.length layer.heads in
                 let codes = Array.sub row !place n in
                 let x = !letter in
                 let c = column layer x codes in
                 occurs.(i).(x).(c) <- true;
                 let following =
                   match layer.next.(x).(c) with
                   | Some y -> y
                   | None ->
                     raise (Invalid (Printf.sprintf "layers[%d].next[%d][%d]: it is null, but it occurs" i x c)) in
                 place := !place + n;
                 letter := following;
                 Array.to_list
                   (Array.mapi (fun h c -> layer.images.(h).(layer.heads.(h).Head.actions.(x)).(c)) codes))
               layers) in
        let right = machine.delta.(x).(row.(0)) in
        if !letter <> right then
          raise
            (Invalid (Printf.sprintf "letter %d at decode[%d]: the read-out says %d, not %d" x done_ !letter right));
        let r = find after in
        need (r < Array.length rows) "decode: a code is missing";
        if r >= !met then begin
          need_by (r = !met) (fun () -> Printf.sprintf "decode[%d]: the code reached here is another one" !met);
          incr met
        end;
        if rows.(r).(0) <> right then
          raise (Invalid (Printf.sprintf "letter %d takes decode[%d] over state %d" x done_ rows.(r).(0)))
      done)
    rows;
  let covered = Array.make machine.states false in
  Array.iter (fun row -> covered.(row.(0)) <- true) rows;
  need (Array.for_all Fun.id covered) "decode: a state has no code";
  let images = Array.concat (List.map (fun l -> l.images) (Array.to_list layers)) in
  Array.iteri
    (fun h (head : Head.t) ->
      let reached = ref 0 in
      Array.iter
        (fun row ->
          need_by (row.(h + 1) <= !reached) (fun () -> Printf.sprintf "decode, head %d: codes are not numbered as they appear" h);
          if row.(h + 1) = !reached then incr reached)
        rows;
      Array.iteri
        (fun c _ ->
          need_by (c < !reached) (fun () -> head.where ^ ": a code is never reached");
          Array.iter
            (fun image ->
              need_by (image.(c) <= !reached) (fun () -> head.where ^ ": codes are not numbered as they are reached");
              reached := max !reached (image.(c) + 1))
            images.(h))
        head.codes)
    heads;
  Array.iteri
    (fun i layer ->
      Array.iteri
        (fun x row ->
          Array.iteri
            (fun c y ->
              need_by (occurs.(i).(x).(c) = (y <> None))
                (fun () -> Printf.sprintf "layers[%d].next[%d][%d]: null if it never occurs" i x c))
            row)
        layer.next)
    layers
