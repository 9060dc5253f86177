package io.exactlyonce.actuate;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * The response to a request that was rejected or has failed.
 *
 * @param reason a sentence for the caller
 * @param retryAfterSeconds how long the caller should wait before repeating the request; {@code null} if repeating does
 *     not help
 */
record Refused(String reason, @Nullable Integer retryAfterSeconds) implements OperationResponseBody {

    static WebEndpointResponse<OperationResponseBody> of(int status, String reason) {
        return new WebEndpointResponse<>(new Refused(reason, null), status);
    }

    /** Returns status 503, for a request that may succeed if it is repeated soon. */
    static WebEndpointResponse<OperationResponseBody> forNow(String reason) {
        return new WebEndpointResponse<>(
                new Refused(reason, RequestLimits.RETRY_AFTER_SECONDS), WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE);
    }
}
