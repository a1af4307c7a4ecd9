(* The largest integer that the checking of a head meets, of weights, codes and partial sums in any order of summation.

   Recomputed for the summary; no proof rests on it. *)

open Head
open Number

(* Numbers up to this are multiplied and added as integers of the machine: sums of so many products of two are at most 2^42, and times
   another 2^56. *)
let small = 1 lsl 14

(* The same for the marked factors on each code alone, where all numbers are small. *)
let small_largest head factors columns visited =
  let most = ref 0 in
  let see x = if x > !most then most := x else if - x > !most then most := - x in
  let at, set = Lookup.make_matrix head.dim head.value_dim 0 in
  let machine = Array.map (fun (i, x) -> (i, Z.to_int x)) in
  let factors = Array.map (fun (scaled, reading) -> (machine scaled, machine reading)) factors in
  Array.iteri
    (fun c code ->
      List.iter (fun (i, j, x) -> set i j (Z.to_int (integer_part x))) code;
      Array.iteri
        (fun f (scaled, reading) ->
          if Bytes.get visited.(f) c = '1' then
            List.iter
              (fun j ->
                let up = ref 0 and down = ref 0 in
                for n = 0 to Array.length reading - 1 do
                  let k, weight = reading.(n) in
                  let term = weight * at k j in
                  see term;
                  if term > 0 then up := !up + term else down := !down + term
                done;
                let sum = !up + !down in
                see sum;
                if Array.length reading > 2 then (see !up; see !down);
                if sum <> 0 then
                  for n = 0 to Array.length scaled - 1 do
                    let i, x = scaled.(n) in
                    let change = x * sum in
                    see change;
                    see (at i j - change)
                  done)
              columns.(c))
        factors;
      List.iter (fun (i, j, _) -> set i j 0) code)
    head.codes;
  !most

let largest head factor_image =
  let high = ref Z.zero and low = ref Z.zero in
  let see x = if Z.gt x !high then high := x else if Z.lt x !low then low := x in
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
      (fun (f : factor) ->
        let beta = integer_part f.beta and key = weights f.key in
        see beta;
        List.iter (fun (_, x) -> see x; see (Z.mul beta x)) key;
        (Array.of_list (List.map (fun (i, x) -> (i, Z.mul beta x)) key), Array.of_list (weights f.reading)))
      head.factors in
  let width = head.value_dim in
  let at, set_at = Lookup.make_matrix head.dim width Z.zero in
  let touched = ref [] in
  let set i j x =
    set_at i j x;
    touched := (i, j) :: !touched in
  let load c = List.iter (fun (i, j, x) -> set i j (integer_part x)) head.codes.(c) in
  let clear () =
    List.iter (fun (i, j) -> set_at i j Z.zero) !touched;
    touched := [] in
  (* the sum of weighted numbers, its terms, and where there are more than two what the positive and the negative add up to *)
  let total column terms =
    let sum = ref Z.zero and up = ref Z.zero and down = ref Z.zero in
    for n = 0 to Array.length terms - 1 do
      let k, weight = terms.(n) in
      let x = at k column in
      if not (Z.equal x Z.zero) then begin
        let term = Z.mul weight x in
        see term;
        sum := Z.add !sum term;
        if Z.sign term > 0 then up := Z.add !up term else down := Z.add !down term
      end
    done;
    see !sum;
    if Array.length terms > 2 then (see !up; see !down);
    !sum in
  let columns c =
    if width = 1 then [ 0 ] else List.sort_uniq compare (List.map (fun (_, j, _) -> j) head.codes.(c)) in
  (* what a factor makes of the entries is looked at, and kept where more is done to it *)
  let apply_factor ~keep columns f =
    let scaled, reading = factors.(f) in
    List.iter
      (fun j ->
        let sum = total j reading in
        if not (Z.equal sum Z.zero) then
          for n = 0 to Array.length scaled - 1 do
            let i, x = scaled.(n) in
            let change = Z.mul x sum in
            see change;
            let after = Z.sub (at i j) change in
            see after;
            if keep then set i j after
          done)
      columns in
  let add_additive (t : transition) = List.iter (fun (i, j, x) -> see (Z.add (at i j) (integer_part x))) t.additive in
  let apply_matrix columns entries =
    let rows = Hashtbl.create 16 in
    List.iter
      (fun (i, k, a) ->
        Hashtbl.replace rows i ((k, integer_part a) :: Option.value ~default:[] (Hashtbl.find_opt rows i)))
      entries;
    let after = ref [] in
    Hashtbl.iter
      (fun i row ->
        let row = Array.of_list row in
        List.iter (fun j -> after := (i, j, total j row) :: !after) columns)
      rows;
    clear ();
    List.iter (fun (i, j, x) -> set i j x) !after in
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
    | (f : factor) :: rest ->
      let after = factor_image f.number c in
      if after < count then begin
        Bytes.set visited.(f.number) c '1';
        follow t after rest
      end else begin
        let columns = columns c in
        load c;
        List.iter (fun (f : factor) -> apply_factor ~keep:true columns f.number) (f :: rest);
        add_additive t;
        clear ()
      end in
  Array.iter
    (fun (t : transition) ->
      let by_factors = t.matrix = None && equals_integer 1 t.gate in
      for c = 0 to count - 1 do
        if by_factors then follow t c t.factors
        else begin
          let columns = columns c in
          load c;
          (match t.matrix with
           | Some entries -> apply_matrix columns entries
           | None ->
             List.iter (fun (i, j) -> set_at i j (Z.mul (integer_part t.gate) (at i j))) (List.sort_uniq compare !touched);
             List.iter (fun (f : factor) -> apply_factor ~keep:true columns f.number) t.factors);
          add_additive t;
          clear ()
        end
      done)
    head.transitions;
  (* the factors that lead a code to a code *)
  let in_codes = Array.fold_left (List.fold_left (fun most (_, _, x) -> Z.max most (Z.abs (integer_part x)))) Z.zero head.codes in
  let sizes = Array.map (fun (scaled, reading) -> Array.map (fun (i, x) -> (i, Z.abs x)) (Array.append scaled reading)) factors in
  let in_factors = Array.fold_left (Array.fold_left (fun most (_, x) -> Z.max most x)) Z.zero sizes in
  let longest = Array.fold_left (fun n row -> max n (Array.length row)) 0 sizes in
  let columns_of = Array.init count columns in
  if Z.leq (Z.max in_codes in_factors) (Z.of_int small) && longest <= small then begin
    let most = small_largest head factors columns_of visited in
    see (Z.of_int most)
  end else
    for c = 0 to count - 1 do
      load c;
      Array.iteri (fun f codes -> if Bytes.get codes c = '1' then apply_factor ~keep:false columns_of.(c) f) visited;
      clear ()
    done;
  Z.max !high (Z.neg !low)
