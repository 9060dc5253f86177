package io.exactlyonce.dynamodb.item;

import io.exactlyonce.ParkedClaim;
import io.exactlyonce.claim.ClaimKey;
import org.jspecify.annotations.Nullable;

/** The order of parked claims: by time, then by partition key. */
public final class ParkedOrder {

    /** The partition of the index that all parked items are in. */
    public static final String PARTITION = "P";

    /** Of the microseconds, so that text sorts as numbers do. */
    static final int DIGITS = 19;

    private ParkedOrder() {}

    /** Returns what comes before all parked claims that come after this one; before all of them if there is none. */
    public static String after(@Nullable ParkedClaim claim) {
        return claim == null ? "0" : of(claim.parkedAtMicros(), new ClaimKey(claim.scope(), claim.key()).hash());
    }

    static String of(long micros, String pk) {
        return "%019d#%s".formatted(micros, pk);
    }
}
