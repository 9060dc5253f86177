package io.exactlyonce.dynamodb.item;

import io.exactlyonce.Claim;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.KeyStatus;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.dynamodb.clock.LeaseClock;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/**
 * Makes the conditional writes that create and change a claim's item. Unknown values are written as {@code NULL}, so
 * that few different statements are needed. If an operator decides about a parked key, the write removes two attributes
 * of the item, so that the item leaves the index of parked items.
 *
 * <p>The conditions of the writes are:
 *
 * <ul>
 *   <li>The first claim of a key requires that the key has no item.
 *   <li>A takeover, and the parking of a key in doubt, require that the item still has the version that was read.
 *   <li>All other writes require that the claim is still the key's last one, and has the expected status.
 * </ul>
 */
public final class ClaimStatements {

    private static final String FIRST =
            "{'w':?,'claim_id':?,'owner':?,'attempt':?,'token':?,'in_doubt':?,'fingerprint':?,"
                    + "'claimed_at':?,'retention':?,'failures':?,'lease_micros':?,'lease_until':?,'expires_at':?,"
                    + "'pk':?,'scope':?,'key':?,'first_claimed_at':?,'status':'HELD'}";

    /**
     * Sets the time at which the item expires: the start of the retention, in seconds since 1970, plus the retention
     * that is stored in the item.
     */
    private static final String EXPIRES = " SET \"expires_at\"=\"retention\"+?";

    private static final String LEASE = " SET \"lease_micros\"=? SET \"lease_until\"=?";
    private static final String TAKEN_OVER = " SET \"claim_id\"=? SET \"owner\"=? SET \"attempt\"=? SET \"token\"=?"
            + " SET \"in_doubt\"=? SET \"fingerprint\"=? SET \"claimed_at\"=? SET \"retention\"=? SET \"failures\"=?"
            + LEASE
            + " SET \"expires_at\"=? SET \"status\"='HELD' SET \"cleared\"=false";
    private static final String COMPLETED =
            " SET \"status\"='COMPLETED' SET \"result\"=? SET \"completed_at\"=?" + EXPIRES;
    private static final String RELEASED = " SET \"status\"='RELEASED' SET \"error\"=?";
    private static final String PARKED =
            " SET \"status\"='PARKED' SET \"parked\"='P' SET \"parked_at\"=? SET \"error\"=? SET \"expires_at\"=?";
    private static final String IN_DOUBT = " SET \"in_doubt\"=true";

    /**
     * Adds one to the failures. The attribute must exist, because DynamoDB cannot add to a missing one. So every claim
     * writes it, even to an item that an earlier version of this library made without it.
     */
    private static final String THREW = " SET \"failures\"=\"failures\"+1";

    /**
     * Releases a parked key, and marks that an operator did so. The next claim removes the mark. The failures restart
     * at 0.
     */
    private static final String CLEARED =
            " SET \"status\"='RELEASED' SET \"cleared\"=true SET \"failures\"=0" + EXPIRES;

    private static final String IF_SEEN = " WHERE \"pk\"=? AND \"w\"=?";
    private static final String IF_HELD = " WHERE \"pk\"=? AND \"claim_id\"=? AND \"status\"='HELD'";
    private static final String UNPARK_IF_PARKED =
            " REMOVE \"parked\" REMOVE \"parked_at\"" + " WHERE \"pk\"=? AND \"claim_id\"=? AND \"status\"='PARKED'";

    /**
     * Completes a claim in an application transaction. The condition compares the fencing token, which no other claim
     * of the key has.
     */
    private static final String COMPLETION = "SET w = :w, #status = :completed, #result = :result,"
            + " completed_at = :completed_at, expires_at = #retention + :from, by_transaction = :by_transaction";

    private static final String IF_HELD_BY_TOKEN = "#token = :token AND #status = :held";
    private static final Map<String, String> RESERVED =
            Map.of("#status", "status", "#result", "result", "#token", "token", "#retention", "retention");

    private static final String VANISHED = "its owner vanished: the effects of its attempt are unknown";
    private static final AttributeValue NULL = AttributeValue.fromNul(true);
    private static final OptionalLong NO_END = OptionalLong.empty();

