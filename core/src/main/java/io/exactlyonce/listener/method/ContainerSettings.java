package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.support.converter.AbstractMessagingMessageConverter;
import io.awspring.cloud.sqs.support.converter.MessageConversionContext;
import io.awspring.cloud.sqs.support.converter.MessagingMessageConverter;
import io.exactlyonce.Claim;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.MissingKeyException;
import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.UnusableKeyException;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.message.MessageConversion;
import io.exactlyonce.listener.message.PayloadType;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.message.SqsMessage;
import io.exactlyonce.observed.ObservedRun;
import io.exactlyonce.queue.ListenerQueue;
import io.exactlyonce.queue.MessageKeys;
import io.exactlyonce.queue.RepeatedLines;
import io.exactlyonce.queue.VisibilityWindow;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.messaging.Message;

/** The settings of the listener that a container calls. A listener is one method, or a class with several methods. */
public final class ContainerSettings {

    private static final Logger log = LoggerFactory.getLogger(ContainerSettings.class);

    private final List<DeliveryHandlerMethod> handlers;
    private final HandlerChoice choice;
    private final boolean hasOwnExecutor;

    private ContainerSettings(List<DeliveryHandlerMethod> handlers, boolean hasOwnExecutor) {
        this.handlers = handlers;
        this.choice = new HandlerChoice(handlers);
        this.hasOwnExecutor = hasOwnExecutor;
    }

    /**
     * Collects the handler methods of a container while the container is set up. Spring Cloud AWS does not pass these
     * methods to the container factory. It creates them on the thread that calls the factory, so a thread local holds
     * the builder for them.
     */
    static final class Builder {

        private static final ThreadLocal<@Nullable Builder> BOUND = new ThreadLocal<>();

        private final List<DeliveryHandlerMethod> handlers = new ArrayList<>();

        /** Returns the builder of the container that this thread is setting up; {@code null} if there is none. */
        static @Nullable Builder bound() {
            return BOUND.get();
        }

        void add(DeliveryHandlerMethod handler) {
            handlers.add(handler);
        }

        /**
         * Sets a container up, and returns its settings. The setup may set up another container, with another builder.
         * So the outer builder is restored at the end.
         */
        ContainerSettings build(Runnable setUp) {
            Builder outer = BOUND.get();
            BOUND.set(this);
            try {
                setUp.run();
            } finally {
                if (outer == null) {
                    BOUND.remove();
                } else {
                    BOUND.set(outer);
                }
            }
            return new ContainerSettings(List.copyOf(handlers), false);
        }
    }

    /**
     * Sets a container up, and returns the settings of its listener.
     *
     * @throws InvalidListenerException if a method of the listener is invalid
     */
    public static ContainerSettings of(Runnable setUp) {
        return new Builder().build(setUp);
    }

    /** Returns whether the container calls an exactly-once listener. */
    public boolean hasHandlers() {
        return !handlers.isEmpty();
    }

    /**
     * Returns whether the listener is in observe mode: its handlers do not wait for claims, and duplicates are only
     * counted.
     */
    public boolean isObserved() {
        return hasHandlers() && listener().isObserved();
    }

    /** Returns the listener's method. If the listener is a class, returns the first of its methods. */
    public ListenerMethod listener() {
        return handlers.get(0).method();
    }

    /**
     * Returns whether a key or a fingerprint may depend on headers. If so, the container must request all message
     * attributes from SQS.
     */
    public boolean readHeaders() {
        return handlers.stream().anyMatch(handler -> handler.method().readsHeaders());
    }

    /** Returns whether the handlers' work is done when they return. Used in observe mode. */
    public boolean signalsCompletion() {
        return handlers.stream().allMatch(DeliveryHandlerMethod::signalsCompletion);
    }

    /**
     * Collects what observe mode records about a message, just before its handler runs.
     *
     * @param lease how long a claim lasts if no lease is configured
     * @throws UnusableKeyException if the message has no usable key, or if no method of the listener's class takes the
     *     message
     */
    public ObservedRun observed(ListenerQueue queue, Message<?> message, SqsMessage polled, VisibilityWindow lease) {
        ListenerMethod method = choice.of(message);
        return new ObservedRun(
                queue,
                method.key(message, polled),
                polled.body().length(),
                method.compared(message, polled),
                lease,
                method.onMismatch());
    }

    /**
     * Determines which key is to be claimed for a polled message. A message with an unusable key is returned to SQS
     * with backoff. For a message without a key, {@code whenKeyMissing} decides.
     */
    public void specify(ReceivedMessage received) {
        boolean isBatch = listener().isBatch();
        ClaimSpec wanted = null;
        try {
            wanted = spec(received);
        } catch (MissingKeyException missing) {
            logMissing(received.delivery(), missing);
            listener().specifyWithoutKey(received, missing);
            return;
        } catch (UnusableKeyException unusable) {
            logRefused(received.delivery(), unusable);
        }
        received.delivery().attempt().specify(wanted, received.group(), !isBatch);
    }

    private static void logRefused(Delivery delivery, UnusableKeyException unusable) {
        delivery.logLimited(
                RepeatedLines.Kind.NO_KEY,
                more -> log.error(
                        "{} is returned, and ends in the dead-letter queue if there is one: {}{}",
                        delivery,
                        unusable.getMessage(),
                        more));
    }

