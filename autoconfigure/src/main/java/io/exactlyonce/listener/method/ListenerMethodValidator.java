package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.listener.acknowledgement.Acknowledgement;
import io.awspring.cloud.sqs.listener.acknowledgement.BatchAcknowledgement;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementMode;
import io.exactlyonce.Claim;
import io.exactlyonce.Effects;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.Advised;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.env.PropertyResolver;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.ClassUtils;

/**
 * Refuses listener methods that could run unclaimed, whose claims could be completed before their work is done, or whose
 * messages could be deleted before their claims are completed.
 */
public final class ListenerMethodValidator {

    private static final String RETURN_THE_WORK =
            "return a CompletableFuture of the work, or return when the work is done";

    private static final Logger log = LoggerFactory.getLogger(ListenerMethodValidator.class);

    private ListenerMethodValidator() {}

    /**
     * Tells what would stop the start if a listener that is only observed were enforced.
     *
     * @return whether its handler's end tells that its work is done, and its message to be deleted
     */
    static boolean tellRefusals(ListenerDeclaration declared, Class<?> returned, PropertyResolver properties) {
        Method method = declared.method();
        boolean hasFitShape = isFit(() -> requireSupportedShape(declared, returned));
        boolean leavesAcknowledgement = isFit(() -> requireNoAcknowledgement(method, declared.seen(), properties));
        isFit(() -> requireInterceptable(method));
        isFit(() -> requireProxyableClass(method));
        return hasFitShape && leavesAcknowledgement;
    }

    private static boolean isFit(Runnable check) {
        try {
            check.run();
            return true;
        } catch (InvalidListenerException refused) {
            log.warn("It is only observed; with mode = enforce the start would be refused: {}", refused.getMessage());
            return false;
        }
    }

    private static void requireProxyableClass(Method method) {
        Class<?> type = method.getDeclaringClass();
        if (Modifier.isFinal(type.getModifiers()) && ClassUtils.getAllInterfacesForClass(type).length == 0) {
            throw new InvalidListenerException(method, "its class is final", "make it an ordinary class");
        }
    }

    /**
     * Checks what a handler takes, and when it returns.
     *
     * @param returned what it returns, as far as its bean's class tells
     * @throws InvalidListenerException if it cannot be handled exactly once
     */
    static void requireSupportedShape(ListenerDeclaration declared, Class<?> returned) {
        Method method = declared.method();
        if (Collections.frequency(List.of(method.getParameterTypes()), Claim.class) > 1) {
            throw new InvalidListenerException(method, "it takes more than one Claim", "take it once");
        }
        if (BatchSignature.isBatch(method)) {
            BatchSignature.requireFit(method);
        }
        requireTellingWhenDone(method, returned);
        if (CompletionStage.class.isAssignableFrom(returned)) {
            requireOneThread(declared);
            requireListenerOfItsOwn(declared);
        }
    }

    /** @throws InvalidListenerException if a claim would be completed before the work is done */
    static void requireTellingWhenDone(Method method, Class<?> returned) {
        if (KotlinDetector.isSuspendingFunction(method)) {
            throw new InvalidListenerException(
                    method,
                    "it is a suspending function, which awspring cannot call",
                    "return a CompletableFuture of the work, such as that of future { ... } in kotlinx-coroutines, or return when the "
                            + "work is done");
        }
        if (AnnotatedElementUtils.hasAnnotation(method, Async.class)
                || AnnotatedElementUtils.hasAnnotation(method.getDeclaringClass(), Async.class)) {
            throw new InvalidListenerException(
                    method,
                    "@Async takes it to another thread, which has no delivery to claim a key for",
                    RETURN_THE_WORK);
        }
        if (CompletionStage.class.isAssignableFrom(returned)) {
            requireReplaceable(method, returned);
        } else if (hidesItsEnd(returned)) {
            throw new InvalidListenerException(
                    method,
                    "it returns %s, so that its claim could be completed before its work is done"
                            .formatted(returned.getName()),
                    returned == Object.class ? "say in its return type what it returns" : RETURN_THE_WORK);
        }
    }

