package io.exactlyonce.listener;

import org.springframework.core.NestedExceptionUtils;

/** A listener's queue cannot be read at start-up: it is missing, unreachable or forbidden. */
public final class QueueUnavailableException extends RuntimeException {

    private final String queue;
    private final String listener;

    QueueUnavailableException(String queue, String listener, Throwable cause) {
        super(
                "Queue '%s' of listener '%s' is not available: %s"
                        .formatted(
                                queue,
                                listener,
                                NestedExceptionUtils.getMostSpecificCause(cause).getMessage()),
                cause);
        this.queue = queue;
        this.listener = listener;
    }

    /** Returns the queue's name, URL or ARN as it was configured. */
    public String queue() {
        return queue;
    }

    /** Returns the listener's id. */
    public String listener() {
        return listener;
    }
}
