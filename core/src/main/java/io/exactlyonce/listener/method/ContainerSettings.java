package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.awspring.cloud.sqs.listener.adapter.CompositeInvocableHandler;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.InvalidKeyException;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.listener.message.PolledMessage;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.observed.ObservedQueue;
import io.exactlyonce.observed.ObservedRun;
import io.exactlyonce.visibility.VisibilityWindow;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.messaging.Message;

/**
 * Settings of a container's listener method, or of the methods of its listener's class. Spring Cloud AWS does not pass
 * the method to the container factory, but creates the method's handler meanwhile, on the same thread.
 */
public final class ContainerSettings {

    private static final Logger log = LoggerFactory.getLogger(ContainerSettings.class);

    private static final ThreadLocal<@Nullable ContainerSettings> LATEST = new ThreadLocal<>();

    private final List<DeliveryHandlerMethod> handlers = new ArrayList<>();

    private volatile @Nullable Choice choice;
    private volatile boolean hasOwnExecutor;

    /** Returns the settings of a container that is about to be created. */
    public static ContainerSettings begin() {
        ContainerSettings begun = new ContainerSettings();
        LATEST.set(begun);
        return begun;
    }

    /** Adds a method of the container that is being created; those of one class share the annotation. */
    static void add(DeliveryHandlerMethod handler) {
        ContainerSettings latest = LATEST.get();
        if (latest != null) {
            latest.handlers.add(handler);
        }
    }

    /** The container is made, or could not be. */
    public void end() {
        LATEST.remove();
        choice = new Choice(handlers);
    }

    /** Returns whether the container calls a listener of ours. */
    public boolean hasHandlers() {
        return !handlers.isEmpty();
    }

    /** Returns whether the listener is only observed. */
    public boolean isObserved() {
        return hasHandlers() && listener().isObserved();
    }

    /** Returns the listener; the first of its methods, if it is a class's. */
    public ListenerMethod listener() {
        return handlers.get(0).method();
    }

    /** Returns whether the work of all handlers of an observed listener is done when they end. */
    public boolean signalsCompletion() {
        return handlers.stream().allMatch(handler -> handler.method().signalsCompletion());
    }

    /**
     * Returns the run of an observed listener's handler for a message.
     *
     * @param polled its data from SQS itself
     * @param lease of its claim, unless leases are configured
     * @throws InvalidKeyException if the message has no usable key, or no method of the listener's class takes it
     */
    public ObservedRun observed(ObservedQueue queue, Message<?> message, PolledMessage polled, VisibilityWindow lease) {
        ListenerMethod method = of(message);
        return new ObservedRun(
                queue, method.key(message, polled), polled.body().length(), method.compared(message, polled), lease);
    }

    /** Sets the claim of a polled message; without a usable key it is returned with backoff. */
    public void specify(ReceivedMessage received) {
        boolean isBatch = listener().isBatch();
        ClaimSpec wanted = null;
        try {
            wanted = spec(received);
        } catch (InvalidKeyException unusable) {
            log.error(
                    "{} is returned, and ends in the dead-letter queue if there is one: {}",
                    received.delivery(),
                    unusable.getMessage());
        }
        received.delivery().specify(wanted, isBatch ? received.group() : "", !isBatch);
    }

    /** Single messages and those of batches are treated alike. */
    ClaimSpec spec(ReceivedMessage received) {
        return of(received.message()).spec(received);
    }

    private ListenerMethod of(Message<?> message) {
        return Objects.requireNonNull(choice, "The container is not made yet").of(message);
    }

    /** The container runs its handlers on an executor of the application's, which may have fewer threads than messages. */
    public void ownExecutor() {
        hasOwnExecutor = true;
    }

    /** Returns whether the container runs its handlers on an executor of the application's. */
    public boolean hasOwnExecutor() {
        return hasOwnExecutor;
    }

    /**
     * Returns whether keys are claimed as soon as messages are polled. Not if a crash would leave a claim without a
     * thread in doubt, and its key must not simply run again; nor if threads may be delayed; nor in the handler's
     * transaction.
     */
    public boolean claimsAhead() {
        return listener().annotation().whenInDoubt() == InDoubtPolicy.RERUN
                && listener().transaction() == null
                && !hasOwnExecutor;
    }

    /** Returns the payload types of the handlers of the listener's class; none for a listener on a method. */
    public Set<Class<?>> payloadTypesOfClass() {
        return handlers.stream()
                .flatMap(handler -> handler.method().payloadTypesOfClass())
                .collect(Collectors.toUnmodifiableSet());
    }

    /** Chooses a method of a class by a message's payload, as Spring Cloud AWS does when it calls it. */
    private static final class Choice extends CompositeInvocableHandler {

        private final Map<Class<?>, ListenerMethod> chosen = new ConcurrentHashMap<>();

        Choice(List<DeliveryHandlerMethod> handlers) {
            // Spring Cloud AWS ignores parameters if there is no choice.
            super(
                    handlers.size() == 1 ? List.of() : List.copyOf(handlers),
                    handlers.stream()
                            .filter(handler -> handlers.size() == 1 || isDefault(handler))
                            .findFirst()
                            .orElse(null));
        }

        private static boolean isDefault(DeliveryHandlerMethod handler) {
            SqsHandler annotation =
                    AnnotatedElementUtils.findMergedAnnotation(handler.method().method(), SqsHandler.class);
            return annotation != null && annotation.isDefault();
        }

        ListenerMethod of(Message<?> message) {
            return chosen.computeIfAbsent(message.getPayload().getClass(), this::choose);
        }

        private ListenerMethod choose(Class<?> payload) {
            try {
                if (findHandlerForPayload(payload) instanceof DeliveryHandlerMethod handler) {
                    return handler.method();
                }
            } catch (IllegalArgumentException ambiguous) {
                throw new InvalidKeyException(
                        "Several @SqsHandler methods take a payload of type %s, so it is not known whose key to claim; let one of them take it"
                                .formatted(payload.getName()),
                        ambiguous);
            }
            throw new InvalidKeyException(
                    "No @SqsHandler method takes a payload of type %s, so there is no key to claim; add one, or mark one with isDefault = true"
                            .formatted(payload.getName()));
        }
    }
}
