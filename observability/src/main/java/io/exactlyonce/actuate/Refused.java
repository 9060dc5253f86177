package io.exactlyonce.actuate;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * The response to a request that was refused.
 *
 * @param reason the problem with the request, or the obstacle
 * @param retryAfterSeconds the time after which the request may be repeated; {@code null} if a repetition would not
 *     help
 */
record Refused(String reason, @Nullable Integer retryAfterSeconds) implements OperationResponseBody {

    static WebEndpointResponse<OperationResponseBody> of(int status, String reason) {
        return new WebEndpointResponse<>(new Refused(reason, null), status);
    }

    /** Returns a response for a request that may succeed soon, if it is repeated. */
    static WebEndpointResponse<OperationResponseBody> forNow(String reason) {
        return new WebEndpointResponse<>(
                new Refused(reason, RequestLimits.RETRY_AFTER_SECONDS), WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE);
    }
}
