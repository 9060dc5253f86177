package io.exactlyonce.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.exactlyonce.ClaimDetails;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.audit.AuditMode;
import io.exactlyonce.audit.QueueAudit;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.observe.Prevented;
import io.exactlyonce.observed.ObservedCounts;
import io.exactlyonce.queue.FakeClock;
import io.exactlyonce.queue.FakeTimer;
import io.exactlyonce.queue.ListenerQueue;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.ScriptedGate;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.window.WindowWatch;
import java.security.Principal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class ExactlyOnceEndpointTests {

    private final FakeClock clock = new FakeClock();
    private final ListenerStates listeners = new ListenerStates();
    private final Prevented prevented = new Prevented(clock);
    private final WindowWatch windows = new WindowWatch(true, List.of(), clock);
    private final QueueAudit audit = new QueueAudit(
            AuditMode.WARN,
            Set.of(),
            new QueueAudit.Settings(
                    true,
                    new OutcomePolicy(
                            new ClaimSettings("worker", null),
                            new RetryBackoff(Duration.ofSeconds(1), Duration.ofMinutes(5))),
                    Optional::empty,
                    Optional::empty),
            subscription -> Optional.empty(),
            List.of(),
            new FakeTimer());
    private final ObservedCounts counts = new ObservedCounts(clock);
    private final ParkedMessages messages = new ParkedMessages();
    private final ExactlyOnceEndpoint endpoint = on(null);
    private final ScriptedGate gate = new ScriptedGate("claims");
    private final Subscription orders = new Subscription(
            "fulfilment",
            "orders",
            new QueueSettings(VisibilityWindow.ofSeconds(30), null),
            null,
            new ScriptedQueue(),
            gate);

    private static final SecurityContext OPERATOR = named("operator");
    private static final UUID SEEN = UUID.randomUUID();
    private static final ClaimId SEEN_CLAIM = new ClaimId(new ClaimKey("orders", "o1"), SEEN);

    private static SecurityContext named(String name) {
        return new SecurityContext() {
            @Override
            public @Nullable Principal getPrincipal() {
                return () -> name;
            }

            @Override
            public boolean isUserInRole(String role) {
                return true;
            }
        };
    }

    private ListenerDescription only() {
        assertThat(endpoint.listeners().listeners()).hasSize(1);
        return endpoint.listeners().listeners().get(0);
    }

    @Test
    void listenerIsDescribedFromItsStartUntilItsStop() {
        assertThat(endpoint.listeners().listeners()).isNull();
        listeners.subscribed(orders);
        orders.levels().inFlight().set(1);
        orders.levels().waiting().set(1);
        gate.pause(true);
        orders.change(new QueueSettings(VisibilityWindow.ofSeconds(60), 5));

        ListenerDescription description = only();

        assertThat(description.listener()).isEqualTo("fulfilment");
        assertThat(description.queue()).isEqualTo("orders");
        assertThat(description.visibilityTimeoutSeconds()).isEqualTo(60);
        assertThat(description.timeoutSeconds()).isNull();
        assertThat(description.inFlight()).isOne();
        assertThat(description.waiting()).isOne();
        assertThat(description.pausedBy()).isEqualTo("claims");
        assertThat(description.maxReceiveCount()).isEqualTo(5);
        // The delays are 1, 2, 4 and 8 s, and jitter may halve each of them.
        assertThat(description.retryBudgetSeconds()).isEqualTo(7.5);
        assertThat(description.window()).as("nothing is measured").isNull();
        assertThat(description.audit()).isNull();
        gate.pause(false);
        assertThat(only().pausedBy()).isNull();
        listeners.unsubscribed(orders);
        assertThat(endpoint.listeners().listeners()).isNull();
    }

    @Test
    void windowIsShownWithItsPercentilesAndWithAdviceThatCanBePasted() {
        listeners.subscribed(orders);
        windows.subscribed(orders);
        for (int delivery = 0; delivery < 300; delivery++) {
            clock.advance(Duration.ofSeconds(1));
            windows.on(new DeliveryEvent.Delivered(orders, orders.settings().window(), Duration.ofSeconds(20)));
        }

        ListenerDescription.Window window = only().window();

        assertThat(window).isNotNull();
        assertThat(window.p95Seconds()).isBetween(19.0, 21.0);
        assertThat(window.utilizationRatio()).isBetween(0.6, 0.7);
        assertThat(String.valueOf(window.utilizationRatio())).hasSizeLessThanOrEqualTo("0.123".length());
        assertThat(window.advice().rule()).isEqualTo("2 x p50");
        assertThat(window.advice().recommendedSeconds()).isBetween(38.0, 42.0);
        assertThat(window.advice().terraform()).contains("aws_sqs_queue").contains("\"orders\"");
        assertThat(window.advice().cli()).startsWith("aws sqs set-queue-attributes");
    }

    @Test
    void whatWasPreventedComesFirstOfAllListenersAndOfEach() {
        listeners.subscribed(orders);
        ClaimKey key = new ClaimKey("orders", "o1");
        Subscription stopped = new Subscription("other", "orders", VisibilityWindow.ofSeconds(30), new ScriptedQueue());

        prevented.on(new DeliveryEvent.Claimed(orders, key, new ClaimOutcome.AlreadyCompleted(null)));
        prevented.on(new DeliveryEvent.Claimed(stopped, key, new ClaimOutcome.AlreadyCompleted(null)));
        prevented.on(new DeliveryEvent.Claimed(orders, key, new ClaimOutcome.HeldElsewhere(Duration.ofSeconds(1))));
        prevented.on(new DeliveryEvent.Claimed(orders, key, new ClaimOutcome.Acquired(2, 2, true)));
        prevented.on(new DeliveryEvent.Claimed(orders, key, new ClaimOutcome.Acquired(1, 1, false)));
        prevented.on(new DeliveryEvent.Claimed(orders, key, new ClaimOutcome.Mismatch(null)));

        assertThat(endpoint.listeners().sinceStart()).isEqualTo(new Prevented.Counts(2, 1, 1, 1));
        assertThat(only().sinceStart()).isEqualTo(new Prevented.Counts(1, 1, 1, 1));
    }

    @Test
    void observedListenerIsShownAmongThoseOnly() {
        counts.observing(new ListenerQueue("fulfilment", "orders"));

        assertThat(endpoint.listeners().listeners()).isNull();
        assertThat(endpoint.listeners().observed())
                .extracting(ObservedCounts.Seen::listener)
                .containsExactly("fulfilment");
    }

    /** The status, reason and body of an answer. */
    private record Answer(int status, @Nullable String reason, OperationResponseBody body) {

        static Answer of(WebEndpointResponse<OperationResponseBody> response) {
            OperationResponseBody body = response.getBody();
            String reason = body instanceof Refused refused
                    ? refused.reason()
                    : body instanceof KeyDecisions.Decision decision ? decision.reason() : null;
            return new Answer(response.getStatus(), reason, body);
        }
    }

    private static Answer decide(ExactlyOnceEndpoint endpoint, String scope, String key, String decision) {
        return decide(endpoint, scope, key, null, SEEN.toString(), decision);
    }

    private static Answer decide(
            ExactlyOnceEndpoint endpoint,
            @Nullable Object scope,
            @Nullable Object key,
            @Nullable Object hash,
            @Nullable Object claimId,
            @Nullable Object decision) {
        return Answer.of(endpoint.write(OPERATOR, scope, key, hash, claimId, decision, null, null, null));
    }

    private Answer redrive(SecurityContext security, @Nullable String listener, @Nullable String action) {
        return Answer.of(endpoint.write(security, null, null, null, null, null, null, listener, action));
    }

    private ExactlyOnceEndpoint on(@Nullable ParkedClaims claims) {
        return new ExactlyOnceEndpoint(
                listeners,
                prevented,
                windows,
                audit,
                () -> counts,
                claims,
                messages,
                new ShownKeys(Show.NEVER, List.of(), List.of()));
    }

    @Test
    void storeThatShowsNoClaimsHasNoneToShowOrToDecideOn() {
        assertThat(Answer.of(endpoint.read("orders", "o1", null)).status()).isEqualTo(501);
        assertThat(decide(endpoint, "orders", "o1", "release").status()).isEqualTo(501);
    }

    @Test
    void requestWithoutOneMeaningIsRefusedWithAReason() {
        ExactlyOnceEndpoint claims = on(mock(ParkedClaims.class));
        String hash = "6c1a57d2f08b94e3";

        assertThat(decide(claims, "orders", "a\0", "release").reason()).contains(" contains a NUL character");
        assertThat(decide(claims, "a\uD83D", "o1", "release").reason()).contains(" contains half of a surrogate pair");
        assertThat(decide(claims, " ", "o1", "release").reason()).contains("scope (1 characters) must not be blank");
        assertThat(decide(claims, "orders", " ", "release").reason()).contains("is blank");
        assertThat(decide(claims, "orders", List.of("a", "b"), null, null, "release")
                        .reason())
                .isEqualTo("key must be one text");
        assertThat(decide(claims, null, "o1", null, null, "release").reason()).isEqualTo("scope is missing");
        assertThat(decide(claims, "orders", null, null, null, "release").reason())
                .contains("one of key and keyHash");
        assertThat(decide(claims, "orders", "o1", hash, null, "release").reason())
                .contains("one of key and keyHash");
        assertThat(decide(claims, "orders", null, "orders/" + hash, null, "release")
                        .reason())
                .contains("16 hexadecimal digits");
        assertThat(decide(claims, "orders", "o1", null, "second", "release").reason())
                .isEqualTo("claimId must be the id that the claim is shown with");
        assertThat(decide(claims, "orders", "o1", "relaese").reason())
                .isEqualTo("decision must be 'release' or 'complete'");
        assertThat(decide(claims, "orders", "o1", null, null, null).reason()).contains("either a decision");
        assertThat(Answer.of(claims.write(
                                OPERATOR, "orders", "o1", null, null, "release", null, "fulfilment", "redrive"))
                        .reason())
                .contains("either a decision");
        assertThat(Answer.of(claims.read("orders", null, null)).reason()).contains("one of key and keyHash");
        for (Answer refused : List.of(
                decide(claims, "orders", "a\0", "release"),
                decide(claims, "orders", "o1", "relaese"),
                decide(claims, "orders", "o1", null, null, null),
                Answer.of(claims.read("orders", null, null)))) {
            assertThat(refused.status()).isEqualTo(400);
        }
    }

    private record Now(
            Status status,
            UUID claimId,
            int attempt,
            long fencingToken,
            boolean isInDoubt,
            String owner,
            boolean isLeaseOver,
            @Nullable String error)
            implements ClaimDetails {}

    private static ClaimDetails now(ClaimDetails.Status status, UUID claim) {
        return new Now(status, claim, 2, 7, false, "worker", true, null);
    }

    @Test
    void keyThatIsNotParkedIsAConflictWithWhatIsThereAndNoClaimIsNotFound() {
        ParkedClaims claims = mock();
        ClaimDetails completed = now(ClaimDetails.Status.COMPLETED, UUID.randomUUID());
        when(claims.details(new ClaimKey("orders", "done"))).thenReturn(Optional.of(completed));
        when(claims.details(new ClaimKey("orders", "none"))).thenReturn(Optional.empty());
        ExactlyOnceEndpoint deciding = on(claims);

        Answer done = decide(deciding, "orders", "done", "release");
        assertThat(done.status()).isEqualTo(409);
        assertThat(done.body())
                .isEqualTo(new KeyDecisions.Decision(
                        false, "the key does not have this claim parked; it is COMPLETED", ShownClaim.of(completed)));
        Answer none = decide(deciding, "orders", "none", "release");
        assertThat(none.status()).isEqualTo(404);
        assertThat(none.reason()).isEqualTo("this scope has no claim of this key");
        assertThat(Answer.of(deciding.read("orders", "none", null)).status()).isEqualTo(404);
        assertThat(Answer.of(deciding.read("orders", "done", null)).status()).isEqualTo(200);
    }

    @Test
    void decisionAppliesToTheClaimThatItsCallerSawAlone() {
        ClaimDetails again = now(ClaimDetails.Status.PARKED, UUID.randomUUID());
        ParkedClaims claims = mock();
        when(claims.details(SEEN_CLAIM.key())).thenReturn(Optional.of(again));
        when(claims.complete(new ClaimResolution.Completed(SEEN_CLAIM, null))).thenReturn(true, false);
        ExactlyOnceEndpoint deciding = on(claims);

        Answer unseen = decide(deciding, "orders", "o1", null, null, "complete");
        assertThat(unseen.status()).isEqualTo(409);
        assertThat(unseen.reason()).contains("claimId must name the claim that you saw");
        assertThat(unseen.body()).extracting("claim").isEqualTo(ShownClaim.of(again));
        assertThat(decide(deciding, "orders", "o1", "complete").body())
                .isEqualTo(new KeyDecisions.Decision(true, null, null));
        Answer late = decide(deciding, "orders", "o1", "Complete");
        assertThat(late.status()).isEqualTo(409);
        assertThat(late.body())
                .isEqualTo(new KeyDecisions.Decision(
                        false, "the key does not have this claim parked; it is PARKED", ShownClaim.of(again)));
    }

    @Test
    void parkedKeyIsDecidedByTheHashThatLogsShow() {
        ParkedClaim parked = ParkedClaim.of("orders", "o1", SEEN, 1, true, "timeout", Instant.EPOCH);
        String hash = SEEN_CLAIM.key().keyHash();
        ParkedClaims claims = mock();
        when(claims.findByKeyHash("orders", hash)).thenReturn(Optional.of(parked));
        when(claims.release(SEEN_CLAIM)).thenReturn(true);

        assertThat(decide(on(claims), "orders", null, hash, SEEN.toString(), "release")
                        .body())
                .isEqualTo(new KeyDecisions.Decision(true, null, null));
    }

    @Test
    void hashThatIsNotFoundIsAnsweredWithTheStatementThatFindsIt() {
        String hash = SEEN_CLAIM.key().keyHash();
        ParkedClaims claims = mock();
        when(claims.searchFor(hash)).thenReturn(Optional.of("SELECT 1"));
        when(claims.detailsByKeyHash("orders", hash)).thenReturn(Optional.empty());
        when(claims.detailsByKeyHash("slow", hash)).thenThrow(new IllegalStateException("statement timeout"));
        ExactlyOnceEndpoint reading = on(claims);

        Answer none = Answer.of(reading.read("orders", null, hash));
        assertThat(none.status()).isEqualTo(404);
        assertThat(none.reason()).contains("no recent claim", "SELECT 1");
        Answer late = Answer.of(reading.read("slow", null, hash));
        assertThat(late.status()).isEqualTo(503);
        assertThat(late.reason()).contains("SELECT 1");
    }

    @Test
    void requestsBesideALookupAreRefusedForNowAndDecisionsAreNot() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        ParkedClaims claims = mock();
        when(claims.details(SEEN_CLAIM.key())).thenAnswer(slow -> {
            started.countDown();
            assertThat(end.await(10, TimeUnit.SECONDS)).isTrue();
            return Optional.of(now(ClaimDetails.Status.PARKED, SEEN));
        });
        when(claims.release(SEEN_CLAIM)).thenReturn(true);
        ExactlyOnceEndpoint one = on(claims);
        CompletableFuture<Answer> first =
                CompletableFuture.supplyAsync(() -> Answer.of(one.read("orders", "o1", null)));
        assertThat(started.await(10, TimeUnit.SECONDS)).isTrue();

        Answer beside = Answer.of(one.read("orders", "o1", null));
        assertThat(beside.status()).isEqualTo(503);
        assertThat(beside.body()).isEqualTo(new Refused(String.valueOf(beside.reason()), 1));
        assertThat(decide(one, "orders", "o1", "release").status()).isEqualTo(200);
        end.countDown();
        assertThat(first.get(10, TimeUnit.SECONDS).status()).isEqualTo(200);
        assertThat(Answer.of(one.read("orders", "o1", null)).status()).isEqualTo(200);
    }

    /** The store may have recorded the decision, so the audit line must not depend on the reply. */
    @Test
    void whoMadeADecisionIsOnRecordAlthoughItsReplyIsLost(CapturedOutput output) {
        ParkedClaims claims = mock();
        when(claims.release(SEEN_CLAIM)).thenThrow(new IllegalStateException("connection reset"));

        Answer lost = decide(on(claims), "orders", "o1", "release");

        assertThat(lost.status()).isEqualTo(503);
        assertThat(lost.reason()).contains("IllegalStateException", "repeat the decision");
        assertThat(output)
                .contains("'operator' asked to release the parked claim " + SEEN, "it failed, but", "connection reset");
    }

    @Test
    void decisionThatNeverReachedTheStoreIsNotInDoubt(CapturedOutput output) {
        ParkedClaims claims = mock();
        when(claims.release(SEEN_CLAIM)).thenThrow(new ClaimStoreBusyException("busy"));

        Answer busy = decide(on(claims), "orders", "o1", "release");

        assertThat(busy.status()).isEqualTo(503);
        assertThat(busy.reason()).doesNotContain("only the first one counts");
        assertThat(output).contains("not done, because the store was busy");
    }

    @Test
    void redriveNamesAListenerThatRunsAndWhatIsInItsWay() {
        Answer unknown = redrive(OPERATOR, "fulfilment", "redrive");
        assertThat(unknown.status()).isEqualTo(404);
        assertThat(unknown.reason()).endsWith("running: none");
        listeners.subscribed(orders);
        assertThat(redrive(OPERATOR, "fulfillment", "redrive").reason()).endsWith("running: fulfilment");
        assertThat(redrive(OPERATOR, "fulfilment", "purge").reason()).isEqualTo("action must be 'redrive'");
        assertThat(redrive(OPERATOR, null, "redrive").reason()).isEqualTo("listener is missing");
        Answer alone = redrive(OPERATOR, "fulfilment", "redrive");
        assertThat(alone.status()).isEqualTo(409);
        assertThat(alone.reason()).contains("has a dead-letter queue");
    }

    /** The log shows the operator's name in one line, and does not show the name of an unknown listener. */
    @Test
    void redriveLetsNoCallerWriteLinesOfTheLog(CapturedOutput output) {
        listeners.subscribed(orders);

        redrive(OPERATOR, "other\nforged by its name", "redrive");
        redrive(named("operator\nforged by a name"), "fulfilment", "redrive");

        assertThat(output)
                .contains("'operator forged by a name' asked to redrive the dead letters of listener 'fulfilment'")
                .doesNotContain("forged by its name");
    }
}
