package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.Disposition;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.time.NanoClock;
import java.util.List;
import java.util.Objects;

/** Claims the keys of deliveries in one call of the store, and decides on the deliveries that acquire nothing. */
final class ClaimStage {

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

    /** The leases count from before the call. */
    void claim(List<Attempt> attempts) {
        if (attempts.isEmpty()) {
            return;
        }
        LastReceive last =
                new LastReceive(attempts.stream().map(Attempt::delivery).toList(), clock);
        while (true) {
            attempts.forEach(this::ask);
            long asked = clock.nanoTime();
            try {
                answer(attempts, outcomes(attempts, last, asked), asked);
                return;
            } catch (Unanswered unanswered) {
                if (!last.goesOn()) {
                    attempts.forEach(attempt -> await(attempt, unanswered.why));
                    return;
                }
            }
        }
    }

    private List<ClaimOutcome> outcomes(List<Attempt> attempts, LastReceive last, long asked) throws Unanswered {
        List<ClaimRequest> requests = attempts.stream().map(Attempt::request).toList();
        try {
            return last.isAtStake()
                    ? writer.claim(requests, last.within(requests.get(0).lease(), asked))
                    : writer.claim(requests);
        } catch (IllegalArgumentException hopeless) {
            throw hopeless;
        } catch (RuntimeException unanswered) {
            throw new Unanswered(unanswered);
        }
    }

    private void answer(List<Attempt> attempts, List<ClaimOutcome> outcomes, long asked) {
        for (int index = 0; index < outcomes.size(); index++) {
            answer(attempts.get(index), outcomes.get(index), asked);
        }
        tell(attempts, outcomes);
    }

    ClaimRequest ask(Attempt attempt) {
        ClaimRequest request = settings.request(
                attempt.spec(), attempt.delivery().subscription().window());
        attempt.ask(request);
        return request;
    }

    static void await(Attempt attempt, RuntimeException unanswered) {
        attempt.delivery().decide(OutcomePolicy.unanswered(attempt.delivery(), attempt.request(), unanswered));
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
        Disposition retry = Objects.requireNonNull(delivery.disposition());
        delivery.decide(policy.decide(delivery, attempt.request(), outcome, retry));
        if (outcome instanceof AlreadyCompleted completed) {
            attempt.duplicate(completed.result());
        }
    }

    /** The claims are held by now, and let go whatever is thrown here. */
    private void tell(List<Attempt> attempts, List<ClaimOutcome> outcomes) {
        try {
            for (int index = 0; index < outcomes.size(); index++) {
                observer.claimed(attempts.get(index).delivery().subscription(), outcomes.get(index));
            }
        } catch (Throwable failure) {
            GivenBack givenBack = new GivenBack();
            attempts.stream()
                    .filter(Attempt::isAcquired)
                    .forEach(attempt -> givenBack.add(attempt, FailedAttempt.NOT_CALLED));
            givenBack.release(writer);
            throw failure;
        }
    }

    /** The store did not answer, and may do so later. */
    @SuppressWarnings("serial")
    private static final class Unanswered extends Exception {
        private final RuntimeException why;

        Unanswered(RuntimeException why) {
            super(why);
            this.why = why;
        }
    }
}
