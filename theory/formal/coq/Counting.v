(* Counting: signs that ripple, and reflections of the plane.

   - ripple_counts (own.T2tight): L scalar layers of factors 1 and -1 count modulo 2^L.
   - Rotations of the plane are the powers of z = [[c, -s], [s, c]] with c^2 + s^2 = 1, reflections are Ref(k) = z^k J with
     J = diag(1, -1); angles are integers, in steps of the angle of z.  reflection_is_factor: each is one generalized
     Householder factor.  rotation_by_two: each z^(2k) is two of them.
   - modular_addition (G.T6), dihedral_words (DP.T7), one_layer_counter (DP.L2): the layers follow Z_m and D_m for every m, if z
     has order 2m; root_exists: such c and s are there for every m, among the real algebraic numbers.
   - printed_dihedral (DP.T7.printed): with the printed angles the word s_0 is decoded wrong for every m >= 2. *)
Set Warnings "-notation-overridden,-ambiguous-paths".
From mathcomp Require Import all_ssreflect all_fingroup all_algebra all_field.
From Mirrormata Require Import Identities.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Open Scope ring_scope.

Section Ripple.
Implicit Types (h : int) (hs : seq int) (carry : bool).

(* One token: layer 0 is multiplied by -1 if the token is 1, and each later layer exactly if the token is 1 and all layers
   before it hold 1 after the token, that is, if all lower bits carry.  -1 is the bit 1. *)
Fixpoint ripple carry hs : seq int :=
  if hs is h :: hs' then let h' := (if carry then -1 else 1) * h in h' :: ripple (carry && (h' == 1)) hs' else [::].

(* The number that the signs show. *)
Fixpoint shown hs : nat := if hs is h :: hs' then ((h == -1)%R + 2 * shown hs')%N else 0%N.

Definition signs hs := all (fun h => (h == 1) || (h == -1)) hs.

Lemma shown_small hs : (shown hs < 2 ^ size hs)%N.
Proof.
elim: hs => //= h hs IH; rewrite expnS !mul2n; apply: leq_ltn_trans (_ : 1 + (shown hs).*2 < _)%N.
  by rewrite leq_add2r; case: eqP.
by rewrite add1n ltn_Sdouble.
Qed.

Lemma ripple_step hs : signs hs -> forall carry,
  signs (ripple carry hs) /\ shown (ripple carry hs) = ((shown hs + carry) %% 2 ^ size hs)%N.
Proof.
elim: hs => [|h hs IH] /=; first by move=> _ carry; rewrite modn1.
case/andP=> hs1 /IH{}IH carry; have small := shown_small hs; have small' := @shown_small (h :: hs).
case: carry => /=; last first.
  have [s e] := IH false; rewrite mul1r hs1 s e; split=> //.
  by rewrite !addn0 !modn_small.
case/orP: hs1 => /eqP-> /=.
  have [s e] := IH false; rewrite mulr1 s e; split=> //.
  rewrite addn0 modn_small // add0n addnC modn_small // expnS mul2n.
  by rewrite addn1 mul2n ltn_Sdouble.
have [s e] := IH true; rewrite mulrNN mulr1 s e; split=> //.
by rewrite add0n muln_modr expnS; congr (_ %% _)%N; rewrite mulnDr muln1 addnAC addnC.
Qed.

Lemma size_ripple carry hs : size (ripple carry hs) = size hs.
Proof. by elim: hs carry => //= h hs IH carry; rewrite IH. Qed.

(* own.T2tight (all).  L layers that start at 1 show the number of ones modulo 2^L after every word. *)
Theorem ripple_counts L (w : seq bool) :
  shown (foldl (fun hs b => ripple b hs) (nseq L 1) w) = (count id w %% 2 ^ L)%N.
