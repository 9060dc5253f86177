package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.BatchResult;
import io.exactlyonce.CapturedOutput;
import io.exactlyonce.Claim;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimResolution.Parked;
import io.exactlyonce.claim.ClaimResolution.Released;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The attempt that reaches the maximum number of failures parks its key. */
@ExtendWith(OutputCaptureExtension.class)
class MaxAttemptsTests {

    private static final InDoubtSettings THREE = new InDoubtSettings(InDoubtPolicy.RERUN, null, List.of(), 3);

    private final DeliveryRig rig = new DeliveryRig();
    private final Delivery delivery = rig.receive();

    @AfterEach
    void noInterruptIsLeftBehind() {
        assertThat(Thread.interrupted()).isFalse();
    }

    private void fail(InDoubtSettings policy, Acquired acquired, DeliveryRig.SingleHandler handler) {
        rig.store.answer(acquired);
        assertThat(rig.failureOf(delivery, DeliveryRig.spec(policy), handler)).isNotNull();
    }

    private static Object refuse(Object claim) throws IOException {
        throw new IOException("refused");
    }

    @Test
    void attemptThatReachesTheNumberParksItsKeyWithItsError(CapturedOutput output) {
        fail(THREE, new Acquired(3, 3, false, 2), MaxAttemptsTests::refuse);

        assertThat(rig.store.parkings())
                .containsExactly(new Parked(
                        rig.claimed(), "maxAttempts (3) is reached: java.io.IOException: refused", false, true));
        assertThat(rig.store.releases())
                .as("in the write that records the failure")
                .isEmpty();
        assertThat(rig.parked).containsExactly(DeliveryRig.KEY);
        assertThat(rig.settle(delivery)).isFalse();
        assertThat(output)
                .contains("failed with java.io.IOException (attempt 3 at " + DeliveryRig.KEY
                        + "); its key is parked until an operator decides");
    }

    /** Only one of the eight earlier attempts threw. The others crashed, lost their claims or were stopped. */
    @Test
    void attemptsThatDidNotThrowDoNotCount() {
        fail(THREE, new Acquired(9, 9, true, 1), MaxAttemptsTests::refuse);

        assertThat(rig.store.releases())
                .containsExactly(new Released(rig.claimed(), "java.io.IOException: refused", false, true));
        assertThat(rig.store.parkings()).isEmpty();
    }

    @Test
    void withoutANumberAnyNumberOfAttemptsMayThrow() {
        fail(InDoubtSettings.RERUN, new Acquired(900, 900, false, 899), MaxAttemptsTests::refuse);

        assertThat(rig.store.parkings()).isEmpty();
    }

    @Test
    void firstAttemptParksItsKeyIfOneIsAllowed() {
        fail(
                new InDoubtSettings(InDoubtPolicy.RERUN, null, List.of(), 1),
                new Acquired(1, 1, false),
                MaxAttemptsTests::refuse);

        assertThat(rig.store.parkings()).hasSize(1);
    }

    /** Handlers of attempts that the engine or the application stops. */
    private enum Stop implements DeliveryRig.SingleHandler {
        LOST_LEASE {
            @Override
            public Object handle(Claim claim) {
                claim.ensureHeld();
                return "never";
            }
        },
        INTERRUPT {
            @Override
            public Object handle(Claim claim) throws InterruptedException {
                throw new InterruptedException("stopped");
            }
        },
        WORK_THAT_MAY_CONTINUE {
            @Override
            public Object handle(Claim claim) {
                return List.of(new CompletableFuture<>());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void attemptThatWasStoppedIsNeitherCountedNorParked(Stop stop) {
        fail(THREE, new Acquired(3, 3, false, 2), claim -> {
            if (stop == Stop.LOST_LEASE) {
                rig.clock.advance(Duration.ofSeconds(21));
            }
            return stop.handle(claim);
        });

        assertThat(rig.store.parkings()).isEmpty();
        assertThat(rig.store.releases()).singleElement().matches(released -> released.inDoubt() && !released.threw());
    }

    @Test
    void attemptWhoseHandlerWasNotCalledIsNotCounted() {
        rig.store.onClaim(() -> {
            delivery.stopHandler();
            return new Acquired(3, 3, false, 2);
        });

        rig.assertNotCalled(delivery, rig.failureOf(delivery, DeliveryRig.spec(THREE), DeliveryRig::neverCalled));

        assertThat(rig.store.parkings()).isEmpty();
    }

    /** The store counts the failures of each key, and each message of a batch has its own key. */
    @Test
    void eachMessageOfABatchHasItsOwnCount() {
        List<Delivery> batch = Stream.of("third", "first", "last")
                .map(key -> DeliveryRig.asking(
                        rig.receive(rig.orders, key, 1), "", new ClaimSpec(DeliveryRig.key(key), null, THREE)))
                .toList();
        rig.store.answer(new Acquired(3, 3, false, 2), new Acquired(1, 1, false), new Acquired(8, 8, false, 7));
        BatchResult result = BatchResult.failed(0, new IOException("refused")).andFailed(1, new IOException("refused"));

        assertThat(rig.failureOf(batch, acquired -> DeliveryRig.end(result, acquired)))
                .isInstanceOf(FailedItems.class);

        assertThat(keys(rig.store.parkings().stream().map(Parked::claim))).containsExactly("third");
        assertThat(rig.store.releases()).singleElement().matches(Released::threw);
        assertThat(keys(rig.store.releases().stream().map(Released::claim))).containsExactly("first");
        assertThat(rig.store.completions()).hasSize(1);
    }

    private static Stream<String> keys(Stream<ClaimId> claims) {
        return claims.map(claim -> claim.key().key());
    }

    /** All requests name the same claim, so the store counts one failure. */
    @Test
    void parkingWithoutAnAnswerIsRepeatedAsItIs() {
        rig.store.loseFailures(2);

        fail(THREE, new Acquired(3, 3, false, 2), MaxAttemptsTests::refuse);
        rig.tickFor(Duration.ofSeconds(5));

        assertThat(rig.store.parkings()).hasSize(3);
        assertThat(rig.store.parkings().stream().distinct()).hasSize(1);
        assertThat(rig.parked).containsExactly(DeliveryRig.KEY);
    }

    @Test
    void exceptionOfParkForParksBeforeTheNumberIsReachedWithItsOwnReason() {
        fail(
                new InDoubtSettings(InDoubtPolicy.RERUN, null, List.of(IOException.class), 3),
                new Acquired(1, 1, false),
                MaxAttemptsTests::refuse);

        assertThat(rig.store.parkings())
                .containsExactly(new Parked(rig.claimed(), "java.io.IOException: refused", false, true));
    }

    /**
     * The engine stops the handler at its timeout. The attempt may have had effects, so {@code whenInDoubt} decides.
     */
    @Test
    void handlerThatIsStoppedAtItsTimeoutIsNotCounted() {
        Delivery limited = rig.receiveLimited(Duration.ofSeconds(10));
        rig.store.answer(new Acquired(3, 3, false, 2));

        assertThat(rig.failureOf(limited, DeliveryRig.spec(THREE), claim -> {
                    rig.tickFor(Duration.ofSeconds(11));
                    new CountDownLatch(1).await();
                    return "never";
                }))
                .isInstanceOf(InterruptedException.class);

        assertThat(rig.store.parkings()).isEmpty();
        assertThat(rig.store.releases()).singleElement().matches(released -> released.inDoubt() && !released.threw());
    }
}
