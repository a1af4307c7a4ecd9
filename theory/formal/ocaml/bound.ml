(* The largest integer that the checking of a head meets, of weights, codes and partial sums in any order of summation.

   Recomputed for the summary; no proof rests on it. *)

open Head
open Number

let largest head factor_image =
  let most = ref Z.zero in
  let see x =
    let x = Z.abs x in
    if Z.gt x !most then most := x in
  let see_entry (_, _, x) = see (integer_part x) in
  let weights = List.map (fun (i, x) -> (i, integer_part x)) in
  Array.iter (List.iter see_entry) head.vectors;
  Array.iter
    (fun (t : transition) ->
      see Z.one;
      see (integer_part t.gate);
      List.iter see_entry t.additive;
      Option.iter (List.iter see_entry) t.matrix)
    head.transitions;
  let factors =
    Array.map
      (fun f ->
        let beta = integer_part f.beta and key = weights f.key in
        see beta;
        List.iter (fun (_, x) -> see x; see (Z.mul beta x)) key;
        (List.map (fun (i, x) -> (i, Z.mul beta x)) key, weights f.reading, List.length f.reading > 2))
      head.factors in
  let dim = head.dim and width = head.value_dim in
  let h = Array.make (dim * width) Z.zero in
  let touched = ref [] in
  let set place x =
    h.(place) <- x;
    touched := place :: !touched in
  let load c = List.iter (fun (i, j, x) -> set ((i * width) + j) (integer_part x)) head.codes.(c) in
  let clear () =
    List.iter (fun place -> h.(place) <- Z.zero) !touched;
    touched := [] in
  (* the sum of weighted numbers, its terms, and where there are more than two what the positive and the negative add up to *)
  let total many column terms =
    let sum = ref Z.zero and up = ref Z.zero and down = ref Z.zero in
    List.iter
      (fun (k, weight) ->
        let x = h.((k * width) + column) in
        if Z.sign x <> 0 then begin
          let term = Z.mul weight x in
          see term;
          sum := Z.add !sum term;
          if Z.sign term > 0 then up := Z.add !up term else down := Z.add !down term
        end)
      terms;
    see !sum;
    if many then (see !up; see !down);
    !sum in
  let columns c =
    if width = 1 then [ 0 ] else List.sort_uniq compare (List.map (fun (_, j, _) -> j) head.codes.(c)) in
  let apply_factor columns f =
    let scaled, reading, many = factors.(f) in
    List.iter
      (fun j ->
        let sum = total many j reading in
        if Z.sign sum <> 0 then
          List.iter
            (fun (i, x) ->
              let change = Z.mul x sum in
              see change;
              let place = (i * width) + j in
              let after = Z.sub h.(place) change in
              see after;
              set place after)
            scaled)
      columns in
  let add_additive (t : transition) =
    List.iter (fun (i, j, x) -> see (Z.add h.((i * width) + j) (integer_part x))) t.additive in
  let apply_matrix columns entries =
    let rows = Hashtbl.create 16 in
    List.iter
      (fun (i, k, a) ->
        Hashtbl.replace rows i ((k, integer_part a) :: Option.value ~default:[] (Hashtbl.find_opt rows i)))
      entries;
    let after = ref [] in
    Hashtbl.iter
      (fun i row -> List.iter (fun j -> after := ((i * width) + j, total (List.length row > 2) j row) :: !after) columns)
      rows;
    clear ();
    List.iter (fun (place, x) -> set place x) !after in
  (* each factor on each code once; where it leads to no code, the others are applied to what it leads to *)
  let count = Array.length head.codes in
  let visited = Array.map (fun _ -> Bytes.make count '0') head.factors in
  let rec follow (t : transition) c = function
    | [] ->
      if t.additive <> [] then begin
        load c;
        add_additive t;
        clear ()
      end
    | f :: rest ->
      let after = factor_image f.number c in
      if after < count && Bytes.get visited.(f.number) c = '1' then follow t after rest
      else begin
        Bytes.set visited.(f.number) c '1';
        let columns = columns c in
        load c;
        apply_factor columns f.number;
        if after >= count then begin
          List.iter (fun f -> apply_factor columns f.number) rest;
          add_additive t
        end;
        clear ();
        if after < count then follow t after rest
      end in
  Array.iter
    (fun (t : transition) ->
      for c = 0 to count - 1 do
        match t.matrix with
        | None when equals_integer 1 t.gate -> follow t c t.factors
        | matrix ->
          let columns = columns c in
          load c;
          (match matrix with
           | Some entries -> apply_matrix columns entries
           | None ->
             List.iter (fun place -> h.(place) <- Z.mul (integer_part t.gate) h.(place)) (List.sort_uniq compare !touched);
             List.iter (fun f -> apply_factor columns f.number) t.factors);
          add_additive t;
          clear ()
      done)
    head.transitions;
  !most
