package io.exactlyonce.actuate;

import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * Admits one request of a kind at a time, and refuses others at once. If other requests waited instead, they would
 * occupy the server's threads.
 */
final class OneAtATime {

    private final Semaphore turn = new Semaphore(1);
    private final String kind;

    /** @param kind names the kind of requests in a refusal */
    OneAtATime(String kind) {
        this.kind = kind;
    }

    /** Answers a request. Refuses it if another request of this kind is running. */
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
