package io.exactlyonce.actuate;

/**
 * The limits of requests to the endpoint. Filters enforce the limits, because the endpoint is called only after the
 * body was read, and cannot set headers.
 */
public final class RequestLimits {

    /** The header of responses with status 503. Its value is {@link #RETRY_AFTER_SECONDS}. */
    public static final String RETRY_AFTER = "Retry-After";

    /** The time after which a refused request may succeed, which is longer than most lookups take. */
    public static final int RETRY_AFTER_SECONDS = 1;

    /** The longest body in bytes. A decision fits even if each character of its scope and key is escaped. */
    public static final int LONGEST_BODY = 64 * 1024;

    private RequestLimits() {}
}
