(* mirrormata-check CERTIFICATE: `valid: ...` with exit status 0, `invalid: REASON` with 1; 2 where the file cannot be
   read or the kind is not one of those below. *)

(* One line for each kind; a checker takes the JSON and gives a line of facts, or raises `Json.Invalid`. *)
let kinds : (string * (Json.t -> string)) list = [ ("table", Table.check); ("chain", Chain.check); ("delay", Delay.check);
    ("equivalent", Equivalent.check) ]

exception Unknown of string

let check document =
  match Reading.find "kind" document with
  | None | Some Json.Null -> raise (Json.Invalid "no certificate: an object with a kind is needed")
  | Some (Json.String kind) when List.mem_assoc kind kinds -> (List.assoc kind kinds) document
  | Some (Json.String kind) -> raise (Unknown kind)
  | Some other -> raise (Json.Invalid ("unknown kind: " ^ Reading.show other))

let read path =
  if Sys.file_exists path && Sys.is_directory path then raise (Sys_error (path ^ ": is a folder, a file is needed"));
  let channel = open_in_bin path in
  Fun.protect ~finally:(fun () -> close_in channel) (fun () ->
      really_input_string channel (in_channel_length channel))

(* Whether a text is UTF-8, without surrogates and overlong forms. *)
let is_utf8 text =
  let byte i = if i < String.length text then Char.code text.[i] else 0 in
  let follows i count = List.for_all (fun k -> byte (i + k) land 0xC0 = 0x80) (List.init count succ) in
  let rec go i =
    if i >= String.length text then true
    else if i + 8 <= String.length text && Int64.logand (String.get_int64_ne text i) 0x8080808080808080L = 0L then go (i + 8)
    else begin
      let b = byte i and next = byte (i + 1) in
      if b < 0x80 then go (i + 1)
      else if b >= 0xC2 && b < 0xE0 then follows i 1 && go (i + 2)
      else if b >= 0xE0 && b < 0xF0 then
        follows i 2 && (b > 0xE0 || next >= 0xA0) && (b <> 0xED || next < 0xA0) && go (i + 3)
      else b >= 0xF0 && b < 0xF5 && follows i 3 && (b > 0xF0 || next >= 0x90) && (b < 0xF4 || next < 0x90) && go (i + 4)
    end in
  go 0

let () =
  (* what is made is small and mostly kept: a first heap that stays in the cache, and a second one that grows in large steps and is
     seldom looked through *)
  Gc.set
    { (Gc.get ()) with
      minor_heap_size = 1 lsl 15; space_overhead = 1000; allocation_policy = 0; major_heap_increment = 1 lsl 18 };
  let stop status message = prerr_endline message; exit status in
  match Sys.argv with
  | [| _; "--kinds" |] -> List.iter (fun (kind, _) -> print_endline kind) kinds
  | [| _; path |] ->
    (match read path with
     | exception Sys_error reason -> stop 2 reason  (* which begins with the path *)
     | text when not (is_utf8 text) -> stop 2 (path ^ ": cannot be read: not UTF-8")
     | text ->
       match check (Json.parse text) with
       | facts -> print_endline ("valid: " ^ facts)
       | exception Json.Invalid reason -> print_endline ("invalid: " ^ reason); exit 1
       | exception (Invalid_argument _ | Not_found | Failure _ | Division_by_zero) ->
         print_endline "invalid: malformed"; exit 1
       (* what this machine cannot do says nothing about the certificate *)
       | exception Stack_overflow -> stop 2 (path ^ ": too long for the stack; raise it with `ulimit -s unlimited`")
       | exception (Out_of_memory | Z.Overflow) -> stop 2 (path ^ ": too large for the memory of this machine")
       | exception Number.Limit what -> stop 2 (path ^ ": " ^ what)
       | exception Number.Unsupported what -> stop 2 (Printf.sprintf "%s: no proved checker for %s" path what)
       | exception Unknown kind ->
         stop 2 (Printf.sprintf "%s: no proved checker for the kind '%s': it checks %s" path (String.escaped kind)
                   (String.concat ", " (List.map fst kinds))))
  | _ -> stop 2 "usage: mirrormata-check CERTIFICATE"
