package io.exactlyonce;

import org.jspecify.annotations.Nullable;

/**
 * The decision of a {@link Reconciler} on an attempt in doubt.
 *
 * @param <R> the type of the listener's results
 */
public final class Reconciliation<R extends @Nullable Object> {

    /** A kind of decision. A {@code switch} expression on it is exhaustive. */
    public enum Decision {
        /** The effect has happened. */
        DONE,
        /** The effect has not happened. */
        RUN_AGAIN,
        /** Only an operator can decide. */
        PARK
    }

    private final Decision decision;
    private final @Nullable R result;
    private final String reason;

    private Reconciliation(Decision decision, @Nullable R result, String reason) {
        this.decision = decision;
        this.result = result;
        this.reason = reason;
    }

    /**
     * The effect has happened. The claim is completed with this result, the message acknowledged, the handler not
     * called.
     *
     * @param result what the handler would have returned, or {@code null}. Ignored for handlers that return nothing
     *     or take batches; for all others, a result that is not of the handler's type fails the attempt, and the key
     *     stays in doubt
     */
    public static <R extends @Nullable Object> Reconciliation<R> done(@Nullable R result) {
        return new Reconciliation<>(Decision.DONE, result, "");
    }

    /**
     * The effect has happened. The claim is completed without a result, the message acknowledged, the handler not
     * called.
     */
    public static <R extends @Nullable Object> Reconciliation<R> done() {
        return done(null);
    }

    /** The effect has not happened: the handler is called. */
    public static <R extends @Nullable Object> Reconciliation<R> runAgain() {
        return new Reconciliation<>(Decision.RUN_AGAIN, null, "");
    }

    /**
     * Only an operator can decide: the key is parked.
     *
     * @param reason the reason, for the operator; it is stored, so it should contain no personal data
     */
    public static <R extends @Nullable Object> Reconciliation<R> park(String reason) {
        return new Reconciliation<>(Decision.PARK, null, reason);
    }

    /** Returns what was decided. */
    public Decision decision() {
        return decision;
    }

    /** Returns what the handler would have returned, if the effect has happened; otherwise {@code null}. */
    public @Nullable R result() {
        return result;
    }

    /** Returns the reason for the operator; empty unless an operator must decide. */
    public String reason() {
        return reason;
    }

    /** Leaves out the result, which may be personal data. */
    @Override
    public String toString() {
        return decision.name();
    }
}
