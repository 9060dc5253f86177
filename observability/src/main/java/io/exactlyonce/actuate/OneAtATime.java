package io.exactlyonce.actuate;

import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * Runs one request at a time. A request that arrives meanwhile is rejected with status 503. If it waited, it would
 * block one of the server's threads.
 */
final class OneAtATime {

    private final Semaphore turn = new Semaphore(1);
    private final String kind;

    /** @param kind names the running request in the response with status 503, for example {@code lookup} */
    OneAtATime(String kind) {
        this.kind = kind;
    }

    /** Runs the request, or returns status 503 if another request is running. */
    WebEndpointResponse<OperationResponseBody> answer(Supplier<WebEndpointResponse<OperationResponseBody>> request) {
        if (!turn.tryAcquire()) {
            return Refused.forNow("another " + kind + " is being answered, and one is at a time; repeat the request");
        }
        try {
            return request.get();
        } finally {
            turn.release();
        }
    }
}
