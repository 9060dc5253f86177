package io.exactlyonce;

import org.jspecify.annotations.Nullable;

/**
 * The decision of a {@link Reconciler} on an attempt in doubt.
 *
 * @param <R> the type of the listener's results
 */
public final class Reconciliation<R extends @Nullable Object> {

    /** The kinds of decisions. A {@code switch} expression over all of them needs no default. */
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
     * The effect has happened. The claim is completed with this result, the message is acknowledged, and the handler is
     * not called.
     *
     * @param result the result that the handler would have returned, or {@code null}. Ignored if the handler returns
     *     nothing or takes batches. If the result does not have the handler's type, the attempt fails, and the key
     *     stays in doubt
     */
    public static <R extends @Nullable Object> Reconciliation<R> done(@Nullable R result) {
        return new Reconciliation<>(Decision.DONE, result, "");
    }

    /**
     * The effect has happened. The claim is completed without a result, the message is acknowledged, and the handler is
     * not called.
     */
    public static <R extends @Nullable Object> Reconciliation<R> done() {
        return done(null);
    }

    /** The effect has not happened, so the handler is called. */
    public static <R extends @Nullable Object> Reconciliation<R> runAgain() {
        return new Reconciliation<>(Decision.RUN_AGAIN, null, "");
    }

    /**
     * Only an operator can decide, so the key is parked.
     *
     * @param reason the reason, for the operator. The reason is stored, so it should contain no personal data
     */
    public static <R extends @Nullable Object> Reconciliation<R> park(String reason) {
        return new Reconciliation<>(Decision.PARK, null, reason);
    }

    /** Returns what was decided. */
    public Decision decision() {
        return decision;
    }

    /**
     * Returns the result that the handler would have returned. {@code null} if there is none, or if the decision is not
     * {@link Decision#DONE}.
     */
    public @Nullable R result() {
        return result;
    }

    /** Returns the reason for the operator. Empty if the decision is not {@link Decision#PARK}. */
    public String reason() {
        return reason;
    }

    /** Leaves out the result, which may be personal data. */
    @Override
    public String toString() {
        return decision.name();
    }
}
