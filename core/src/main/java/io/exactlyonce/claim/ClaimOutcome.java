package io.exactlyonce.claim;

import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A store's answer to a {@link ClaimRequest}. */
public sealed interface ClaimOutcome {

    /**
     * Answers a request for a completed key. The answer is {@link Mismatch} if both fingerprints are known and differ,
     * and {@link AlreadyCompleted} otherwise.
     *
     * @param fingerprint the fingerprint of the payload for which the key was claimed; {@code null} if it is not known
     */
    static ClaimOutcome ofCompleted(ClaimRequest request, @Nullable String fingerprint, @Nullable String result) {
        return isOther(request, fingerprint) ? new Mismatch(result) : new AlreadyCompleted(result);
    }

    /**
     * Answers a request for a key that another claim holds.
     *
     * @param fingerprint the fingerprint of the payload for which the other claim holds the key; {@code null} if it is
     *     not known
     */
    static HeldElsewhere ofHeld(ClaimRequest request, @Nullable String fingerprint, Duration leaseRemaining) {
        return new HeldElsewhere(leaseRemaining, isOther(request, fingerprint));
    }

    private static boolean isOther(ClaimRequest request, @Nullable String fingerprint) {
        return fingerprint != null && request.fingerprint() != null && !fingerprint.equals(request.fingerprint());
    }

    /** A kind of answer, for exhaustive {@code switch} expressions. */
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

    /** Returns the name that this kind of answer has in meters and spans. */
    default String tag() {
        return kind().tag;
    }

    /**
     * The request's claim holds the key until the lease expires.
     *
     * @param attempt the number of this attempt at the key, from 1
     * @param fencingToken a number that increases with each claim of the key
     * @param inDoubt whether an earlier attempt may have had effects that are not recorded
     * @param failures the number of earlier attempts that threw. After an operator has released the key, only the
     *     attempts since that release count
     */
    record Acquired(int attempt, long fencingToken, boolean inDoubt, int failures) implements ClaimOutcome {

        /** Makes an answer for a key with no attempt that threw. */
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
     * The key's effect has happened for a payload with another fingerprint, because the sender used one key for two
     * actions.
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
     * @param leaseRemaining how long the other claim holds the key if its lease is not renewed, measured by the store's
     *     clock at the time of the answer
     * @param isForOtherPayload whether the other claim is known to be for a payload with another fingerprint
     */
    record HeldElsewhere(Duration leaseRemaining, boolean isForOtherPayload) implements ClaimOutcome {

        /** Makes an answer for a key that another claim holds for the same payload, or for an unknown payload. */
        public HeldElsewhere(Duration leaseRemaining) {
            this(leaseRemaining, false);
        }

        @Override
        public Kind kind() {
            return Kind.HELD_ELSEWHERE;
        }
    }

    /** The key waits for an operator's decision. Until the decision, no attempt at the key may run. */
    record Parked() implements ClaimOutcome {

        @Override
        public Kind kind() {
            return Kind.PARKED;
        }
    }
}
