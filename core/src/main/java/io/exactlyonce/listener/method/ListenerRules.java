package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.listener.BatchVisibility;
import io.awspring.cloud.sqs.listener.acknowledgement.Acknowledgement;
import io.awspring.cloud.sqs.listener.acknowledgement.BatchAcknowledgement;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementMode;
import io.exactlyonce.BatchResult;
import io.exactlyonce.Claim;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.delivery.UnfinishedWork;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.env.PropertyResolver;
import org.springframework.messaging.Message;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.PlaceholderResolutionException;

/**
 * Rejects a listener method at startup if it could break the exactly-once guarantee:
 * <ul>
 * <li>The method could run without a claim.
 * <li>The claim could be completed before the method's work is done.
 * <li>The message could be deleted before the claim is completed.
 * </ul>
 * The checks throw {@link InvalidListenerException}.
 *
 * @param returned the method's return type, with the bean's type arguments
 * @param properties resolve {@code ${...}}
 */
public record ListenerRules(ListenerDeclaration declared, ResolvableType returned, PropertyResolver properties) {

    private static final Logger log = LoggerFactory.getLogger(ListenerRules.class);

    static final String RETURN_THE_WORK = "return a CompletableFuture of the work, or return when the work is done";

    private static final String RETURN_THE_COROUTINE =
            "return the CompletableFuture of scope.future { ... } in kotlinx-coroutines, or return when the work is done";

    private static final String TAKE_A_LIST = "take a List<T> or a List<Message<T>>";

    private static final String TAKE_MESSAGES = "take a List<Message<T>>, whose messages have their own headers";

    private static final Map<Class<?>, String> BESIDE_A_BATCH = Map.of(
            Claim.class, "take a List<Claim>: one claim for each message, in the same order",
            BatchAcknowledgement.class, "leave it out: a message is deleted when its claim is completed");

    private void refuseIf(boolean isUnfit, String problem, String remedy) {
        declared.refuseIf(isUnfit, problem, remedy);
    }

    private Method method() {
        return declared.method();
    }

    /**
     * Checks a listener that claims keys.
     *
     * @param bean the proxy that the container calls
     */
    void requireFit(Object bean) {
        requireFitAttributes();
        requireSupportedShape();
        requireNoAcknowledgement();
        AdviceRules advice = AdviceRules.of(declared, ListenerProxies.of(bean));
        requireInterceptable(AopUtils.getTargetClass(bean));
        advice.requireFit();
    }

    /**
     * Checks an observed listener, and logs what would fail with {@code mode = enforce}.
     *
     * @param type the bean's class
     * @return whether the handler's work is done when the handler returns, and the handler does not acknowledge
     *     messages itself
     */
    boolean checkObserved(Class<?> type) {
        boolean hasFitShape = isFit(this::requireSupportedShape);
        boolean leavesAcknowledgement = isFit(this::requireNoAcknowledgement);
        isFit(this::requireFitAttributes);
        isFit(() -> requireInterceptable(type));
        isFit(() -> requireProxyable(declared, type));
        return hasFitShape && leavesAcknowledgement;
    }

    /**
     * Runs a check of an observed listener. Returns whether the check succeeds. A problem is only logged, because
     * observed listeners never fail startup.
     */
    static boolean isFit(Runnable check) {
        try {
            check.run();
            return true;
        } catch (InvalidListenerException | PlaceholderResolutionException refused) {
            log.warn(
                    "Startup would fail with mode = enforce, and continues because the listener is only observed: {}",
                    refused.getMessage());
            return false;
        }
    }

    static void requireProxyable(ListenerDeclaration declared, Class<?> type) {
        declared.refuseIf(
                Modifier.isFinal(type.getModifiers()) && !Proxy.isProxyClass(type),
                "its class %s is %s, which cannot have a proxy that claims keys, so the handler would run unclaimed"
                        .formatted(type.getName(), type.isRecord() ? "a record" : "final"),
                type.isRecord() ? "make it an ordinary class" : "make the class non-final");
    }

    private void requireInterceptable(Class<?> type) {
        refuseIf(
                ListenerProxies.isBypassedBy(method(), type),
                "a private, final or static method, or one without a modifier in another package than %s, bypasses the proxy, so the handler would run unclaimed"
                        .formatted(type.getName()),
                "make it a non-final instance method that is public or protected");
    }

