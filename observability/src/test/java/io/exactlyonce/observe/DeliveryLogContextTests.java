package io.exactlyonce.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.Claim;
import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver.HandlerScope;
import io.exactlyonce.delivery.HeldClaim;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;
import io.micrometer.context.integration.Slf4jThreadLocalAccessor;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;
import org.slf4j.MDC;

class DeliveryLogContextTests {

    private static final UUID CLAIM = new UUID(1, 2);

    private final DeliveryLogContext context = new DeliveryLogContext();
    private final Subscription orders =
            new Subscription("fulfilment", "orders", VisibilityWindow.ofSeconds(30), new ScriptedQueue());
    private final ClaimKey key = new ClaimKey("orders", "o1");
    private final Delivery delivery = claimed("m1");

    private Delivery claimed(String message) {
        Delivery claimed = new Delivery(orders, orders.settings(), message, "r", 3, 0);
        claimed.attempt().specify(new ClaimSpec(key, null, InDoubtSettings.RERUN), "", true);
        ClaimRequest request = claimed.attempt()
                .makeRequest(new ClaimSettings("worker", null, null, MismatchPolicy.REFUSE, () -> CLAIM));
        claimed.attempt()
                .acquiredWithin(
                        new HeldClaim(request.id(), new ClaimOutcome.Acquired(2, 7, false), () -> true, () -> true));
        return claimed;
    }

    @BeforeEach
    @AfterEach
    void clear() {
        MDC.clear();
    }

    @Test
    void handlersLinesSayWhatTheyAreAboutAndTheKeyOnlyAsAHash() {
        HandlerScope scope = context.handling(List.of(delivery));

        assertThat(MDC.getCopyOfContextMap())
                .containsExactlyInAnyOrderEntriesOf(Map.of(
                        "listener", "fulfilment",
                        "receiveCount", "3",
                        "keyHash", key.keyHash(),
                        "attempt", "2",
                        "claim", CLAIM.toString()));
        scope.leave();
        assertThat(DeliveryLogContext.current()).isEmpty();
    }

    @Test
    void batchHasItsListenerOnly() {
        context.handling(List.of(delivery, claimed("m2")));

        assertThat(MDC.getCopyOfContextMap()).isEqualTo(Map.of("listener", "fulfilment"));
    }

    @Test
    void handlerOfAMessageWithoutAKeyHasNoClaimInItsLines() {
        Delivery keyless = new Delivery(orders, orders.settings(), "m2", "r", 3, 0);
        keyless.attempt().specifyWithoutKey(MissingKeyPolicy.RUN_UNPROTECTED, key, Mockito.mock(Claim.class), "");

        context.handling(List.of(keyless));

        assertThat(MDC.getCopyOfContextMap()).isEqualTo(Map.of("listener", "fulfilment", "receiveCount", "3"));
    }

    @Test
    void applicationsOwnContextIsThereAgainAfterwards() {
        MDC.put("keyHash", "the application's");
        MDC.put("tenant", "t1");

        HandlerScope scope = context.handling(List.of(delivery));
        assertThat(MDC.get("keyHash")).isNotEqualTo("the application's");
        assertThat(MDC.get("tenant")).isEqualTo("t1");
        scope.leave();

        assertThat(MDC.get("keyHash")).isEqualTo("the application's");
        assertThat(MDC.get("claim")).isNull();
    }

    /**
     * An application may propagate its own names with Micrometer's accessor. If two accessors have the same key, one
     * replaces the other.
     */
    @Test
    void applicationsOwnAccessorOfTheLogContextStaysBesideOurs() {
        ContextRegistry registry = new ContextRegistry()
                .loadThreadLocalAccessors()
                .registerThreadLocalAccessor(new Slf4jThreadLocalAccessor("tenant"));
        MDC.put("tenant", "t1");
        context.handling(List.of(delivery));
        ContextSnapshot captured = ContextSnapshotFactory.builder()
                .contextRegistry(registry)
                .build()
                .captureAll();
        MDC.clear();

        captured.wrap(() -> {
                    assertThat(MDC.get("tenant")).isEqualTo("t1");
                    assertThat(MDC.get("attempt")).isEqualTo("2");
                })
                .run();
    }

    @Test
    void contextGoesAlongToThreadsThatContextsArePropagatedTo() {
        context.handling(List.of(delivery));
        Runnable work = ContextSnapshotFactory.builder().build().captureAll().wrap(() -> {
            assertThat(MDC.get("claim")).isEqualTo(CLAIM.toString());
            assertThat(MDC.get("listener")).isEqualTo("fulfilment");
        });

        CompletableFuture.runAsync(() -> {
                    work.run();
                    assertThat(MDC.get("claim")).isNull();
                })
                .join();
    }
}
