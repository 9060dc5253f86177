package io.exactlyonce.actuate;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * The answer to a request that changes and shows nothing.
 *
 * @param reason what is wrong with it, or in its way
 */
record Refused(String reason) implements OperationResponseBody {

    static WebEndpointResponse<OperationResponseBody> of(int status, String reason) {
        return new WebEndpointResponse<>(new Refused(reason), status);
    }
}
