package io.exactlyonce.benchmarks.claims;

import io.exactlyonce.benchmarks.BenchmarkDatabase;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.groupcommit.GroupCommitClaimStore;
import io.exactlyonce.claim.groupcommit.GroupCommitSettings;
import io.exactlyonce.claim.postgres.PostgresClaimStore;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.time.SystemScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The claim engine as an application uses it: each thread claims new keys, and then completes them.
 *
 * @param pool connections to the claim table
 * @param threads the number of threads
 * @param keys the number of keys in each call
 */
public record ClaimThreads(ClaimPool pool, int threads, int keys) {

    private static final Duration LEASE = Duration.ofSeconds(30);

    /**
     * The result of the threads.
     *
     * @param pairs the number of claims that were completed
     * @param perSecond the same per second
     */
    public record Result(long pairs, double perSecond) {}

    /** Runs the threads, and checks each answer. */
    public Result run(Duration length) throws Exception {
        ClaimStore postgres = new PostgresClaimStore(BenchmarkDatabase.table(pool));
        GroupCommitSettings terms =
                new GroupCommitSettings(2, GroupCommitSettings.LARGEST_BATCH, Duration.ofSeconds(3));
        long startNanos = System.nanoTime();
        try (GroupCommitClaimStore store = new GroupCommitClaimStore(postgres, terms, new SystemScheduler())) {
            long pairs = runThreads(store, startNanos + length.toNanos());
            return new Result(pairs, pairs * 1e9 / (System.nanoTime() - startNanos));
        }
    }

    private long runThreads(GroupCommitClaimStore store, long end) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            List<Future<Long>> running = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                running.add(executor.submit(() -> claimAndComplete(
                        requests -> store.claimAsync(requests).join().outcomes(),
                        resolutions ->
                                store.resolveAsync(resolutions, true).join().granted(),
                        keys,
                        end)));
            }
            long pairs = 0;
            for (Future<Long> thread : running) {
                pairs += thread.get();
            }
            return pairs;
        } finally {
            executor.shutdownNow();
        }
    }

    static long claimAndComplete(
            Function<List<ClaimRequest>, List<ClaimOutcome>> claim,
            Function<List<ClaimResolution>, Set<ClaimId>> complete,
            int keys,
            long end) {
        long pairs = 0;
        for (; end - System.nanoTime() > 0; pairs += keys) {
            List<ClaimRequest> requests = newKeys(keys);
            if (!claim.apply(requests).stream().allMatch(Acquired.class::isInstance)) {
                throw new IllegalStateException("A new key was not acquired");
            }
            if (complete.apply(ends(requests)).size() != keys) {
                throw new IllegalStateException("A held claim was not completed");
            }
        }
        return pairs;
    }

    static List<ClaimRequest> newKeys(int keys) {
        return Stream.generate(ClaimThreads::newKey).limit(keys).toList();
    }

    static List<ClaimResolution> ends(List<ClaimRequest> requests) {
        return requests.stream()
                .<ClaimResolution>map(request -> new ClaimResolution.Completed(request.id(), null))
                .toList();
    }

    private static ClaimRequest newKey() {
        ClaimKey key = new ClaimKey("orders", UUID.randomUUID().toString());
        return new ClaimRequest(key, UUID.randomUUID(), "benchmark", LEASE);
    }
}
