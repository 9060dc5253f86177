package io.exactlyonce.benchmarks.claims;

import io.exactlyonce.benchmarks.BenchmarkDatabase;
import io.exactlyonce.benchmarks.Contestant;
import io.exactlyonce.benchmarks.Turn;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.Coalescer;
import io.exactlyonce.claim.CoalescingTerms;
import io.exactlyonce.claim.Completion;
import io.exactlyonce.claim.postgres.PostgresClaimStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** The claim engine as an application has it: each thread claims a key, then completes it. */
final class EngineThreads implements Contestant {

    private static final Duration LEASE = Duration.ofSeconds(30);

    private final BenchmarkDatabase database;
    private final int threads;

    EngineThreads(BenchmarkDatabase database, int threads) {
        this.database = database;
        this.threads = threads;
    }

    @Override
    public String name() {
        return "engine, %d threads".formatted(threads);
    }

    @Override
    public double run(Turn turn) throws Exception {
        database.reset();
        ClaimStore postgres =
                new PostgresClaimStore(database.pool(), BenchmarkDatabase.CONNECTIONS, Duration.ofDays(14));
        CoalescingTerms terms = new CoalescingTerms(2, CoalescingTerms.LARGEST_BATCH, 10_000, Duration.ofSeconds(3));
        long begun = System.nanoTime();
        long pairs;
        long nanos;
        try (Coalescer store = new Coalescer(postgres, terms, System::nanoTime)) {
            pairs = runThreads(store, begun + turn.length().toNanos());
            nanos = System.nanoTime() - begun;
        }
        if (database.requireAllCompleted() != pairs) {
            throw new IllegalStateException(
                    "The table has another number of completed claims than %d".formatted(pairs));
        }
        return pairs * 1e9 / nanos;
    }

    private long runThreads(ClaimStore store, long end) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            List<Future<Long>> running = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                running.add(executor.submit(() -> claimAndComplete(store, end)));
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

    private static long claimAndComplete(ClaimStore store, long end) {
        long pairs = 0;
        while (end - System.nanoTime() > 0) {
            ClaimKey key = new ClaimKey("orders", UUID.randomUUID().toString());
            ClaimRequest request = new ClaimRequest(key, UUID.randomUUID(), "benchmark", LEASE);
            if (!(store.claim(List.of(request)).get(0) instanceof Acquired)) {
                throw new IllegalStateException("A new key was not acquired");
            }
            if (!store.complete(List.of(new Completion(request.id(), null))).contains(request.id())) {
                throw new IllegalStateException("A held claim was not completed");
            }
            pairs++;
        }
        return pairs;
    }
}
