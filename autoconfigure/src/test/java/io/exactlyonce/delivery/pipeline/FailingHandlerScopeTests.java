package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.CompositeDeliveryObserver;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.TestResults;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The virtual machine fails in what accompanies claims and handlers (a span, the log's context). */
class FailingHandlerScopeTests {

    private final DeliveryRig rig = new DeliveryRig();
    private final Delivery delivery = rig.receive();
    private final AtomicInteger effects = new AtomicInteger();
    private @Nullable String failsAt;

    private final DeliveryObserver observer = new CompositeDeliveryObserver(List.of(new DeliveryObserver() {
        @Override
        public ClaimScope claiming(List<ClaimCall> calls) {
            failAt("claiming");
            return (outcomes, failure) -> failAt("answered");
        }

        @Override
        public HandlerScope handling(List<HandlerCall> calls) {
            failAt("handling");
            return new HandlerScope() {
                @Override
                public void leave() {
                    failAt("leave");
                }

                @Override
                public void end(@Nullable Throwable failure) {
                    failAt("end");
                }
            };
        }
    }));

    private void failAt(String point) {
        if (point.equals(failsAt)) {
            failsAt = null;
            throw new OutOfMemoryError("simulated");
        }
    }

    private void process() {
        DeliveryPipeline pipeline = new DeliveryPipeline(
                rig.writer(),
                new ClaimSettings("worker", Duration.ofSeconds(20)),
                new RetryBackoff(Duration.ofSeconds(8), Duration.ofMinutes(5)),
                TestResults.writing(Object::toString),
                observer,
                rig.clock,
                () -> 0,
                Runnable::run);
        Attempt attempt = Attempt.single(delivery, new ClaimSpec(DeliveryRig.KEY, null, InDoubtPolicy.RERUN));
        assertThat(catchThrowable(() -> DeliveryRig.process(pipeline, List.of(attempt), (Handler) claimed -> {
                    effects.incrementAndGet();
                    return CompletableFuture.completedFuture("shipped");
                })))
                .isInstanceOf(OutOfMemoryError.class);
    }

    @Test
    void nothingIsClaimedWhenTheClaimsScopeCannotBeBegun() {
        failsAt = "claiming";

        process();

        assertThat(effects).hasValue(0);
        assertThat(rig.store.claims()).isEmpty();
        assertThat(rig.deliveries.settle(delivery)).isFalse();
        assertThat(rig.returns()).containsExactly(4);
    }

    @Test
    void claimIsLetGoWhenItsScopeCannotBeEnded() {
        failsAt = "answered";

        process();

        assertThat(effects).hasValue(0);
        assertThat(rig.store.releases())
                .extracting(ClaimEnd.Released::ambiguous)
                .containsExactly(false);
        assertThat(rig.deliveries.settle(delivery)).isFalse();
        assertThat(rig.returns()).containsExactly(4);
    }

    /** As HandlerStageTests#claimIsLetGoWithoutADoubtWhenTheVirtualMachineFailsBetweenClaimAndHandler promises. */
    @Test
    void claimIsLetGoWhenTheHandlersScopeCannotBeBegun() {
        failsAt = "handling";

        process();

        assertThat(effects).hasValue(0);
        assertThat(rig.store.releases())
                .extracting(ClaimEnd.Released::ambiguous)
                .containsExactly(false);
        // The run has ended: no stop reaches this thread any more.
        delivery.stopHandler();
        assertThat(Thread.interrupted()).isFalse();
        assertThat(rig.deliveries.settle(delivery)).isFalse();
        assertThat(rig.returns()).containsExactly(4);
    }

    /** As HandlerStageTests#effectIsCompletedAlthoughTheVirtualMachineFailsWhenItIsMeasured promises. */
    @Test
    void effectIsCompletedAlthoughItsScopeCannotBeLeft() {
        failsAt = "leave";

        process();

        assertThat(effects).hasValue(1);
        assertThat(rig.store.releases())
                .as("releases, after which the effect would be repeated without a doubt")
                .isEmpty();
        assertThat(rig.store.completions()).hasSize(1);
        assertThat(rig.deliveries.settle(delivery)).isTrue();
    }

    @Test
    void effectIsCompletedAlthoughItsScopeCannotBeEnded() {
        failsAt = "end";

        process();

        assertThat(effects).hasValue(1);
        assertThat(rig.store.completions()).hasSize(1);
        assertThat(rig.deliveries.settle(delivery)).isTrue();
    }
}
