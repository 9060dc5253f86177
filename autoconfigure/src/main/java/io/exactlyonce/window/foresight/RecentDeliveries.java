package io.exactlyonce.window.foresight;

/**
 * The deliveries of the last five minutes, or the last twenty where those are fewer, in chunks of 15 s. Not thread-safe.
 */
final class RecentDeliveries {

    static final double SECONDS = 300;

    private static final int CHUNKS = 21;
    private static final double CHUNK_SECONDS = SECONDS / (CHUNKS - 1);
    private static final int FEWEST = 20;
    private static final double P95 = 0.95;

    private final Chunk[] chunks = new Chunk[CHUNKS];
    private final LatencyCounts all = new LatencyCounts();
    private int first;
    private int used;
    private int near;
    private int beyond;

    private static final class Chunk {
        final LatencyCounts counts = new LatencyCounts();
        double begun;
        int near;
        int beyond;
    }

    RecentDeliveries() {
        for (int i = 0; i < CHUNKS; i++) {
            chunks[i] = new Chunk();
        }
    }

    /** Adds the deliveries of a time that has just ended, and forgets those that are old. */
    void add(double now, LatencyCounts counts, int slow, int overrun) {
        Chunk chunk = open(now);
        chunk.counts.add(counts);
        chunk.near += slow;
        chunk.beyond += overrun;
        all.add(counts);
        near += slow;
        beyond += overrun;
        while (used > 1
                && chunks[first].begun <= now - SECONDS
                && all.total() - chunks[first].counts.total() >= FEWEST) {
            forget();
        }
    }

    private Chunk open(double now) {
        if (used > 0) {
            Chunk last = chunks[(first + used - 1) % CHUNKS];
            if (now - last.begun < CHUNK_SECONDS) {
                return last;
            }
        }
        if (used == CHUNKS) {
            forget();
        }
        Chunk next = chunks[(first + used) % CHUNKS];
        next.begun = now;
        used++;
        return next;
    }

    private void forget() {
        Chunk oldest = chunks[first];
        all.subtract(oldest.counts);
        near -= oldest.near;
        beyond -= oldest.beyond;
        oldest.counts.clear();
        oldest.near = 0;
        oldest.beyond = 0;
        first = (first + 1) % CHUNKS;
        used--;
    }

    /** Counts anew against another window. */
    void forgetShares() {
        for (Chunk chunk : chunks) {
            chunk.near = 0;
            chunk.beyond = 0;
        }
        near = 0;
        beyond = 0;
    }

    double total() {
        return all.total();
    }

    double p95() {
        return all.quantile(P95);
    }

    int near() {
        return near;
    }

    int beyond() {
        return beyond;
    }

    /** Returns in how many of the chunks there is a delivery that outlasted the window. */
    int chunksBeyond() {
        int count = 0;
        for (Chunk chunk : chunks) {
            count += chunk.beyond > 0 ? 1 : 0;
        }
        return count;
    }
}
