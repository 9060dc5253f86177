package io.exactlyonce.dynamodb.item;

/** Names of the table's attributes and of its index: what is in a table outlives the code. */
public final class Names {

    /** Partition key: {@code ClaimKey.hash()}. */
    public static final String PK = "pk";

    /** Partition key of {@link #PARKED_INDEX}: only parked items have it. */
    public static final String PARKED = "parked";

    /** Sort key of {@link #PARKED_INDEX}: microseconds since 1970 in 19 digits, {@code #}, partition key. */
    public static final String PARKED_AT = "parked_at";

    /** Global secondary index of parked items. */
    public static final String PARKED_INDEX = "parked";

    /** When the item may be deleted, in seconds since 1970: the table's TTL attribute. */
    public static final String EXPIRES_AT = "expires_at";

    static final String SCOPE = "scope";
    static final String KEY = "key";
    static final String STATUS = "status";
    static final String CLAIM_ID = "claim_id";
    static final String OWNER = "owner";
    static final String ATTEMPT = "attempt";
    static final String TOKEN = "token";
    static final String AMBIGUOUS = "ambiguous";
    static final String FINGERPRINT = "fingerprint";
    static final String LEASE_UNTIL = "lease_until";
    static final String LEASE_MICROS = "lease_micros";
    static final String FIRST_CLAIMED_AT = "first_claimed_at";
    static final String CLAIMED_AT = "claimed_at";
    static final String COMPLETED_AT = "completed_at";
    static final String RESULT = "result";
    static final String ERROR = "error";
    static final String CLEARED = "cleared";

    /** Whether the application's own transaction completed the claim, of which the engine learns later. */
    static final String BY_TRANSACTION = "by_transaction";

    /** The mark of the write that made this version of the item. */
    static final String MARK = "w";

    private Names() {}
}
