package io.exactlyonce;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The decision of a {@link Reconciler} on an attempt in doubt. */
public sealed interface Reconciliation {

    /**
     * The effect has happened. The claim is completed with this result, the message acknowledged, the handler not called.
     *
     * @param result what the handler would have returned, or {@code null}
     */
    static Reconciliation done(@Nullable Object result) {
        return new Done(result);
    }

    /** The effect has not happened: the handler is called. */
    static Reconciliation runAgain() {
        return new RunAgain();
    }

    /**
     * Only an operator can decide: the key is parked.
     *
     * @param reason the reason, for the operator; it is stored, so it should contain no personal data
     */
    static Reconciliation park(String reason) {
        return new Park(reason);
    }

    /**
     * Handles every case.
     *
     * @return the result of the matching function
     */
    default <R extends @Nullable Object> R match(
            Function<Done, R> done, Function<RunAgain, R> runAgain, Function<Park, R> park) {
        if (this instanceof Done answer) {
            return done.apply(answer);
        }
        if (this instanceof RunAgain answer) {
            return runAgain.apply(answer);
        }
        return park.apply((Park) this);
    }

    /**
     * The effect has happened.
     *
     * @param result what the handler would have returned, or {@code null}
     */
    record Done(@Nullable Object result) implements Reconciliation {}

    /** The effect has not happened. */
    record RunAgain() implements Reconciliation {}

    /**
     * Only an operator can decide.
     *
     * @param reason the reason, for the operator
     */
    record Park(String reason) implements Reconciliation {}
}
