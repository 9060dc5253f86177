package io.exactlyonce.metrics;

import io.exactlyonce.claim.ClaimOutcome;
import java.util.List;

/** Names of meters and their tags, and the values of the tag of claim outcomes. Prometheus adds units and {@code _total}, and writes underscores for dots. */
final class MeterNames {

    static final String DELIVERY = "exactly.once.delivery";
    static final String DELIVERY_QUANTILE = "exactly.once.delivery.quantile";
    static final String HANDLER = "exactly.once.handler";
    static final String HANDLER_QUANTILE = "exactly.once.handler.quantile";
    static final String HANDLER_TIMEOUTS = "exactly.once.handler.timeouts";
    static final String HANDLERS_ABANDONED = "exactly.once.handlers.abandoned";
    static final String WINDOW = "exactly.once.window";
    static final String WINDOW_UTILIZATION = "exactly.once.window.utilization";
    static final String WINDOW_HEADROOM = "exactly.once.window.headroom";
    static final String WINDOW_BREACH = "exactly.once.window.time.to.breach";
    static final String WINDOW_STRAYS = "exactly.once.window.strays";
    static final String WINDOW_RECOMMENDED = "exactly.once.window.recommended";
    static final String WINDOW_EXCEEDED = "exactly.once.window.exceeded";
    static final String MESSAGE_AGE = "exactly.once.message.age";
    static final String IN_FLIGHT = "exactly.once.in.flight";
    static final String COMPLETIONS = "exactly.once.completions";
    static final String ACKNOWLEDGEMENTS = "exactly.once.acknowledgements";
    static final String TAKEOVERS = "exactly.once.takeovers";
    static final String QUEUE_MESSAGES = "exactly.once.queue.messages";
    static final String QUEUE_IN_FLIGHT = "exactly.once.queue.in.flight.utilization";
    static final String CLAIMS = "exactly.once.claims";
    static final String CLAIMS_DELETED = "exactly.once.claims.deleted";
    static final String CLAIMS_OLDEST = "exactly.once.claims.oldest";
    static final String CLAIMS_PARKED = "exactly.once.claims.parked";
    static final String SWEEP = "exactly.once.sweep";
    static final String SWEEP_FAILURES = "exactly.once.sweep.failures";
    static final String RENEWALS = "exactly.once.renewals";
    static final String RENEWAL_PAUSES = "exactly.once.renewal.pauses";
    static final String COMPLETIONS_PENDING = "exactly.once.completions.pending";
    static final String COMPLETIONS_LOST = "exactly.once.completions.lost";
    static final String WAITING = "exactly.once.waiting";
    static final String RECEIVES = "exactly.once.receives";
    static final String RECEIVES_LEFT = "exactly.once.receives.left";
    static final String RECEIVES_RUN_OUT = "exactly.once.receives.run.out";
    static final String LISTENER_PAUSED = "exactly.once.listener.paused";
    static final String OBSERVED = "exactly.once.observed";
    static final String UNOBSERVED = "exactly.once.unobserved";

    static final String REPLICA_LAG = "exactly.once.replica.lag";
    static final String REPLICA_LAG_BYTES = "exactly.once.replica.lag.bytes";

    static final String LISTENER = "listener";
    static final String QUEUE = "queue";
    static final String WAY = "way";
    static final String OUTCOME = "outcome";
    static final String TARGET = "target";
    static final String RESULT = "result";
    static final String REPLICA = "replica";
    static final String QUANTILE = "quantile";
    static final String RECEIVE = "receive";
    static final String STATE = "state";
    static final String RULE = "rule";
    static final String REASON = "reason";

    private static final String ACQUIRED = "acquired";
    private static final String ALREADY_COMPLETED = "already_completed";
    private static final String MISMATCH = "mismatch";
    private static final String HELD_ELSEWHERE = "held_elsewhere";
    private static final String PARKED = "parked";

    static final List<String> OUTCOMES = List.of(ACQUIRED, ALREADY_COMPLETED, MISMATCH, HELD_ELSEWHERE, PARKED);

    private MeterNames() {}

    static String outcome(ClaimOutcome outcome) {
        return outcome.match(
                acquired -> ACQUIRED,
                completed -> ALREADY_COMPLETED,
                mismatch -> MISMATCH,
                held -> HELD_ELSEWHERE,
                parked -> PARKED);
    }
}
