package io.exactlyonce.listener.expression;

import java.lang.reflect.Modifier;
import java.util.stream.Stream;

/**
 * Rules for texts that expressions make from values. The results of {@code Object.toString()} and {@code
 * Object.hashCode()} are rejected, because they differ in each JVM.
 */
final class Texts {

    static final String TO_STRING = "toString";
    static final String HASH_CODE = "hashCode";

    private final MessageParts parts;
    private final Refusal refusal;

    Texts(MessageParts parts, Refusal refusal) {
        this.parts = parts;
        this.refusal = refusal;
    }

    /**
     * @throws RuntimeException the listener's refusal, if the text that SpEL makes of the value may differ for a
     *     redelivery
     */
    void requireText(Known value) {
        parts.requirePart(value);
        // An array needs no toString() of its own, because SpEL writes the array's elements.
        if (!value.raw().isArray()) {
            requireOwn(TO_STRING, value);
        }
    }

    /**
     * Rejects a call of {@link #TO_STRING} or {@link #HASH_CODE} if the value's class inherits the method from {@code
     * Object}.
     *
     * @param method the called method; any other method is permitted
     * @throws RuntimeException the listener's refusal, if the call is rejected
     */
    void requireOwn(String method, Known value) {
        Class<?> type = value.raw();
        boolean isIdentity = Stream.of(TO_STRING, HASH_CODE).anyMatch(method::equals);
        if (isIdentity
                && !value.isUnknown()
                && !value.isClass()
                && isConcrete(type)
                && isInheritedFromObject(type, method)) {
            throw refusal.of(
                    "reads %s() of %s, which is another one in each JVM".formatted(method, type.getTypeName()),
                    "name properties of %s that have a text".formatted(type.getSimpleName()));
        }
    }

    /** Returns whether a class can have direct instances. */
    static boolean isConcrete(Class<?> type) {
        return type.isArray() || !Modifier.isAbstract(type.getModifiers());
    }

    private static boolean isInheritedFromObject(Class<?> type, String method) {
        try {
            return type.getMethod(method).getDeclaringClass() == Object.class;
        } catch (NoSuchMethodException impossible) {
            throw new AssertionError(impossible);
        }
    }
}