    /**
     * Rejects an invalid {@code maxAttempts}, and attributes that would be ignored (for example a reconciler, if keys
     * in doubt are not reconciled).
     */
    private void requireFitAttributes() {
        ExactlyOnceListener says = declared.annotation();
        boolean reconciles = says.whenInDoubt() == InDoubtPolicy.RECONCILE;
        String reconciler = properties.resolveRequiredPlaceholders(says.reconciler());
        String manager = properties.resolveRequiredPlaceholders(says.transactionManager());
        refuseIf(
                reconciles && says.effects() == Effects.DATABASE,
                "whenInDoubt = RECONCILE has no meaning with effects = DATABASE, which leaves no key in doubt",
                "leave whenInDoubt out");
        refuseIf(
                !reconciles && !reconciler.isBlank(),
                "it names the reconciler '%s', which is never called with whenInDoubt = %s"
                        .formatted(reconciler, says.whenInDoubt()),
                "set whenInDoubt = RECONCILE, or leave reconciler out");
        refuseIf(
                says.effects() == Effects.EXTERNAL && !manager.isEmpty(),
                "transactionManager = \"%s\" has no meaning with effects = EXTERNAL, whose claims have transactions of their own"
                        .formatted(manager),
                "leave it out, or set effects = DATABASE");
        refuseIf(
                says.maxAttempts() < 0 || says.maxAttempts() > InDoubtSettings.MOST_ATTEMPTS,
                "its maxAttempts (%d) is not from 1 to %d, and not 0 for any number"
                        .formatted(says.maxAttempts(), InDoubtSettings.MOST_ATTEMPTS),
                "write such a number, or leave it out if any number of attempts may throw");
        String fingerprint = properties.resolveRequiredPlaceholders(says.fingerprint());
        refuseIf(
                says.onMismatch() == MismatchPolicy.OFF && !fingerprint.isBlank(),
                "fingerprint = \"%s\" has no meaning with onMismatch = OFF, which compares nothing"
                        .formatted(fingerprint),
                "leave one of them out");
    }

    /**
     * Rejects a value of {@code whenKeyMissing} that makes no sense for the listener:
     * <ul>
     *   <li>A listener without a key expression uses the message's ID, which is never missing.
     *   <li>With {@code effects = DATABASE}, the handler runs in its claim's transaction, so it cannot run without a
     *       claim.
     * </ul>
     *
     * @param whenKeyMissing from the annotation, or from the listener's configuration
     */
    void requireFit(MissingKeyPolicy whenKeyMissing) {
        ExactlyOnceListener says = declared.annotation();
        refuseIf(
                whenKeyMissing != MissingKeyPolicy.REFUSE
                        && properties.resolveRequiredPlaceholders(says.key()).isBlank(),
                "whenKeyMissing = %s has no meaning without key, because a message without the attribute %s has its id as its key"
                        .formatted(whenKeyMissing, ReceivedMessage.KEY_ATTRIBUTE),
                "set key, for example key = \"#headers['%s']\", or leave whenKeyMissing out"
                        .formatted(ReceivedMessage.KEY_ATTRIBUTE));
        refuseIf(
                whenKeyMissing == MissingKeyPolicy.RUN_UNPROTECTED && says.effects() == Effects.DATABASE,
                "whenKeyMissing = RUN_UNPROTECTED has no meaning with effects = DATABASE, whose handler runs in the transaction of its claim",
                "set whenKeyMissing = SKIP or REFUSE, or set effects = EXTERNAL");
    }

    private void requireSupportedShape() {
        requireCompletionSignal();
        if (isBatch(method())) {
            requireFitBatch();
        }
        refuseIf(
                !isBatch(method()) && BatchResult.class.isAssignableFrom(result().toClass()),
                "it returns a BatchResult, but takes one message at a time",
                "throw an exception if the message fails, or take a List");
        refuseIf(
                isAsync() && declared.annotation().effects() == Effects.DATABASE,
                "effects = DATABASE, but it returns before its work is done: a transaction is bound to one thread",
                "do the work in the method itself, or set effects = EXTERNAL");
        // If a class has several handler methods, Spring Cloud AWS does not wait for their futures.
        refuseIf(
                isAsync() && declared.shared(),
                "its result is asynchronous, which handlers of a class do not support",
                "return when the work is done, or give the method its own @ExactlyOnceListener");
    }

    boolean isAsync() {
        return CompletionStage.class.isAssignableFrom(returned.toClass());
    }

    /**
     * Returns the type of the results that are stored with keys. Returns {@code NONE} if no results are stored, as for
     * {@code void} methods and batches.
     */
    ResolvableType storedResult() {
        Class<?> raw = result().toClass();
        return isBatch(method()) || raw == void.class || raw == Void.class ? ResolvableType.NONE : result();
    }

    /** Rejects methods that may return before their work is done, because the claim would be completed too early. */
    void requireCompletionSignal() {
        refuseIf(
                KotlinDetector.isSuspendingFunction(method()),
                "it is a suspending function, which Spring Cloud AWS cannot call",
                RETURN_THE_COROUTINE);
        refuseIf(
                Stream.of(method(), method().getDeclaringClass())
                        .anyMatch(element -> AnnotatedElementUtils.hasAnnotation(element, Async.class)),
                "@Async runs it on another thread, which has no delivery to claim a key for",
                RETURN_THE_WORK);
        Class<?> type = returned.toClass();
        // The method's future is replaced by another one, which completes when the claim's outcome is recorded.
        refuseIf(
                isAsync() && !type.isAssignableFrom(CompletableFuture.class),
                "it returns %s, which cannot be replaced by another future".formatted(type.getName()),
                "declare the return type as CompletableFuture or CompletionStage");
        refuseIf(
                type == Object.class,
                "it returns %s, so that its claim could be completed before its work is done".formatted(returned),
                "say in its return type what it returns");
        Class<?> unfinished = UnfinishedWork.in(result());
        if (unfinished != null) {
            String within = unfinished == type ? "" : ", and in it %s".formatted(unfinished.getName());
            throw declared.refused(
                    "it returns %s%s, so that its claim could be completed before its work is done"
                            .formatted(returned, within),
                    remedy(unfinished));
        }
    }

