package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.Claims;
import io.exactlyonce.claim.ExecutorClaimStore;
import io.exactlyonce.claim.GatedStore;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.InDoubtSettings;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Repeated calls to the store, and the moment at which the client stops repeating a call that gets no answer. */
@ExtendWith(OutputCaptureExtension.class)
class RetryingClaimClientTests {

    private final DeliveryRig outage = new DeliveryRig();
    private final RetryingClaimClient repeating = outage.claims();
    private final List<String> answers = new ArrayList<>();

    private void claim(int attempts) {
        claim(repeating, attempts);
    }

    private void claim(RetryingClaimClient asking, int attempts) {
        asking.claim(
                        List.of(new ClaimSettings("worker", null).request(DeliveryRig.spec(InDoubtSettings.RERUN))),
                        (failures, failure) -> failures < attempts)
                .whenComplete((claimed, failure) -> answers.add(failure == null ? "answered" : "given up"));
    }

    /**
     * Asserts the number of logged outages. Only the line of an outage's first failure ends with this text, because a
     * stack trace follows.
     */
    private static void assertOutagesTold(CapturedOutput output, int outages) {
        assertThat(output.getOut().lines().filter(line -> line.endsWith("failed; trying again")))
                .hasSize(outages);
    }

    @Test
    void firstFailureOfEachOutageHasItsStackTraceAlsoAfterACallThatWasGivenUp(CapturedOutput output) {
        outage.store.failClaims(true);
        claim(3);
        claim(3);

        assertThat(answers).containsExactly("given up", "given up");
        assertOutagesTold(output, 2);
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

        assertOutagesTold(output, 1);
    }

    /**
     * An attempt whose connection was lost may have reached the store, so its claim may exist and must be released. An
     * attempt that got no connection cannot have made a claim.
     */
    @ParameterizedTest
    @CsvSource({"lost, busy, 1", "busy, lost, 1", "busy, busy, 0"})
    void claimOfWhichOneAttemptMayHaveReachedTheStoreIsGivenUp(String first, String second, int releases) {
        for (String attempt : List.of(first, second)) {
            outage.store.refuseClaims(
                    1,
                    attempt.equals("busy")
                            ? new ClaimStoreBusyException("busy")
                            : new IllegalStateException("connection reset"));
        }

        claim(2);

        assertThat(answers).containsExactly("given up");
        assertThat(outage.store.releases()).hasSize(releases).noneMatch(ClaimResolution.Released::inDoubt);
    }

    private static ClaimId anyClaim() {
        return new ClaimSettings("worker", null)
                .request(DeliveryRig.spec(InDoubtSettings.RERUN))
                .id();
    }

    /**
     * A refused completion is repeated without its result. A refused release must not be repeated in this way, because
     * it would become a completion.
     */
    @Test
    void releaseThatTheStoreRefusesDoesNotBecomeACompletion() {
        outage.store.onRelease(released -> {
            throw new IllegalArgumentException("a text with NUL");
        });

        repeating
                .resolve(
                        List.of(new ClaimResolution.Released(anyClaim(), "failed", false)),
                        true,
                        (failures, failure) -> failures < RetryingClaimClient.FEW)
                .whenComplete((recorded, failure) -> answers.add(failure == null ? "recorded" : "refused"));

        assertThat(answers).containsExactly("refused");
        assertThat(outage.store.completions()).isEmpty();
    }

    /** A completion that is not repeated would leave its effect in doubt. */
    @Test
    void completionThatItsCallerNeedsIsRepeatedBeyondAFewAttempts() {
        outage.store.loseCompletions(RetryingClaimClient.FEW + 2);

        assertThat(repeating.awaitResolution(new ClaimResolution.Completed(anyClaim(), null), () -> true))
                .isTrue();
    }

    /** The store leaves a resolution unanswered if, for example, another transaction locks its row. */
    @Test
    void resolutionThatIsOnlyPartlyAnsweredIsRepeatedAsAWhole() {
        ClaimResolution answered = new ClaimResolution.Completed(anyClaim(), null);
        ClaimResolution locked = new ClaimResolution.Completed(anyClaim(), null);
        List<List<? extends ClaimResolution>> calls = new ArrayList<>();
        RetryingClaimClient client = resolving(resolutions -> {
            calls.add(resolutions);
            return calls.size() == 1
                    ? new ClaimAnswers(Set.of(answered.claim()), Set.of(locked.claim()), null)
                    : new ClaimAnswers(Set.of(answered.claim(), locked.claim()));
        });

        assertThat(client.resolve(List.of(answered, locked), true, (failures, failure) -> true))
                .isCompletedWithValue(Set.of(answered.claim(), locked.claim()));

        assertThat(calls).containsExactly(List.of(answered, locked), List.of(answered, locked));
    }

    private static Stream<RuntimeException> failures() {
        return Stream.of(
                new IllegalStateException("rolled back", new IllegalArgumentException("by the driver")),
                new CompletionException("without a cause", null));
    }

    /**
     * An exception of a type that means a permanent refusal is not repeated. An exception that only has such a cause is
     * repeated.
     */
    @ParameterizedTest
    @MethodSource("failures")
    void callThatFailsForWhateverReasonOfItsOwnIsRepeated(RuntimeException failure) {
        claim(answering(failure), 2);
        claim(answering(failure), 1);

        assertThat(answers).containsExactly("answered", "given up");
    }

    @Test
    void storeThatSharesNoTransactionsCannotFence() {
        GatedStore plain = new GatedStore();
        RetryingClaimClient client = new RetryingClaimClient(
                plain, new ExecutorClaimStore(plain, Runnable::run, outage.clock), outage.timer);

        assertThatThrownBy(() -> client.fence(Claims.request(Claims.newKey()).id()))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("Claims are kept by GatedStore, which shares no transactions")
                .hasMessageContaining("give Claim.fencingToken() to a system that refuses stale writers");
    }

    private RetryingClaimClient resolving(Function<List<? extends ClaimResolution>, ClaimAnswers> answer) {
        AsyncClaimStore store = new AsyncClaimStore() {
            @Override
            public CompletableFuture<Claimed> claimAsync(List<ClaimRequest> requests) {
                throw new UnsupportedOperationException();
            }

            @Override
            public CompletableFuture<ClaimAnswers> resolveAsync(
                    List<? extends ClaimResolution> resolutions, boolean isAwaited) {
                return CompletableFuture.completedFuture(answer.apply(resolutions));
            }
        };
        return new RetryingClaimClient(outage.store, store, outage.timer);
    }

    /** Returns a client of a store that fails the first claim with exactly this exception, and answers the next. */
    private RetryingClaimClient answering(RuntimeException only) {
        Deque<Throwable> left = new ArrayDeque<>(List.of(only));
        AsyncClaimStore store = new AsyncClaimStore() {
            @Override
            public CompletableFuture<Claimed> claimAsync(List<ClaimRequest> requests) {
                Throwable failure = left.poll();
                return failure == null
                        ? CompletableFuture.completedFuture(
                                new Claimed(outage.store.claim(requests), outage.clock.nanoTime()))
                        : CompletableFuture.failedFuture(failure);
            }

            @Override
            public CompletableFuture<ClaimAnswers> resolveAsync(
                    List<? extends ClaimResolution> resolutions, boolean isAwaited) {
                return CompletableFuture.completedFuture(outage.store.resolve(resolutions));
            }
        };
        return new RetryingClaimClient(outage.store, store, outage.timer);
    }
}
