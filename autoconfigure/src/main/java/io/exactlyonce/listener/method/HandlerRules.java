package io.exactlyonce.listener.method;

import io.exactlyonce.Claim;
import io.exactlyonce.Effects;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.springframework.aop.framework.Advised;

/** What a handler must be to run under its claim, and only under it. */
public final class HandlerRules {

    private HandlerRules() {}

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
            BatchSignature.of(method);
            requireEffectsElsewhere(declared);
        }
        AsyncResults.requireTellingWhenDone(method, returned);
        if (AsyncResults.typeOf(method, returned) != null) {
            requireOneThread(declared);
            requireListenerOfItsOwn(declared);
        }
    }

    private static void requireEffectsElsewhere(ListenerDeclaration declared) {
        if (declared.annotation().effects() == Effects.DATABASE) {
            throw new InvalidListenerException(
                    declared.method(),
                    "effects = DATABASE is for single messages: each has a transaction of its own",
                    "take a single message, or leave effects out");
        }
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

    /** @throws InvalidListenerException if the handler could run unclaimed */
    static void requireAdvised(Object bean, Method method) {
        if (!isAdvised(bean)) {
            throw new InvalidListenerException(
                    method,
                    "its bean has no proxy that could claim keys, so the handler would run unclaimed",
                    "make the class non-final and the bean an ordinary Spring bean");
        }
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
                && Arrays.stream(advised.getAdvisors())
                        .anyMatch(advisor -> advisor.getAdvice() instanceof ExactlyOnceInterceptor);
    }
}
