package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryObserver.ClaimCall;
import io.exactlyonce.delivery.DeliveryObserver.ClaimScope;
import io.exactlyonce.delivery.Disposition;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.delivery.StoreCalls;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.backoff.BackOffExecution;

/** Claims the keys of deliveries in one call of the store, and decides on the deliveries that acquire nothing. */
final class ClaimStage {

    private static final Logger log = LoggerFactory.getLogger(ClaimStage.class);

    private final ClaimWriter writer;
    private final ClaimSettings settings;
    private final OutcomePolicy policy;
    private final DeliveryObserver observer;
    private final NanoClock clock;

    ClaimStage(ClaimWriter writer, ClaimSettings settings, DeliveryObserver observer, NanoClock clock) {
        this.writer = writer;
        this.settings = settings;
        this.policy = new OutcomePolicy(settings);
        this.observer = observer;
        this.clock = clock;
    }

    /**
     * Claims before there are threads for the deliveries. One on its last receive whose claim gets no answer is left to the thread
     * that comes for it.
     *
     * @return ends when all are answered, or wait for an answer
     */
    CompletableFuture<Void> claimAhead(List<Attempt> attempts) {
        return claim(attempts, null);
    }

    /** Claims, and goes on for as long as one of the deliveries is on its last receive, and gets no answer. */
    CompletableFuture<Void> claim(List<Attempt> attempts) {
        return attempts.isEmpty()
                ? CompletableFuture.completedFuture(null)
                : claim(attempts, ClaimWriter.endlessPauses());
    }

    /**
     * The leases count from before the call.
     *
     * @param pauses before keys are asked for anew whose deliveries are at stake; {@code null} if they are not
     */
    @SuppressWarnings("FutureReturnValueIgnored") // It is taken out of the other one.
    private CompletableFuture<Void> claim(List<Attempt> attempts, @Nullable BackOffExecution pauses) {
        if (attempts.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        attempts.forEach(this::ask);
        ClaimScope scope = begin(attempts);
        long asked = clock.nanoTime();
        List<ClaimRequest> requests = attempts.stream().map(Attempt::request).toList();
        CompletableFuture<List<ClaimOutcome>> answer = pauses != null && isAtStake(attempts)
                ? writer.claim(requests, within(attempts, requests.get(0).lease(), asked))
                : writer.claim(requests);
        return answer.handle((outcomes, failure) -> failure == null
                        ? answered(attempts, outcomes, asked, scope)
                        : unanswered(attempts, pauses, StoreCalls.unwrap(failure), scope))
                .thenCompose(Function.identity());
    }

    private static boolean isAtStake(List<Attempt> attempts) {
        return attempts.stream().anyMatch(Attempt::isAtStake);
    }

    /**
     * Returns for how long the same claim is repeated, which finds itself if only its answer was lost: what is left of its lease
     * afterwards is for the handler.
     */
    private BooleanSupplier within(List<Attempt> attempts, Duration lease, long begun) {
        return () -> isAtStake(attempts) && clock.nanoTime() - begun < lease.toNanos() / 2;
    }

    ClaimScope begin(List<Attempt> asking) {
        return observer.claiming(asking.stream()
                .map(attempt -> new ClaimCall(attempt.delivery(), attempt.id().key()))
                .toList());
    }

    private CompletableFuture<Void> answered(
            List<Attempt> attempts, List<ClaimOutcome> outcomes, long asked, ClaimScope scope) {
        for (int index = 0; index < outcomes.size(); index++) {
            answer(attempts.get(index), outcomes.get(index), asked);
        }
        scope.end(outcomes, null);
        for (int index = 0; index < outcomes.size(); index++) {
            Attempt attempt = attempts.get(index);
            observer.claimed(attempt.delivery().subscription(), attempt.id().key(), outcomes.get(index));
        }
        return CompletableFuture.completedFuture(null);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // It is taken out of the other one.
    private CompletableFuture<Void> unanswered(
            List<Attempt> attempts, @Nullable BackOffExecution pauses, Throwable failure, ClaimScope scope) {
        scope.end(List.of(), failure);
        if (failure instanceof IllegalArgumentException) {
            log.error("{} is returned: its key, or another one of its poll, cannot be claimed", attempts, failure);
            attempts.forEach(attempt -> attempt.decide(retry(attempt)));
            return CompletableFuture.completedFuture(null);
        }
        if (pauses != null && isAtStake(attempts)) {
            return writer.pause(Duration.ofMillis(pauses.nextBackOff())).thenCompose(over -> claim(attempts, pauses));
        }
        attempts.stream()
                .filter(attempt -> pauses != null || !attempt.isAtStake())
                .forEach(attempt -> await(attempt, failure));
        return CompletableFuture.completedFuture(null);
    }

    ClaimRequest ask(Attempt attempt) {
        ClaimRequest request = settings.request(
                attempt.spec(), attempt.delivery().subscription().window());
        attempt.ask(request);
        return request;
    }

    static void await(Attempt attempt, Throwable unanswered) {
        attempt.decide(OutcomePolicy.unanswered(attempt.delivery(), attempt.request(), unanswered));
    }

    private void answer(Attempt attempt, ClaimOutcome outcome, long asked) {
        if (outcome instanceof Acquired acquired) {
            attempt.acquire(acquired, asked, writer);
        } else {
            refuse(attempt, outcome);
        }
    }

    void refuse(Attempt attempt, ClaimOutcome outcome) {
        Delivery delivery = attempt.delivery();
        attempt.decide(policy.decide(delivery, attempt.request(), outcome, retry(attempt)));
    }

    private static Disposition retry(Attempt attempt) {
        return Objects.requireNonNull(attempt.delivery().disposition());
    }
}
