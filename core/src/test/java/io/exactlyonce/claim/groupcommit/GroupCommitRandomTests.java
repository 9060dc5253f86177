package io.exactlyonce.claim.groupcommit;

import static io.exactlyonce.claim.Claims.newKey;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.time.SystemScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the guarantees of group commit for random calls in random order, and for random answers of the store. */
@Timeout(60)
class GroupCommitRandomTests {

    private static final IllegalStateException LOCKED = new IllegalStateException("locked");
    private static final int KEYS = 12;
    private static final int CALLS = 400;
    private static final int MOST = 8;

    private final List<ClaimKey> keys =
            IntStream.range(0, KEYS).mapToObj(number -> newKey()).toList();
    private final List<String> broken = new CopyOnWriteArrayList<>();
    private final Map<ClaimId, Asked> asked = new ConcurrentHashMap<>();

    /** A call to the group commit. Claim ids are unique, so each entry at the store identifies its call. */
    private final class Asked {

        final int number;
        final boolean isClaim;
        final List<ClaimId> ids;
        volatile @Nullable CompletableFuture<?> answer;
        volatile @Nullable Object last;
        volatile boolean isPoison;

        Asked(int number, boolean isClaim, List<ClaimId> ids) {
            this.number = number;
            this.isClaim = isClaim;
            this.ids = ids;
        }

        boolean isAnswered() {
            return answer != null && answer.isDone();
        }

        CompletableFuture<?> answer() {
            return Objects.requireNonNull(answer);
        }
    }

    private final class Unruly implements ClaimStore {

        private final Random random;
        private final Set<ClaimKey> onTheirWay = new HashSet<>();
        private final Map<ClaimKey, Integer> lastEnd = new HashMap<>();
        private final Map<ClaimKey, Integer> lastClaim = new HashMap<>();

        private final int flushers;
        private int batches;

        Unruly(long seed, int flushers) {
            random = new Random(seed);
            this.flushers = flushers;
        }

        @Override
        public ClaimBatch.Result apply(ClaimBatch batch) {
            int fate;
            long nanos;
            List<ClaimId> ids = new ArrayList<>();
            batch.resolutions().forEach(resolution -> ids.add(resolution.claim()));
            batch.claims().forEach(claim -> ids.add(claim.id()));
            Set<ClaimKey> mine = new HashSet<>();
            synchronized (this) {
                fate = random.nextInt(20);
                nanos = random.nextInt(400_000);
                require(++batches <= flushers, "more batches are on their way than there are flushers");
                check(batch, ids, mine);
                onTheirWay.addAll(mine);
            }
            try {
                LockSupport.parkNanos(nanos);
                return answer(batch, ids, fate);
            } finally {
                synchronized (this) {
                    batches--;
                    onTheirWay.removeAll(mine);
                }
            }
        }

        private void check(ClaimBatch batch, List<ClaimId> ids, Set<ClaimKey> mine) {
            Set<ClaimKey> ended = new HashSet<>();
            for (ClaimResolution resolution : batch.resolutions()) {
                require(ended.add(resolution.claim().key()), "two calls end a key in one batch");
            }
            for (ClaimRequest claim : batch.claims()) {
                require(!ended.contains(claim.key()), "a key is ended and claimed in one batch");
            }
            ids.forEach(id -> mine.add(id.key()));
            mine.forEach(key -> require(!onTheirWay.contains(key), "a key is on its way twice"));
            Set<Asked> calls = new LinkedHashSet<>();
            ids.forEach(id -> calls.add(asked.get(id)));
            int largest = 0;
            for (Asked call : calls) {
                require(ids.containsAll(call.ids), "a call is divided");
                require(!call.isAnswered(), "a call is on its way although it is answered");
                largest = Math.max(largest, call.ids.size());
                for (ClaimId id : call.last == null ? call.ids : List.<ClaimId>of()) {
                    Map<ClaimKey, Integer> last = call.isClaim ? lastClaim : lastEnd;
                    Integer before = last.put(id.key(), call.number);
                    require(
                            before == null || before <= call.number,
                            "a call overtook one of its kind for the same key");
                }
            }
            require(ids.size() < MOST + largest, "a batch goes on behind its most");
        }

        private ClaimBatch.Result answer(ClaimBatch batch, List<ClaimId> ids, int fate) {
            List<Asked> calls = ids.stream().map(asked::get).distinct().toList();
            if (calls.stream().anyMatch(call -> call.isPoison)) {
                IllegalArgumentException poison = new IllegalArgumentException("bad bytes");
                calls.forEach(call -> call.last = poison);
                throw poison;
            }
            if (fate == 0) {
                IllegalStateException away = new IllegalStateException("the database is away");
                calls.forEach(call -> call.last = away);
                throw away;
            }
            Set<ClaimId> recorded = new HashSet<>();
            Set<ClaimId> unanswered = new HashSet<>();
            for (ClaimResolution resolution : batch.resolutions()) {
                sort(resolution.claim(), recorded, unanswered);
            }
            calls.forEach(call -> call.last = "answered");
            return new ClaimBatch.Result(
                    new ClaimAnswers(recorded, unanswered, LOCKED),
                    batch.claims().stream().map(claim -> outcome(claim.id())).toList());
        }

