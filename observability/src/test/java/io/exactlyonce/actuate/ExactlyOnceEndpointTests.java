package io.exactlyonce.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.actuate.DeadLetterRedrive.Redrives;
import io.exactlyonce.audit.AuditMode;
import io.exactlyonce.audit.QueueAudit;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.observe.Prevented;
import io.exactlyonce.observed.ObservedCounts;
import io.exactlyonce.observed.ObservedQueue;
import io.exactlyonce.visibility.FakeClock;
import io.exactlyonce.visibility.FakeTimer;
import io.exactlyonce.visibility.ScriptedGate;
import io.exactlyonce.visibility.ScriptedQueue;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import io.exactlyonce.window.WindowWatch;
import java.security.Principal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.SecurityContext;
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
    private final ExactlyOnceEndpoint endpoint =
            new ExactlyOnceEndpoint(listeners, prevented, windows, audit, () -> counts, null, null);
    private final ScriptedGate gate = new ScriptedGate("claims");
    private final Subscription orders = new Subscription(
            "fulfilment", "orders", VisibilityWindow.ofSeconds(30), null, new ScriptedQueue(), null, gate);

    private static final SecurityContext OPERATOR = named("operator");

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
        listeners.subscribed(orders.revised(VisibilityWindow.ofSeconds(60), 5));

        ListenerDescription description = only();

        assertThat(description.listener()).isEqualTo("fulfilment");
        assertThat(description.queue()).isEqualTo("orders");
        assertThat(description.visibilityTimeoutSeconds()).isEqualTo(60);
        assertThat(description.timeoutSeconds()).isNull();
        assertThat(description.inFlight()).isOne();
        assertThat(description.waiting()).isOne();
        assertThat(description.pausedBy()).isEqualTo("claims");
        assertThat(description.maxReceiveCount()).isEqualTo(5);
        // 1 + 2 + 4 + 8 s, of which chance may take a half.
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
            windows.on(new DeliveryEvent.Delivered(orders, Duration.ofSeconds(20)));
        }

        ListenerDescription.Window window = only().window();

        assertThat(window).isNotNull();
        assertThat(window.p95Seconds()).isBetween(19.0, 21.0);
        assertThat(window.utilizationRatio()).isBetween(0.6, 0.7);
        assertThat(String.valueOf(window.utilizationRatio())).hasSizeLessThanOrEqualTo("0.123".length());
        assertThat(window.overruns()).isEqualTo("0.0 in 1,000 outlast the visibility timeout");
        assertThat(window.timeToBreachSeconds()).isNull();
        assertThat(window.advice().rule()).isEqualTo("2 x p50");
        assertThat(window.advice().recommendedSeconds()).isBetween(38.0, 42.0);
        assertThat(window.advice().terraform()).contains("aws_sqs_queue").contains("\"orders\"");
        assertThat(window.advice().cli()).startsWith("aws sqs set-queue-attributes");
    }

    @Test
    void overrunsOfFewDeliveriesAreNotShown() {
        listeners.subscribed(orders);
        windows.subscribed(orders);
        windows.on(new DeliveryEvent.Delivered(orders, Duration.ofSeconds(20)));

        ListenerDescription.Window window = only().window();

        assertThat(window).isNotNull();
        assertThat(window.deliveries()).isOne();
        assertThat(window.overruns()).isNull();
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
        counts.observing(new ObservedQueue("fulfilment", "orders"));

        assertThat(endpoint.listeners().listeners()).isNull();
        assertThat(endpoint.listeners().observed())
                .extracting(ObservedCounts.Seen::listener)
                .containsExactly("fulfilment");
    }

    @Test
    void storeThatShowsNoClaimsHasNoneToShowOrToDecideOn() {
        assertThat(endpoint.claim("orders", "o1")).isNull();
        assertThat(endpoint.decide(OPERATOR, "orders", "o1", "release")).containsEntry("decided", false);
    }

    @Test
    void keysAndScopesThatCannotBeOnesAreAMistakeOfTheCaller() {
        for (ClaimKey named : List.of(new ClaimKey("orders", "a\0"), new ClaimKey("a\uD83D", "o1"))) {
            assertThatThrownBy(() -> endpoint.decide(OPERATOR, named.scope(), named.key(), "release"))
                    .isInstanceOf(InvalidEndpointRequestException.class)
                    .hasMessageContaining(" contains ");
        }
        assertThat(endpoint.decide(OPERATOR, "orders", "x".repeat(600), "release"))
                .as("a key that is kept by its hash")
                .containsEntry("decided", false);
    }

    /** It may have been decided, so that the record must not depend on the reply. */
    @Test
    void whoAskedForADecisionIsOnRecordAlthoughItsReplyIsLost(CapturedOutput output) {
        ParkedClaim parked = new ParkedClaim("orders", "o1", UUID.randomUUID(), 1, true, "timeout", 1);
        ExactlyOnceOperations operations = mock(ExactlyOnceOperations.class);
        when(operations.findParked("orders", "o1")).thenReturn(Optional.of(parked));
        when(operations.releaseParked(parked)).thenThrow(new IllegalStateException("connection reset"));
        ExactlyOnceEndpoint deciding =
                new ExactlyOnceEndpoint(listeners, prevented, windows, audit, () -> counts, null, operations);

        assertThatThrownBy(() -> deciding.decide(OPERATOR, "orders", "o1", "release"))
                .hasMessage("connection reset");

        assertThat(output).contains("'operator' asked to release the parked claim of ");
    }

    @Test
    void redriveNamesAListenerThatRuns() {
        Redrives none = new Redrives(List.of(), List.of());
        assertThat(endpoint.redrive(OPERATOR, "fulfilment", "redrive").getBody())
                .isEqualTo(none);
        assertThatThrownBy(() -> endpoint.redrive(OPERATOR, "fulfilment", "purge"))
                .isInstanceOf(InvalidEndpointRequestException.class)
                .hasMessageContaining("'purge' must be 'redrive'");
        listeners.subscribed(orders);
        assertThat(endpoint.redrive(OPERATOR, "fulfilment", "redrive").getBody())
                .isEqualTo(none);
    }

    /** Neither the name that is asked for nor the name of who asks is more than a part of a line. */
    @Test
    void redriveLetsNoCallerWriteLinesOfTheLog(CapturedOutput output) {
        listeners.subscribed(orders);

        endpoint.redrive(OPERATOR, "other\nforged by its name", "redrive");
        endpoint.redrive(named("operator\nforged by a name"), "fulfilment", "redrive");

        assertThat(output)
                .contains("'operator?forged by a name' asked to redrive the dead letters of listener 'fulfilment'")
                .doesNotContain("forged by its name");
    }
}