    /** Time in the year 9999, in seconds since 1970. */
    private static final long NEVER = 253_402_300_799L;

    private static final SecureRandom RANDOM = new SecureRandom();

    private final String table;
    private final String insert;
    private final String update;
    private final LeaseClock clock;
    private final Duration retention;

    /**
     * One conditional write of one item.
     *
     * @param text the statement in PartiQL
     * @param version the item's version after this write. If the answer is lost, this version in the item shows that
     *     the write is done
     * @param isTimed whether the write contains the end of a lease, which depends on DynamoDB's clock
     */
    public record Statement(String text, List<AttributeValue> parameters, String version, boolean isTimed) {}

    /**
     * @param table name of the claim table
     * @param clock computes the ends of leases
     * @param retention how long an item is kept after the end of its lease, or after its completion, unless the claim
     *     request says otherwise
     */
    public ClaimStatements(String table, LeaseClock clock, Duration retention) {
        this.table = table;
        this.insert = "INSERT INTO \"" + table + "\" VALUE ";
        this.update = "UPDATE \"" + table + "\" SET \"w\"=?";
        this.clock = clock;
        this.retention = retention;
    }

    /** Returns the approximate time, in microseconds since 1970. Returns 0 if the time is not known. */
    public long nowMicros() {
        return clock.estimateMicros().orElse(0);
    }

    /** Makes the first claim of a key. */
    public Statement first(String pk, ClaimRequest request, Acquired answer) {
        OptionalLong end = clock.end(request.lease());
        AttributeValue now = number(clock.estimateMicros());
        ClaimKey key = request.key();
        List<AttributeValue> first = held(request, answer, end);
        first.addAll(List.of(text(pk), text(key.scope()), text(key.key()), now));
        return statement(insert + FIRST, end, first);
    }

    /** Makes the claim of a free key. */
    public Statement takeOver(ClaimItem seen, ClaimRequest request, Acquired answer) {
        OptionalLong end = clock.end(request.lease());
        return update(TAKEN_OVER + IF_SEEN, end, held(request, answer, end), seen.pk(), seen.version());
    }

    private List<AttributeValue> held(ClaimRequest request, Acquired answer, OptionalLong end) {
        List<AttributeValue> held = new ArrayList<>(List.of(
                text(request.claimId().toString()),
                text(request.owner()),
                number(answer.attempt()),
                number(answer.fencingToken()),
                AttributeValue.fromBool(answer.inDoubt()),
                text(request.fingerprint()),
                number(clock.estimateMicros())));
        long kept = request.retentionOr(retention).toSeconds();
        held.add(number(kept));
        held.add(number(answer.failures()));
        held.addAll(lease(request.lease(), end));
        held.add(number(secondsAfter(request.lease()) + kept));
        return held;
    }

    private static List<AttributeValue> lease(Duration lease, OptionalLong end) {
        return List.of(number(TimeUnit.MICROSECONDS.convert(lease)), number(end));
    }

    /** Extends a lease. Also used if a claim request is repeated after its answer was lost. */
    public Statement renew(String pk, LeaseRenewal renewal) {
        OptionalLong end = clock.end(renewal.lease());
        List<AttributeValue> renewed = new ArrayList<>(lease(renewal.lease(), end));
        renewed.add(number(secondsAfter(renewal.lease())));
        return update(LEASE + EXPIRES + IF_HELD, end, renewed, pk, id(renewal.claim()));
    }

    /** Resolves a claim as its owner reports. */
    public Statement resolve(String pk, ClaimResolution resolution) {
        String more = (resolution.inDoubt() ? IN_DOUBT : "") + (resolution.threw() ? THREW : "");
        if (resolution instanceof ClaimResolution.Completed completed) {
            return update(COMPLETED + IF_HELD, NO_END, completed(completed), pk, id(resolution.claim()));
        }
        if (resolution instanceof ClaimResolution.Parked parked) {
            List<AttributeValue> written = parked(pk, parked.reason());
            return update(PARKED + more + IF_HELD, NO_END, written, pk, id(resolution.claim()));
        }
        List<AttributeValue> error = List.of(text(((ClaimResolution.Released) resolution).error()));
        return update(RELEASED + more + IF_HELD, NO_END, error, pk, id(resolution.claim()));
    }

