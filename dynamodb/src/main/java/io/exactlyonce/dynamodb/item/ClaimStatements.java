package io.exactlyonce.dynamodb.item;

import io.exactlyonce.Claim;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.dynamodb.clock.LeaseClock;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/**
 * What each step of a claim's life writes, and on which condition. The texts are constants: an unknown value is written as
 * {@code NULL}, and only the keys of the index of parked items are removed.
 *
 * <p>A takeover, and parking in doubt, ask for the version that was seen: the item is exactly the one that was decided on. All
 * other writes ask for the claim that they are for, and for the status that they leave.
 */
public final class ClaimStatements {

    private static final String FIRST =
            "{'w':?,'pk':?,'scope':?,'key':?,'status':'HELD','claim_id':?,'owner':?,'attempt':1,"
                    + "'token':?,'ambiguous':false,'fingerprint':?,'first_claimed_at':?,'claimed_at':?,"
                    + "'lease_micros':?,'lease_until':?,'expires_at':?}";

    private static final String LEASE = " SET \"lease_micros\"=? SET \"lease_until\"=? SET \"expires_at\"=?";
    private static final String UNPARK = " REMOVE \"parked\" REMOVE \"parked_at\"";
    private static final String IF_SEEN = " WHERE \"pk\"=? AND \"w\"=?";
    private static final String IF_HELD = " WHERE \"pk\"=? AND \"claim_id\"=? AND \"status\"='HELD'";
    private static final String IF_PARKED = " WHERE \"pk\"=? AND \"claim_id\"=? AND \"status\"='PARKED'";
    private static final String PARKED =
            " SET \"status\"='PARKED' SET \"parked\"='P' SET \"parked_at\"=? SET \"error\"=?" + " SET \"expires_at\"=?";
    private static final String RELEASED = " SET \"status\"='RELEASED' SET \"error\"=?";
    private static final String COMPLETED =
            " SET \"status\"='COMPLETED' SET \"result\"=? SET \"completed_at\"=?" + " SET \"expires_at\"=?";
    private static final String IN_DOUBT = " SET \"ambiguous\"=true";

    private static final String TAKE_OVER =
            " SET \"status\"='HELD' SET \"claim_id\"=? SET \"owner\"=? SET \"attempt\"=?"
                    + " SET \"token\"=? SET \"ambiguous\"=? SET \"fingerprint\"=? SET \"claimed_at\"=? SET \"cleared\"=false"
                    + LEASE
                    + IF_SEEN;
    private static final String PARK_SEEN = PARKED + IN_DOUBT + IF_SEEN;
    private static final String RENEW = LEASE + IF_HELD;
    private static final String COMPLETE = COMPLETED + IF_HELD;
    private static final String RELEASE = RELEASED + IF_HELD;
    private static final String RELEASE_IN_DOUBT = RELEASED + IN_DOUBT + IF_HELD;
    private static final String PARK = PARKED + IF_HELD;
    private static final String PARK_IN_DOUBT = PARKED + IN_DOUBT + IF_HELD;
    private static final String COMPLETE_PARKED = COMPLETED + UNPARK + IF_PARKED;

    /** It stays known that a person has decided on the doubt until the next claim. */
    private static final String RELEASE_PARKED =
            " SET \"status\"='RELEASED' SET \"cleared\"=true SET \"expires_at\"=?" + UNPARK + IF_PARKED;

    /** In a transaction of the application's. It names the claim by its token, which no other claim of the key has. */
    private static final String COMPLETION =
            "SET #w = :w, #status = :completed, #result = :result, #completed_at = :completed_at,"
                    + " #expires_at = :expires_at, #by_transaction = :by_transaction";

    private static final String IF_HELD_BY_TOKEN = "#token = :token AND #status = :held";
    private static final Map<String, String> NAMES = Map.of(
            "#w", "w",
            "#status", "status",
            "#result", "result",
            "#completed_at", "completed_at",
            "#expires_at", "expires_at",
            "#by_transaction", "by_transaction",
            "#token", "token");

    private static final String VANISHED = "its holder vanished: the effects of its attempt are not known";
    private static final AttributeValue NULL = AttributeValue.fromNul(true);
    private static final SecureRandom RANDOM = new SecureRandom();

    private final String table;
    private final String insert;
    private final String update;
    private final LeaseClock clock;
    private final Duration retention;

    /**
     * One conditional write of one item.
     *
     * @param text in PartiQL
     * @param parameters in their order
     * @param version that this write makes: an item that has it was written by this, however often it was sent
     * @param isTimed whether it writes a lease's end by the measured time
     */
    public record Statement(String text, List<AttributeValue> parameters, String version, boolean isTimed) {}

    /**
     * @param table of claims
     * @param clock says when leases end
     * @param retention how long an item is kept, counted from its lease's end, or from its completion
     */
    public ClaimStatements(String table, LeaseClock clock, Duration retention) {
        this.table = table;
        this.insert = "INSERT INTO \"" + table + "\" VALUE ";
        this.update = "UPDATE \"" + table + "\" SET \"w\"=?";
        this.clock = clock;
        this.retention = retention;
    }

    /** Returns about what time it is, in microseconds since 1970; 0 if that is not known. */
    public long nowMicros() {
        return clock.estimateMicros().orElse(0);
    }

