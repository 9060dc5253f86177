package io.exactlyonce.actuate;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * The answer to a request that changes and shows nothing.
 *
 * @param reason what is wrong with it, or in its way
 * @param retryAfterSeconds when to repeat it; {@code null} if a repetition would not help
 */
record Refused(String reason, @Nullable Integer retryAfterSeconds) implements OperationResponseBody {

    static WebEndpointResponse<OperationResponseBody> of(int status, String reason) {
        return new WebEndpointResponse<>(new Refused(reason, null), status);
    }

    /** The answer if the same request may succeed soon. */
    static WebEndpointResponse<OperationResponseBody> forNow(String reason) {
        return new WebEndpointResponse<>(
                new Refused(reason, RequestLimits.RETRY_AFTER_SECONDS), WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE);
    }
}
