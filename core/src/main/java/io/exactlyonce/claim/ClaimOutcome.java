package io.exactlyonce.claim;

import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A store's answer to a {@link ClaimRequest}. */
public sealed interface ClaimOutcome {

    /**
     * Returns the outcome for a request whose key is already completed: {@link Mismatch} if both payload fingerprints
     * are known and differ, otherwise {@link AlreadyCompleted}.
     *
     * @param fingerprint the payload fingerprint of the completed claim; {@code null} if it is not known
     */
    static ClaimOutcome ofCompleted(ClaimRequest request, @Nullable String fingerprint, @Nullable String result) {
        return isOther(request, fingerprint) ? new Mismatch(result) : new AlreadyCompleted(result);
    }

    /**
     * Returns the outcome for a request whose key is held by another claim.
     *
     * @param fingerprint the payload fingerprint of the other claim; {@code null} if it is not known
     */
    static HeldElsewhere ofHeld(ClaimRequest request, @Nullable String fingerprint, Duration leaseRemaining) {
        return new HeldElsewhere(leaseRemaining, isOther(request, fingerprint));
    }

    private static boolean isOther(ClaimRequest request, @Nullable String fingerprint) {
        return fingerprint != null && request.fingerprint() != null && !fingerprint.equals(request.fingerprint());
    }

    /** All outcomes as constants, for {@code switch} expressions. */
    enum Kind {
        /** {@link ClaimOutcome.Acquired}. */
        ACQUIRED,
        /** {@link ClaimOutcome.AlreadyCompleted}. */
        ALREADY_COMPLETED,
        /** {@link ClaimOutcome.Mismatch}. */
        MISMATCH,
        /** {@link ClaimOutcome.HeldElsewhere}. */
        HELD_ELSEWHERE,
        /** {@link ClaimOutcome.Parked}. */
        PARKED;

        private final String tag = name().toLowerCase(Locale.ROOT);
    }

    /** Returns the kind of this answer. */
    Kind kind();

    /** Returns the name of this outcome in meters and spans. */
    default String tag() {
        return kind().tag;
    }

    /**
     * The request got the key, and holds it until the lease expires.
     *
     * @param attempt the number of this attempt at the key, from 1
     * @param fencingToken a number that is higher for each new claim of the key
     * @param inDoubt whether an earlier attempt may have had effects that are not recorded
     * @param failures how many earlier attempts threw an exception. If an operator releases the key, the number
     *     restarts at 0
     */
    record Acquired(int attempt, long fencingToken, boolean inDoubt, int failures) implements ClaimOutcome {

        /** Makes an outcome with 0 failures. */
        public Acquired(int attempt, long fencingToken, boolean inDoubt) {
            this(attempt, fencingToken, inDoubt, 0);
        }

        @Override
        public Kind kind() {
            return Kind.ACQUIRED;
        }
    }

    /**
     * The key's effect has happened.
     *
     * @param result the stored result as JSON, or {@code null} if there is none
     */
    record AlreadyCompleted(@Nullable String result) implements ClaimOutcome {

        @Override
        public Kind kind() {
            return Kind.ALREADY_COMPLETED;
        }
    }

    /**
     * The key was completed for another payload: the fingerprints differ. The sender used one key for two actions.
     *
     * @param result the stored result as JSON, or {@code null} if there is none
     */
    record Mismatch(@Nullable String result) implements ClaimOutcome {

        @Override
        public Kind kind() {
            return Kind.MISMATCH;
        }
    }

    /**
     * Another claim holds the key.
     *
     * @param leaseRemaining the time until the other claim's lease expires if it is not renewed, by the store's clock
     * @param isForOtherPayload whether the other claim is known to have another payload fingerprint
     */
    record HeldElsewhere(Duration leaseRemaining, boolean isForOtherPayload) implements ClaimOutcome {

        /** Makes an outcome for another claim that has the same payload, or whose payload is not known. */
        public HeldElsewhere(Duration leaseRemaining) {
            this(leaseRemaining, false);
        }

        @Override
        public Kind kind() {
            return Kind.HELD_ELSEWHERE;
        }
    }

    /** The key is parked: no attempt may run until an operator decides. */
    record Parked() implements ClaimOutcome {

        @Override
        public Kind kind() {
            return Kind.PARKED;
        }
    }
}
