(* A strict reader of JSON, as the Python checkers read it: integers of any size, no decimals, exponents or special
   constants, no repeated key. *)

exception Invalid of string

let need condition reason = if not condition then raise (Invalid reason)

type t = Null | Bool of bool | Int of Z.t | String of string | List of t list | Object of (string * t) list

let max_depth = 900 (* Python's own reader gives up near 1,000 *)
let max_digits = 4300 (* as Python's *)

let refuse what = raise (Invalid ("not JSON: " ^ what))

let parse text =
  let length = String.length text in
  let place = ref 0 in
  let fail () = refuse (Printf.sprintf "byte %d" !place) in
  let peek () = if !place < length then text.[!place] else '\000' in
  let rec blanks () =
    match peek () with
    | ' ' | '\t' | '\n' | '\r' -> incr place; blanks ()
    | _ -> () in
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
  let read_string () =
    let buffer = Buffer.create 16 in
    incr place;
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
  let read_number () =
    let start = !place in
    if peek () = '-' then incr place;
    let rec digits () = match peek () with '0' .. '9' -> incr place; digits () | _ -> () in
    (match peek () with '0' -> incr place | '1' .. '9' -> digits () | _ -> fail ());
    (match peek () with
     | '.' | 'e' | 'E' -> raise (Invalid (Printf.sprintf "byte %d: not an exact number" !place))
     | _ -> ());
    let size = !place - start in
    if size > max_digits then refuse "an integer of too many digits";
    if size > 18 then Int (Z.of_string (String.sub text start size))
    else begin
      (* small enough for the machine's integers *)
      let negative = text.[start] = '-' in
      let n = ref 0 in
      for i = (if negative then start + 1 else start) to !place - 1 do
        n := (10 * !n) + Char.code text.[i] - 48
      done;
      Int (Z.of_int (if negative then - !n else !n))
    end in
  let rec value depth =
    if depth > max_depth then refuse "lists within lists, too deep";
    blanks ();
    let result =
      match peek () with
      | '{' ->
        incr place; blanks ();
        if peek () = '}' then (incr place; Object [])
        else begin
          let seen = Hashtbl.create 8 in
          let rec items found =
            blanks ();
            if peek () <> '"' then fail ();
            let key = read_string () in
            need (not (Hashtbl.mem seen key)) "a key occurs twice in one object";
            Hashtbl.add seen key ();
            blanks ();
            if peek () <> ':' then fail ();
            incr place;
            let item = value (depth + 1) in
            match peek () with
            | ',' -> incr place; items ((key, item) :: found)
            | '}' -> incr place; Object (List.rev ((key, item) :: found))
            | _ -> fail () in
          items []
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
