package io.exactlyonce.model;

import java.util.Arrays;
import java.util.BitSet;

/** Pairs of states in which the second state can follow the first. */
final class Ways {

    private int[] from = new int[1 << 16];
    private int[] to = new int[1 << 16];
    private int count;

    void add(int first, int second) {
        if (count == from.length) {
            from = Arrays.copyOf(from, 2 * count);
            to = Arrays.copyOf(to, 2 * count);
        }
        from[count] = first;
        to[count] = second;
        count++;
    }

    /** Returns the states from which the given states can be reached. */
    BitSet leadingTo(BitSet ends, int states) {
        int[] begin = new int[states + 1];
        for (int way = 0; way < count; way++) {
            begin[to[way] + 1]++;
        }
        Arrays.parallelPrefix(begin, Integer::sum);
        int[] sources = sources(begin.clone());
        int[] open = Arrays.copyOf(ends.stream().toArray(), states);
        int size = ends.cardinality();
        BitSet reached = (BitSet) ends.clone();
        while (size > 0) {
            int target = open[--size];
            for (int at = begin[target]; at < begin[target + 1]; at++) {
                if (!reached.get(sources[at])) {
                    reached.set(sources[at]);
                    open[size++] = sources[at];
                }
            }
        }
        return reached;
    }

    /** Orders the first states of all pairs by their second states. */
    private int[] sources(int[] next) {
        int[] sources = new int[count];
        for (int way = 0; way < count; way++) {
            sources[next[to[way]]++] = from[way];
        }
        return sources;
    }
}
