package io.exactlyonce.listener.observed;

import io.awspring.cloud.sqs.config.Endpoint;
import io.awspring.cloud.sqs.config.HandlerMethodEndpoint;
import io.awspring.cloud.sqs.listener.MessageListenerContainer;
import io.awspring.cloud.sqs.listener.SqsMessageListenerContainer;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementMode;
import io.exactlyonce.listener.method.ContainerSettings;
import io.exactlyonce.listener.startup.SharedQueues;
import io.exactlyonce.observed.ObservedClaims;
import io.exactlyonce.queue.ListenerQueue;
import io.exactlyonce.queue.QueueAddress;
import io.exactlyonce.queue.VisibilityWindow;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectFactory;

/**
 * Lets containers of observed listeners inspect their messages. Their components, options and acknowledgements stay as
 * the application's factory creates them.
 */
public final class ObservedListeners {

    /**
     * SQS's default visibility timeout, assumed for the queue, because reading the queue's own timeout needs a
     * permission that a plain listener may lack.
     */
    private static final Duration USUAL_WINDOW = Duration.ofSeconds(30);

    private static final Logger log = LoggerFactory.getLogger(ObservedListeners.class);

    private final ObjectFactory<ObservedClaims> claims;

    /** @param claims records observations; made when the first listener is observed */
    public ObservedListeners(ObjectFactory<ObservedClaims> claims) {
        this.claims = claims;
    }

    /**
     * Adds observers to a container whose listener is only observed. Interceptors that the application's factory adds
     * come after ours.
     *
     * @param made has its listener, and nothing that its factory adds later
     * @param endpoint Spring Cloud AWS's own
     * @param queues compares the queues of observed listeners with those of others
     */
    public void setUp(
            MessageListenerContainer<?> made,
            HandlerMethodEndpoint endpoint,
            ContainerSettings settings,
            SharedQueues queues) {
        if (settings.isObserved() && made instanceof SqsMessageListenerContainer<?> container) {
            // Spring Cloud AWS's own rule chooses single messages or batches.
            endpoint.configureListenerMode(mode -> container.configure(options -> options.listenerMode(mode)));
            observe(container, endpoint, settings, queues);
        }
    }

    private <T> void observe(
            SqsMessageListenerContainer<T> container,
            Endpoint endpoint,
            ContainerSettings settings,
            SharedQueues shared) {
        String id = Objects.requireNonNull(endpoint.getId());
        List<ListenerQueue> queues = endpoint.getLogicalNames().stream()
                .map(name -> new ListenerQueue(id, QueueAddress.name(name)))
                .toList();
        ObservedClaims observing = claims.getObject();
        queues.forEach(observing::observing);
        BooleanSupplier signalsCompletion = () -> settings.signalsCompletion() && deletesWhatIsDone(container);
        if (!signalsCompletion.getAsBoolean()) {
            log.warn(
                    "Handlers of listener '{}' may return before their work is done: its keys are not "
                            + "recorded as completed, so later duplicates are not detected",
                    id);
        }
        VisibilityWindow lease = lease(container.getContainerOptions().getMessageVisibility());
        ObservedListener<T> observed = new ObservedListener<>(
                container.getMessageListener(),
                settings,
                observing,
                queues.get(0),
                lease,
                shared.observing(id),
                signalsCompletion);
        container.setAsyncMessageListener(observed);
        // A container that is set up again still has its interceptors.
        if (container.getMessageInterceptors().stream().noneMatch(ObservedListener.class::isInstance)) {
            container.addMessageInterceptor(observed);
        }
    }

    /**
     * Returns whether the container deletes messages when their handlers return. Called for each message, because
     * options and components may be exchanged until the container starts. The application's own component factories may
     * delete in another way.
     */
    private static boolean deletesWhatIsDone(SqsMessageListenerContainer<?> container) {
        return container.getContainerOptions().getAcknowledgementMode() != AcknowledgementMode.MANUAL
                && container.getContainerComponentFactories().isEmpty();
    }

    /**
     * Returns nine tenths of a visibility timeout. A claim begins later than its message's timeout, and ends before it.
     * So the key of a dead worker is free when its message is redelivered, which then counts as a takeover and not as
     * an overlap.
     */
    static VisibilityWindow lease(@Nullable Duration visibilityTimeout) {
        long seconds = Math.max(1, (visibilityTimeout == null ? USUAL_WINDOW : visibilityTimeout).toSeconds() * 9 / 10);
        return VisibilityWindow.ofSeconds(Math.min(seconds, VisibilityWindow.CEILING.toSeconds()));
    }
}
