package io.exactlyonce.window;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The latencies of the last five minutes, or the last twenty if those are fewer, in chunks of 15 s. Not thread-safe.
 */
final class RecentLatencies {

    static final double SECONDS = 300;

    private static final double CHUNK_SECONDS = 15;
    private static final int FEWEST = 20;

    private final Deque<Chunk> chunks = new ArrayDeque<>();
    private final LatencyHistogram all = new LatencyHistogram();

    private record Chunk(double begun, LatencyHistogram latencies) {}

    /** Adds a latency, and removes old ones. */
    void add(double now, double seconds) {
        if (chunks.isEmpty() || now - chunks.getLast().begun() >= CHUNK_SECONDS) {
            chunks.addLast(new Chunk(now, new LatencyHistogram()));
        }
        chunks.getLast().latencies().add(seconds);
        all.add(seconds);
        while (isOld(chunks.getFirst(), now)) {
            all.subtract(chunks.removeFirst().latencies());
        }
    }

    private boolean isOld(Chunk chunk, double now) {
        return chunk.begun() <= now - SECONDS - CHUNK_SECONDS
                && all.total() - chunk.latencies().total() >= FEWEST;
    }

    LatencyHistogram all() {
        return all;
    }

    /** Returns in how many of the chunks there is a latency above a bound. */
    int chunksAbove(double seconds) {
        int count = 0;
        for (Chunk chunk : chunks) {
            count += chunk.latencies().above(seconds) > 0 ? 1 : 0;
        }
        return count;
    }
}
