package io.exactlyonce.test.contract;

import static io.exactlyonce.test.contract.Claims.acquire;
import static io.exactlyonce.test.contract.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The contract of every {@link io.exactlyonce.claim.ClaimStore} for calls of many threads at the same time. */
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

    /**
     * Many threads claim some of the keys, and then release or complete each one at random, until all keys are
     * completed. The journal throws if two handlers of one key overlap.
     */
    @Test
    default void handlersOfOneKeyNeverOverlapAndOneCompletesIt() throws Exception {
        List<ClaimKey> keys = keys();
        var journal = new EffectJournal();

        Threads.run(THREADS, () -> {
            while (journal.completions() < keys.size()
                    && !Thread.currentThread().isInterrupted()) {
                claimSome(keys, journal).forEach((held, handler) -> {
                    handler.effect();
                    handler.close();
                    if (ThreadLocalRandom.current().nextInt(3) > 0) {
                        assertThat(Claims.release(store(), held)).isTrue();
                    } else {
                        journal.completed(held.key());
                        assertThat(Claims.complete(store(), held, "1")).isTrue();
                    }
                });
            }
        });

        assertThat(keys).allMatch(key -> journal.completions(key) == 1);
    }

    private Map<ClaimRequest, EffectJournal.Running> claimSome(List<ClaimKey> keys, EffectJournal journal) {
        List<ClaimRequest> requests =
                shuffled(keys).stream().limit(10).map(Claims::request).toList();
        List<ClaimOutcome> outcomes = store().claim(requests);
        Map<ClaimRequest, EffectJournal.Running> held = new HashMap<>();
        for (int i = 0; i < requests.size(); i++) {
            assertThat(outcomes.get(i)).isInstanceOfAny(Acquired.class, HeldElsewhere.class, AlreadyCompleted.class);
            if (outcomes.get(i) instanceof Acquired acquired) {
                held.put(requests.get(i), journal.running(requests.get(i).key()));
                journal.acquired(requests.get(i).key(), acquired);
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
