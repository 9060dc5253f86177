package io.exactlyonce.listener.expression;

import java.lang.reflect.Modifier;
import java.util.stream.Stream;

/**
 * Rejects the results of {@code Object.toString()} and {@code Object.hashCode()}, which differ in each JVM. With such a
 * text, a redelivery would have another key or fingerprint.
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

    /** @throws RuntimeException if the text of the value may differ for a redelivery */
    void requireText(Known value) {
        parts.requirePart(value);
        // Arrays need no toString() of their own, because SpEL writes their elements.
        if (!value.raw().isArray()) {
            requireOwn(TO_STRING, value);
        }
    }

    /**
     * Rejects {@code toString()} and {@code hashCode()} if the value's class inherits the method from {@code Object}.
     *
     * @param method the called method; any other method is permitted
     * @throws RuntimeException if the call is rejected
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
