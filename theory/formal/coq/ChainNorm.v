(* own.chain: the norm of a layer's transitions is 1.

   The transitions are those of ChainLRNN.v, [[P, 0], [0, I]] where the level permutes and [[0, 0], [I, 0]] where it resets, over any real
   field.  Norms are squared, so that no root is needed.
   - layer_norm: |M h| <= |h| for every h, and |M h| = |h| for some h that is not 0.
   - factors_bounded: the factors have 0 <= beta |k|^2 <= 2: each of them lengthens no vector. *)
Set Warnings "-notation-overridden,-ambiguous-paths".
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
From Mirrormata Require Import Chain ChainLRNN Householder.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Norm.
Variables (R : realFieldType) (n : nat) (A : Type) (delta : A -> 'I_n -> 'I_n) (extend : A -> {set 'I_n} -> 'S_n).
Implicit Types (u v : 'cV[R]_n) (t : token n A).

Lemma dot_halves u v u' v' : dot (col_mx u v) (col_mx u' v') = dot u u' + dot v v'.
Proof. by rewrite /dot tr_col_mx mul_row_col mxE. Qed.
Lemma permutation_keeps_length (s : 'S_n) u : dot (perm_mx s *m u) (perm_mx s *m u) = dot u u.
Proof. by rewrite dot_mulmx mulmxA tr_perm_mx -perm_mxM mulVg perm_mx1 mul1mx. Qed.

(* own.chain (the norm). *)
Theorem layer_norm t : let M := transition R delta extend t in
  (forall h, dot (M *m h) (M *m h) <= dot h h) /\ ((0 < n)%N -> exists2 h, h != 0 & dot (M *m h) (M *m h) = dot h h).
Proof.
case: t => [[a old] new] /=; set M := (if _ then _ else _).
have effect u v : dot (M *m col_mx u v) (M *m col_mx u v) = dot u u + (if injective_on delta a old then dot v v else 0).
  rewrite /M; case: ifP => _; rewrite mul_block_col !mul0mx mul1mx !addr0 ?add0r dot_halves.
    by rewrite permutation_keeps_length.
  by rewrite [dot 0 _]/dot mulmx0 mxE add0r.
split=> [h|n0].
  rewrite -[h]vsubmxK effect dot_halves ler_add2l; case: ifP => // _; exact: dot_ge0.
pose u : 'cV[R]_n := delta_mx (Ordinal n0) 0; exists (col_mx u 0); last first.
  by rewrite effect dot_halves [dot 0 _]/dot mulmx0 mxE; case: ifP.
apply/eqP=> /(congr1 usubmx); rewrite col_mxKu => /colP/(_ (Ordinal n0)).
by rewrite !mxE !eqxx => /eqP; rewrite oner_eq0.
Qed.

(* The factors of a layer in the sense of Householder.v: beta = 1. *)
Theorem factors_bounded m t : all (fun f => bounded (1, key R f)) (factors delta extend m t).
Proof.
apply: sub_all (factors_proper delta extend m t) => f ok.
rewrite /bounded /= mul1r /dot (key_norm R ok) mxE eqxx mulr1n.
by case: f {ok} => _ _; rewrite ?ler0n ?ler01 ?lexx ?ler1n.
Qed.
End Norm.
