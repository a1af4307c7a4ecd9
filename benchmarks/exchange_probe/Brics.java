import dk.brics.automaton.Automaton;
import dk.brics.automaton.State;
import dk.brics.automaton.StatePair;
import dk.brics.automaton.Transition;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;

/** The drawing that dk.brics.automaton makes of an automaton: the number of states, the accepting ones, then `state code state` lines. */
class Brics {
    public static void main(String[] given) {
        Scanner in = new Scanner(System.in);
        State[] states = new State[Integer.parseInt(in.nextLine().trim())];
        for (int i = 0; i < states.length; i++) states[i] = new State();
        Scanner accepting = new Scanner(in.nextLine());
        while (accepting.hasNextInt()) states[accepting.nextInt()].setAccept(true);
        List<StatePair> empty = new ArrayList<>();
        while (in.hasNextInt()) {
            State from = states[in.nextInt()];
            int code = in.nextInt();
            State to = states[in.nextInt()];
            if (code < 0) empty.add(new StatePair(from, to));
            else from.addTransition(new Transition((char) code, to));
        }
        Automaton made = new Automaton();
        made.setInitialState(states[0]);
        made.setDeterministic(false);
        made.addEpsilons(empty);
        made.reduce();
        System.out.print(made.toDot());
    }
}
