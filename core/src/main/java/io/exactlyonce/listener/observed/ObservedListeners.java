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
 * Wraps the listeners of containers in observe mode with {@link ObservedListener}. The containers keep the
 * application's own configuration.
 */
public final class ObservedListeners {

    /**
     * SQS's default visibility timeout, for a container that sets none. The queue may have another one, but the
     * application may not be permitted to read it.
     */
    private static final Duration USUAL_WINDOW = Duration.ofSeconds(30);

    private static final Logger log = LoggerFactory.getLogger(ObservedListeners.class);

    private final ObjectFactory<ObservedClaims> claims;

    /** @param claims records claims in observe mode; created with the first observed listener */
    public ObservedListeners(ObjectFactory<ObservedClaims> claims) {
        this.claims = claims;
    }

    /**
     * Wraps the listener of a new container if the listener is in observe mode.
     *
     * @param made the new container, before its factory adds interceptors
     * @param endpoint Spring Cloud AWS's description of the listener
     * @param queues compares the queues of all listeners
     */
    public void setUp(
            MessageListenerContainer<?> made,
            HandlerMethodEndpoint endpoint,
            ContainerSettings settings,
            SharedQueues queues) {
        if (settings.isObserved() && made instanceof SqsMessageListenerContainer<?> container) {
            // Lets Spring Cloud AWS set whether the listener takes single messages or batches.
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
        // If the container is set up a second time, it already has the interceptor.
        if (container.getMessageInterceptors().stream().noneMatch(ObservedListener.class::isInstance)) {
            container.addMessageInterceptor(observed);
        }
    }

    /**
     * Returns whether the container is known to delete a message when its handler returns. Returns false if the
     * application has component factories of its own, because they may delete messages at another time.
     */
    private static boolean deletesWhatIsDone(SqsMessageListenerContainer<?> container) {
        return container.getContainerOptions().getAcknowledgementMode() != AcknowledgementMode.MANUAL
                && container.getContainerComponentFactories().isEmpty();
    }

    /**
     * Returns a lease of nine tenths of the visibility timeout. If a worker dies, its lease ends before SQS redelivers
     * the message. So the redelivery counts as a takeover, and not as two handlers at the same time.
     */
    static VisibilityWindow lease(@Nullable Duration visibilityTimeout) {
        long seconds = Math.max(1, (visibilityTimeout == null ? USUAL_WINDOW : visibilityTimeout).toSeconds() * 9 / 10);
        return VisibilityWindow.ofSeconds(Math.min(seconds, VisibilityWindow.CEILING.toSeconds()));
    }
}
