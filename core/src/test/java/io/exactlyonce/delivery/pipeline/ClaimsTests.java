package io.exactlyonce.delivery.pipeline;

import static io.exactlyonce.claim.Claims.newKey;
import static io.exactlyonce.claim.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.GatedStore;
import io.exactlyonce.claim.GatedStore.Batch;
import io.exactlyonce.claim.groupcommit.GroupCommitRig;
import io.exactlyonce.claim.groupcommit.GroupCommitRig.Caller;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.time.Timer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls that are interrupted, repeated and given up. */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(60)
class ClaimsTests {

    private final GroupCommitRig rig = new GroupCommitRig();
    private final Claims claims = new Claims(rig.store, rig.front, Timer.SYSTEM, System::nanoTime);
    private final DeliveryRig outage = new DeliveryRig();
    private final Claims repeating = outage.claims();
    private final List<String> answers = new ArrayList<>();

    @AfterEach
    void close() {
        rig.close();
    }

    @Test
    void claimThatWasInterruptedOnItsWayIsAnsweredAllTheSame() throws Exception {
        ClaimRequest claim = request(newKey());
        List<Boolean> interrupted = new ArrayList<>();
        Caller<ClaimOutcome> caller = GroupCommitRig.call(() -> {
            ClaimOutcome outcome = claims.awaitClaim(claim);
            interrupted.add(Thread.currentThread().isInterrupted());
            return outcome;
        });
        Batch claiming = rig.store.next();

        caller.thread().interrupt();
        claiming.answer();

        assertThat(caller.answer().get()).isEqualTo(GatedStore.outcome(claim));
        assertThat(interrupted).containsExactly(true);
    }

    @Test
    void threadThatWasInterruptedStillReleasesItsClaim() throws Exception {
        ClaimRequest claim = request(newKey());
        Caller<Boolean> caller = GroupCommitRig.call(() -> {
            Thread.currentThread().interrupt();
            return claims.awaitEnd(new ClaimEnd.Released(claim.id(), "failed", false), () -> false)
                    && Thread.currentThread().isInterrupted();
        });

        rig.store.next().answer();

        assertThat(caller.answer().get()).isTrue();
    }

    private void claim(int attempts) {
        claim(repeating, attempts);
    }

    private void claim(Claims asking, int attempts) {
        ClaimSpec action = new ClaimSpec(new ClaimKey("orders", "A-1"), null, InDoubtPolicy.RERUN);
        asking.claim(
                List.of(new ClaimSettings("worker", null).request(action)),
                (failures, failure) -> failures < attempts,
                (outcomes, failure, askedAt) -> answers.add(failure == null ? "answered" : "given up"));
    }

    @Test
    void firstFailureOfEachOutageHasItsStackTraceAlsoAfterACallThatWasGivenUp(CapturedOutput output) {
        outage.store.failClaims(true);
        claim(3);
        assertThat(answers).containsExactly("given up");
        claim(3);
        assertThat(answers).containsExactly("given up", "given up");

        assertThat(output.getOut().lines().filter(line -> line.endsWith("failed; trying again")))
                .as("lines that a stack trace follows")
                .hasSize(2);
        assertThat(output.getOut().lines().filter(line -> line.contains("failed; trying again: ")))
                .as("lines without one")
                .hasSize(2);
    }

    @Test
    void outageIsNotOverWhenACallIsAnsweredOrGivenUpWhileAnotherIsBeingRepeated(CapturedOutput output) {
        outage.timer.hold();
        outage.store.failClaims(true);
        claim(9);
        claim(2);
        outage.timer.run();
        outage.store.failClaims(false);
        claim(1);
        assertThat(answers).containsExactly("given up", "answered");

        outage.store.failClaims(true);
        outage.timer.run();

        assertThat(output.getOut().lines().filter(line -> line.endsWith("failed; trying again")))
                .as("lines that a stack trace follows")
                .hasSize(1);
    }

    /** An attempt that timed out may have reached the store; one that found no connection has not. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void claimOfWhichOneAttemptMayHaveReachedTheStoreIsGivenUp(boolean isFirst) {
        RuntimeException lost = new IllegalStateException("connection reset");
        RuntimeException busy = new ClaimStoreBusyException("busy");
        for (RuntimeException failure : isFirst ? List.of(lost, busy) : List.of(busy, lost)) {
            outage.store.onClaim(() -> {
                throw failure;
            });
        }

        claim(2);

        assertThat(answers).containsExactly("given up");
        assertThat(outage.store.releases()).singleElement().matches(release -> !release.ambiguous());
    }

    private static Stream<RuntimeException> failures() {
        return Stream.of(
                new IllegalStateException("rolled back", new IllegalArgumentException("by the driver")),
                new CompletionException("without a cause", null));
    }

    /** A request that the store refuses for good is not repeated: that is what it says itself, not what lies behind it. */
    @ParameterizedTest
    @MethodSource("failures")
    void callThatFailsForWhateverReasonOfItsOwnIsRepeated(RuntimeException failure) {
        Claims asking = new Claims(outage.store, answering(failure), outage.timer, outage.clock);

        claim(asking, 2);
        claim(new Claims(outage.store, answering(failure), outage.timer, outage.clock), 1);

        assertThat(answers).containsExactly("answered", "given up");
    }

    @Test
    void crashOfARepeatedCallIsAnsweredToo() {
        Claims asking = new Claims(
                outage.store,
                answering(new IllegalStateException("connection reset"), new StackOverflowError("simulated")),
                outage.timer,
                outage.clock);

        claim(asking, 9);

        assertThat(answers).containsExactly("given up");
    }

    /** A store whose claims end with failures, or crash with an error, before one is answered; futures fail without a wrapper. */
    private AsyncClaimStore answering(Throwable... failures) {
        Deque<Throwable> left = new ArrayDeque<>(List.of(failures));
        return new AsyncClaimStore() {
            @Override
            public CompletableFuture<List<ClaimOutcome>> claimAsync(List<ClaimRequest> requests) {
                Throwable failure = left.poll();
                if (failure instanceof Error crash) {
                    throw crash;
                }
                return failure == null
                        ? CompletableFuture.completedFuture(outage.store.claim(requests))
                        : CompletableFuture.failedFuture(failure);
            }

            @Override
            public CompletableFuture<Set<ClaimId>> endAsync(List<? extends ClaimEnd> ends, boolean isAwaited) {
                return CompletableFuture.completedFuture(outage.store.end(ends));
            }
        };
    }
}