    /** Returns the return type. If the method returns a future, returns the type of the future's value. */
    private ResolvableType result() {
        return isAsync() ? returned.as(CompletionStage.class).getGeneric(0) : returned;
    }

    private String remedy(Class<?> unfinished) {
        if (UnfinishedWork.isCoroutine(unfinished)) {
            return RETURN_THE_COROUTINE;
        }
        if (isAsync()) {
            return "return a future that ends when all work is done: thenCompose flattens a future of a future";
        }
        return UnfinishedWork.isDeferred(unfinished)
                ? "call it, or collect it, in the method, and return the value"
                : RETURN_THE_WORK;
    }

    /** Returns whether a method takes batches. Any parameter that is a collection counts. */
    static boolean isBatch(Method method) {
        return Arrays.stream(method.getParameterTypes()).anyMatch(Collection.class::isAssignableFrom);
    }

    /** Returns the parameter that takes a batch's messages; {@code null} if there is none. */
    static @Nullable MethodParameter list(Method method) {
        return parameters(method)
                .filter(parameter ->
                        parameter.getParameterType() == List.class && !ClaimArgumentResolver.isClaims(parameter))
                .findFirst()
                .orElse(null);
    }

    private static Stream<MethodParameter> parameters(Method method) {
        return IntStream.range(0, method.getParameterCount()).mapToObj(index -> new MethodParameter(method, index));
    }

    /** Returns the payload type of a batch's messages; {@code Object} if the list does not name a type. */
    static Class<?> itemType(MethodParameter list) {
        ResolvableType item = ResolvableType.forMethodParameter(list).getGeneric(0);
        return (Message.class.isAssignableFrom(item.toClass()) ? item.getGeneric(0) : item).toClass();
    }

    private void requireFitBatch() {
        Set<String> taken = new HashSet<>();
        parameters(method()).forEach(parameter -> {
            String kind = kind(parameter);
            refuseIf(!taken.add(kind), "it takes more than one " + kind, "take it once");
        });
        MethodParameter list = list(method());
        refuseIf(list == null, "it takes claims, but no messages", TAKE_A_LIST);
        refuseIf(
                isAsync(),
                "it takes batches, and its result is asynchronous: the claims would be completed before the work is done",
                "return when the work is done");
        refuseIf(
                list != null && itemType(list) == Object.class,
                "its list does not name the type of the payloads",
                TAKE_A_LIST + " with a type instead of T");
    }

    private String kind(MethodParameter parameter) {
        Class<?> type = parameter.getParameterType();
        if (type == List.class) {
            return ClaimArgumentResolver.isClaims(parameter) ? "List<Claim>" : "list of messages";
        }
        boolean isCollection = Collection.class.isAssignableFrom(type);
        refuseIf(
                type != BatchVisibility.class,
                (isCollection ? "it takes its messages as a %s" : "it takes batches of messages, and also a %s")
                        .formatted(type.getSimpleName()),
                isCollection ? TAKE_A_LIST : BESIDE_A_BATCH.getOrDefault(type, TAKE_MESSAGES));
        return type.getSimpleName();
    }

    /**
     * Rejects batch methods in a class with several handler methods. Spring Cloud AWS chooses the method by the payload
     * of a single message.
     */
    public static void requireSingleMessages(List<Method> handlersOfAClass) {
        handlersOfAClass.stream().filter(ListenerRules::isBatch).findFirst().ifPresent(method -> {
            throw new InvalidListenerException(
                    method,
                    "it takes batches, which handlers of a class do not support",
                    "take a single message, or give the method its own @ExactlyOnceListener");
        });
    }

    /**
     * Rejects a listener that could delete a message itself, through an {@code Acknowledgement} or its acknowledgement
     * mode. The message could be deleted before its key is completed, or after a failure, and would be lost.
     */
    void requireNoAcknowledgement() {
        String mode = properties.resolveRequiredPlaceholders(declared.seen().acknowledgementMode());
        refuseIf(
                !mode.isEmpty() && !mode.equals(AcknowledgementMode.ON_SUCCESS.name()),
                "its acknowledgementMode is %s, but a message may be deleted only when its key is completed"
                        .formatted(mode),
                "leave acknowledgementMode out");
        refuseIf(
                Arrays.stream(method().getParameterTypes())
                        .anyMatch(type -> Acknowledgement.class.isAssignableFrom(type)
                                || BatchAcknowledgement.class.isAssignableFrom(type)),
                "it takes an Acknowledgement, with which it could delete its message before its key is completed",
                "leave the parameter out: the message is deleted when the handler has succeeded, and never if it fails");
    }
}
