package io.exactlyonce.listener;

import io.awspring.cloud.sqs.listener.SqsMessageListenerContainer;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementMode;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
    static void tell(String listener, SqsMessageListenerContainer<?> container, boolean isTransactional) {
        List<String> overridden = overridden(container);
        List<String> changed = changed(container, isTransactional);
        String all = Stream.of(overridden, changed).flatMap(List::stream).collect(Collectors.joining("; "));
        if (!overridden.isEmpty()) {
            log.warn(DIFFERENCES, listener, all);
        } else if (!changed.isEmpty()) {
            log.info(DIFFERENCES, listener, all);
        }
    }

    /** What the application asks for and does not get. */
    private static List<String> overridden(SqsMessageListenerContainer<?> container) {
        List<String> overridden = new ArrayList<>();
        AcknowledgementMode mode = container.getContainerOptions().getAcknowledgementMode();
        if (mode != AcknowledgementMode.ON_SUCCESS) {
            overridden.add(
                    "its acknowledgement mode %s does not apply: each message is deleted when the completion of its key is recorded, and not before"
                            .formatted(mode));
        }
        if (!container.getContainerComponentFactories().isEmpty()) {
            overridden.add("its component factories (%s) are replaced by those that claim keys"
                    .formatted(container.getContainerComponentFactories().stream()
                            .map(factory -> factory.getClass().getName())
                            .collect(Collectors.joining(", "))));
        }
        return overridden;
    }

    /** What it gets, with another meaning. */
    private static List<String> changed(SqsMessageListenerContainer<?> container, boolean isTransactional) {
        List<String> changed = new ArrayList<>();
        int interceptors = container.getMessageInterceptors().size();
        if (interceptors > 0) {
            changed.add(
                    "its interceptors (%d) %s, and change no message's key: that is made of the message as it was polled"
                            .formatted(
                                    interceptors,
                                    isTransactional
                                            ? "see duplicates, too, for which the handler is not called then"
                                            : "see no message whose key is completed, held elsewhere, refused or missing"));
        }
        if (container.getErrorHandler() != null) {
            changed.add("its error handler deletes nothing: a message whose failure it hides comes again all the same");
        }
        if (container.getContainerOptions().getComponentsTaskExecutor() != null) {
            changed.add("with its own task executor keys are claimed when there is a thread, not with the poll");
        }
        return changed;
    }
}
