package io.exactlyonce.listener.startup;

import io.awspring.cloud.sqs.FifoUtils;
import io.awspring.cloud.sqs.listener.SqsMessageListenerContainer;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementMode;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs at startup which settings of the application's container factory do not work as usual for listeners that claim
 * keys. Each such listener gets one line.
 */
public final class ContainerDifferences {

    private static final Logger log = LoggerFactory.getLogger(ContainerDifferences.class);

    private static final String DIFFERENCES =
            "Listener '{}' takes over the settings of its container factory with these differences: {}";

    private ContainerDifferences() {}

    /**
     * Logs one line about a listener: at WARN if a setting is ignored, or at INFO if settings only behave differently.
     *
     * @param container the container as the application's factory has made it
     * @param isTransactional whether keys are claimed in the handler's transaction. Interceptors then run before the
     *     claim
     * @param longestBuffered deletes are held back for this time at most, so that several can be sent in one request
     */
    public static void log(
            String listener,
            SqsMessageListenerContainer<?> container,
            boolean isTransactional,
            Duration longestBuffered) {
        AcknowledgementMode mode = container.getContainerOptions().getAcknowledgementMode();
        var factories = container.getContainerComponentFactories();
        int interceptors = container.getMessageInterceptors().size();
        // Settings that are ignored.
        List<String> overridden = all(
                mode == AcknowledgementMode.ON_SUCCESS
                        ? null
                        : ("its acknowledgement mode %s does not apply: each message is deleted after the "
                                        + "completion of its key is recorded")
                                .formatted(mode),
                factories.isEmpty()
                        ? null
                        : "its component factories (%s) are replaced by those that claim keys"
                                .formatted(factories.stream()
                                        .map(factory -> factory.getClass().getName())
                                        .collect(Collectors.joining(", "))));
        // Settings with another meaning.
        List<String> changed = all(
                interceptors == 0
                        ? null
                        : ("its interceptors (%d) %s, and cannot change a key: it is evaluated on the message "
                                        + "as polled")
                                .formatted(
                                        interceptors,
                                        isTransactional
                                                ? "also see duplicates, for which the handler is not called"
                                                : "do not see messages whose key is completed, held, "
                                                        + "refused or missing"),
                buffering(container, longestBuffered),
                container.getErrorHandler() == null
                        ? null
                        : "its error handler deletes nothing: SQS redelivers a message even if it hides the failure",
                container.getContainerOptions().getComponentsTaskExecutor() == null
                        ? null
                        : "with its own task executor, keys are claimed when a thread is assigned, not with "
                                + "the poll");
        String differences =
                Stream.of(overridden, changed).flatMap(List::stream).collect(Collectors.joining("; "));
        if (!overridden.isEmpty()) {
            log.warn(DIFFERENCES, listener, differences);
        } else if (!changed.isEmpty()) {
            log.info(DIFFERENCES, listener, differences);
        }
    }

    /** Describes an option of the application that would delay deletes for too long; {@code null} if there is none. */
    private static @Nullable String buffering(SqsMessageListenerContainer<?> container, Duration longestBuffered) {
        boolean isFifo = container.getQueueNames().stream().anyMatch(FifoUtils::isFifo);
        Duration interval = Objects.requireNonNullElse(
                container.getContainerOptions().getAcknowledgementInterval(), isFifo ? Duration.ZERO : longestBuffered);
        Integer threshold = container.getContainerOptions().getAcknowledgementThreshold();
        boolean isLong = interval.compareTo(longestBuffered) > 0;
        boolean isEndless = interval.isZero() && threshold != null && threshold > 0;
        return isLong || isEndless
                ? "its acknowledgement %s buffers deletes for %d s at most: messages are renewed meanwhile, and FIFO groups wait"
                        .formatted(isLong ? "interval" : "threshold", longestBuffered.toSeconds())
                : null;
    }

    private static List<String> all(@Nullable String... differences) {
        return Stream.of(differences).filter(Objects::nonNull).toList();
    }
}
