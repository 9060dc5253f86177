package io.exactlyonce.listener;

import io.awspring.cloud.sqs.listener.SqsMessageListenerContainer;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementMode;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells at start-up, in one line for each listener, what of the application's container factory does not apply to messages whose
 * keys are claimed, or means something else. A factory that has nothing of that kind is not mentioned.
 */
final class ContainerDifferences {

    private static final Logger log = LoggerFactory.getLogger(ContainerDifferences.class);

    private static final String DIFFERENCES =
            "Listener '{}' takes over the settings of its container factory with these differences: {}";

    private ContainerDifferences() {}

    /**
     * Logs a listener's differences: as a warning if it does without something.
     *
     * @param container as the application's factory has made it
     * @param isTransactional whether keys are claimed in the handler's transaction, so after interceptors
     */
    static void log(String listener, SqsMessageListenerContainer<?> container, boolean isTransactional) {
        AcknowledgementMode mode = container.getContainerOptions().getAcknowledgementMode();
        var factories = container.getContainerComponentFactories();
        int interceptors = container.getMessageInterceptors().size();
        // What the application asks for and does not get.
        List<String> overridden = all(
                mode == AcknowledgementMode.ON_SUCCESS
                        ? null
                        : "its acknowledgement mode %s does not apply: each message is deleted when the completion of its key is recorded, and not before"
                                .formatted(mode),
                factories.isEmpty()
                        ? null
                        : "its component factories (%s) are replaced by those that claim keys"
                                .formatted(factories.stream()
                                        .map(factory -> factory.getClass().getName())
                                        .collect(Collectors.joining(", "))));
        // What it gets, with another meaning.
        List<String> changed = all(
                interceptors == 0
                        ? null
                        : "its interceptors (%d) %s, and change no message's key: that is made of the message as it was polled"
                                .formatted(
                                        interceptors,
                                        isTransactional
                                                ? "see duplicates, too, for which the handler is not called then"
                                                : "see no message whose key is completed, held elsewhere, refused or missing"),
                container.getErrorHandler() == null
                        ? null
                        : "its error handler deletes nothing: a message whose failure it hides comes again all the same",
                container.getContainerOptions().getComponentsTaskExecutor() == null
                        ? null
                        : "with its own task executor keys are claimed when there is a thread, not with the poll");
        String told = Stream.of(overridden, changed).flatMap(List::stream).collect(Collectors.joining("; "));
        if (!overridden.isEmpty()) {
            log.warn(DIFFERENCES, listener, told);
        } else if (!changed.isEmpty()) {
            log.info(DIFFERENCES, listener, told);
        }
    }

    private static List<String> all(@Nullable String... differences) {
        return Stream.of(differences).filter(Objects::nonNull).toList();
    }
}
