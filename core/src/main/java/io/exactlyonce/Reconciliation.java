package io.exactlyonce;

import org.jspecify.annotations.Nullable;

/** The decision of a {@link Reconciler} on an attempt in doubt. */
public final class Reconciliation {

    /** A kind of decision. A {@code switch} expression on it is exhaustive. */
    public enum Decision {
        /** The effect has happened. */
        DONE,
        /** The effect has not happened. */
        RUN_AGAIN,
        /** Only an operator can decide. */
        PARK
    }

    private static final Reconciliation RUN_AGAIN = new Reconciliation(Decision.RUN_AGAIN, null, "");

    private final Decision decision;
    private final @Nullable Object result;
    private final String reason;

    private Reconciliation(Decision decision, @Nullable Object result, String reason) {
        this.decision = decision;
        this.result = result;
        this.reason = reason;
    }

    /**
     * The effect has happened. The claim is completed with this result, the message acknowledged, the handler not called.
     *
     * @param result what the handler would have returned, or {@code null}
     */
    public static Reconciliation done(@Nullable Object result) {
        return new Reconciliation(Decision.DONE, result, "");
    }

    /** The effect has not happened: the handler is called. */
    public static Reconciliation runAgain() {
        return RUN_AGAIN;
    }

    /**
     * Only an operator can decide: the key is parked.
     *
     * @param reason the reason, for the operator; it is stored, so it should contain no personal data
     */
    public static Reconciliation park(String reason) {
        return new Reconciliation(Decision.PARK, null, reason);
    }

    /** Returns what was decided. */
    public Decision decision() {
        return decision;
    }

    /** Returns what the handler would have returned, if the effect has happened; otherwise {@code null}. */
    public @Nullable Object result() {
        return result;
    }

    /** Returns the reason for the operator; empty if none decides. */
    public String reason() {
        return reason;
    }

    /** Leaves out the result, which may be personal data. */
    @Override
    public String toString() {
        return decision.name();
    }
}