        @Override
        public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
            throw new AssertionError("claims come in batches");
        }

        @Override
        public ClaimAnswers resolve(List<? extends ClaimResolution> resolutions) {
            throw new AssertionError("ends come in batches");
        }

        @Override
        public ClaimAnswers renew(List<LeaseRenewal> renewals) {
            throw new AssertionError("renewals do not come here");
        }

        @Override
        public Map<ClaimKey, KeyState> peek(Collection<ClaimKey> keys) {
            throw new AssertionError("looks do not come here");
        }
    }

    private static ClaimOutcome outcome(ClaimId id) {
        return new ClaimOutcome.Acquired(1, Math.abs((long) id.hashCode()) + 1, false);
    }

    /**
     * Decides by a claim's id: one resolution of eight gets no answer, one of eight belongs to a lost claim, and the
     * others are recorded.
     */
    private static void sort(ClaimId id, Set<ClaimId> recorded, Set<ClaimId> unanswered) {
        int chance = id.hashCode() & 7;
        if (chance > 1) {
            recorded.add(id);
        } else if (chance == 0) {
            unanswered.add(id);
        }
    }

    private void require(boolean holds, String rule) {
        if (!holds) {
            broken.add(rule);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void everyCallIsAnsweredByItsLastBatchAndNoRuleIsBroken(long seed) throws Exception {
        Random random = new Random(seed);
        Duration queueTimeout = Duration.ofMillis(seed % 2 == 0 ? 60_000 : 1 + random.nextInt(5));
        List<Asked> all = new ArrayList<>();
        int flushers = 1 + random.nextInt(3);
        GroupCommitClaimStore front = new GroupCommitClaimStore(
                new Unruly(seed, flushers),
                new GroupCommitSettings(flushers, MOST, queueTimeout),
                new SystemScheduler());
        try (front) {
            for (int number = 0; number < CALLS; number++) {
                all.add(ask(front, random, number));
                if (random.nextInt(6) == 0) {
                    LockSupport.parkNanos(random.nextInt(1_500_000));
                }
            }
        }
        for (Asked call : all) {
            judge(call);
        }
        assertThat(broken).isEmpty();
        assertThat(ask(front, random, CALLS).answer()).isCompletedExceptionally();
    }

    private Asked ask(GroupCommitClaimStore front, Random random, int number) {
        boolean isClaim = random.nextBoolean();
        List<ClaimId> ids = new ArrayList<>();
        int size = 1 + random.nextInt(random.nextInt(8) == 0 ? 2 * MOST : 3);
        for (int entry = 0; entry < size; entry++) {
            ClaimKey key = keys.get(random.nextInt(KEYS));
            // A call may claim a key twice, because messages of a poll may share a key. A call resolves a key once.
            if (isClaim || ids.stream().noneMatch(id -> id.key().equals(key))) {
                ids.add(new ClaimId(key, UUID.randomUUID()));
            }
        }
        Asked call = new Asked(number, isClaim, ids);
        call.isPoison = random.nextInt(25) == 0;
        ids.forEach(id -> asked.put(id, call));
        call.answer = isClaim
                ? front.claimAsync(ids.stream()
                        .map(id -> new ClaimRequest(id.key(), id.value(), "worker", Duration.ofSeconds(30)))
                        .toList())
                : front.resolveAsync(
                        ids.stream()
                                .map(id -> random.nextInt(3) == 0
                                        ? new ClaimResolution.Released(id, "failed", false)
                                        : new ClaimResolution.Completed(
                                                id, random.nextInt(40) == 0 ? "x".repeat(3_000_000) : null))
                                .toList(),
                        random.nextBoolean());
        return call;
    }

    private static void judge(Asked call) throws Exception {
        Object answer;
        try {
            answer = call.answer().get(10, TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            answer = failed.getCause();
        }
        Object last = call.last;
        if (last == null) {
            assertThat(answer).isInstanceOf(ClaimStoreBusyException.class);
        } else if (last instanceof IllegalArgumentException poison) {
            assertThat(answer).isSameAs(poison);
            assertThat(call.isPoison).isTrue();
        } else if (last instanceof IllegalStateException) {
            assertThat(answer).isInstanceOf(ClaimStoreUnavailableException.class);
        } else if (call.isClaim) {
            assertThat(((AsyncClaimStore.Claimed) answer).outcomes())
                    .isEqualTo(call.ids.stream()
                            .map(GroupCommitRandomTests::outcome)
                            .toList());
        } else {
            Set<ClaimId> recorded = new HashSet<>();
            Set<ClaimId> locked = new HashSet<>();
            for (ClaimId id : call.ids) {
                sort(id, recorded, locked);
            }
            assertThat(answer).isEqualTo(new ClaimAnswers(recorded, locked, locked.isEmpty() ? null : LOCKED));
        }
    }
}
