package io.exactlyonce.listener.container;

import io.exactlyonce.ExactlyOnceSetupException;
import org.springframework.core.NestedExceptionUtils;

/**
 * A listener's queue cannot be read at start-up: it is missing, unreachable or forbidden. Its remedy depends on whether
 * credentials, region, endpoint, rights or the queue itself are the problem.
 */
public final class QueueUnavailableException extends ExactlyOnceSetupException {

    QueueUnavailableException(QueueLookup lookup, Throwable cause) {
        this(lookup, QueueProblem.of(cause), cause);
    }

    private QueueUnavailableException(QueueLookup lookup, QueueProblem problem, Throwable cause) {
        super(
                "Queue '%s' of listener '%s' is not available: %s (%s). The look-up ended with: %s"
                        .formatted(
                                lookup.queue(),
                                lookup.listener(),
                                problem.description(),
                                lookup.place(),
                                NestedExceptionUtils.getMostSpecificCause(cause).getMessage()),
                problem.remedy(lookup),
                cause);
    }
}
