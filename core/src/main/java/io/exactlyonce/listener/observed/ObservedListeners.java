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
 * Adds observers to the containers of observed listeners. The containers' components, options and acknowledgements stay
 * as the application's factory creates them.
 */
public final class ObservedListeners {

    /**
     * SQS's default visibility timeout. The queue is assumed to have this timeout, because reading the queue's own
     * timeout needs a permission that the application may lack.
     */
    private static final Duration USUAL_WINDOW = Duration.ofSeconds(30);

    private static final Logger log = LoggerFactory.getLogger(ObservedListeners.class);

    private final ObjectFactory<ObservedClaims> claims;

    /** @param claims records observations; made when the first listener is observed */
    public ObservedListeners(ObjectFactory<ObservedClaims> claims) {
        this.claims = claims;
    }

    /**
     * Adds observers to a container whose listener is only observed. The observing interceptor comes before the
     * interceptors that the application's factory adds later.
     *
     * @param made the new container, which has its listener, but not yet the components that its factory adds later
     * @param endpoint Spring Cloud AWS's description of the listener
     * @param queues compares the queues of observed listeners with the queues of other listeners
     */
    public void setUp(
            MessageListenerContainer<?> made,
            HandlerMethodEndpoint endpoint,
            ContainerSettings settings,
            SharedQueues queues) {
        if (settings.isObserved() && made instanceof SqsMessageListenerContainer<?> container) {
            // Spring Cloud AWS decides whether the listener takes single messages or batches.
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
        // A container that is set up a second time still has the interceptor of the first time.
        if (container.getMessageInterceptors().stream().noneMatch(ObservedListener.class::isInstance)) {
            container.addMessageInterceptor(observed);
        }
    }

    /**
     * Returns whether the container deletes messages when their handlers return. Returns false if the application has
     * its own component factories, because these may delete messages in another way. Called for each message, because
     * options and component factories may change until the container starts.
     */
    private static boolean deletesWhatIsDone(SqsMessageListenerContainer<?> container) {
        return container.getContainerOptions().getAcknowledgementMode() != AcknowledgementMode.MANUAL
                && container.getContainerComponentFactories().isEmpty();
    }

    /**
     * Returns a lease of nine tenths of a visibility timeout. A claim begins later than the visibility timeout of its
     * message, but with this lease ends earlier. So if a worker dies, its claim has expired when SQS redelivers the
     * message. The redelivery then counts as a takeover, and not as an overlap.
     */
    static VisibilityWindow lease(@Nullable Duration visibilityTimeout) {
        long seconds = Math.max(1, (visibilityTimeout == null ? USUAL_WINDOW : visibilityTimeout).toSeconds() * 9 / 10);
        return VisibilityWindow.ofSeconds(Math.min(seconds, VisibilityWindow.CEILING.toSeconds()));
    }
}
