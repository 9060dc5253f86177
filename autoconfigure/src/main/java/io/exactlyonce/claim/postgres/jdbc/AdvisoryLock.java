package io.exactlyonce.claim.postgres.jdbc;

import io.exactlyonce.claim.ClaimKey;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The lock that a transaction takes on a key whose row no other transaction can see until it commits. Two keys may
 * share a number: that costs a wait, never correctness, since the key's row decides.
 *
 * <p>The lock alone proves nothing: it is granted on a replica, and also without an open transaction, where it is gone
 * as soon as it was granted.
 */
public final class AdvisoryLock {

    /** Takes the key's number. Ends with the transaction. */
    static final String TRY = "SELECT pg_try_advisory_xact_lock(?)";

    private static final int HEX_DIGITS_OF_A_LONG = 16;

    private AdvisoryLock() {}

    /**
     * Returns the first 8 bytes of the SHA-256 of scope and key: the same for all versions that may run side by side.
     */
    public static long number(ClaimKey key) {
        return Long.parseUnsignedLong(key.hash().substring(0, HEX_DIGITS_OF_A_LONG), HEX_DIGITS_OF_A_LONG);
    }

    public static boolean tryTake(JdbcTemplate jdbc, long number) {
        return Boolean.TRUE.equals(jdbc.queryForObject(TRY, Boolean.class, number));
    }
}
