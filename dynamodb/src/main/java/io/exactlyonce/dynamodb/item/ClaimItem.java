package io.exactlyonce.dynamodb.item;

import io.exactlyonce.ClaimDetails;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.boundary.OneLine;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.KeySnapshot;
import io.exactlyonce.claim.KeyStatus;
import io.exactlyonce.claim.backend.StoredClaim;
import io.exactlyonce.dynamodb.clock.LeaseClock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * A key's item as DynamoDB returned it, or a part of the item (for example from an index). An unknown value is
 * {@code NULL} or missing.
 */
public record ClaimItem(Map<String, AttributeValue> attributes) {

    /** Partition key: {@code ClaimKey.downstreamKey()}. */
    public static final String PK = "pk";

    /**
     * Partition key of {@link #PARKED_INDEX}. Only parked items have this attribute, always with the value {@link
     * #PARTITION}.
     */
    public static final String PARKED = "parked";

    /** The only partition of the index. It contains all parked items. */
    public static final String PARTITION = "P";

    /** Sort key of {@link #PARKED_INDEX}: {@link #parkedOrder}. */
    public static final String PARKED_AT = "parked_at";

    /** Global secondary index of parked items. */
    public static final String PARKED_INDEX = "parked";

    /** Time from which DynamoDB may delete the item, in seconds since 1970: the table's TTL attribute. */
    public static final String EXPIRES_AT = "expires_at";

    private static final String LEASE_UNTIL = "lease_until";
    private static final String FAILURES = "failures";
    private static final int LONGEST_REASON = 500;
    private static final int DIGITS = 19;
    private static final AttributeValue UNKNOWN = AttributeValue.fromNul(true);

    /**
     * Returns a sort key for the index of parked items: the time, and then the partition key. The time always has 19
     * digits, so that the texts are sorted by time.
     */
    public static String parkedOrder(long micros, String pk) {
        return String.format(Locale.ROOT, "%019d#%s", micros, pk);
    }

    /** Returns the partition key. */
    public String pk() {
        return text(PK);
    }

    /** Returns the key's status. */
    public KeyStatus status() {
        return KeyStatus.valueOf(text("status"));
    }

    /** Returns the item's version, which changes with each write. */
    public String version() {
        return text("w");
    }

    /**
     * Returns the snapshot that decides claim requests. Call this only if the item was read as a whole.
     *
     * @param nowMicros the approximate time, in microseconds since 1970, or 0 if it is not known. The next fencing
     *     token is at least this number, so that tokens increase even if DynamoDB deletes the item
     */
    public KeySnapshot snapshot(LeaseClock clock, long nowMicros) {
        KeyStatus status = status();
        long token = number("token");
        // Only held keys have a lease to observe. Other keys are not observed, because each observation takes memory.
        long remaining = status == KeyStatus.HELD ? remainingMicros(clock) : 0;
        return new KeySnapshot(
                status,
                claimId(),
                attempt(),
                token,
                isInDoubt(),
                flag("cleared"),
                Duration.of(remaining, ChronoUnit.MICROS),
                Math.max(token + 1, nowMicros),
                textOrNull("fingerprint"),
                textOrNull("result"),
                failures());
    }

    private int failures() {
        return has(FAILURES) ? Math.toIntExact(number(FAILURES)) : 0;
    }

    private long remainingMicros(LeaseClock clock) {
        OptionalLong end = has(LEASE_UNTIL) ? OptionalLong.of(number(LEASE_UNTIL)) : OptionalLong.empty();
        return clock.remainingMicros(pk(), version(), end, number("lease_micros"));
    }

    /** Returns why the last attempt was released or parked. Returns "unknown" if the item has no error. */
    String error() {
        return Objects.requireNonNullElse(textOrNull("error"), "unknown");
    }

    /** Returns whether the key has this status, and its last claim is this one. */
    public boolean is(KeyStatus status, ClaimId claim) {
        return status() == status && claimId().equals(claim.value());
    }

    private UUID claimId() {
        return UUID.fromString(text("claim_id"));
    }

    /** Returns whether this claim was completed by an application transaction. */
    public boolean isCompletedByTransaction(ClaimId claim) {
        return is(KeyStatus.COMPLETED, claim) && flag("by_transaction");
    }

    /** Returns whether an attempt may have had effects that are not recorded. */
    private boolean isInDoubt() {
        return flag("in_doubt");
    }

    /** Returns the number of the last attempt at the key, counted from 1. */
    int attempt() {
        return Math.toIntExact(number("attempt"));
    }

    /** Returns the state of the key's claim for operators. */
    public ClaimDetails details(LeaseClock clock) {
        return new StoredClaim(
                ClaimDetails.Status.valueOf(status().name()),
                claimId(),
                attempt(),
                number("token"),
                isInDoubt(),
                text("owner"),
                micros("first_claimed_at"),
                micros("claimed_at"),
                micros(LEASE_UNTIL),
                remainingMicros(clock) <= 0,
                micros("completed_at"),
                status() == KeyStatus.PARKED ? instant(parkedAtMicros()) : null,
                has(EXPIRES_AT) ? Instant.ofEpochSecond(number(EXPIRES_AT)) : null,
                textOrNull("error"),
                failures());
    }

    /** Returns the parked claim. The key must be parked. */
    public ParkedClaim parked() {
        String reason = error();
        return ParkedClaim.of(
                text("scope"),
                text("key"),
                claimId(),
                attempt(),
                failures(),
                isInDoubt(),
                reason,
                instant(parkedAtMicros()));
    }

    private long parkedAtMicros() {
        return Long.parseLong(parkedOrder(), 0, DIGITS, 10);
    }

    /** Returns the item's sort key in the index of parked claims. The key must be parked. */
    public String parkedOrder() {
        return text(PARKED_AT);
    }

    private @Nullable Instant micros(String attribute) {
        return has(attribute) ? instant(number(attribute)) : null;
    }

    private static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    private boolean has(String attribute) {
        return value(attribute).n() != null;
    }

    private String text(String attribute) {
        return required(attribute, textOrNull(attribute));
    }

    private @Nullable String textOrNull(String attribute) {
        return value(attribute).s();
    }

    private long number(String attribute) {
        return Long.parseLong(required(attribute, value(attribute).n()));
    }

    private boolean flag(String attribute) {
        return Boolean.TRUE.equals(value(attribute).bool());
    }

    private AttributeValue value(String attribute) {
        return attributes.getOrDefault(attribute, UNKNOWN);
    }

    private String required(String attribute, @Nullable String value) {
        if (value == null) {
            throw new IllegalStateException(
                    "The item %s of the claim table has no %s; was it written by another program?"
                            .formatted(attributes.get(PK), attribute));
        }
        return value;
    }

    /**
     * Returns the exception for an item that cannot be read, because an attribute is missing or has another type. A
     * retry does not help. Other keys of the batch are not affected.
     */
    public static IllegalArgumentException unreadable(RuntimeException why) {
        return new IllegalArgumentException(
                "An item of the claim table cannot be read: %s. Restore or delete the item"
                        .formatted(OneLine.of(String.valueOf(why.getMessage()), LONGEST_REASON)),
                why);
    }

    /** Returns the partition key, which is a hash, and the status. Keys and results must not be logged. */
    @Override
    public String toString() {
        return attributes.get(PK) + " " + attributes.get("status");
    }
}