    /** The first claim of a key. */
    public Statement first(String pk, ClaimRequest request, Acquired answer) {
        OptionalLong end = clock.end(request.lease());
        AttributeValue now = number(clock.estimateMicros());
        return statement(
                insert + FIRST,
                end.isPresent(),
                text(pk),
                text(request.key().scope()),
                text(request.key().key()),
                text(request.claimId().toString()),
                text(request.owner()),
                number(answer.fencingToken()),
                text(request.fingerprint()),
                now,
                now,
                number(micros(request.lease())),
                number(end),
                expiry(request.lease()));
    }

    /** The claim of a free key. */
    public Statement takeOver(ClaimItem seen, ClaimRequest request, Acquired answer) {
        OptionalLong end = clock.end(request.lease());
        return statement(
                update + TAKE_OVER,
                end.isPresent(),
                text(request.claimId().toString()),
                text(request.owner()),
                number(answer.attempt()),
                number(answer.fencingToken()),
                AttributeValue.fromBool(answer.ambiguous()),
                text(request.fingerprint()),
                number(clock.estimateMicros()),
                number(micros(request.lease())),
                number(end),
                expiry(request.lease()),
                text(seen.pk()),
                text(seen.version()));
    }

    /** Leaves a free key that is in doubt to a person. */
    public Statement park(ClaimItem seen) {
        return statement(
                update + PARK_SEEN,
                false,
                parkedAt(seen.pk()),
                text(VANISHED),
                NULL,
                text(seen.pk()),
                text(seen.version()));
    }

    /** Extends a lease; also for a claim that asks again, whose earlier answer was lost. */
    public Statement renew(String pk, LeaseRenewal renewal) {
        OptionalLong end = clock.end(renewal.lease());
        return statement(
                update + RENEW,
                end.isPresent(),
                number(micros(renewal.lease())),
                number(end),
                expiry(renewal.lease()),
                text(pk),
                claim(renewal.claim()));
    }

    /** The end of a claim that its worker tells. */
    public Statement end(String pk, ClaimEnd end) {
        AttributeValue claim = claim(end.claim());
        if (end instanceof ClaimEnd.Completed completed) {
            return complete(COMPLETE, pk, completed);
        }
        if (end instanceof ClaimEnd.Parked parked) {
            String park = parked.ambiguous() ? PARK_IN_DOUBT : PARK;
            return statement(update + park, false, parkedAt(pk), text(parked.reason()), NULL, text(pk), claim);
        }
        ClaimEnd.Released released = (ClaimEnd.Released) end;
        String release = released.ambiguous() ? RELEASE_IN_DOUBT : RELEASE;
        return statement(update + release, false, text(released.error()), text(pk), claim);
    }

    /** Records that a parked key's effect has happened. */
    public Statement completeParked(String pk, ClaimEnd.Completed completion) {
        return complete(COMPLETE_PARKED, pk, completion);
    }

    private Statement complete(String text, String pk, ClaimEnd.Completed completion) {
        return statement(
                update + text,
                false,
                text(completion.result()),
                number(clock.estimateMicros()),
                expiry(Duration.ZERO),
                text(pk),
                claim(completion.claim()));
    }

    /** Gives a parked key free. */
    public Statement releaseParked(String pk, ClaimId claim) {
        return statement(update + RELEASE_PARKED, false, expiry(Duration.ZERO), text(pk), claim(claim));
    }

    /** Completes a claim within a transaction of the application's. */
    public TransactWriteItem completion(Claim claim, @Nullable String result) {
        Map<String, AttributeValue> values = Map.of(
                ":w", text(newVersion()),
                ":completed", text("COMPLETED"),
                ":result", text(result),
                ":completed_at", number(clock.estimateMicros()),
                ":expires_at", expiry(Duration.ZERO),
                ":by_transaction", AttributeValue.fromBool(true),
                ":token", number(claim.fencingToken()),
                ":held", text("HELD"));
        return TransactWriteItem.builder()
                .update(item -> item.tableName(table)
                        .key(Map.of(ClaimItem.PK, text(claim.downstreamKey())))
                        .updateExpression(COMPLETION)
                        .conditionExpression(IF_HELD_BY_TOKEN)
                        .expressionAttributeNames(NAMES)
                        .expressionAttributeValues(values))
                .build();
    }

    private static Statement statement(String text, boolean isTimed, AttributeValue... values) {
        String version = newVersion();
        List<AttributeValue> parameters = new ArrayList<>(values.length + 1);
        parameters.add(text(version));
        parameters.addAll(List.of(values));
        return new Statement(text, parameters, version, isTimed);
    }

    /** Returns one that no other write has: 16 hexadecimal digits, also where a JVM is a copy of another. */
    private static String newVersion() {
        return HexFormat.of().toHexDigits(RANDOM.nextLong());
    }

    private AttributeValue parkedAt(String pk) {
        return text(ClaimItem.parkedOrder(Math.max(1, nowMicros()), pk));
    }

    /** Returns when an item may be deleted, in seconds since 1970. One whose time is not known is kept: late deletion protects longer. */
    private AttributeValue expiry(Duration after) {
        OptionalLong now = clock.estimateMicros();
        return now.isEmpty()
                ? NULL
                : number((now.getAsLong() + micros(after) + 999_999) / 1_000_000 + retention.toSeconds());
    }

    private static AttributeValue claim(ClaimId claim) {
        return text(claim.value().toString());
    }

    private static AttributeValue text(@Nullable String value) {
        return value == null ? NULL : AttributeValue.fromS(value);
    }

    private static AttributeValue number(OptionalLong value) {
        return value.isEmpty() ? NULL : number(value.getAsLong());
    }

    private static AttributeValue number(long value) {
        return AttributeValue.fromN(Long.toString(value));
    }

    private static long micros(Duration time) {
        return time.toNanos() / 1000;
    }
}
