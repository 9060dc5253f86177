package io.exactlyonce.actuate;

/**
 * Limits of requests to the endpoint. Web filters enforce them. The endpoint itself could not, because Spring Boot
 * reads the body before it calls the endpoint, and because an endpoint cannot set HTTP headers.
 */
public final class RequestLimits {

    /** The name of a header of responses with status 503. Its value is {@link #RETRY_AFTER_SECONDS}. */
    public static final String RETRY_AFTER = "Retry-After";

    /** How long a caller should wait before repeating a rejected request. Most lookups end within this time. */
    public static final int RETRY_AFTER_SECONDS = 1;

    /**
     * The largest body of a request in bytes. Enough for the longest scope and key, even if each character is escaped.
     */
    public static final int LONGEST_BODY = 64 * 1024;

    private RequestLimits() {}
}
