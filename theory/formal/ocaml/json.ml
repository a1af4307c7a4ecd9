(* A strict reader of JSON, as the Python checkers read it: integers of any size, no decimals, exponents or special
   constants, no repeated key. *)

exception Invalid of string

let need condition reason = if not condition then raise (Invalid reason)

(* The same where the reason takes time to write, and is asked for many times. *)
let need_by condition reason = if not condition then raise (Invalid (reason ()))

type t = Null | Bool of bool | Int of Z.t | String of string | List of t list | Object of (string * t) list

(* Tables whose keys are values, of which the hash reads every part: `Hashtbl.hash` alone reads ten, so that long values with one
   beginning would all lie in one place. *)
module By_value = Hashtbl.Make (struct
  type nonrec t = t

  let equal (x : t) y = x = y
  let mix key part = (key * 0x2545F4914F6CDD1D) + part + 1

  let rec read key = function
    | Null -> mix key 0
    | Bool b -> mix key (Bool.to_int b)
    | Int z -> mix key (Hashtbl.hash z)
    | String s -> mix key (Hashtbl.hash s)
    | List items -> mix (List.fold_left read (mix key 2) items) 3
    | Object items -> mix (List.fold_left (fun key (name, item) -> read (mix key (Hashtbl.hash name)) item) (mix key 4) items) 5

  let hash value =
    let key = read 0 value in
    (key lxor (key lsr 32)) land max_int
end)

