package io.exactlyonce.actuate;

/** The bounds of a request to the endpoint. The endpoint cannot see a body before it is read, or set headers: filters do. */
public final class RequestLimits {

    /** Header of a response with status 503. */
    public static final String RETRY_AFTER = "Retry-After";

    /** Time after which a refused request may succeed: longer than most look-ups take. */
    public static final int RETRY_AFTER_SECONDS = 1;

    /** The longest body, in bytes: scope and key with each character escaped, and the rest of a decision. */
    public static final int LONGEST_BODY = 64 * 1024;

    private RequestLimits() {}
}