    /**
     * Parks a key in doubt that no claim holds. If the last claim was released, its error becomes the reason. If its
     * lease expired instead, the reason is a fixed text.
     */
    public Statement park(ClaimItem seen) {
        String reason = seen.status() == KeyStatus.RELEASED ? seen.error() : VANISHED;
        return update(PARKED + IN_DOUBT + IF_SEEN, NO_END, parked(seen.pk(), reason), seen.pk(), seen.version());
    }

    private List<AttributeValue> parked(String pk, String reason) {
        return List.of(text(ClaimItem.parkedOrder(Math.max(1, nowMicros()), pk)), text(reason), NULL);
    }

    /** Records that a parked key's effect has happened. */
    public Statement completeParked(String pk, ClaimResolution.Completed resolution) {
        return update(COMPLETED + UNPARK_IF_PARKED, NO_END, completed(resolution), pk, id(resolution.claim()));
    }

    private List<AttributeValue> completed(ClaimResolution.Completed resolution) {
        return List.of(text(resolution.result()), number(clock.estimateMicros()), number(secondsAfter(Duration.ZERO)));
    }

    /** Releases a parked key. */
    public Statement releaseParked(String pk, ClaimId claim) {
        List<AttributeValue> now = List.of(number(secondsAfter(Duration.ZERO)));
        return update(CLEARED + UNPARK_IF_PARKED, NO_END, now, pk, id(claim));
    }

    /** Completes a claim within an application transaction. */
    public TransactWriteItem completion(Claim claim, @Nullable String result) {
        Map<String, AttributeValue> values = Map.of(
                ":w", text(newVersion()),
                ":completed", text("COMPLETED"),
                ":result", text(result),
                ":completed_at", number(clock.estimateMicros()),
                ":from", number(secondsAfter(Duration.ZERO)),
                ":by_transaction", AttributeValue.fromBool(true),
                ":token", number(claim.fencingToken()),
                ":held", text("HELD"));
        return TransactWriteItem.builder()
                .update(item -> item.tableName(table)
                        .key(Map.of(ClaimItem.PK, text(claim.downstreamKey())))
                        .updateExpression(COMPLETION)
                        .conditionExpression(IF_HELD_BY_TOKEN)
                        .expressionAttributeNames(RESERVED)
                        .expressionAttributeValues(values))
                .build();
    }

    /**
     * Updates an item if it still has the version or the claim that was read.
     *
     * @param seen the version or the claim's id, depending on the condition in the text
     */
    private Statement update(String text, OptionalLong leaseEnd, List<AttributeValue> written, String pk, String seen) {
        List<AttributeValue> parameters = new ArrayList<>(written);
        parameters.addAll(List.of(text(pk), text(seen)));
        return statement(update + text, leaseEnd, parameters);
    }

    private static Statement statement(String text, OptionalLong leaseEnd, List<AttributeValue> others) {
        String version = newVersion();
        List<AttributeValue> parameters = new ArrayList<>(List.of(text(version)));
        parameters.addAll(others);
        return new Statement(text, parameters, version, leaseEnd.isPresent());
    }

    /**
     * Returns a new version that no other write has: 16 random hexadecimal digits. Even JVMs that are copies of each
     * other, for example from a snapshot, get different ones.
     */
    private static String newVersion() {
        return HexFormat.of().toHexDigits(RANDOM.nextLong());
    }

    /**
     * Returns the time that is {@code length} after now, in seconds since 1970, rounded up. If the current time is not
     * known, returns a time in the year 9999, so that DynamoDB does not delete the item too early.
     */
    private long secondsAfter(Duration length) {
        OptionalLong now = clock.estimateMicros();
        long from = now.orElse(0) + TimeUnit.MICROSECONDS.convert(length);
        return now.isEmpty() ? NEVER : Math.floorDiv(from + 999_999, 1_000_000);
    }

    private static String id(ClaimId claim) {
        return claim.value().toString();
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
}
