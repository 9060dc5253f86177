package io.exactlyonce.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;

import io.exactlyonce.ParkedClaim;
import io.exactlyonce.actuate.ParkedRequests.Decisions;
import io.exactlyonce.actuate.ParkedRequests.DryRun;
import io.exactlyonce.actuate.ParkedRequests.Page;
import io.exactlyonce.actuate.ParkedRequests.Request;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimResolution.Completed;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/**
 * Tests three traps: a page that skips claims of the same microsecond, a decision on a claim that its operator has not
 * seen, and a key in a cursor.
 */
@ExtendWith(OutputCaptureExtension.class)
class ParkedRequestsTests {

    private static final Instant NOON = Instant.parse("2026-11-28T12:00:00.000001Z");
    private static final String TIMEOUT = "java.net.SocketTimeoutException";

    /** A store that lists claims in pages, as the default methods of {@link ParkedClaims} require. */
    private static final class Store implements ParkedClaims {
        private final List<ParkedClaim> parked = new ArrayList<>();
        private final Set<UUID> taken = new HashSet<>();
        private final List<String> decided = new ArrayList<>();
        private @Nullable RuntimeException failure;

        ParkedClaim park(String scope, String key, String reason, Instant at) {
            ParkedClaim claim = ParkedClaim.of(scope, key, UUID.randomUUID(), 2, true, reason, at);
            parked.add(claim);
            parked.sort(Comparator.comparing(ParkedClaim::parkedAt).thenComparing(Store::keyOf));
            return claim;
        }

        private static ClaimKey keyOf(ParkedClaim claim) {
            return new ClaimKey(claim.scope(), claim.key());
        }

        @Override
        public List<ParkedClaim> list(@Nullable ParkedClaim after, int limit) {
            Comparator<ParkedClaim> order =
                    Comparator.comparing(ParkedClaim::parkedAt).thenComparing(Store::keyOf);
            return parked.stream()
                    .filter(claim -> after == null || order.compare(claim, after) > 0)
                    .limit(limit)
                    .toList();
        }

        @Override
        public Optional<ParkedClaim> find(ClaimKey key) {
            return parked.stream().filter(claim -> keyOf(claim).equals(key)).findFirst();
        }

        private Set<ClaimId> decide(String decision, Collection<ClaimId> claims) {
            if (failure != null) {
                throw failure;
            }
            Set<ClaimId> done = claims.stream()
                    .filter(claim -> !taken.contains(claim.value()))
                    .collect(Collectors.toSet());
            done.forEach(claim -> decided.add(decision + " " + claim.key().key()));
            parked.removeIf(claim -> done.stream().anyMatch(id -> id.value().equals(claim.claimId())));
            return done;
        }

        @Override
        public Set<ClaimId> releaseAll(Collection<ClaimId> claims) {
            return decide("release", claims);
        }

        @Override
        public Set<ClaimId> completeAll(Collection<Completed> completions) {
            return decide("complete", completions.stream().map(Completed::claim).toList());
        }
    }

    private final Store store = new Store();
    private final ParkedMessages messages = new ParkedMessages();
    private final ListenerStates listeners = new ListenerStates();
    private final ParkedRequests requests =
            new ParkedRequests(store, new OneAtATime("lookup"), new OneAtATime("decision"), messages, listeners);

    private Page page(@Nullable Object scope, @Nullable Object error, @Nullable Object limit, @Nullable Object after) {
        return body(Page.class, requests.list(key -> "******", scope, error, limit, after));
    }

    private static <T> T body(Class<T> type, WebEndpointResponse<OperationResponseBody> response) {
        assertThat(response.getStatus()).isEqualTo(200);
        return type.cast(response.getBody());
    }

    private WebEndpointResponse<OperationResponseBody> decide(Request request) {
        return requests.decide(key -> "******", "'operator'", request);
    }

    private static Request named(String decision, List<String> claims) {
        return Request.of(decision, "outage 4711", String.join(",", claims), null, null, null, null, null);
    }

    private static Request matching(
            @Nullable String scope, @Nullable String error, @Nullable Object until, @Nullable Object limit) {
        return Request.of("release", "outage 4711", null, scope, error, until, limit, null);
    }

    private static Request dryRun(@Nullable Object claims, @Nullable String scope, @Nullable Object limit) {
        return Request.of("release", null, claims, scope, null, null, limit, true);
    }

    @Test
    void listShowsHowToDecideAndNoKey() {
        ParkedClaim claim = store.park("orders", "card-4711", TIMEOUT + ": Read timed out", NOON);
        ClaimKey key = new ClaimKey("orders", "card-4711");

        assertThat(page(null, null, null, null).parked())
                .containsExactly(new ShownParked(
                        "orders",
                        key.keyHash(),
                        "******",
                        claim.claimId(),
                        2,
                        true,
                        TIMEOUT,
                        TIMEOUT + ": Read timed out",
                        NOON,
                        key.downstreamKey(),
                        0,
                        null));
    }