let max_depth = 900 (* Python's own reader gives up near 1,000 *)
let max_digits = 4300 (* as Python's *)

(* The small integers, each once. *)
let small = Array.init 1024 (fun n -> Int (Z.of_int n))

let refuse what = raise (Invalid ("not JSON: " ^ what))

let parse text =
  let length = String.length text in
  let place = ref 0 in
  let fail () = refuse (Printf.sprintf "byte %d" !place) in
  let peek () = if !place < length then text.[!place] else '\000' in
  let blanks () =
    while !place < length && (match text.[!place] with ' ' | '\t' | '\n' | '\r' -> true | _ -> false) do incr place done in
  let expect word value =
    let n = String.length word in
    if !place + n <= length && String.sub text !place n = word then (place := !place + n; value) else fail () in
  let hexadecimal () =
    if !place + 4 > length then fail () else begin
      let digits = String.sub text !place 4 in
      if not (String.for_all (function '0' .. '9' | 'a' .. 'f' | 'A' .. 'F' -> true | _ -> false) digits)
      then fail ();
      place := !place + 4;
      int_of_string ("0x" ^ digits)
    end in
  (* UTF-8 of a code point; a surrogate alone is kept as three bytes, so that texts that differ stay different *)
  let add_point buffer point =
    let byte b = Buffer.add_char buffer (Char.chr b) in
    if point < 0x80 then byte point
    else if point < 0x800 then (byte (0xC0 lor (point lsr 6)); byte (0x80 lor (point land 63)))
    else if point < 0x10000 then begin
      byte (0xE0 lor (point lsr 12)); byte (0x80 lor ((point lsr 6) land 63)); byte (0x80 lor (point land 63))
    end else begin
      byte (0xF0 lor (point lsr 18)); byte (0x80 lor ((point lsr 12) land 63));
      byte (0x80 lor ((point lsr 6) land 63)); byte (0x80 lor (point land 63))
    end in
  (* the place of the next character that ends a string or must be looked at *)
  let rec plain_until i =
    if i < length then match text.[i] with '"' | '\\' | '\000' .. '\031' -> i | _ -> plain_until (i + 1) else i in
  (* a string from `start` on, which is plain until `stop` *)
  let read_escaped start stop =
    let buffer = Buffer.create 16 in
    Buffer.add_substring buffer text start (stop - start);
    place := stop;
    let rec go () =
      if !place >= length then fail ();
      match text.[!place] with
      | '"' -> incr place
      | '\\' ->
        incr place;
        let c = peek () in
        incr place;
        (match c with
         | '"' | '\\' | '/' -> Buffer.add_char buffer c
         | 'b' -> Buffer.add_char buffer '\b'
         | 'f' -> Buffer.add_char buffer '\012'
         | 'n' -> Buffer.add_char buffer '\n'
         | 'r' -> Buffer.add_char buffer '\r'
         | 't' -> Buffer.add_char buffer '\t'
         | 'u' ->
           let first = hexadecimal () in
           if first >= 0xD800 && first < 0xDC00 && !place + 6 <= length && text.[!place] = '\\'
              && text.[!place + 1] = 'u' then begin
             let here = !place in
             place := !place + 2;
             let second = hexadecimal () in
             if second >= 0xDC00 && second < 0xE000 then
               add_point buffer (0x10000 + ((first - 0xD800) lsl 10) + (second - 0xDC00))
             else (place := here; add_point buffer first)
           end else add_point buffer first
         | _ -> fail ());
        go ()
      | c when c < ' ' -> fail ()
      | c -> Buffer.add_char buffer c; incr place; go () in
    go ();
    Buffer.contents buffer in
  let read_string () =
    let start = !place + 1 in
    let stop = plain_until start in
    if stop < length && text.[stop] = '"' then begin
      place := stop + 1;
      String.sub text start (stop - start)
    end else read_escaped start stop in
  let read_number () =
    let start = !place in
    let negative = peek () = '-' in
    if negative then incr place;
    let first = !place in
    (* the number that the first 18 digits are; more are read again *)
    let n = ref 0 in
    (match peek () with
     | '0' -> incr place
     | '1' .. '9' ->
       let i = ref first in
       while !i < length && text.[!i] >= '0' && text.[!i] <= '9' do
         if !i - first < 18 then n := (10 * !n) + Char.code text.[!i] - 48;
         incr i
       done;
       place := !i
     | _ -> fail ());
    let n = !n in
    (match peek () with
     | '.' | 'e' | 'E' -> raise (Invalid (Printf.sprintf "byte %d: not an exact number" !place))
     | _ -> ());
    let count = !place - first in
    if count > max_digits then refuse "an integer of too many digits";
    if count > 18 then Int (Z.of_string (String.sub text start (!place - start)))
    else if n < Array.length small && not negative then small.(n)
    else Int (Z.of_int (if negative then -n else n)) in
  let rec value depth =
    if depth > max_depth then refuse "lists within lists, too deep";
    blanks ();
    let result =
      match peek () with
      | '{' ->
        incr place; blanks ();
        if peek () = '}' then (incr place; Object [])
        else begin
          let seen = lazy (Hashtbl.create 64) in
          (* few keys are looked for in the list *)
          let repeated key count found =
            if count < 8 then List.mem_assoc key found
            else begin
              let seen = Lazy.force seen in
              if count = 8 then List.iter (fun (key, _) -> Hashtbl.add seen key ()) found;
              Hashtbl.mem seen key || (Hashtbl.add seen key (); false)
            end in
          let rec items count found =
            blanks ();
            if peek () <> '"' then fail ();
            let key = read_string () in
            need (not (repeated key count found)) "a key occurs twice in one object";
            blanks ();
            if peek () <> ':' then fail ();
            incr place;
            let item = value (depth + 1) in
            match peek () with
            | ',' -> incr place; items (count + 1) ((key, item) :: found)
            | '}' -> incr place; Object (List.rev ((key, item) :: found))
            | _ -> fail () in
          items 0 []
        end
      | '[' ->
        incr place; blanks ();
        if peek () = ']' then (incr place; List [])
        else begin
          let rec items found =
            let item = value (depth + 1) in
            match peek () with
            | ',' -> incr place; items (item :: found)
            | ']' -> incr place; List (List.rev (item :: found))
            | _ -> fail () in
          items []
        end
      | '"' -> String (read_string ())
      | 't' -> expect "true" (Bool true)
      | 'f' -> expect "false" (Bool false)
      | 'n' -> expect "null" Null
      | _ -> read_number () in
    blanks ();
    result in
  let result = value 0 in
  if !place < length then fail ();
  result
