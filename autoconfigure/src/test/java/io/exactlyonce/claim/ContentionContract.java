package io.exactlyonce.claim;

import static io.exactlyonce.claim.Claims.acquire;
import static io.exactlyonce.claim.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What every {@link ClaimStore} guarantees to many threads at once. */
interface ContentionContract extends StoreUnderTest {

    int THREADS = 16;
    int KEYS = 50;

    @Test
    default void manyThreadsClaimTheSameKeysAndEachKeyIsAcquiredOnce() throws Exception {
        List<ClaimKey> keys = keys();

        assertEachIsAcquiredOnce(keys, 1);
    }

    @Test
    default void manyThreadsTakeTheSameKeysOverAndEachKeyIsAcquiredOnce() throws Exception {
        List<ClaimKey> keys = keys();
        for (ClaimKey key : keys) {
            ClaimRequest crashed = request(key);
            acquire(store(), crashed);
            endLease(crashed.id());
        }

        assertEachIsAcquiredOnce(keys, 2);
    }

    /** Threads claim, fail and complete at random until all keys are completed. */
    @Test
    default void handlersOfOneKeyNeverOverlapAndOneCompletesIt() throws Exception {
        List<ClaimKey> keys = keys();
        Map<ClaimKey, AtomicInteger> running = new ConcurrentHashMap<>();
        Map<ClaimKey, AtomicInteger> completed = new ConcurrentHashMap<>();
        Map<ClaimKey, Long> tokens = new ConcurrentHashMap<>();
        keys.forEach(key -> running.put(key, new AtomicInteger()));
        keys.forEach(key -> completed.put(key, new AtomicInteger()));

        Threads.run(THREADS, () -> {
            while (completed.values().stream().anyMatch(count -> count.get() == 0)) {
                for (ClaimRequest held : claimSome(keys, tokens)) {
                    assertThat(running.get(held.key()).incrementAndGet()).isEqualTo(1);
                    boolean fails = ThreadLocalRandom.current().nextInt(3) > 0;
                    running.get(held.key()).decrementAndGet();
                    if (fails) {
                        assertThat(Claims.release(store(), held)).isTrue();
                    } else {
                        completed.get(held.key()).incrementAndGet();
                        assertThat(Claims.complete(store(), held, "1")).isTrue();
                    }
                }
            }
        });

        assertThat(completed.values()).allMatch(count -> count.get() == 1);
    }

    private List<ClaimRequest> claimSome(List<ClaimKey> keys, Map<ClaimKey, Long> tokens) {
        List<ClaimRequest> requests =
                shuffled(keys).stream().limit(10).map(Claims::request).toList();
        List<ClaimOutcome> outcomes = store().claim(requests);
        List<ClaimRequest> held = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            assertThat(outcomes.get(i)).isInstanceOfAny(Acquired.class, HeldElsewhere.class, AlreadyCompleted.class);
            if (outcomes.get(i) instanceof Acquired acquired) {
                Long before = tokens.put(requests.get(i).key(), acquired.fencingToken());
                assertThat(acquired.fencingToken()).isGreaterThan(before == null ? 0 : before);
                held.add(requests.get(i));
            }
        }
        return held;
    }

    private void assertEachIsAcquiredOnce(List<ClaimKey> keys, int attempt) throws Exception {
        Map<ClaimKey, AtomicInteger> acquired = new ConcurrentHashMap<>();

        Threads.run(THREADS, () -> {
            List<ClaimRequest> requests =
                    shuffled(keys).stream().map(Claims::request).toList();
            List<ClaimOutcome> outcomes = store().claim(requests);
            for (int i = 0; i < requests.size(); i++) {
                if (outcomes.get(i) instanceof Acquired won) {
                    assertThat(won.attempt()).isEqualTo(attempt);
                    acquired.computeIfAbsent(requests.get(i).key(), key -> new AtomicInteger())
                            .incrementAndGet();
                } else {
                    assertThat(outcomes.get(i)).isInstanceOf(HeldElsewhere.class);
                }
            }
        });

        assertThat(acquired).hasSize(KEYS);
        assertThat(acquired.values()).allMatch(count -> count.get() == 1);
    }

    private static List<ClaimKey> keys() {
        return Stream.generate(Claims::newKey).limit(KEYS).toList();
    }

    private static List<ClaimKey> shuffled(List<ClaimKey> keys) {
        List<ClaimKey> copy = new ArrayList<>(keys);
        Collections.shuffle(copy, ThreadLocalRandom.current());
        return copy;
    }
}