    private void logMissing(Delivery delivery, MissingKeyException missing) {
        MissingKeyPolicy policy = listener().whenKeyMissing();
        if (policy == MissingKeyPolicy.REFUSE) {
            logRefused(delivery, missing);
            return;
        }
        delivery.logLimited(
                RepeatedLines.Kind.KEY_MISSING,
                more -> log.info(
                        "{} {}, as whenKeyMissing = {} says: {}{}",
                        delivery,
                        policy == MissingKeyPolicy.SKIP
                                ? "is deleted without a call of its handler"
                                : "is handled without a claim",
                        policy,
                        missing.getMessage(),
                        more));
    }

    ClaimSpec spec(ReceivedMessage received) {
        return choice.of(received.message()).spec(received);
    }

    /**
     * Returns the key of a message that is not being delivered, such as one in a dead-letter queue.
     *
     * @throws UnusableKeyException if the message has no usable key
     */
    public MessageKeys.Key key(Message<?> message, SqsMessage polled) {
        return choice.of(message).keyOf(message, polled);
    }

    /**
     * Returns a copy for a container that uses the application's executor, so that {@link #hasOwnExecutor} is true.
     * {@link #claimsAhead} is then false: the executor may have fewer threads than there are messages in flight, and a
     * claim must not wait for a thread.
     */
    public ContainerSettings onOwnExecutor() {
        return new ContainerSettings(handlers, true);
    }

    /** Returns whether the container runs its handlers on an application's executor. */
    public boolean hasOwnExecutor() {
        return hasOwnExecutor;
    }

    /**
     * Returns whether keys are claimed as soon as messages are polled, even if the handler must still wait for a
     * thread. Returns false in three cases:
     * <ul>
     * <li>{@code whenInDoubt} is not {@code RERUN}. If the worker crashed before the handler starts, the key would be
     * in doubt, although the handler never ran.
     * <li>Keys are claimed in the handler's transaction.
     * <li>Handlers run on an application's executor, which may have no free thread for a long time.
     * </ul>
     */
    public boolean claimsAhead() {
        return listener().annotation().whenInDoubt() == InDoubtPolicy.RERUN
                && listener().transaction() == null
                && !hasOwnExecutor;
    }

    /**
     * Checks that the container's converter can read the payload type of each method. For an observed listener, a
     * problem is only logged.
     *
     * @throws InvalidListenerException if the converter ignores type arguments that a method needs, if senders could
     *     choose any class as the payload, or if a method would never be called
     */
    public void requireReadable(MessagingMessageConverter<?> converter) {
        for (DeliveryHandlerMethod handler : handlers) {
            ListenerMethod method = handler.method();
            if (method.isObserved()) {
                ListenerRules.isFit(() -> requireReadable(method, converter));
                logWhatItGets(method);
            } else {
                requireReadable(method, converter);
            }
        }
    }

    private static void logWhatItGets(ListenerMethod method) {
        PayloadType payload = method.payload();
        if (payload != null && payload.full() != null) {
            log.warn(
                    "{} is only observed, so Spring Cloud AWS reads its {} without type arguments, and it gets maps; with mode = enforce it gets the full type, and its key is evaluated on that",
                    method,
                    payload.full().getGenericParameterType().getTypeName());
        }
    }

    private void requireReadable(ListenerMethod method, MessagingMessageConverter<?> converter) {
        choice.requireReachable(method);
        PayloadType payload = method.payload();
        if (payload == null) {
            return;
        }
        if (payload.full() != null && !MessageConversion.readsInFull(converter)) {
            throw method.refused(
                    "it takes %s, and the payload converter of its container factory reads classes without type arguments"
                            .formatted(payload.full().getGenericParameterType().getTypeName()),
                    "make that converter a SmartMessageConverter, whose conversionHint is the method's parameter; or take a class"
                            + " without type arguments");
        }
        if (method.isOfClass() && payload.isOpen() && converter instanceof AbstractMessagingMessageConverter<?>) {
            throw method.refused(
                    "it takes %s, of which the sender would choose the class among all that implement it"
                            .formatted(payload.raw().getName()),
                    "seal the type, name its classes in @JsonSubTypes, or take each class in a method of its own");
        }
    }

    /**
     * Creates the conversion from SQS's messages to the listener's payloads.
     *
     * @param inferred the payload's class that Spring Cloud AWS or the application has chosen; {@code null} if it is
     *     not known
     */
    public MessageConversion conversion(
            MessagingMessageConverter<software.amazon.awssdk.services.sqs.model.Message> converter,
            @Nullable MessageConversionContext context,
            @Nullable Class<?> inferred) {
        List<PayloadType> taken = payloadsOfClass();
        PayloadType payload = listener().isOfClass() ? null : payload(listener().payload(), inferred);
        return MessageConversion.of(converter, context, payload, taken);
    }

    /**
     * Chooses between the method's payload type and the class that Spring Cloud AWS would read. The method's type is
     * preferred, because it has type arguments. But the application may have chosen another class, such as a subclass.
     */
    private static @Nullable PayloadType payload(@Nullable PayloadType declared, @Nullable Class<?> inferred) {
        // Without ClaimArgumentResolver, Spring Cloud AWS takes a parameter of type Claim for the payload.
        if (inferred == null || inferred == Claim.class) {
            return declared;
        }
        return declared != null && (inferred.isAssignableFrom(declared.raw()) || inferred == Optional.class)
                ? declared
                : new PayloadType(inferred);
    }

    /**
     * Returns the payload types of all methods of a listener's class. Returns an empty list if the listener is a single
     * method.
     */
    List<PayloadType> payloadsOfClass() {
        return handlers.stream()
                .map(DeliveryHandlerMethod::method)
                .filter(ListenerMethod::isOfClass)
                .map(ListenerMethod::payload)
                .filter(payload -> payload != null && payload.raw() != Object.class)
                .toList();
    }
}
