package io.exactlyonce.listener.container;

import io.exactlyonce.boundary.Causes;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.queue.SqsQueue;
import io.exactlyonce.queue.Subscription;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkException;

/**
 * Logs failed polls. If the client's timeout is shorter than {@code pollTimeout}, each poll of an idle queue fails.
 * Only the first of these failures is logged at WARN. The client's timeout is also stored in the {@link SqsQueue}, so
 * that the audit of queues can report it.
 *
 * @param pollTimeout how long a poll waits for messages
 */
record PollFailures(SqsQueue queue, Duration pollTimeout) {

    private static final Logger log = LoggerFactory.getLogger(QueueConsumer.class);

    /** @param elapsed the time since the poll was sent, including the SDK's repetitions */
    void log(Subscription subscription, Throwable failure, Duration elapsed) {
        Duration patience = elapsed.dividedBy(attempts(failure));
        if (patience.compareTo(pollTimeout) >= 0 || Causes.of(failure).noneMatch(PollFailures::isTimeout)) {
            log.error("Polling {} failed; polling continues", subscription, PrintableException.of(failure));
            return;
        }
        if (queue.clientPatience() == null) {
            log.warn(
                    "Polls of {} wait for {} s, but their client gives up after about {} ms, so each poll of an idle queue "
                            + "fails. Raise the client's timeouts, such as readTimeout of its HTTP client, in a "
                            + "SqsAsyncClientCustomizer, or lower pollTimeoutSeconds",
                    subscription,
                    pollTimeout.toSeconds(),
                    patience.toMillis());
        }
        log.debug("Polling {} failed; polling continues", subscription, PrintableException.of(failure));
        queue.clientPatience(patience);
    }

    private static int attempts(Throwable failure) {
        return Causes.of(failure)
                .map(cause -> cause instanceof SdkException sdk ? sdk.numAttempts() : null)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(1);
    }

    /**
     * Returns whether the client has given up after a timeout. Netty and the CRT client may be missing from the class
     * path. So Netty's exception is recognized by its class name, and the CRT client's exception by its text.
     */
    private static boolean isTimeout(Throwable cause) {
        return cause instanceof ApiCallTimeoutException
                || cause instanceof ApiCallAttemptTimeoutException
                || cause instanceof SocketTimeoutException
                || cause.getClass().getSimpleName().equals("ReadTimeoutException")
                || String.valueOf(cause.getMessage()).contains("throughput minimum");
    }
}