    /** Containers and callers get a future of ours, which ends when the outcome is recorded. */
    private static void requireReplaceable(Method method, Class<?> returned) {
        if (!returned.isAssignableFrom(CompletableFuture.class)) {
            throw new InvalidListenerException(
                    method,
                    "it returns %s, in whose place no other future can be handed on".formatted(returned.getName()),
                    "declare the return type as CompletableFuture or CompletionStage");
        }
    }

    private static boolean hidesItsEnd(Class<?> returned) {
        return returned == Object.class
                || Future.class.isAssignableFrom(returned)
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(returned) != null;
    }

    private static void requireOneThread(ListenerDeclaration declared) {
        if (declared.annotation().effects() == Effects.DATABASE) {
            throw new InvalidListenerException(
                    declared.method(),
                    "effects = DATABASE, but it returns before its work is done: a transaction is bound to one thread",
                    "do the work in the method itself, or set effects = EXTERNAL");
        }
    }

    /** Awspring awaits no future of a class's handlers. */
    private static void requireListenerOfItsOwn(ListenerDeclaration declared) {
        if (declared.shared()) {
            throw new InvalidListenerException(
                    declared.method(),
                    "its result is asynchronous, which the handlers of a class cannot be",
                    "return when the work is done, or give the method an @ExactlyOnceListener of its own");
        }
    }

    /** Awspring chooses among the handlers of a class by the one payload of a message. */
    public static void requireSingleMessages(List<Method> handlersOfAClass) {
        handlersOfAClass.stream().filter(BatchSignature::isBatch).findFirst().ifPresent(method -> {
            throw new InvalidListenerException(
                    method,
                    "it takes batches, which the handlers of a class cannot",
                    "take a single message, or give the method an @ExactlyOnceListener of its own");
        });
    }

    /**
     * Checks that the engine alone deletes a message, once its key's completion is recorded. A handler that deletes it
     * earlier, or a mode that deletes it after a failure, would lose it.
     *
     * @param properties resolve {@code ${...}}
     * @throws InvalidListenerException if the method wants to acknowledge in another way
     */
    static void requireNoAcknowledgement(Method method, SqsListener seen, PropertyResolver properties) {
        String mode = properties.resolveRequiredPlaceholders(seen.acknowledgementMode());
        if (!mode.isEmpty() && !mode.equals(AcknowledgementMode.ON_SUCCESS.name())) {
            throw new InvalidListenerException(
                    method,
                    "its acknowledgementMode is %s, but a message may be deleted only when its key is completed"
                            .formatted(mode),
                    "leave acknowledgementMode out");
        }
        if (Arrays.stream(method.getParameterTypes()).anyMatch(ListenerMethodValidator::acknowledges)) {
            throw new InvalidListenerException(
                    method,
                    "it takes an Acknowledgement, by which it could delete its message before its key is completed",
                    "leave the parameter out: the message is deleted when the handler has succeeded, and never if it fails");
        }
    }

    private static boolean acknowledges(Class<?> parameter) {
        return Acknowledgement.class.isAssignableFrom(parameter)
                || BatchAcknowledgement.class.isAssignableFrom(parameter);
    }

    /** @throws InvalidListenerException if the handler could run unclaimed */
    static void requireAdvised(Object bean, Method method) {
        if (!isAdvised(bean)) {
            throw new InvalidListenerException(
                    method,
                    "its bean has no proxy that could claim keys, so the handler would run unclaimed",
                    "make the class non-final and the bean an ordinary Spring bean");
        }
        requireInterceptable(method);
    }

    /** @throws InvalidListenerException if no proxy can intercept the method */
    static void requireInterceptable(Method method) {
        int modifiers = method.getModifiers();
        if (Modifier.isPrivate(modifiers) || Modifier.isFinal(modifiers) || Modifier.isStatic(modifiers)) {
            throw new InvalidListenerException(
                    method,
                    "a private, final or static method bypasses the proxy, so the handler would run unclaimed",
                    "make it a non-final instance method that is not private");
        }
    }

    private static boolean isAdvised(Object bean) {
        return bean instanceof Advised advised
                && Arrays.stream(advised.getAdvisors()).anyMatch(ExactlyOnceAdvisor.class::isInstance);
    }
}
