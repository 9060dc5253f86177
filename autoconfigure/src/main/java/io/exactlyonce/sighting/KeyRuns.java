package io.exactlyonce.sighting;

import io.exactlyonce.claim.ClaimKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The handlers of each key that this instance runs, until how they ended is on record. Nothing renews the lease of a handler that
 * is observed: that its key has been taken over does not show that it has ended, and here it shows that it has not.
 */
final class KeyRuns {

    private static final CompletableFuture<?> NOTHING_EARLIER = CompletableFuture.completedFuture(null);

    private final Map<ClaimKey, Runs> keys = new ConcurrentHashMap<>();

    /**
     * What a handler meets of its own key when it begins.
     *
     * @param isRunning whether another handler of it is running
     * @param earlier ends when it is on record how those ended that run no more: a claim before that would meet theirs
     */
    record Met(boolean isRunning, CompletableFuture<?> earlier) {}

    private static final class Runs {
        private final List<ObservedRun> all = new ArrayList<>(1);
        private final List<ObservedRun> running = new ArrayList<>(1);
        private volatile CompletableFuture<?> earlier = NOTHING_EARLIER;
    }

    Met begin(ObservedRun run) {
        Met[] met = new Met[1];
        keys.compute(run.key(), (key, known) -> {
            Runs runs = known == null ? new Runs() : known;
            met[0] = new Met(!runs.running.isEmpty(), runs.earlier);
            runs.all.add(run);
            runs.running.add(run);
            return runs;
        });
        return met[0];
    }

    /** A run's handler has ended. */
    void handled(ObservedRun run) {
        keys.computeIfPresent(run.key(), (key, runs) -> {
            if (runs.running.remove(run)) {
                runs.earlier =
                        runs.earlier.isDone() ? run.recorded() : CompletableFuture.allOf(runs.earlier, run.recorded());
            }
            return runs;
        });
    }

    /** A run has acquired its key, so that it is no longer any other's of them. */
    void acquired(ObservedRun run) {
        keys.computeIfPresent(run.key(), (key, runs) -> {
            runs.all.stream().filter(other -> other != run).forEach(ObservedRun::takenOverHere);
            return runs;
        });
    }

    /** How a run ended is on record, or never will be: also of one that runs on unobserved. */
    void forget(ObservedRun run) {
        keys.computeIfPresent(run.key(), (key, runs) -> {
            runs.running.remove(run);
            runs.all.remove(run);
            return runs.all.isEmpty() ? null : runs;
        });
    }

    /** Returns what ends when it is on record how all handlers ended that run no more. */
    CompletableFuture<?> ended() {
        return CompletableFuture.allOf(
                keys.values().stream().map(runs -> runs.earlier).toArray(CompletableFuture[]::new));
    }
}
