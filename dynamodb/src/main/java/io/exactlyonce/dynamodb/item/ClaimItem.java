package io.exactlyonce.dynamodb.item;

import io.exactlyonce.ClaimLife;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * A key's item as the service showed it, whole or in part.
 *
 * @param attributes by their names
 */
public record ClaimItem(Map<String, AttributeValue> attributes) {

    /** What is to be read of an item to tell how its key stands. */
    public static final String PROJECTION = "#pk, #status, #lease_until, #lease_micros, #w";

    /** The names in {@link #PROJECTION}. */
    public static final Map<String, String> PROJECTION_NAMES = Map.of(
            "#pk", Names.PK,
            "#status", Names.STATUS,
            "#lease_until", Names.LEASE_UNTIL,
            "#lease_micros", Names.LEASE_MICROS,
            "#w", Names.MARK);

    /** How a key stands. */
    public enum Status {
        HELD,
        COMPLETED,
        RELEASED,
        PARKED
    }

    /** Returns the partition key. */
    public String pk() {
        return text(Names.PK);
    }

    /** Returns how the key stands. */
    public Status status() {
        return Status.valueOf(text(Names.STATUS));
    }

    /** Returns the mark of the write that made this version. */
    public String mark() {
        return text(Names.MARK);
    }

    /** Returns when the lease ends, in microseconds since 1970 by the service's clock, if its writer knew. */
    public OptionalLong leaseUntil() {
        return attributes.containsKey(Names.LEASE_UNTIL)
                ? OptionalLong.of(number(Names.LEASE_UNTIL))
                : OptionalLong.empty();
    }

    /** Returns the lease's length in microseconds. */
    public long leaseMicros() {
        return number(Names.LEASE_MICROS);
    }

    /** Returns whether this claim was the last one to get the key. */
    public boolean belongsTo(ClaimId claim) {
        return claimId().equals(claim.value());
    }

    /** Returns the claim that was the last one to get the key. */
    public UUID claimId() {
        return UUID.fromString(text(Names.CLAIM_ID));
    }

    /** Returns whether this claim holds the key, lease or not. */
    public boolean isHeldBy(ClaimId claim) {
        return status() == Status.HELD && belongsTo(claim);
    }

    /** Returns whether this claim was the last one to hold the key, and was given up, by its worker or by a person. */
    public boolean isReleasedBy(ClaimId claim) {
        return status() == Status.RELEASED && belongsTo(claim);
    }

    /** Returns whether this claim has completed the key. */
    public boolean isCompletedBy(ClaimId claim) {
        return status() == Status.COMPLETED && belongsTo(claim);
    }

    /** Returns whether it was completed by a transaction of the application's own. */
    public boolean isCompletedByTransaction() {
        return status() == Status.COMPLETED && flag(Names.BY_TRANSACTION);
    }

    /** Returns whether an attempt may have had effects that are not recorded. Only for a key that is free. */
    public boolean isInDoubt() {
        return isAmbiguous() || status() == Status.HELD;
    }

    /** Returns whether an attempt before the last one may have had effects that are not recorded. */
    public boolean isAmbiguous() {
        return flag(Names.AMBIGUOUS);
    }

    /** Returns whether a person has released the key since its last attempt. */
    public boolean isCleared() {
        return flag(Names.CLEARED);
    }

    /** Returns the last attempt at the key, counted from 1. */
    public int attempt() {
        return Math.toIntExact(number(Names.ATTEMPT));
    }

    /** Answers the claim that holds the key already. */
    public Acquired current() {
        return new Acquired(attempt(), number(Names.TOKEN), isAmbiguous());
    }

    /**
     * Answers the claim that takes over.
     *
     * @param nowMicros about the time, in microseconds since 1970, or 0: tokens grow also if the item is deleted meanwhile
     */
    public Acquired next(long nowMicros) {
        return new Acquired(attempt() + 1, Math.max(number(Names.TOKEN) + 1, nowMicros), isInDoubt());
    }

    /** Answers a request for a completed key. */
    public ClaimOutcome completed(ClaimRequest request) {
        String fingerprint = textOrNull(Names.FINGERPRINT);
        boolean differs =
                fingerprint != null && request.fingerprint() != null && !fingerprint.equals(request.fingerprint());
        String result = textOrNull(Names.RESULT);
        return differs ? new ClaimOutcome.Mismatch(result) : new ClaimOutcome.AlreadyCompleted(result);
    }

    /** Returns whose key it is. */
    public String scope() {
        return text(Names.SCOPE);
    }

    /** Returns the key. */
    public String key() {
        return text(Names.KEY);
    }

    /**
     * Returns the key's life until now.
     *
     * @param isLeaseOver whether the last claim's lease has ended
     */
    public ClaimLife life(boolean isLeaseOver) {
        return new ClaimLife(
                text(Names.STATUS),
                attempt(),
                number(Names.TOKEN),
                isAmbiguous(),
                text(Names.OWNER),
                micros(Names.FIRST_CLAIMED_AT),
                micros(Names.CLAIMED_AT),
                micros(Names.LEASE_UNTIL),
                isLeaseOver,
                micros(Names.COMPLETED_AT),
                status() == Status.PARKED ? instant(parkedAtMicros()) : null,
                attributes.containsKey(Names.EXPIRES_AT) ? Instant.ofEpochSecond(number(Names.EXPIRES_AT)) : null,
                textOrNull(Names.ERROR));
    }

    private @Nullable Instant micros(String attribute) {
        return attributes.containsKey(attribute) ? instant(number(attribute)) : null;
    }

    private static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    /** Returns why the key was given up or parked. */
    public String error() {
        String error = textOrNull(Names.ERROR);
        return error == null ? "unknown" : error;
    }

    /** Returns when it was parked, in microseconds since 1970. Only for a key that is parked. */
    public long parkedAtMicros() {
        return Long.parseLong(text(Names.PARKED_AT), 0, ParkedOrder.DIGITS, 10);
    }

    /** Returns where it is in the order of parked claims. Only for a key that is parked. */
    public String parkedOrder() {
        return text(Names.PARKED_AT);
    }

    private String text(String attribute) {
        String value = textOrNull(attribute);
        if (value == null) {
            throw new IllegalStateException(
                    "The item %s of the claim table has no attribute %s; was it written by another program?"
                            .formatted(attributes.get(Names.PK), attribute));
        }
        return value;
    }

    private @Nullable String textOrNull(String attribute) {
        AttributeValue value = attributes.get(attribute);
        return value == null ? null : value.s();
    }

    private long number(String attribute) {
        AttributeValue value = attributes.get(attribute);
        if (value == null || value.n() == null) {
            throw new IllegalStateException(
                    "The item %s of the claim table has no number %s; was it written by another program?"
                            .formatted(attributes.get(Names.PK), attribute));
        }
        return Long.parseLong(value.n());
    }

    private boolean flag(String attribute) {
        AttributeValue value = attributes.get(attribute);
        return value != null && Boolean.TRUE.equals(value.bool());
    }

    /** Names the item only: a key and a result are no business of a log's. */
    @Override
    public String toString() {
        return attributes.get(Names.PK) + " " + attributes.get(Names.STATUS);
    }
}