    @Test
    void pagesHaveEachClaimOnceAlsoOfOneMicrosecond() {
        for (int i = 0; i < 25; i++) {
            store.park("orders", "card-%02d".formatted(i), TIMEOUT, NOON.plusNanos(i / 20 * 1_000));
        }
        List<UUID> seen = new ArrayList<>();
        String next = null;
        do {
            Page page = page(null, null, "3", next);
            page.parked().forEach(claim -> seen.add(claim.claimId()));
            next = page.next();
            assertThat(String.valueOf(next)).doesNotContain("card");
        } while (next != null && seen.size() < 100);

        assertThat(seen)
                .containsExactlyElementsOf(
                        store.parked.stream().map(ParkedClaim::claimId).toList());
    }

    @Test
    void pageAfterAClaimThatWasDecidedLeavesNoneOut() {
        for (int i = 0; i < 6; i++) {
            store.park("orders", "card-" + i, TIMEOUT, NOON);
        }
        Page first = page(null, null, 3, null);
        store.parked.removeIf(
                claim -> claim.claimId().equals(first.parked().get(2).claimId()));

        assertThat(page(null, null, 100, first.next()).parked())
                .extracting(ShownParked::claimId)
                .containsAll(
                        store.parked.stream().skip(2).map(ParkedClaim::claimId).toList());
    }

    @Test
    void listIsOfOneScopeAndOneClassOfError() {
        store.park("orders", "1", TIMEOUT + ": a", NOON);
        store.park("orders", "2", TIMEOUT + "Early: a", NOON);
        store.park("refunds", "3", TIMEOUT, NOON);

        assertThat(page("orders", TIMEOUT, null, null).parked()).hasSize(1);
        assertThat(page(null, TIMEOUT, null, null).parked()).hasSize(2);
        assertThat(page("orders", null, null, null).parked()).hasSize(2);
        assertThat(page("other", null, null, null)).isEqualTo(new Page(List.of(), null));
    }

    @Test
    void answerHasWhichWereDecidedAndWhichSomebodyElseDecidedFirst(CapturedOutput output) {
        ParkedClaim free = store.park("orders", "card-1", TIMEOUT, NOON);
        ParkedClaim taken = store.park("orders", "card-2", TIMEOUT, NOON);
        UUID unknown = UUID.randomUUID();
        store.taken.add(taken.claimId());

        Decisions answer = body(
                Decisions.class,
                decide(named(
                        "Complete",
                        List.of(free.claimId().toString(), taken.claimId().toString(), unknown.toString()))));

        assertThat(answer.decided()).extracting(ParkedRequests.Decided::claimId).containsExactly(free.claimId());
        assertThat(answer.notDecided())
                .extracting(ParkedRequests.NotDecided::claimId, ParkedRequests.NotDecided::scope)
                .containsExactly(tuple(taken.claimId(), "orders"), tuple(unknown, null));
        assertThat(store.decided).containsExactly("complete card-1");
        assertThat(output)
                .contains(
                        "'operator' asked to complete 3 named claims, because \"outage 4711\": 1 decided, 2 not parked",
                        "'operator' decided to complete the parked claim " + free.claimId() + " of orders/")
                .doesNotContain("card-1");
    }

    @Test
    void filterDecidesOnNothingThatWasParkedAfterItsDryRun() {
        store.park("orders", "1", TIMEOUT, NOON);
        store.park("refunds", "2", TIMEOUT, NOON);
        DryRun seen = body(DryRun.class, decide(dryRun(null, "orders", null)));
        store.park("orders", "3", TIMEOUT, NOON.plusSeconds(1));

        assertThat(seen.count()).isEqualTo(1);
        assertThat(seen.isMore()).isFalse();
        assertThat(store.decided).isEmpty();
        assertThat(seen.parkedUntil()).isEqualTo(NOON);
        body(
                Decisions.class,
                decide(matching("orders", TIMEOUT, seen.parkedUntil().toString(), null)));
        assertThat(store.decided).containsExactly("release 1");
    }

    @Test
    void answerHasThatMoreMatch() {
        for (int i = 0; i < 3; i++) {
            store.park("orders", "card-" + i, TIMEOUT, NOON);
        }
        assertThat(body(DryRun.class, decide(dryRun(null, "orders", 2))).isMore())
                .isTrue();

        Decisions answer = body(Decisions.class, decide(matching("orders", null, NOON.toString(), 2)));
        assertThat(answer.isMore()).isTrue();
        assertThat(answer.decided()).hasSize(2);
        assertThat(body(Decisions.class, decide(matching("orders", null, NOON.toString(), 2)))
                        .isMore())
                .isFalse();
    }

