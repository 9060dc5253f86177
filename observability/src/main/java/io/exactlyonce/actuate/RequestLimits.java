package io.exactlyonce.actuate;

/**
 * The limits of requests to the endpoint. Filters enforce them, because the endpoint cannot see a body before it is
 * read, and cannot set headers.
 */
public final class RequestLimits {

    /** The header of a response with status 503. */
    public static final String RETRY_AFTER = "Retry-After";

    /** The time after which a refused request may succeed, which is longer than most lookups take. */
    public static final int RETRY_AFTER_SECONDS = 1;

    /**
     * The longest body in bytes. It has room for scope and key with each character escaped, and for the rest of a
     * decision.
     */
    public static final int LONGEST_BODY = 64 * 1024;

    private RequestLimits() {}
}
