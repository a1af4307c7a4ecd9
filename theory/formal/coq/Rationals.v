(* The rational numbers as numbers of the semantics, and what is proved of tables without an irrational number.

   Proved, without any hypothesis on numbers: check_rational_table_right. *)
Require Import List Arith ZArith QArith Qcanon Bool Lia Ring_theory InitialRing.
From Mirrormata Require Import Semantics Sparse Numbers Table.
Import ListNotations.
Local Open Scope Qc_scope.

Definition equal_rationals (x y : Qc) : bool := Qeq_bool x y.
Lemma equal_rationals_spec x y : equal_rationals x y = true <-> x = y.
Proof.
  unfold equal_rationals. rewrite Qeq_bool_iff. split; [apply Qc_is_canon|]. intros ->. apply Qeq_refl.
Qed.
Definition rational_numbers : ring := Ring Qc 0 1 Qcplus Qcmult Qcopp equal_rationals Qcrt equal_rationals_spec.

Lemma integer_is_fraction z : integer rational_numbers z = Q2Qc (z # 1).
Proof.
  assert (P : forall p, gen_phiPOS 1 Qcplus Qcmult p = Q2Qc (Zpos p # 1)).
  { intros p. rewrite <- (same_gen (Eqsth Qc) (Eq_ext Qcplus Qcmult Qcopp) (Rth_ARth (Eqsth Qc) (Eq_ext _ _ _) Qcrt)).
    induction p as [p IH|p IH|]; [| |reflexivity]; cbn [gen_phiPOS1]; rewrite IH; apply Qc_is_canon;
      unfold Qcplus, Qcmult; cbn [this Q2Qc]; rewrite !Qred_correct; unfold Qeq; cbn; lia. }
  destruct z; unfold integer, gen_phiZ; cbn [zero one add mul opp rational_numbers];
    [apply Qc_is_canon; reflexivity|apply P|rewrite P; apply Qc_is_canon; unfold Qcopp; cbn [this Q2Qc];
     rewrite !Qred_correct; reflexivity].
Qed.
Definition fraction_reciprocal (q : positive) : Qc := Q2Qc (1 # q).
Lemma fraction_reciprocal_spec q : integer rational_numbers (Zpos q) * fraction_reciprocal q = 1.
Proof.
  rewrite integer_is_fraction. apply Qc_is_canon. unfold fraction_reciprocal, Qcmult. cbn [this Q2Qc].
  rewrite !Qred_correct. unfold Qeq. cbn. lia.
Qed.
Lemma one_not_zero : 1 <> 0 :> Qc.
Proof. discriminate. Qed.
Definition rationals : rational_ring :=
  RationalRing rational_numbers fraction_reciprocal fraction_reciprocal_spec one_not_zero.

(* Q(theta) with the minimal polynomial x: theta is 0. *)
Lemma rationals_generate : generates rationals [0%Z] (0 : Qc).
Proof.
  split; [reflexivity|]. intros [|c [|? ?]] L E; try discriminate. constructor; [|constructor].
  symmetry. apply (integer_not_zero rationals). cbn [evaluate] in E.
  rewrite <- E. change (integer rationals c = (integer rationals c : Qc) + 0 * 0). generalize (integer rationals c : Qc).
  intros q. change (q = q + 0 * 0). ring.
Qed.

Definition without_irrational (h : any_head) : Prop := match h with IntegerHead _ => True | FieldHead m _ => m = [0%Z] end.
(* The linear RNN of an accepted table of rational numbers, computed in the rational numbers, follows the automaton. *)
Theorem check_rational_table_right d :
  Forall (fun l => Forall (fun h => without_irrational (fst h)) (layer_heads l)) (table_layers d) ->
  check_table d = true ->
  follows rationals nat (fun a => a) (model rationals (fun _ => 0 : Qc) d) (model_begin rationals (fun _ => 0 : Qc) d)
    (model_decode rationals (fun _ => 0 : Qc) d) (table_automaton d).
Proof.
  intros F. apply check_table_right. eapply Forall_impl; [|exact F]. intros l Fl. eapply Forall_impl; [|exact Fl].
  intros [[h|m h] a]; cbn; [trivial|]. intros ->. exact rationals_generate.
Qed.