    @Test
    void dryRunOfNamedClaimsNamesThoseThatAreNotParked() {
        ParkedClaim claim = store.park("orders", "1", TIMEOUT, NOON);
        UUID unknown = UUID.randomUUID();

        DryRun answer = body(DryRun.class, decide(dryRun(claim.claimId() + ", " + unknown, null, null)));

        assertThat(answer.claims()).extracting(ShownParked::claimId).containsExactly(claim.claimId());
        assertThat(answer.notDecided())
                .extracting(ParkedRequests.NotDecided::claimId)
                .containsExactly(unknown);
    }

    @Test
    void requestWithoutOneMeaningIsRefusedWithAReason() {
        String id = UUID.randomUUID().toString();
        for (Runnable unclear : List.<Runnable>of(
                () -> Request.of("release", "why", null, null, null, null, null, null),
                () -> Request.of("release", "why", id, "orders", null, null, null, null),
                () -> Request.of("release", "why", null, "orders", null, null, null, null),
                () -> Request.of("release", null, id, null, null, null, null, null),
                () -> Request.of("release", " ", id, null, null, null, null, null),
                () -> Request.of("release", "x".repeat(501), id, null, null, null, null, null),
                () -> Request.of("relaese", "why", id, null, null, null, null, null),
                () -> Request.of("release", "why", "", null, null, null, null, null),
                () -> Request.of("release", "why", "a,b", null, null, null, null, null),
                () -> Request.of("release", "why", id + ",", null, null, null, null, null),
                () -> Request.of("release", "why", List.of(id, id), null, null, null, null, null),
                () -> Request.of("release", "why", id, null, null, null, null, "perhaps"),
                () -> Request.of("release", "why", null, "a", null, "yesterday", null, null),
                () -> Request.of("release", "why", null, "a", null, "+1000000000-12-31T23:59:59Z", null, null),
                () -> Request.of("release", "why", null, "a", null, NOON.toString(), 1_001, null),
                () -> page(null, null, "0", null),
                () -> page(null, null, "many", null),
                () -> page(List.of("a", "b"), null, null, null),
                () -> page(null, null, null, "x"),
                () -> page(null, null, null, "1234567890123456789_" + UUID.randomUUID()))) {
            assertThatIllegalArgumentException().isThrownBy(unclear::run);
        }
    }

    @Test
    void requestIsOnRecordAlthoughItsAnswerIsLost(CapturedOutput output) {
        ParkedClaim claim = store.park("orders", "1", TIMEOUT, NOON);
        List<String> ids = List.of(claim.claimId().toString());
        store.failure = new IllegalStateException("connection reset");
        WebEndpointResponse<OperationResponseBody> lost = decide(named("release", ids));
        store.failure = new ClaimStoreBusyException("busy");
        WebEndpointResponse<OperationResponseBody> busy = decide(named("release", ids));

        assertThat(lost.getStatus()).isEqualTo(503);
        assertThat(((Refused) lost.getBody()).reason()).contains("only the first decision on a claim counts");
        assertThat(busy.getStatus()).isEqualTo(503);
        assertThat(((Refused) busy.getBody()).reason()).doesNotContain("only the first decision");
        assertThat(output).contains("decisions may have been stored", "not done, because the store was busy");
    }

    @Test
    void reasonOfACallerWritesNoLinesOfTheLog(CapturedOutput output) {
        ParkedClaim claim = store.park("orders", "1", TIMEOUT, NOON);

        decide(Request.of("release", "why\nforged", claim.claimId().toString(), null, null, null, null, null));

        assertThat(output).contains("because \"why forged\"");
    }

    @Test
    void storeThatShowsNoClaimsHasNone() {
        ParkedRequests none =
                new ParkedRequests(null, new OneAtATime("lookup"), new OneAtATime("decision"), messages, listeners);

        assertThat(none.list(key -> key, null, null, null, null).getStatus()).isEqualTo(501);
        assertThat(none.decide(key -> key, "'operator'", dryRun(null, "orders", null))
                        .getStatus())
                .isEqualTo(501);
    }

    @Test
    void listShowsHowManyAttemptsThrewAndHowManyMay() {
        for (int most : new int[] {7, 5, 0}) {
            Subscription subscription = new Subscription(
                    "fulfilment-" + most, "orders", VisibilityWindow.ofSeconds(30), new ScriptedQueue());
            subscription.bound(new Subscription.Attempts("orders", most));
            listeners.subscribed(subscription);
        }
        store.parked.add(ParkedClaim.of("orders", "o1", UUID.randomUUID(), 6, 5, false, TIMEOUT, NOON));
        store.park("refunds", "r1", TIMEOUT, NOON.plusSeconds(1));

        assertThat(page(null, null, null, null).parked())
                .extracting(ShownParked::failures, ShownParked::maxAttempts)
                .containsExactly(tuple(5, 5), tuple(0, null));
    }
}
