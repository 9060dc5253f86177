package io.exactlyonce.dynamodb.item;

import io.exactlyonce.Claim;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.dynamodb.clock.LeaseClock;
import io.exactlyonce.dynamodb.item.ClaimItem.Status;
import io.exactlyonce.dynamodb.item.ItemWrite.Draft;
import java.time.Duration;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What each step of a claim's life writes, and on which condition.
 *
 * <p>A takeover, and parking in doubt, ask for the mark that was seen: the item is exactly the one that was decided on. All
 * other writes ask for the claim that they are for, and for the status that they leave.
 */
public final class ClaimWrites {

    private static final String VANISHED = "its holder vanished: the effects of its attempt are not known";

    private final LeaseClock clock;
    private final Duration retention;

    /**
     * @param clock says when leases end
     * @param retention how long an item is kept, counted from its lease's end, or from its completion
     */
    public ClaimWrites(LeaseClock clock, Duration retention) {
        this.clock = clock;
        this.retention = retention;
    }

    /** Returns the answer to a key's first claim, once it is written. */
    public Acquired firstAnswer() {
        return new Acquired(1, Math.max(1, nowMicros()), false);
    }

    /** The first claim of a key. */
    public ItemWrite first(ClaimRequest request, Acquired answer) {
        Draft write = ItemWrite.insert(request.key().hash())
                .set(Names.SCOPE, request.key().scope())
                .set(Names.KEY, request.key().key());
        clock.estimateMicros().ifPresent(now -> write.set(Names.FIRST_CLAIMED_AT, now));
        return held(write, request, answer).build();
    }

    /** Returns the answer to the claim that takes an item over, once it is written. */
    public Acquired nextAnswer(ClaimItem seen) {
        return seen.next(nowMicros());
    }

    /** The claim of a free key. */
    public ItemWrite takeOver(ClaimRequest request, ClaimItem seen, Acquired answer) {
        Draft write = ItemWrite.update(seen.pk()).expect(Names.MARK, seen.mark());
        return held(write, request, answer).remove(Names.CLEARED).build();
    }

    /** Leaves a free key that is in doubt to a person. */
    public ItemWrite parkInDoubt(ClaimItem seen) {
        Draft write = ItemWrite.update(seen.pk()).expect(Names.MARK, seen.mark());
        return parked(write, seen.pk(), VANISHED, true).build();
    }

    /** Extends a lease; also for a claim that asks again, whose earlier answer was lost. */
    public ItemWrite renew(LeaseRenewal renewal) {
        return lease(of(renewal.claim(), Status.HELD), renewal.lease()).build();
    }

    /** The end of a claim that its worker tells. */
    public ItemWrite end(ClaimEnd end) {
        if (end instanceof ClaimEnd.Completed completed) {
            return complete(completed, Status.HELD);
        }
        Draft write = of(end.claim(), Status.HELD);
        if (end instanceof ClaimEnd.Parked parked) {
            return parked(write, end.claim().key().hash(), parked.reason(), parked.ambiguous())
                    .build();
        }
        ClaimEnd.Released released = (ClaimEnd.Released) end;
        write.set(Names.STATUS, Status.RELEASED.name()).set(Names.ERROR, released.error());
        return doubt(write, released.ambiguous()).build();
    }

    /** Records that a parked key's effect has happened. */
    public ItemWrite completeParked(ClaimEnd.Completed completion) {
        return complete(completion, Status.PARKED);
    }

    /** Gives a parked key free. It stays known that a person has decided on the doubt until the next claim. */
    public ItemWrite releaseParked(ClaimId claim) {
        Draft write = of(claim, Status.PARKED)
                .set(Names.STATUS, Status.RELEASED.name())
                .set(Names.CLEARED, true)
                .remove(Names.PARKED, Names.PARKED_AT);
        return expiring(write, clock.estimateMicros()).build();
    }

    /**
     * Completes a claim within a transaction of the application's. It names the claim by its fencing token, which no other claim
     * of the key has.
     */
    public ItemWrite completeInTransaction(Claim claim, @Nullable String result) {
        Draft write = ItemWrite.update(claim.downstreamKey())
                .expect(Names.TOKEN, claim.fencingToken())
                .expect(Names.STATUS, Status.HELD.name());
        return completed(write, result).set(Names.BY_TRANSACTION, true).build();
    }

    private ItemWrite complete(ClaimEnd.Completed completion, Status before) {
        return completed(of(completion.claim(), before), completion.result())
                .remove(Names.PARKED, Names.PARKED_AT)
                .build();
    }

    private Draft completed(Draft write, @Nullable String result) {
        write.set(Names.STATUS, Status.COMPLETED.name());
        if (result != null) {
            write.set(Names.RESULT, result);
        }
        OptionalLong now = clock.estimateMicros();
        now.ifPresent(micros -> write.set(Names.COMPLETED_AT, micros));
        return expiring(write, now);
    }

    private Draft held(Draft write, ClaimRequest request, Acquired answer) {
        write.set(Names.STATUS, Status.HELD.name())
                .set(Names.CLAIM_ID, request.claimId().toString())
                .set(Names.OWNER, request.owner())
                .set(Names.ATTEMPT, answer.attempt())
                .set(Names.TOKEN, answer.fencingToken())
                .set(Names.AMBIGUOUS, answer.ambiguous());
        optional(write, Names.FINGERPRINT, request.fingerprint());
        optional(write, Names.CLAIMED_AT, clock.estimateMicros());
        return lease(write, request.lease());
    }

    /** A lease whose end is not known must not keep that of the lease before it. */
    private Draft lease(Draft write, Duration lease) {
        write.set(Names.LEASE_MICROS, micros(lease));
        OptionalLong end = clock.end(lease);
        optional(write, Names.LEASE_UNTIL, end);
        OptionalLong now = clock.estimateMicros();
        return expiring(write, now.isEmpty() ? now : OptionalLong.of(now.getAsLong() + micros(lease)));
    }

    private Draft parked(Draft write, String pk, String reason, boolean ambiguous) {
        write.set(Names.STATUS, Status.PARKED.name())
                .set(Names.PARKED, ParkedOrder.PARTITION)
                .set(Names.PARKED_AT, ParkedOrder.of(Math.max(1, nowMicros()), pk))
                .set(Names.ERROR, reason)
                .remove(Names.EXPIRES_AT);
        return doubt(write, ambiguous);
    }

    private static Draft doubt(Draft write, boolean ambiguous) {
        return ambiguous ? write.set(Names.AMBIGUOUS, true) : write;
    }

    /** An item whose time is not known is kept: late deletion protects longer. */
    private Draft expiring(Draft write, OptionalLong fromMicros) {
        fromMicros.ifPresent(
                micros -> write.set(Names.EXPIRES_AT, (micros + 999_999) / 1_000_000 + retention.toSeconds()));
        return write;
    }

    private static Draft of(ClaimId claim, Status status) {
        return ItemWrite.update(claim.key().hash())
                .expect(Names.CLAIM_ID, claim.value().toString())
                .expect(Names.STATUS, status.name());
    }

    private static void optional(Draft write, String attribute, @Nullable String value) {
        if (value == null) {
            write.remove(attribute);
        } else {
            write.set(attribute, value);
        }
    }

    private static void optional(Draft write, String attribute, OptionalLong value) {
        value.ifPresentOrElse(known -> write.set(attribute, known), () -> write.remove(attribute));
    }

    private long nowMicros() {
        return clock.estimateMicros().orElse(0);
    }

    private static long micros(Duration time) {
        return time.toNanos() / 1000;
    }
}