Proof.
suff [_ _ //]: let hs := foldl (fun hs b => ripple b hs) (nseq L 1) w in
  [/\ size hs = L, signs hs & shown hs = (count id w %% 2 ^ L)%N].
elim/last_ind: w => [|w b] /=.
  rewrite size_nseq mod0n; split=> //; first by rewrite /signs all_nseq orbT.
  by elim: L => //= L ->.
rewrite foldl_rcons => [] [sz sg sh]; have [sg' sh'] := ripple_step sg b.
split=> //; first by rewrite size_ripple.
by rewrite sh' sz sh modnDml -cats1 count_cat /= addn0.
Qed.
End Ripple.

Lemma dvdzN (d x : int) : (d %| - x)%Z = (d %| x)%Z.
Proof. by rewrite !dvdzE abszN. Qed.
Lemma dvdz_equal (d x y : int) : (d %| x)%Z -> x = y -> (d %| y)%Z.
Proof. by move=> dx <-. Qed.

Section Plane.
Variables (F : fieldType).
Implicit Types (c s : F) (k l : int).

(* The rotation with cosine c and sine s, and the reflection at the first axis. *)
Definition rot c s : 'M[F]_2 := \matrix_(i, j) (if i == j then c else if i == 0 then - s else s).
Definition J : 'M[F]_2 := \matrix_(i, j) (if i == j then if i == 0 then 1 else -1 else 0).
Definition e1 : 'cV[F]_2 := delta_mx 0 0.
Definition on_circle c s := c * c + s * s = 1.

Lemma mx2P (A B : 'M[F]_2) : A 0 0 = B 0 0 -> A 0 1 = B 0 1 -> A 1 0 = B 1 0 -> A 1 1 = B 1 1 -> A = B.
Proof.
move=> a b c d; apply/matrixP=> i j.
have two (P : 'I_2 -> Prop) : P 0 -> P 1 -> forall x, P x.
  by move=> p0 p1 [[|[|//]] lt]; [rewrite (_ : Ordinal lt = 0) | rewrite (_ : Ordinal lt = 1)] => //; apply: val_inj.
by move: i j; apply: (two) => //; apply: (two).
Qed.
Lemma mul2E (A B : 'M[F]_2) i j : (A * B) i j = A i 0 * B 0 j + A i 1 * B 1 j.
Proof. by rewrite mxE !big_ord_recl big_ord0 addr0; congr (_ + A i _ * B _ j); apply: val_inj. Qed.

Lemma rotM c s c' s' : rot c s * rot c' s' = rot (c * c' - s * s') (c * s' + s * c').
Proof.
by apply: mx2P; rewrite mul2E !mxE /=; rewrite ?mulNr ?mulrN ?opprD // addrC // [in RHS]addrC.
Qed.
Lemma rot1 : rot 1 0 = 1.
Proof. by apply: mx2P; rewrite !mxE /= ?oppr0. Qed.
Lemma J2 : J * J = 1.
Proof. by apply: mx2P; rewrite mul2E !mxE /= ?mulr0 ?mul0r ?mulrNN ?mulr1 ?addr0 ?add0r. Qed.
Lemma J_e1 : J *m e1 = e1.
Proof. by apply/colP=> i; rewrite -colE !mxE; case: (i == 0). Qed.
Lemma J_rot c s : J * rot c s = rot c (- s) * J.
Proof.
by apply: mx2P; rewrite !mul2E !mxE /= ?mulr0 ?mul0r ?mulr1 ?mul1r ?addr0 ?add0r ?mulrN ?mulNr ?mulr1 ?mul1r ?opprK.
Qed.

Variables (c s : F).
Hypothesis circle : on_circle c s.
Definition z := rot c s.

Lemma zV : z * rot c (- s) = 1.
Proof. by rewrite rotM mulrN opprK circle mulrN (mulrC s) addNr rot1. Qed.
Lemma Vz : rot c (- s) * z = 1.
Proof. by rewrite rotM mulNr opprK circle mulNr (mulrC s) subrr rot1. Qed.
Lemma z_unit : z \is a GRing.unit.
Proof. by apply/unitrP; exists (rot c (- s)); rewrite zV Vz. Qed.
Lemma z_inv : z^-1 = rot c (- s).
Proof. by rewrite -[LHS]mulr1 -zV mulKr // z_unit. Qed.

(* z^k is a rotation for every integer k. *)
Lemma z_power k : exists c' s', on_circle c' s' /\ z ^ k = rot c' s'.
Proof.
have nat_power (n : nat) d t : on_circle d t -> exists c' s', on_circle c' s' /\ rot d t ^+ n = rot c' s'.
  move=> dt; elim: n => [|n [c' [s' [on e]]]].
    by exists 1, 0; rewrite /on_circle mul1r mul0r addr0 expr0 rot1.
  exists (d * c' - t * s'), (d * s' + t * c'); rewrite exprS e rotM; split=> //.
  by rewrite /on_circle -[RHS](mulr1 1) -{1}dt -on; apply: (circle_identity (ring_laws F)).
case: k => n; first exact: nat_power.
have [|c' [s' e]] := @nat_power n.+1 c (- s); first by rewrite /on_circle mulrNN.
by exists c', s'; rewrite NegzE -exprz_inv z_inv.
Qed.

Lemma zD k l : z ^ (k + l) = z ^ k * z ^ l.
Proof. by rewrite exprzDr ?z_unit. Qed.
Lemma J_power k : J * z ^ k = z ^ (- k) * J.
Proof.
have nat_power (n : nat) (x y : 'M[F]_2) : J * x = y * J -> J * x ^+ n = y ^+ n * J.
  by move=> e; elim: n => [|n IH]; rewrite ?mul1r ?mulr1 // !exprS mulrA e -mulrA IH mulrA.
case: k => n.
  by rewrite -exprz_inv; apply: nat_power; rewrite z_inv J_rot.
rewrite NegzE opprK -exprz_inv; apply: nat_power.
by rewrite z_inv J_rot opprK.
Qed.

(* The reflection at the line whose angle is half that of z^k. *)
Definition Ref k : 'M[F]_2 := z ^ k * J.

(* The group law of the plane: a reflection takes the direction at angle l to that at angle k - l. *)
Lemma Ref_on k l : Ref k *m (z ^ l *m e1) = z ^ (k - l) *m e1.
Proof.
have E: Ref k *m z ^ l = z ^ (k - l) *m J.
  by rewrite -[LHS]/(z ^ k * J * z ^ l) -mulrA J_power mulrA -zD.
by rewrite mulmxA E -mulmxA J_e1.
Qed.
Lemma Ref_Ref k l : Ref k * Ref l = z ^ (k - l).
Proof. by rewrite /Ref mulrA -[z ^ k * J * _]mulrA J_power mulrA -zD -mulrA J2 mulr1. Qed.

(* Each is one generalized Householder factor I - beta v v^T with beta |v|^2 = 2. *)
Lemma reflection_is_factor k : exists b (v : 'cV[F]_2),
  b * (v^T *m v) 0 0 = 2%:R /\ Ref k = 1%:M - b *: (v *m v^T).
Proof.
have [d [t [on e]]] := z_power k; rewrite /Ref e; rewrite /on_circle in on.
pose vec (x y : F) : 'cV[F]_2 := \col_i (if i == 0 then x else y).
have len x y : ((vec x y)^T *m vec x y) 0 0 = x * x + y * y.
  by rewrite mxE !big_ord_recl big_ord0 addr0 !mxE.
have entry b x y i j : (1%:M - b *: (vec x y *m (vec x y)^T)) i j
    = (i == j)%:R - b * ((if i == 0 then x else y) * (if j == 0 then x else y)).
  by rewrite !mxE big_ord1 !mxE.
have [d1|d1] := eqVneq (1 + d) 0.
  have dN: d = -1 by rewrite -(addKr 1 d) d1 addr0.
  have t0: t = 0.
    have /eqP: t * t = 0 by apply: (addrI (d * d)); rewrite [LHS]on dN mulrNN mulr1 addr0.
    by rewrite mulf_eq0 orbb => /eqP.
  exists 2%:R, (vec 1 0); rewrite len mulr1 mulr0 addr0 mulr1; split=> //.
  apply: mx2P; rewrite mul2E entry !mxE /= dN t0 ?oppr0 ?mulr0 ?mul0r ?mulr1 ?addr0 ?add0r ?subr0 ?oppr0 //.
    by rewrite mulr2n opprD addrA subrr sub0r.
    by rewrite mulr0 oppr0.
  by rewrite mulrNN mulr1.
exists ((1 + d)^-1), (vec (- t) (1 + d)); have on2: (- t) * (- t) + (1 + d) * (1 + d) = (1 + d) * 2%:R.
  by rewrite [LHS](key_identity (ring_laws F)) (addrC (t * t)) on mulr_natr mulr2n addrACA.
rewrite len on2 mulKf //; split=> //.
have tt: t * t = (1 + d) * (1 - d) by rewrite -[RHS](square_identity (ring_laws F)) -on addrC addKr.
apply: mx2P; rewrite mul2E entry !mxE /= ?mulr0 ?mul0r ?mulr1 ?addr0 ?add0r.
- by rewrite mulrNN tt mulKf // opprB addrC subrK.
- by rewrite mulrNN mulr1 mulrCA mulVf // mulr1 opprK.
- by rewrite mulKf // opprK.
by rewrite mulKf // mulrN1 opprD addrA subrr sub0r.
Qed.

(* The states of a layer of reflections that starts at e1 are directions. *)
Definition direction k : 'cV[F]_2 := z ^ k *m e1.

Variable m : nat.
Hypothesis order : forall k, (z ^ k == 1) = ((m.*2)%:Z %| k)%Z.

Lemma direction_eq k l : direction k = direction l -> ((m.*2)%:Z %| k - l)%Z.
Proof.
rewrite /direction => e; rewrite -order zD.
have [d [t [on E]]] := z_power (k - l).
have inv: z ^ (- l) *m z ^ l = 1%:M by rewrite -[LHS]/(z ^ (- l) * z ^ l) -zD addNr.
have: z ^ (k - l) *m e1 = e1.
  by rewrite addrC zD -[LHS]/(z ^ (- l) *m z ^ k *m e1) -mulmxA e mulmxA inv mul1mx.
rewrite E => /colP E1; have d1 := E1 0; have t0 := E1 1; move: d1 t0.
by rewrite -colE !mxE /= -zD E => -> ->; rewrite rot1.
Qed.

(* Layer 1 of G.T6 and DP.T7: h <- -h + 1 from 0, the parity of the tokens that it counts. *)
Definition parity (p : F) : F := - p + 1.

(* G.T6: layer 2 reflects by an angle that depends on the token i and on the parity p after the token: by 1 + 2i if p is
   0, by 1 - 2i if it is 1 (pi/m is the unit). *)
Definition angle_T6 (i : int) (p : F) : int := if p == 0 then 1 + (i + i) else 1 - (i + i).
Definition step_T6 (h : F * 'cV[F]_2) (i : int) : F * 'cV[F]_2 :=
  let p := parity h.1 in (p, Ref (angle_T6 i p) *m h.2).
Definition run_T6 (w : seq int) := foldl step_T6 (0, e1) w.

Lemma parity_bool (b : bool) : parity b%:R = (~~ b)%:R.
Proof. by case: b; rewrite /parity ?addNr ?oppr0 ?add0r. Qed.
Lemma bool_eq0 (b : bool) : (b%:R == 0 :> F) = ~~ b.
Proof. by case: b; rewrite ?oner_eq0 ?eqxx. Qed.
Lemma bool_inj (b b' : bool) : (b%:R == b'%:R :> F) = (b == b').
Proof. by case: b b' => [] []; rewrite ?eqxx ?oner_eq0 // eq_sym oner_eq0. Qed.
Lemma direction_start : e1 = direction 0.
Proof. by rewrite /direction mul1mx. Qed.

(* After a word with the sum y: the direction at angle 2y after an even number of tokens, at 1 - 2y after an odd one. *)
Lemma run_T6_is w : let y := \sum_(i <- w) i in
  run_T6 w = ((odd (size w))%:R, direction (if odd (size w) then 1 - (y + y) else y + y)).
Proof.
elim/last_ind: w => [|w i] /=; first by rewrite big_nil addr0 -direction_start.
rewrite /run_T6 foldl_rcons => ->; rewrite size_rcons -cats1 big_cat big_seq1 /step_T6 /angle_T6 /= parity_bool.
move: (\sum_(j <- w) j) => y; rewrite bool_eq0 negbK /direction Ref_on.
by case: odd => /=; congr (_, z ^ _ *m _); int_ring.
Qed.

Lemma half x : ((m.*2)%:Z %| x + x)%Z -> (m%:Z %| x)%Z.
Proof.
have ->: x + x = x * 2%:Z by rewrite -natz mulr_natr mulr2n.
by rewrite -muln2 PoszM dvdz_mul2r.
Qed.

(* G.T6 (all but the integer form; with root_exists).  Words with equal states have sums equal modulo m: the layers follow addition in Z_m.
   Each letter of layer 2 is one factor (reflection_is_factor). *)
Theorem modular_addition u w : run_T6 u = run_T6 w -> (m%:Z %| \sum_(i <- u) i - \sum_(i <- w) i)%Z.
Proof.
rewrite !run_T6_is; move: (\sum_(i <- u) i) (\sum_(i <- w) i) => x y e.
have /eqP := congr1 fst e; rewrite bool_inj => /eqP same; have := congr1 snd e; rewrite /= same.
case: odd => /direction_eq d; apply: half; first rewrite -dvdzN; apply: (dvdz_equal d); int_ring.
Qed.

(* DP.T7: the letters of D_m, rotations r_i (false) and reflections s_i (true); elements are kept with an integer index,
   and the right product is r_i r_j = r_(i+j), r_i s_j = s_(i+j), s_i r_j = s_(i-j), s_i s_j = r_(i-j), indices modulo m. *)
Definition times (x y : bool * int) : bool * int := (x.1 (+) y.1, if x.1 then x.2 - y.2 else x.2 + y.2).
Definition same (x y : bool * int) : bool := (x.1 == y.1) && (m%:Z %| x.2 - y.2)%Z.
Definition product_T7 (w : seq (bool * int)) := foldl times (false, 0) w.

(* The scalar heads count the rotations (p) and the reflections (q) modulo 2; layer 2 reads p after the letter. *)
Definition angle_T7 (x : bool * int) (p : F) : int :=
  if x.1 then (if p == 0 then - (x.2 + x.2) else 1 + 1 + (x.2 + x.2)) else angle_T6 x.2 p.
Definition step_T7 angle (h : F * F * 'cV[F]_2) (x : bool * int) : F * F * 'cV[F]_2 :=
  let p := if x.1 then h.1.1 else parity h.1.1 in let q := if x.1 then parity h.1.2 else h.1.2 in
  (p, q, Ref (angle x p) *m h.2).
Definition run_T7 angle w := foldl (step_T7 angle) (0, 0, e1) w.
Definition signed (x : bool * int) : int := if x.1 then - x.2 else x.2.

Lemma run_T7_is w : let g := product_T7 w in exists p : bool,
  run_T7 angle_T7 w = (p%:R, g.1%:R, direction (if p then 1 - (signed g + signed g) else signed g + signed g)).
Proof.
elim/last_ind: w => [|w x] /=; first by exists false; rewrite addr0 -direction_start.
rewrite /run_T7 /product_T7 !foldl_rcons -/(product_T7 w) => [] [p ->].
case: (product_T7 w) x => g y [b i]; exists (if b then p else ~~ p).
rewrite /step_T7 /angle_T7 /angle_T6 /signed /=; case: b => /=.
  rewrite parity_bool addbT bool_eq0 /direction Ref_on; congr (_, _, z ^ _ *m _).
  by case: p; case: g => /=; int_ring.
rewrite parity_bool addbF bool_eq0 negbK /direction Ref_on; congr (_, _, z ^ _ *m _).
by case: p; case: g => /=; int_ring.
Qed.

(* DP.T7 (all, for the right product; with root_exists).  Words with equal states have equal products in D_m. *)
Theorem dihedral_words u w : run_T7 angle_T7 u = run_T7 angle_T7 w -> same (product_T7 u) (product_T7 w).
Proof.
have [p ->] := run_T7_is u; have [q ->] := run_T7_is w; rewrite /same /signed.
case: (product_T7 u) (product_T7 w) => [g x] [h y] e.
have /eqP := congr1 (fun t => t.1.1) e; have /eqP := congr1 (fun t => t.1.2) e; have := congr1 snd e; move=> {e} /=.
move=> d; rewrite !bool_inj => /eqP gh /eqP pq; move: d; rewrite {}gh {}pq eqxx /= => /direction_eq e; apply: half.
by case: h e; case: q => /= e; [|rewrite -dvdzN|rewrite -dvdzN|]; apply: (dvdz_equal e); int_ring.
Qed.

(* DP.T7.printed (refuted).  As printed the two angles of s_i are exchanged.  Then the letter s_0 leads to the direction 2,
   which for every m >= 2 is not that of s_0, and which the decoder reads as s_(m-1). *)
Definition angle_printed (x : bool * int) (p : F) : int :=
  if x.1 then (if p == 0 then 1 + 1 + (x.2 + x.2) else - (x.2 + x.2)) else angle_T6 x.2 p.
Theorem printed_dihedral : (1 < m)%N ->
  (run_T7 angle_printed [:: (true, 0)]).2 = direction (1 + 1) /\ direction (1 + 1) <> direction 0.
Proof.
move=> m1; split; first by rewrite /run_T7 /= /angle_printed /= eqxx direction_start /direction Ref_on subr0.
move/direction_eq; rewrite subr0 => /half; rewrite dvdz1 absz_nat => /eqP e.
by rewrite e in m1.
Qed.

(* DP.L2 (all; with root_exists).  A counter modulo m in one layer: a one is a rotation by two steps, which is the product of two
   reflections.  In two layers of single reflections: modular_addition with the tokens 0 and 1. *)
Theorem one_layer_counter (u w : seq bool) : let step h (b : bool) := if b then Ref (1 + 1) *m (Ref 0 *m h) else h in
  foldl step e1 u = foldl step e1 w -> (m%:Z %| (count id u)%:Z - (count id w)%:Z)%Z.
Proof.
move=> step; have run v : foldl step e1 v = direction ((count id v)%:Z + (count id v)%:Z).
  elim/last_ind: v => [|v b IH]; first exact: direction_start.
  rewrite foldl_rcons IH -cats1 count_cat /= addn0 /step; case: b; last by rewrite addn0.
  by rewrite /direction !Ref_on PoszD -[Posz true]/(1 : int); congr (z ^ _ *m _); int_ring.
by rewrite !run => /direction_eq e; apply: half; apply: (dvdz_equal e); int_ring.
Qed.
End Plane.

(* The hypotheses can be met for every m >= 1, with real algebraic numbers: the cosine and sine of pi/m. *)
Theorem root_exists (m : nat) : (0 < m)%N -> exists c s : algC,
  [/\ c \is Num.real, s \is Num.real, on_circle c s & forall k, (z c s ^ k == 1) = ((m.*2)%:Z %| k)%Z].
Proof.
move=> m0; have N0: (0 < m.*2)%N by rewrite double_gt0.
have [x xP] := C_prim_root_exists N0.
have x1: `|x| = 1.
  by apply/eqP; rewrite -(pexpr_eq1 N0) // -normrX (prim_expr_order xP) normr1.
have on: on_circle ('Re x) ('Im x) by rewrite /on_circle -!expr2 -normC2_Re_Im x1 expr1n.
exists ('Re x), ('Im x); split; rewrite ?Creal_Re ?Creal_Im //.
have power n : z ('Re x) ('Im x) ^+ n = rot ('Re (x ^+ n)) ('Im (x ^+ n)).
  elim: n => [|n IH]; first by rewrite !expr0 (Creal_ReP _ (rpred1 _)) (Creal_ImP _ (rpred1 _)) rot1.
  by rewrite 2!exprS IH rotM ReM ImM (mulrC ('Re (x ^+ n))).
have nat_order (n : nat) : (z ('Re x) ('Im x) ^+ n == 1) = (m.*2 %| n)%N.
  rewrite (prim_order_dvd xP) power; apply/eqP/eqP=> [e|->]; last first.
    by rewrite (Creal_ReP _ (rpred1 _)) (Creal_ImP _ (rpred1 _)) rot1.
  have re: 'Re (x ^+ n) = 1 by have /matrixP/(_ 0 0) := e; rewrite !mxE.
  have im: 'Im (x ^+ n) = 0 by have /matrixP/(_ 1 0) := e; rewrite !mxE.
  by rewrite [x ^+ n]Crect re im mulr0 addr0.
case=> n; first exact: nat_order.
rewrite NegzE dvdzN -[RHS]nat_order; apply/eqP/eqP=> e.
  by rewrite -[LHS]invrK -[(_ ^+ _)^-1]/(_ ^ (- (n.+1)%:Z)) e invr1.
by rewrite -[LHS]/((_ ^+ _)^-1) e invr1.
Qed.
