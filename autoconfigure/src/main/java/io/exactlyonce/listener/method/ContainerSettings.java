package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.awspring.cloud.sqs.listener.adapter.CompositeInvocableHandler;
import io.exactlyonce.AbandonedPolicy;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.InvalidKeyException;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.pipeline.Attempt;
import io.exactlyonce.listener.message.PolledMessage;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.sighting.ObservedMessage;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;

/**
 * What a container's components need to know of its listener method, or of the methods of its listener's class. Awspring does not tell
 * a container factory for which method it makes a container; but the method's handler is made meanwhile, on the same thread.
 */
public final class ContainerSettings {

    private static final ThreadLocal<@Nullable ContainerSettings> LATEST = new ThreadLocal<>();

    private final List<DeliveryHandlerMethod> handlers = new ArrayList<>();

    private volatile @Nullable Choice choice;
    private volatile Set<Class<?>> payloadTypesOfClass = Set.of();
    private volatile boolean hasOwnExecutor;
    private volatile boolean isObserved;
    private volatile boolean tellsItsEnd = true;
    private volatile @Nullable Duration timeout;
    private volatile AbandonedPolicy onAbandoned = AbandonedPolicy.RERUN;
    private volatile Effects effects = Effects.EXTERNAL;

    /** Returns the settings of a container that is about to be made. */
    public static ContainerSettings begin() {
        ContainerSettings begun = new ContainerSettings();
        LATEST.set(begun);
        return begun;
    }

    /** Sets what a method of the container that is being made says; those of one class say the same. */
    static void complete(DeliveryHandlerMethod handler, @Nullable Duration timeout, ExactlyOnceListener annotation) {
        ContainerSettings latest = LATEST.get();
        if (latest != null) {
            latest.handlers.add(handler);
            latest.timeout = timeout;
            latest.onAbandoned = annotation.onAbandoned();
            latest.effects = annotation.effects();
        }
    }

    /**
     * Sets what an observed method of the container that is being made says.
     *
     * @param tellsItsEnd whether its handler's end tells that its work is done
     */
    static void observe(DeliveryHandlerMethod handler, ExactlyOnceListener annotation, boolean tellsItsEnd) {
        complete(handler, null, annotation);
        ContainerSettings latest = LATEST.get();
        if (latest != null) {
            latest.isObserved = true;
            latest.tellsItsEnd = latest.tellsItsEnd && tellsItsEnd;
        }
    }

    /** Returns whether the container calls a listener of ours. */
    public boolean hasHandlers() {
        return !handlers.isEmpty();
    }

    /** Returns whether the end of an observed listener's handlers, of all of them, tells that their work is done. */
    public boolean tellsItsEnd() {
        return tellsItsEnd;
    }

    /** Returns whether the listener is only observed. */
    public boolean isObserved() {
        return isObserved;
    }

    /**
     * Returns what is to be observed of a message of an observed listener.
     *
     * @param polled what SQS itself says of it
     * @param lease of its claim, unless leases are configured
     * @throws InvalidKeyException if the message has no usable key, or no method of the listener's class takes it
     */
    public ObservedMessage observed(Message<?> message, PolledMessage polled, VisibilityWindow lease) {
        ListenerMethod method = made().of(message);
        return new ObservedMessage(method.key(message, polled), () -> method.payload(polled), lease);
    }

    /** The container is made, or could not be. */
    public void end() {
        LATEST.remove();
        choice = Choice.among(handlers);
        payloadTypesOfClass = handlers.stream()
                .flatMap(handler -> handler.method().payloadTypesOfClass())
                .collect(Collectors.toUnmodifiableSet());
    }

    /**
     * Returns what the container's listener asks for with a message as it was polled. Single messages and those of batches are
     * treated alike. It may be called on any thread.
     *
     * @throws InvalidKeyException if the message has no usable key, or no method of the listener's class takes it
     */
    public ClaimSpec spec(Message<?> message) {
        return made().of(message).spec(message);
    }

    /** Returns the way through the pipeline of a message as it was polled; one without a usable key only comes again. */
    public Attempt attempt(Message<?> message) {
        ReceivedMessage received = ReceivedMessage.require(message);
        ClaimSpec wanted = null;
        try {
            wanted = spec(message);
        } catch (InvalidKeyException unusable) {
            KeyExpression.logUnusable(received.delivery(), unusable);
        }
        return isBatch() || wanted == null
                ? Attempt.ofBatch(received.delivery(), received.group(), wanted)
                : Attempt.single(received.delivery(), wanted);
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
     * Returns whether keys are claimed as soon as messages are polled. Not where a claim that has no thread yet would be in doubt
     * after a crash, and its key not simply run again; nor where threads may be long in coming; nor in a transaction of the
     * handler's.
     */
    public boolean claimsAhead() {
        return onAbandoned == AbandonedPolicy.RERUN && transaction() == null && !hasOwnExecutor;
    }

    private Choice made() {
        Choice known = choice;
        if (known == null) {
            throw new IllegalStateException("The container is not made yet");
        }
        return known;
    }

    /** Returns what the listener's keys are, for people. */
    public String key() {
        return handlers.isEmpty() ? "unknown" : handlers.get(0).method().keyText();
    }

    /** Returns the scope of the listener's keys; {@code null} for its queue's. */
    public @Nullable String scope() {
        return handlers.isEmpty() ? null : handlers.get(0).method().scope();
    }

    /** Returns in what the handler runs together with its claim; {@code null} if its effects are elsewhere. */
    public @Nullable ClaimTransaction transaction() {
        return handlers.isEmpty() ? null : handlers.get(0).method().transaction();
    }

    /** Returns what becomes of keys in doubt. */
    public AbandonedPolicy onAbandoned() {
        return onAbandoned;
    }

    /** Returns where the handler's effects are. */
    public Effects effects() {
        return effects;
    }

    /** Returns the longest run of the handler; {@code null} for no timeout. */
    public @Nullable Duration timeout() {
        return timeout;
    }

    /** Returns whether the method takes batches. */
    public boolean isBatch() {
        return !handlers.isEmpty() && handlers.get(0).method().batch() != null;
    }

    /** Returns what the handlers of the listener's class take as payloads; nothing for a listener on a method. */
    public Set<Class<?>> payloadTypesOfClass() {
        return payloadTypesOfClass;
    }

    /** Chooses a method of a class by a message's payload, as awspring does when it calls it. */
    private static final class Choice extends CompositeInvocableHandler {

        private final Map<Class<?>, ListenerMethod> chosen = new ConcurrentHashMap<>();

        private Choice(List<InvocableHandlerMethod> handlers, @Nullable InvocableHandlerMethod otherwise) {
            super(handlers, otherwise);
        }

        static Choice among(List<DeliveryHandlerMethod> handlers) {
            if (handlers.size() == 1) {
                return new Choice(List.of(), handlers.get(0));
            }
            return new Choice(
                    List.copyOf(handlers),
                    handlers.stream().filter(Choice::isDefault).findFirst().orElse(null));
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
